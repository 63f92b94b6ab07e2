package vgpu

import (
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// auditVersions are the CUDA versions that the known PyTorch builds use, each
// with the soname of its cuDNN, which decides how cuDNN refuses.
var auditVersions = []struct{ cuda, cudnn, imports string }{
	{"11.7", "libcudnn.so.8", "2.0.1"},
	{"12.4", "libcudnn.so.9", "2.6.0"},
	{"13.2", "libcudnn.so.9", "2.15.0"},
}

// buildForAudit builds a core for a list of imports and returns its symbols:
// true for those that csrc defines, false for generated ones.
func buildForAudit(t *testing.T, cuda, cudnn, imports string) map[string]bool {
	t.Helper()
	if _, err := findCompiler(); err != nil {
		t.Skip(err)
	}
	text, err := os.ReadFile(filepath.Join("testdata/imports", imports+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	symbols := map[string]string{}
	for line := range strings.Lines(string(text)) {
		library, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		symbols[name] = library
	}
	torch := Torch{Version: imports, CUDA: cuda}
	p := &plan{torch: torch, nodes: map[string][]string{cudnn: nil, "libcuda.so.1": nil}}
	p.order = preloadOrder(p.nodes)
	p.stubs = testManifest(t).stubs(testLibraries(t), symbols)
	p.defines = defines(torch, p.nodes)
	dir := t.TempDir()
	if err := p.build(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(filepath.Join(dir, coreName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	all, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	defined := map[string]bool{}
	for _, s := range all {
		if s.Section != elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			defined[s.Name] = elf.ST_BIND(s.Info) == elf.STB_GLOBAL
		}
	}
	return defined
}

// TestAudit compares the manifest with what was built: what it calls real is
// defined in csrc, what csrc defines is called real, and nothing that is
// imported is missing.
func TestAudit(t *testing.T) {
	m := testManifest(t)
	real := map[string]bool{}
	for _, v := range auditVersions {
		t.Run("CUDA "+v.cuda, func(t *testing.T) {
			defined := buildForAudit(t, v.cuda, v.cudnn, v.imports)
			for name := range m.Names() {
				if _, ok := defined[name]; !ok {
					t.Errorf("%s has a row and is not in the library", name)
				}
			}
			for _, name := range slices.Sorted(maps.Keys(defined)) {
				kind, listed := m.Kind(name)
				switch {
				case strings.HasPrefix(name, "plimsoll_"):
				case defined[name] && (!listed || kind != Real):
					t.Errorf("%s is defined in csrc and its row says %v (listed %t)", name, kind, listed)
				case defined[name]:
					real[name] = true
				}
			}
		})
	}
	if t.Failed() || len(real) == 0 {
		return
	}
	for _, row := range m.Rows {
		if row.Kind == Real && row.pattern == nil && !real[row.Name] {
			t.Errorf("%s: %s is called real and csrc defines it for no version of CUDA", row.Library, row.Name)
		}
	}
	counts := map[string]int{}
	for _, row := range m.Rows {
		counts[fmt.Sprint(row.Library, " ", row.Kind)]++
	}
	t.Log(counts)
}
