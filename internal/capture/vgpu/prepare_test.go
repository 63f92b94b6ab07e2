package vgpu

import (
	"bytes"
	"compress/gzip"
	"context"
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"
)

// cacheWithCore is a cache that holds a core already, so that only the stand-ins
// are made.
func cacheWithCore(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	core := testCore(t, variant{12, 9, runtime.GOARCH})
	if err := os.Link(core, filepath.Join(dir, filepath.Base(core))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestPrepare(t *testing.T) {
	torch, cache := testTorch(t), cacheWithCore(t)
	lib, err := Prepare(t.Context(), torch, cache, func(s string) { t.Errorf("said %q", s) })
	if err != nil {
		t.Fatal(err)
	}
	if !lib.Report.Cached || lib.CUDA != 12040 {
		t.Errorf("the library: %+v", lib)
	}
	if len(lib.Report.Unlisted) != 1 || lib.Report.Unlisted[0] != "cudaFromTheFuture" {
		t.Errorf("unlisted names are %v", lib.Report.Unlisted)
	}
	if filepath.Base(lib.Preload[0]) != coreName {
		t.Errorf("the core is not preloaded first: %v", lib.Preload)
	}
	checkShim(t, lib, "libcudart.so.12", "libcudart.so.12")
	checkShim(t, lib, "libnccl.so.2", "")
	checkShim(t, lib, "libcuda.so.1", "")
	defined, err := definedSymbols(filepath.Join(lib.Dir, refusedFile))
	if _, ok := defined["cudaFromTheFuture"]; err != nil || !ok || len(defined) != 1 {
		t.Errorf("refused are %v, %v", defined, err)
	}

	again, err := Prepare(t.Context(), torch, cache, nil)
	if err != nil || !again.Report.Cached || again.Dir != lib.Dir {
		t.Errorf("the second build: %+v, %v", again.Report, err)
	}
	// A library that somebody removed is built again.
	if err := os.Remove(lib.Preload[1]); err != nil {
		t.Fatal(err)
	}
	repaired, err := Prepare(t.Context(), torch, cache, nil)
	if err != nil || !exists(repaired.Preload[1]) {
		t.Errorf("after a removal: %+v, %v", repaired.Report, err)
	}
	entries, err := os.ReadDir(lib.Dir)
	if err != nil || len(entries) != len(lib.Preload)+2 { // the list of refused names, and libcuda.so for linkers
		t.Errorf("the folder holds %d entries for %d libraries, %v", len(entries), len(lib.Preload), err)
	}
}

func checkShim(t *testing.T, lib Library, soname, node string) {
	t.Helper()
	path := filepath.Join(lib.Dir, shimFile(soname))
	if strings.Contains(path, "libcudart.so") {
		t.Errorf("%s would make PyTorch load NVIDIA's libraries", path)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if names, err := f.DynString(elf.DT_SONAME); err != nil || len(names) != 1 || names[0] != soname {
		t.Errorf("%s has the soname %v, %v", path, names, err)
	}
	if needed, err := f.DynString(elf.DT_NEEDED); err != nil || len(needed) != 1 || needed[0] != coreName {
		t.Errorf("%s needs %v, %v", path, needed, err)
	}
	versions, err := f.DynamicVersions()
	if node == "" {
		return
	}
	for _, v := range versions {
		if v.Name == node {
			return
		}
	}
	t.Errorf("%s defines no version %s: %v, %v", path, node, versions, err)
}

func TestPrepareTwiceAtOnce(t *testing.T) {
	torch, cache := testTorch(t), t.TempDir()
	var wg sync.WaitGroup
	libs, errs := make([]Library, 2), make([]error, 2)
	var said atomic.Int32
	for i := range libs {
		wg.Go(func() { libs[i], errs[i] = Prepare(t.Context(), torch, cache, func(string) { said.Add(1) }) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if libs[0].Dir != libs[1].Dir || said.Load() != 1 {
		t.Errorf("%d builds: %s and %s", said.Load(), libs[0].Dir, libs[1].Dir)
	}
	left, err := filepath.Glob(filepath.Join(cache, "build-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestPrepareWithoutACompiler(t *testing.T) {
	torch := testTorch(t)
	t.Setenv("PATH", t.TempDir())
	t.Setenv("CC", "")
	_, err := Prepare(t.Context(), torch, t.TempDir(), nil)
	if !Prebuilt() && !errors.Is(err, ErrNoCompiler) {
		t.Errorf("got %v, want ErrNoCompiler", err)
	}
}

func TestPrepareWithABrokenCompiler(t *testing.T) {
	torch, cache := testTorch(t), t.TempDir()
	broken := filepath.Join(t.TempDir(), "cc")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho 'cannot find crt1.o' >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CC", broken)
	_, err := Prepare(t.Context(), torch, cache, nil)
	if err == nil || !strings.Contains(err.Error(), "cannot find crt1.o") {
		t.Errorf("got %v", err)
	}
	left, err := filepath.Glob(filepath.Join(cache, "build-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestPrepareIsInterrupted(t *testing.T) {
	torch, cache := testTorch(t), t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Prepare(ctx, torch, cache, nil); err == nil {
		t.Error("a build that was interrupted succeeded")
	}
	left, err := filepath.Glob(filepath.Join(cache, "build-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// LD_PRELOAD cannot quote: such a folder is replaced by one that works.
func TestPrepareInAFolderWithSpaces(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	got, err := usableCache(filepath.Join(tmp, "my cache"))
	if err != nil || strings.Contains(got, " ") {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestPrepareRefusesASharedFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := usableCache(dir); err == nil {
		t.Error("a folder that everybody may write was accepted")
	}
}

func TestEnv(t *testing.T) {
	lib := Library{Dir: "/c", Preload: []string{"/c/a.so", "/c/b.so"}}
	t.Setenv("LD_PRELOAD", "/theirs.so")
	got := lib.Env("/ours.so")
	want := "LD_PRELOAD=/c/a.so:/c/b.so:/ours.so:/theirs.so"
	if got[0] != want {
		t.Errorf("got %s, want %s", got[0], want)
	}
}

func TestPrune(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	for name, age := range map[string]time.Duration{"used": time.Hour, "forgotten": 31 * 24 * time.Hour, "build-1": 2 * time.Hour, "build-2": time.Minute, "core-x.so": 40 * 24 * time.Hour} {
		path := filepath.Join(dir, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		touch(path, now.Add(-age))
	}
	prune(dir, now)
	for name, want := range map[string]bool{"used": true, "forgotten": false, "build-1": false, "build-2": true, "core-x.so": false} {
		if got := exists(filepath.Join(dir, name)); got != want {
			t.Errorf("%s is there: %t, want %t", name, got, want)
		}
	}
}

// A release carries the core, so that no compiler is asked for.
func TestPrepareFromARelease(t *testing.T) {
	core := testCore(t, variant{12, 9, runtime.GOARCH})
	text, err := os.ReadFile(core)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	torch, before := testTorch(t), prebuilt
	key := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(core), "core-"), ".so")
	prebuilt = fstest.MapFS{prebuiltFile(key): {Data: packed.Bytes()}}
	t.Cleanup(func() { prebuilt = before })
	t.Setenv("PATH", t.TempDir())
	t.Setenv("CC", "")
	lib, err := Prepare(t.Context(), torch, t.TempDir(), func(s string) { t.Errorf("said %q", s) })
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(lib.Preload[0]); err != nil || !bytes.Equal(got, text) {
		t.Errorf("the core is not the one that was carried: %v", err)
	}
	torch.CUDA = "13.2" // not carried
	if _, err := Prepare(t.Context(), torch, t.TempDir(), nil); !errors.Is(err, ErrNoCompiler) {
		t.Errorf("got %v, want ErrNoCompiler", err)
	}
}
