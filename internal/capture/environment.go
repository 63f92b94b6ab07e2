package capture

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/capture/command"
	"github.com/plimsoll-dev/plimsoll/internal/capture/helper"
	"github.com/plimsoll-dev/plimsoll/internal/capture/overlay"
)

// maxEntries is how many events the recording may have. A training step of a
// large model has some ten thousand.
const maxEntries = 10_000_000

// installHelper writes the helper and its settings into the run folder.
func installHelper(f *folder, o Options, c command.Command) error {
	if err := helper.Write(f.helper()); err != nil {
		return err
	}
	return helper.WriteSettings(f.settings(), helper.Settings{
		Out: f.results(), Steps: o.Steps, Timeout: o.Timeout.Seconds(), Zeros: o.Zeros, KeepInit: o.KeepInit, AllowWrites: o.AllowWrites,
		World: o.World, Rank: o.Rank, MaxEntries: maxEntries, ScriptDir: c.Dir, Operators: o.Operators,
	})
}

// An environment is the user's with our changes.
type environment struct {
	values map[string]string
}

func environmentOf(entries []string) environment {
	e := environment{map[string]string{}}
	for _, entry := range entries {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			e.values[name] = value
		}
	}
	return e
}

func (e environment) set(name, value string) { e.values[name] = value }

func (e environment) unset(name string) { delete(e.values, name) }

// prepend puts a path before those that a variable holds.
func (e environment) prepend(name, path string) {
	if old := e.values[name]; old != "" {
		path += string(filepath.ListSeparator) + old
	}
	e.values[name] = path
}

// list is the environment in a stable order.
func (e environment) list() []string {
	out := make([]string, 0, len(e.values))
	for _, name := range slices.Sorted(maps.Keys(e.values)) {
		out = append(out, name+"="+e.values[name])
	}
	return out
}

// caches are where libraries keep what they compile. They get a place in the
// run folder, so that a capture neither fills nor trusts the user's own.
var caches = map[string]string{
	"TRITON_CACHE_DIR":        "triton",
	"TORCHINDUCTOR_CACHE_DIR": "inductor",
	"TORCH_EXTENSIONS_DIR":    "extensions",
	"CUDA_CACHE_PATH":         "cuda",
	"NUMBA_CACHE_DIR":         "numba",
	"MPLCONFIGDIR":            "matplotlib",
}

// scriptEnvironment is what the script sees.
func scriptEnvironment(f *folder, o Options, shims Shims) ([]string, error) {
	e := environmentOf(o.Environ)
	// The virtual machine has its own devices, from 0.
	e.unset("CUDA_VISIBLE_DEVICES")
	e.unset("NVIDIA_VISIBLE_DEVICES")
	for _, entry := range shims.Env {
		if name, value, ok := strings.Cut(entry, "="); ok {
			e.set(name, value)
		}
	}
	e.prepend("LD_LIBRARY_PATH", shims.Dir)
	e.prepend("PYTHONPATH", f.helper())
	e.set(helper.Variable, f.settings())
	e.set("TMPDIR", f.tmp())
	for name, dir := range caches {
		e.set(name, filepath.Join(f.tmp(), dir))
	}
	e.set("PYTHONUNBUFFERED", "1")
	// Bytecode beside the user's modules would be a change outside the folder.
	e.set("PYTHONDONTWRITEBYTECODE", "1")
	if o.AllocConf != "" {
		// Newer PyTorch reads the first, older the second; both say the same.
		e.set("PYTORCH_ALLOC_CONF", o.AllocConf)
		e.set("PYTORCH_CUDA_ALLOC_CONF", o.AllocConf)
	}
	if shims.Files != "" && !o.AllowWrites {
		value, err := overlay.Config{Root: f.overlay(), Log: f.filesLog(), Allow: []string{f.path}}.Value()
		if err != nil {
			return nil, err
		}
		e.set(overlay.Variable, value)
		e.prepend("LD_PRELOAD", shims.Files)
	}
	return e.list(), nil
}

// allocConf is the setting in force: --alloc-conf or the user's variable, in
// the order in which PyTorch 2.9 and newer read them.
func (o Options) allocConf() string {
	for _, v := range []string{o.AllocConf, o.getenv("PYTORCH_ALLOC_CONF"), o.getenv("PYTORCH_CUDA_ALLOC_CONF")} {
		if v != "" {
			return v
		}
	}
	return ""
}
