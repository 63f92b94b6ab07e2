package vgpu

import (
	"debug/elf"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/capture/vgpu/shim"
)

// lookedUp lists the sonames that are asked for at run time only, by CUDA
// major: PyTorch's driver table and NVRTC loader, Triton, pynvml, torch.compile.
func lookedUp(major int) []string {
	always := []string{"libcuda.so.1", "libnvidia-ml.so.1", "libnvToolsExt.so.1"}
	if major == 11 {
		return append(always, "libcudart.so.11.0", "libnvrtc.so.11.2")
	}
	m := strconv.Itoa(major)
	return append(always, "libcudart.so."+m, "libnvrtc.so."+m, "libnvJitLink.so."+m)
}

// shimNodes lists the version nodes that each shim must define. The real
// libraries name a node after their soname.
func shimNodes(imports Imports, major int) map[string][]string {
	nodes := map[string][]string{}
	maps.Copy(nodes, imports.Sonames)
	for _, soname := range lookedUp(major) {
		if _, ok := nodes[soname]; !ok {
			nodes[soname] = nil
		}
	}
	return nodes
}

// shimFile names the file of the shim for a soname. It must not hold the text
// "libcudart.so": PyTorch looks for that in its own memory map and then loads
// NVIDIA's libraries by path (torch/__init__.py, _load_global_deps, 2.15).
func shimFile(soname string) string {
	return "plimsoll-" + strings.TrimPrefix(strings.ReplaceAll(soname, ".so", ""), "lib") + ".so"
}

// The files that answer names which the core does not define.
const (
	refusedFile = "plimsoll-refused.so"
	noopFile    = "plimsoll-noop.so"
)

var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// strangers are imported names that the core does not define, by the function
// of the core that answers them.
func strangers(m *Manifest, symbols map[string]string, defined map[string]bool) (refused, noop []shim.Function) {
	for _, name := range slices.Sorted(maps.Keys(symbols)) {
		if _, ok := defined[name]; ok {
			continue
		}
		f := shim.Function{Name: name, Owner: symbols[name]}
		if kind, _ := m.Kind(name); kind == Noop {
			noop = append(noop, f)
		} else {
			refused = append(refused, f)
		}
	}
	return refused, noop
}

// standIns are all files beside the core, by name.
func standIns(arch string, nodes map[string][]string, refused, noop []shim.Function) (map[string][]byte, error) {
	machine, ok := machines[arch]
	if !ok {
		return nil, fmt.Errorf("prepare the virtual GPU: no stand-ins are known for %s", arch)
	}
	all := map[string]shim.Object{}
	for soname, versions := range nodes {
		all[shimFile(soname)] = shim.Object{Machine: machine, Soname: soname, Needed: coreName, Versions: versions}
	}
	if len(refused) > 0 {
		all[refusedFile] = shim.Object{Machine: machine, Soname: refusedFile, Needed: coreName, Target: "plimsoll_vgpu_refuse", Functions: refused}
	}
	if len(noop) > 0 {
		all[noopFile] = shim.Object{Machine: machine, Soname: noopFile, Needed: coreName, Target: "plimsoll_vgpu_noop", Functions: noop}
	}
	files := map[string][]byte{}
	for name, object := range all {
		text, err := object.Bytes()
		if err != nil {
			return nil, fmt.Errorf("prepare the virtual GPU: %w", err)
		}
		files[name] = text
	}
	return files, nil
}
