package capture

import (
	"context"
	"errors"

	"github.com/plimsoll-dev/plimsoll/internal/capture/overlay"
	"github.com/plimsoll-dev/plimsoll/internal/capture/vgpu"
)

// A Machine makes the virtual GPU for an interpreter's PyTorch.
type Machine interface {
	Prepare(ctx context.Context, python, cacheDir string, progress func(string)) (Shims, error)
}

// Shims are libraries that are ready to be preloaded.
type Shims struct {
	Torch string   // PyTorch's version
	CUDA  string   // that it was built for
	Dir   string   // goes first in LD_LIBRARY_PATH
	Env   []string // what else a process needs, LD_PRELOAD among it
	Files string   // library that redirects writes, "" for none
}

// realMachine builds the virtual GPU of package vgpu.
type realMachine struct{}

// Prepare probes the interpreter and builds what it needs.
func (realMachine) Prepare(ctx context.Context, python, cacheDir string, progress func(string)) (Shims, error) {
	torch, err := vgpu.Probe(ctx, python)
	if err != nil {
		return Shims{}, probeError(err, python)
	}
	if cacheDir == "" {
		if cacheDir, err = vgpu.CacheDir(); err != nil {
			return Shims{}, err
		}
	}
	lib, err := vgpu.Prepare(ctx, torch, cacheDir, progress)
	if err != nil {
		return Shims{}, err
	}
	files, err := overlay.Prepare(ctx, cacheDir, progress)
	if errors.Is(err, overlay.ErrNoCompiler) {
		return Shims{}, &Error{Msg: err.Error(), Hint: "install gcc, or use a release of plimsoll"}
	}
	if err != nil {
		return Shims{}, err
	}
	return Shims{Torch: torch.Version, CUDA: torch.CUDA, Dir: lib.Dir, Env: lib.Env(), Files: files}, nil
}

func probeError(err error, python string) error {
	if p, ok := errors.AsType[*vgpu.ProbeError](err); ok {
		return &Error{Msg: python + ": " + p.Detail, Hint: p.Hint}
	}
	return err
}

// deviceEnv is the virtual machine's description for its libraries.
func deviceEnv(o Options, log string) []string {
	c := o.Card
	return vgpu.Config{
		Name: c.DeviceName, Count: c.Count, Capability: c.Capability, Multiprocessors: c.Multiprocessors,
		ThreadsPerMultiprocessor:      c.Limits.ThreadsPerMultiprocessor,
		BlocksPerMultiprocessor:       c.Limits.BlocksPerMultiprocessor,
		SharedMemoryPerBlockOptin:     c.Limits.SharedMemoryPerBlock,
		SharedMemoryPerMultiprocessor: c.Limits.SharedMemory,
		L2:                            c.L2,
		Capacity:                      c.Capacity,
		Context:                       o.Context,
		CuDNNWorkspace:                o.CuDNNWorkspace,
		Log:                           log,
	}.Env()
}
