package idle

import "github.com/plimsoll-dev/plimsoll/finding"

// causesOfHolding are those in which a GPU is held and not used, or used by
// someone else.
var causesOfHolding = []Cause{
	{
		ID:     "wrong-device",
		Title:  "the job works on another GPU than it was given",
		Needs:  [][]string{{"asked-unused"}, {"other-used"}},
		Else:   "a job that uses the rest of its GPUs later",
		Decide: "print torch.cuda.current_device() and CUDA_VISIBLE_DEVICES in each process",
		Remedies: []Fix{
			{"choose the device by its number within CUDA_VISIBLE_DEVICES, or ask for fewer GPUs", "torch.cuda.set_device(local_rank), device_map", finding.SameNumbers},
		},
		lost: lostUnused,
	},
	{
		ID:     "zombie-context",
		Title:  "memory of the GPU is held by a process that is gone or cannot be seen",
		Needs:  [][]string{{"no-work"}, {"holder-gone"}},
		Else:   "a process in another container, which cannot be seen from here",
		Decide: "ask the host for the processes on the GPU: fuser -v /dev/nvidia*",
		Remedies: []Fix{
			{"end what is left of the process: its parent, and workers that have outlived it", "fuser -v /dev/nvidia*, kill PID", finding.SameNumbers},
		},
		lost: lostAll,
	},
	{
		ID:       "memory-full-idle",
		Title:    "a process holds nearly all memory of the GPU and runs nothing",
		Needs:    [][]string{{"no-work"}, {"memory-full"}, {"job-still"}},
		Excludes: []string{"holder-gone", "disk-wait", "file-wait"},
		Else:     "a server that waits for requests",
		Decide:   "watch for some minutes: a server has kernels now and then",
		Remedies: []Fix{
			{"stop the process, or let it take memory only as it needs it", "XLA_PYTHON_CLIENT_PREALLOCATE=false, --gpu-memory-utilization", finding.SameNumbers},
		},
		lost: lostAll,
	},
	{
		ID:       "idle-reservation",
		Title:    "a process holds the GPU and runs nothing",
		Needs:    [][]string{{"no-work"}, {"memory-held"}, {"job-still"}},
		Excludes: []string{"holder-gone", "disk-wait", "file-wait"},
		Else:     "a notebook whose user thinks, or a job that waits for another",
		Decide:   "watch for some minutes, or ask its owner",
		Remedies: []Fix{
			{"stop the process, or share the GPU with others", "", finding.SameNumbers},
		},
		lost: lostAll,
	},
	{
		ID:       "cpu-only",
		Title:    "the job computes on processors and leaves the GPU alone",
		Needs:    [][]string{{"no-work"}, {"memory-small"}, {"job-computes"}},
		Excludes: []string{"holder-gone", "asked-unused"},
		Else:     "preparations before the first step",
		Decide:   "print next(model.parameters()).device",
		Remedies: []Fix{
			{"move the model and each batch to the GPU", "model.to(\"cuda\"), batch.to(\"cuda\")", finding.SameNumbers},
		},
		lost: lostAll,
	},
	{
		ID:     "other-tenant",
		Title:  "another job computes on the same GPU",
		Needs:  [][]string{{"tenant"}, {"tenant-works", "tenant-computes"}},
		Else:   "ranks of the same job on one GPU",
		Decide: "read utilisation by process: nvidia-smi pmon",
		Remedies: []Fix{
			{"move one of the jobs to another GPU", "CUDA_VISIBLE_DEVICES", finding.SameNumbers},
		},
		lost: lostToTenant,
	},
}
