package overlay

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestPrebuilt(t *testing.T) {
	if _, err := findCompiler(); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	if err := WritePrebuilt(t.Context(), filepath.Join(dir, "prebuilt"), runtime.GOARCH, "cc"); err != nil {
		t.Fatal(err)
	}
	before := prebuilt
	prebuilt = os.DirFS(dir)
	t.Cleanup(func() { prebuilt = before })
	t.Setenv("PATH", "") // no compiler
	t.Setenv("CC", "")
	library, err := Prepare(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(library); err != nil || info.Size() == 0 {
		t.Errorf("%s: %v", library, err)
	}
	prebuilt = before
	if _, err := Prepare(t.Context(), t.TempDir(), nil); before == nil && err == nil {
		t.Error("a library without a compiler")
	}
}
