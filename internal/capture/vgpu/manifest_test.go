package vgpu

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func testManifest(t *testing.T) *Manifest {
	t.Helper()
	m, err := readManifest()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestManifestRows(t *testing.T) {
	m, ls := testManifest(t), testLibraries(t)
	for _, row := range m.Rows {
		if row.Kind == Noop && row.Why == "" {
			t.Errorf("%s: %s does nothing and does not say why that is enough", row.Library, row.Name)
		}
		if _, ok := ls.byName(row.Library); !ok && row.Library != "other" {
			t.Errorf("%s: no such library in libraries.txt", row.Library)
		}
		if l, ok := ls.bySymbol(row.Name); ok && row.pattern == nil && l.name != row.Library {
			t.Errorf("%s: %s belongs to %s", row.Library, row.Name, l.name)
		}
	}
}

// Every name that a known PyTorch imports was looked at by somebody.
func TestManifestKnowsImports(t *testing.T) {
	m := testManifest(t)
	files, err := filepath.Glob("testdata/imports/*.txt")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d lists of imports, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			library, name, _ := strings.Cut(strings.TrimSpace(line), " ")
			if _, listed := m.Kind(name); !listed {
				t.Errorf("%s: %s of %s has no row", file, name, library)
			}
		}
	}
}

func TestManifestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"real":                  "line 1: want a kind and a name",
		"\nfake cudaMalloc":     `line 2: unknown kind "fake"`,
		"real a\n# b\nrefuse a": "line 3: a has a row already",
	} {
		m := &Manifest{exact: map[string]int{}}
		if err := m.add("cudart", text); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestManifestPatterns(t *testing.T) {
	m := &Manifest{exact: map[string]int{}}
	if err := m.add("cublas", "noop cublas*gemm* outputs stay on the device\nrefuse cublasXtgemm"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]Kind{"cublasSgemm_v2": Noop, "cublasXtgemm": Refuse} {
		if kind, listed := m.Kind(name); kind != want || !listed {
			t.Errorf("%s is %v, want %v", name, kind, want)
		}
	}
	if kind, listed := m.Kind("cublasSnrm2"); kind != Refuse || listed {
		t.Errorf("a name without a row is %v, listed %t", kind, listed)
	}
}

func TestStubs(t *testing.T) {
	m := &Manifest{exact: map[string]int{}}
	if err := m.add("cudart", "noop cudaProfilerStart no profiler\nrefuse cudaGraphClone"); err != nil {
		t.Fatal(err)
	}
	got := m.stubs(testLibraries(t))
	for _, want := range []string{"NOOP(cudaProfilerStart)\n", "REFUSE(RUNTIME, cudaGraphClone)\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("stubs lack %q", want)
		}
	}
}
