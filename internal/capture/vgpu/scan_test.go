package vgpu

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testTorch makes a folder of packages with a torch whose library asks for CUDA
// as a real one does: by soname and version node. companion adds another file.
func testTorch(t *testing.T) Torch {
	t.Helper()
	if _, err := findCompiler(); err != nil {
		t.Skip(err)
	}
	site := filepath.Join(t.TempDir(), "site-packages")
	lib := filepath.Join(site, "torch", "lib")
	importer(t, filepath.Join(lib, "libtorch_cuda.so"), "libcudart.so.12", "libcudart.so.12", "cudaMalloc", "cudaFromTheFuture")
	importer(t, filepath.Join(site, "companion", "_C.so"), "libnccl.so.2", "", "ncclSend")
	importer(t, filepath.Join(site, "bitsandbytes", "lib_cuda118.so"), "libcudart.so.11.0", "libcudart.so.11.0", "cudaOld")
	importer(t, filepath.Join(site, "nvidia", "x", "lib.so"), "libcublas.so.12", "", "cublasOfTheWheel")
	importer(t, filepath.Join(site, "plain", "_C.so"), "libplain.so.1", "", "cudaNotReally")
	return Torch{Dir: filepath.Join(site, "torch"), Version: "2.6.0", CUDA: "12.4", SitePackages: []string{site}, Machine: "x86_64"}
}

// importer links a library that needs a soname and leaves names undefined.
func importer(t *testing.T, path, soname, node string, names ...string) {
	t.Helper()
	dir := t.TempDir()
	definitions, calls, script := "", "", ""
	for _, n := range names {
		definitions += "int " + n + "(void) { return 0; }\n"
		calls += "int " + n + "(void);\nint call_" + n + "(void) { return " + n + "(); }\n"
	}
	if node != "" {
		script = node + " { global: *; };\n"
	}
	for name, text := range map[string]string{"real.c": definitions, "user.c": calls, "map": script} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"-shared", "-fPIC", "real.c", "-o", soname, "-Wl,-soname," + soname, "-Wl,--version-script,map"},
		{"-shared", "-fPIC", "user.c", "-o", path, soname},
	} {
		if script == "" {
			args = slices.DeleteFunc(args, func(a string) bool { return a == "-Wl,--version-script,map" })
		}
		cmd := exec.CommandContext(t.Context(), "cc", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

func TestScan(t *testing.T) {
	torch, ls := testTorch(t), testLibraries(t)
	cache := openScanCache(filepath.Join(t.TempDir(), "scan.json"))
	got, err := ls.scan(torch, cache)
	if err != nil {
		t.Fatal(err)
	}
	want := Imports{
		Sonames: map[string][]string{"libcudart.so.12": {"libcudart.so.12"}, "libnccl.so.2": nil},
		Symbols: map[string]string{"cudaMalloc": "cudart", "cudaFromTheFuture": "cudart", "ncclSend": "nccl"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if err := cache.save(); err != nil {
		t.Fatal(err)
	}
	again, err := ls.scan(torch, openScanCache(cache.path))
	if d := cmp.Diff(got, again); d != "" || err != nil {
		t.Errorf("from the cache: %v\n%s", err, d)
	}
}

// A cache is good only for the very file that it was read from.
func TestScanCacheNoticesChange(t *testing.T) {
	torch, ls := testTorch(t), testLibraries(t)
	cache := openScanCache(filepath.Join(t.TempDir(), "scan.json"))
	if _, err := ls.scan(torch, cache); err != nil {
		t.Fatal(err)
	}
	importer(t, filepath.Join(torch.SitePackages[0], "companion", "_C.so"), "libnccl.so.2", "", "ncclRecv")
	got, err := ls.scan(torch, cache)
	if err != nil {
		t.Fatal(err)
	}
	if names := slices.Sorted(maps.Keys(got.Symbols)); !slices.Contains(names, "ncclRecv") || slices.Contains(names, "ncclSend") {
		t.Errorf("symbols are %v", names)
	}
}

// Shared objects are strangers' files: whatever is wrong with one is an error
// or nothing, never a panic.
func TestReadImportsOfDamagedFiles(t *testing.T) {
	torch, ls := testTorch(t), testLibraries(t)
	whole, err := os.ReadFile(filepath.Join(torch.Dir, "lib", "libtorch_cuda.so"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.so")
	try := func(text []byte) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = ls.readImports(path)
	}
	for n := 0; n < len(whole); n += 97 {
		try(whole[:n])
		broken := slices.Clone(whole)
		for i := n; i < min(n+8, len(broken)); i++ {
			broken[i] = 0xff
		}
		try(broken)
	}
}
