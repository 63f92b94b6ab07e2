package proc

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A Variable is one of a process's environment.
type Variable struct{ Name, Value string }

// telling are beginnings of names that say how a training runs.
var telling = []string{
	"CUDA_", "NCCL_", "OMP_", "MKL_", "OPENBLAS_", "PYTORCH_", "TORCH_", "RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_", "SLURM_JOB", "SLURM_CPUS",
	"NVIDIA_VISIBLE", "TOKENIZERS_PARALLELISM", "XLA_", "TF_",
}

// hidden are parts of names whose values are nobody's business.
var hidden = []string{"TOKEN", "SECRET", "PASSW", "KEY", "CREDENTIAL"}

// mostVariables is more than a page shows.
const mostVariables = 40

// Environment are the variables of a process of this machine that say how a
// training runs, with its working folder first. What may hold a secret is left out.
func Environment(pid int, started uint64) ([]Variable, error) {
	if err := began(pid, started); err != nil {
		return nil, err
	}
	root, err := openProcess(pid)
	if err != nil {
		return nil, told(pid, err)
	}
	defer root.close()
	text, err := root.read("environ")
	if err != nil {
		return nil, told(pid, err)
	}
	var out []Variable
	for part := range bytes.SplitSeq(text, []byte{0}) {
		name, value, ok := strings.Cut(string(part), "=")
		if ok && tells(name) && len(out) < mostVariables {
			out = append(out, Variable{name, value})
		}
	}
	slices.SortFunc(out, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
	var buf [unix.PathMax]byte
	if n, err := unix.Readlink(fmt.Sprintf("/proc/%d/cwd", pid), buf[:]); err == nil {
		out = append([]Variable{{"folder", string(buf[:n])}}, out...)
	}
	return out, nil
}

func tells(name string) bool {
	if name == "TOKENIZERS_PARALLELISM" {
		return true
	}
	begins := func(s string) bool { return strings.HasPrefix(name, s) }
	holds := func(s string) bool { return strings.Contains(name, s) }
	return slices.ContainsFunc(telling, begins) && !slices.ContainsFunc(hidden, holds)
}
