package vgpu

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// testCore compiles a variant of the core once for all tests.
func testCore(t *testing.T, v variant) string {
	t.Helper()
	if _, err := findCompiler(); err != nil {
		t.Skip(err)
	}
	maker := coreMaker{variant: v, stubs: testManifest(t).stubs(testLibraries(t)), cacheDir: sharedCache, progress: func(string) {}}
	file, _, err := maker.core(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestAudit compares the manifest with what was built: what it calls real is
// defined in csrc, what csrc defines is called real, and nothing that is
// imported is missing.
func TestAudit(t *testing.T) {
	m := testManifest(t)
	real := map[string]bool{}
	for _, v := range variants {
		t.Run(v.String(), func(t *testing.T) {
			v.arch = runtime.GOARCH
			defined, err := definedSymbols(testCore(t, v))
			if err != nil {
				t.Fatal(err)
			}
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
