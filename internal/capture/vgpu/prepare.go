package vgpu

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A Library is a virtual GPU that is ready to be preloaded.
type Library struct {
	Dir     string
	Preload []string // absolute paths, in order
	Report  BuildReport
}

// BuildReport says how a Library came to be.
type BuildReport struct {
	Cached   bool          // taken from the cache
	Seconds  float64       // of scanning and building
	Symbols  int           // names that PyTorch and its companions import
	Sonames  int           // libraries stood in for
	Unlisted []string      // imported names without a row in the manifest: refused
	Scan     time.Duration // part of Seconds
}

// CacheDir is where virtual GPUs are kept: a folder of the user's cache.
func CacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	return filepath.Join(dir, "plimsoll", "vgpu"), nil
}

// Prepare returns a virtual GPU for a PyTorch, from the cache or freshly built.
// Two at once wait for one another. progress, which may be nil, hears one
// sentence when something takes time.
func Prepare(ctx context.Context, t Torch, cacheDir string, progress func(string)) (Library, error) {
	begin := time.Now()
	if progress == nil {
		progress = func(string) {}
	}
	cacheDir, err := usableCache(cacheDir)
	if err != nil {
		return Library{}, err
	}
	p, err := newPlan(t, cacheDir)
	if err != nil {
		return Library{}, err
	}
	report := BuildReport{Symbols: len(p.imports.Symbols), Sonames: len(p.nodes), Unlisted: p.unlisted, Scan: time.Since(begin)}
	dir := filepath.Join(cacheDir, p.key)
	if report.Cached = p.complete(dir); !report.Cached {
		if err := p.buildOnce(ctx, cacheDir, dir, progress); err != nil {
			return Library{}, err
		}
	}
	report.Seconds = time.Since(begin).Seconds()
	lib := Library{Dir: dir, Report: report}
	for _, file := range p.order {
		lib.Preload = append(lib.Preload, filepath.Join(dir, file))
	}
	return lib, nil
}

// usableCache makes the cache folder, or one in the temporary folder when its
// path holds what LD_PRELOAD separates by and cannot quote.
func usableCache(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("prepare the virtual GPU: %w", err)
	}
	if strings.ContainsAny(abs, " :;\t") {
		abs = filepath.Join(os.TempDir(), fmt.Sprintf("plimsoll-%d", os.Getuid()))
	}
	if err := os.MkdirAll(abs, 0o700); err != nil {
		return "", fmt.Errorf("prepare the virtual GPU: %w", err)
	}
	// Libraries that get preloaded must not be anyone else's to write.
	var st unix.Stat_t
	if err := unix.Stat(abs, &st); err != nil {
		return "", fmt.Errorf("prepare the virtual GPU: %s: %w", abs, err)
	}
	if int(st.Uid) != os.Getuid() || st.Mode&0o022 != 0 {
		return "", fmt.Errorf("prepare the virtual GPU: %s may be written by other users", abs)
	}
	return abs, nil
}

// A plan is what has to be built for one PyTorch.
type plan struct {
	torch    Torch
	imports  Imports
	nodes    map[string][]string
	order    []string
	stubs    string
	unlisted []string
	defines  []string
	key      string
}

func newPlan(t Torch, cacheDir string) (*plan, error) {
	ls, err := readLibraries(libraryTable)
	if err != nil {
		return nil, fmt.Errorf("prepare the virtual GPU: %w", err)
	}
	m, err := readManifest()
	if err != nil {
		return nil, fmt.Errorf("prepare the virtual GPU: %w", err)
	}
	cache := openScanCache(filepath.Join(cacheDir, "scan.json"))
	imports, err := ls.scan(t, cache)
	if err != nil {
		return nil, fmt.Errorf("prepare the virtual GPU: %w", err)
	}
	if err := cache.save(); err != nil {
		return nil, fmt.Errorf("prepare the virtual GPU: %w", err)
	}
	p := &plan{torch: t, imports: imports}
	p.nodes = shimNodes(imports, t.CUDANumber()/1000)
	p.order = preloadOrder(p.nodes)
	p.stubs = m.stubs(ls, imports.Symbols)
	for _, name := range slices.Sorted(maps.Keys(imports.Symbols)) {
		if _, listed := m.Kind(name); !listed {
			p.unlisted = append(p.unlisted, name)
		}
	}
	p.defines = defines(t, p.nodes)
	p.key, err = p.hash()
	return p, err
}

// defines are what the C is told about the PyTorch that it serves.
func defines(t Torch, nodes map[string][]string) []string {
	return []string{
		fmt.Sprintf("-DPLIMSOLL_CUDA_VERSION=%d", t.CUDANumber()),
		fmt.Sprintf("-DPLIMSOLL_CUDNN_MAJOR=%d", cudnnMajor(nodes)),
	}
}

// cudnnMajor reads the version of cuDNN off the soname that is asked for.
func cudnnMajor(nodes map[string][]string) int {
	if _, old := nodes["libcudnn.so.8"]; old {
		return 8
	}
	return 9
}

// hash names a build by all that goes into it.
func (p *plan) hash() (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, runtime.GOARCH, compileFlags, p.defines, p.order)
	for _, soname := range slices.Sorted(maps.Keys(p.nodes)) {
		fmt.Fprintln(h, soname, p.nodes[soname])
	}
	_, _ = io.WriteString(h, p.stubs)
	err := fs.WalkDir(sources, "csrc", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := sources.ReadFile(path)
		fmt.Fprintln(h, path, len(text))
		_, _ = h.Write(text)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("prepare the virtual GPU: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)[:12]), nil
}

// complete says whether a folder holds the whole build. Folders appear by one
// rename, so a file is missing only when somebody removed it.
func (p *plan) complete(dir string) bool {
	for _, file := range p.order {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			return false
		}
	}
	return true
}

// buildOnce builds under a lock, so that two captures started at once build
// once and the second waits.
func (p *plan) buildOnce(ctx context.Context, cacheDir, dir string, progress func(string)) error {
	unlock, err := lockFile(ctx, filepath.Join(cacheDir, p.key+".lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if p.complete(dir) {
		return nil
	}
	progress(fmt.Sprintf("building the virtual GPU for PyTorch %s (once, some seconds)", p.torch.Version))
	tmp, err := os.MkdirTemp(cacheDir, "build-*")
	if err != nil {
		return fmt.Errorf("build the virtual GPU: %w", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if err := p.build(ctx, tmp); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("build the virtual GPU: %w", err)
	}
	if err := os.Rename(tmp, dir); err != nil {
		return fmt.Errorf("build the virtual GPU: %w", err)
	}
	return nil
}

// build leaves the libraries in a folder.
func (p *plan) build(ctx context.Context, dir string) error {
	c, err := findCompiler()
	if err != nil {
		return err
	}
	c.defines = p.defines
	files, err := writeSources(dir, p.stubs)
	if err != nil {
		return err
	}
	objects, err := c.compileAll(ctx, dir, files)
	if err != nil {
		return err
	}
	if err := c.linkCore(ctx, dir, objects); err != nil {
		return err
	}
	for _, soname := range slices.Sorted(maps.Keys(p.nodes)) {
		if err := c.linkShim(ctx, dir, soname, p.nodes[soname]); err != nil {
			return err
		}
	}
	// Triton looks for a file of this name to link its launchers with.
	if err := os.Symlink(shimFile("libcuda.so.1"), filepath.Join(dir, "libcuda.so.1")); err != nil {
		return fmt.Errorf("build the virtual GPU: %w", err)
	}
	return removeAllBut(dir, append(slices.Clone(p.order), "libcuda.so.1"))
}

func removeAllBut(dir string, keep []string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("build the virtual GPU: %w", err)
	}
	for _, e := range entries {
		if slices.Contains(keep, e.Name()) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("build the virtual GPU: %w", err)
		}
	}
	return nil
}

// lockFile takes an exclusive lock that ends with the process.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the cache: %w", err)
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			_ = f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
