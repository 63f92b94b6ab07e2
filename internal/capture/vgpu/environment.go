package vgpu

import (
	"os"
	"strconv"
	"strings"
)

// Env is what a process needs in its environment to run on this virtual GPU,
// besides [Config.Env]: the preload list, with further libraries after ours and
// what was to be preloaded anyway at the end, and where Triton finds libcuda.
func (l Library) Env(further ...string) []string {
	preload := append(append([]string{}, l.Preload...), further...)
	if before := os.Getenv("LD_PRELOAD"); before != "" {
		preload = append(preload, before)
	}
	return append([]string{
		"LD_PRELOAD=" + strings.Join(preload, ":"),
		"PLIMSOLL_CUDA=" + strconv.Itoa(l.CUDA),
		"TRITON_LIBCUDA_PATH=" + l.Dir,
	}, l.Versions...)
}
