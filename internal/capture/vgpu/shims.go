package vgpu

import (
	"maps"
	"slices"
	"strconv"
)

// lookedUp lists the sonames that are asked for at run time only, by CUDA
// major: PyTorch's driver table and NVRTC loader, Triton, pynvml, torch.compile.
func lookedUp(major int) []string {
	always := []string{"libcuda.so.1", "libnvidia-ml.so.1"}
	switch major {
	case 11:
		return append(always, "libcudart.so.11.0", "libnvrtc.so.11.2", "libnvToolsExt.so.1")
	default:
		m := strconv.Itoa(major)
		return append(always, "libcudart.so."+m, "libnvrtc.so."+m, "libnvJitLink.so."+m, "libnvToolsExt.so.1")
	}
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

// preloadOrder puts the core first, then the shims by name.
func preloadOrder(nodes map[string][]string) []string {
	order := []string{coreName}
	for _, soname := range slices.Sorted(maps.Keys(nodes)) {
		order = append(order, shimFile(soname))
	}
	return order
}
