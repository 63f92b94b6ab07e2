package vgpu

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
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
	CUDA    int      // the version that it reports, 13020 for 13.2
	// Versions of NVIDIA's libraries that PyTorch requires, as variables; none
	// when it does not say.
	Versions []string
	Report   BuildReport
}

// BuildReport says how a Library came to be.
type BuildReport struct {
	Cached   bool     // the core was there already
	Seconds  float64  // of scanning and building
	Symbols  int      // names that PyTorch and its companions import
	Sonames  int      // libraries stood in for
	Unlisted []string // imported names without a row in the manifest: refused
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
	p, err := newPlan(ctx, t, cacheDir, progress)
	if err != nil {
		return Library{}, err
	}
	lib := Library{Dir: filepath.Join(cacheDir, p.key), CUDA: t.CUDANumber(), Versions: libraryVersions(t), Report: p.report}
	if !p.complete(lib.Dir) {
		if err := p.install(cacheDir, lib.Dir); err != nil {
			return Library{}, err
		}
		prune(cacheDir, begin)
	}
	touch(lib.Dir, begin)
	touch(p.core, begin)
	for _, file := range p.order() {
		lib.Preload = append(lib.Preload, filepath.Join(lib.Dir, file))
	}
	lib.Report.Seconds = time.Since(begin).Seconds()
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

// A plan is the folder of libraries that serves one PyTorch.
type plan struct {
	core   string            // path
	files  map[string][]byte // the stand-ins
	key    string            // the folder's name
	report BuildReport
}

func newPlan(ctx context.Context, t Torch, cacheDir string, progress func(string)) (*plan, error) {
	ls, err := readLibraries(libraryTable)
	if err != nil {
		return nil, fmt.Errorf("prepare the virtual GPU: %w", err)
	}
	m, err := readManifest()
	if err != nil {
		return nil, fmt.Errorf("prepare the virtual GPU: %w", err)
	}
	imports, err := ls.scanThroughCache(t, filepath.Join(cacheDir, "scan.json"))
	if err != nil {
		return nil, fmt.Errorf("prepare the virtual GPU: %w", err)
	}
	nodes := shimNodes(imports, t.CUDANumber()/1000)
	maker := coreMaker{
		variant: variant{t.CUDANumber() / 1000, cudnnMajor(nodes), runtime.GOARCH},
		stubs:   m.stubs(ls), cacheDir: cacheDir, progress: progress, why: "PyTorch " + t.Version,
	}
	p := &plan{report: BuildReport{Symbols: len(imports.Symbols), Sonames: len(nodes)}}
	if p.core, p.report.Cached, err = maker.core(ctx); err != nil {
		return nil, err
	}
	defined, err := definedSymbols(p.core)
	if err != nil {
		return nil, fmt.Errorf("prepare the virtual GPU: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(imports.Symbols)) {
		if _, listed := m.Kind(name); !listed {
			p.report.Unlisted = append(p.report.Unlisted, name)
		}
	}
	refused, noop := strangers(m, imports.Symbols, defined)
	if p.files, err = standIns(runtime.GOARCH, nodes, refused, noop); err != nil {
		return nil, err
	}
	p.key = p.hash()
	return p, nil
}

// hash names the folder by all that goes into it.
func (p *plan) hash() string {
	h := sha256.New()
	_, _ = fmt.Fprintln(h, filepath.Base(p.core))
	for _, file := range slices.Sorted(maps.Keys(p.files)) {
		_, _ = fmt.Fprintln(h, file, len(p.files[file]))
		_, _ = h.Write(p.files[file])
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// order is the core first, then the others by name.
func (p *plan) order() []string {
	return append([]string{coreName}, slices.Sorted(maps.Keys(p.files))...)
}

// complete says whether a folder holds the whole. Folders appear by one rename,
// so a file is missing only when somebody removed it.
func (p *plan) complete(dir string) bool {
	for _, file := range slices.Concat(p.order(), drivers) {
		if !exists(filepath.Join(dir, file)) {
			return false
		}
	}
	return true
}

// install writes the folder beside its place and moves it there. When another
// process was faster its folder stays: it is the same.
func (p *plan) install(cacheDir, dir string) error {
	tmp, err := os.MkdirTemp(cacheDir, "build-*")
	if err != nil {
		return fmt.Errorf("install the virtual GPU: %w", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if err := p.write(tmp); err != nil {
		return fmt.Errorf("install the virtual GPU: %w", err)
	}
	err = os.Rename(tmp, dir)
	if err == nil || p.complete(dir) {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("install the virtual GPU: %w", err)
	}
	if err := os.Rename(tmp, dir); err != nil && !p.complete(dir) {
		return fmt.Errorf("install the virtual GPU: %w", err)
	}
	return nil
}

func (p *plan) write(dir string) error {
	text, err := os.ReadFile(p.core)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, coreName), text, 0o600); err != nil {
		return err
	}
	for file, text := range p.files {
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o600); err != nil {
			return err
		}
	}
	for _, name := range drivers {
		if err := os.Symlink(shimFile("libcuda.so.1"), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// drivers are the names under which Triton wants the driver's library: it
// looks for the first, and the linker that it starts looks for the second.
// Source: triton/backends/nvidia/driver.py, 3.2.
var drivers = []string{"libcuda.so.1", "libcuda.so"}

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
