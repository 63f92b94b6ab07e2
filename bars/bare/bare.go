// Package bare lets a program import PyTorch where NVIDIA's libraries are not
// installed, without the rest of a capture: PyTorch loads and sees no GPU that
// it could use.
package bare

import (
	"context"
	"os"

	"github.com/plimsoll-dev/plimsoll/internal/capture/vgpu"
)

// Environ is this process's environment, and what PyTorch needs to load the
// virtual GPU's libraries, which are built when they are not there.
func Environ(ctx context.Context, python string) ([]string, error) {
	torch, err := vgpu.Probe(ctx, python)
	if err != nil {
		return nil, err
	}
	dir, err := vgpu.CacheDir()
	if err != nil {
		return nil, err
	}
	lib, err := vgpu.Prepare(ctx, torch, dir, nil)
	if err != nil {
		return nil, err
	}
	env := append(os.Environ(), lib.Env()...)
	return append(env, "LD_LIBRARY_PATH="+lib.Dir), nil
}
