package diagnose

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/unit"
)

var hostRules = []rule{
	{
		id: "worker-killed", cause: "host_ram", kinds: []string{"worker_killed"}, confidence: finding.High,
		why: "only the kernel's OOM killer and people send SIGKILL to loader workers",
		verdict: func(*situation) string {
			return "host memory, not the GPU: the kernel killed a loader worker"
		},
		remedies: actions("fewer workers: each holds its own copy of what the data set touches", "keep samples in arrays or memory-mapped files instead of lists of Python objects, which are copied page by page",
			"look at the memory over time: growth from step to step is a leak, in the data set or a cache"),
	},
	{
		id: "shared-memory", cause: "host_shm", kinds: []string{"worker_shm", "shm_full", "nccl_shm", "torchrun_sigbus"}, confidence: finding.High,
		why: "a bus error of a process that shares tensors means that /dev/shm is full",
		verdict: func(*situation) string {
			return "shared memory (/dev/shm) is full, neither host memory as such nor the GPU; containers have 64 MiB of it by default"
		},
		remedies: func(*situation) []finding.Remedy {
			return []finding.Remedy{
				{Action: "more shared memory for the container", Flag: "docker run --shm-size=8g, or --ipc=host", Exact: finding.SameNumbers},
				{Action: "less in it at a time: workers x prefetch_factor x bytes of a batch", Flag: "num_workers=2, prefetch_factor=2", Exact: finding.SameNumbers},
			}
		},
	},
	{
		id: "shared-memory-grows", cause: "host_shm", kinds: []string{"shm_series"}, confidence: finding.High,
		why: "its use rises from sample to sample and never falls",
		verdict: func(s *situation) string {
			rate, last, full := s.growth()
			out := fmt.Sprintf("/dev/shm grows by about %s from sample to sample without a plateau, to %s: a leak, not a limit that is too small", fine(rate), fine(last))
			if full > 0 && rate > 0 {
				out += fmt.Sprintf("; %.1f samples later its %s are full", float64(full-last)/float64(rate), fine(full))
			}
			return out
		},
		remedies: actions("let go of batches: what is kept of one (a list of losses, of ids) keeps all its shared memory; clone what you keep", "find the consumer that is slower than the workers"),
	},
	{
		id: "rank-killed", cause: "host_ram", kinds: []string{"torchrun_sigkill"}, confidence: finding.Medium,
		why: "a rank got SIGKILL without a Python error, as from the kernel's OOM killer",
		verdict: func(s *situation) string {
			what := ""
			if s.loadsCheckpoint() {
				what = " while checkpoints were loaded, which takes about the model's bytes for each rank"
			}
			return "host memory, not the GPU: a rank was killed by signal 9 without any Python error" + what
		},
		remedies: actions("load on one rank and broadcast, or with low_cpu_mem_usage=True and memory-mapped files", "dmesg on the node names the process that the kernel killed, and what it held", "more memory for the job"),
	},
	{
		id: "job-limit", cause: "job_memory_limit", kinds: []string{"slurm_oom", "cgroup_oom", "k8s_oomkilled", "lsf_memlimit", "pbs_memlimit", "condor_memlimit", "container_memlimit"}, confidence: finding.High,
		why: "the scheduler or the kernel says that the limit of the job or container was reached",
		verdict: func(s *situation) string {
			if rss, there := s.m.Get("rss_bytes"); there {
				return fmt.Sprintf("host memory: the limit of the job or container was reached, with %s in the process that was killed; not the node's memory, not the GPU", fine(rss))
			}
			if limit, there := s.m.Get("limit_bytes"); there {
				used, _ := s.m.Get("used_bytes")
				return fmt.Sprintf("host memory: the job's limit of %s was reached, with %s in use; not the node's memory, not the GPU", fine(limit), fine(used))
			}
			return "host memory: the limit of the job or container was reached, which is neither the node's memory nor the GPU"
		},
		remedies: func(s *situation) []finding.Remedy {
			return []finding.Remedy{
				{Action: "ask for more memory", Flag: memorySettings[s.m.Kind.Name], Exact: finding.SameNumbers},
				{Action: "fewer loader workers, and no data set in memory for each of them", Flag: "num_workers=2", Exact: finding.SameNumbers},
			}
		},
	},
	{
		id: "machine-memory", cause: "host_ram", kinds: []string{"kernel_oom", "kernel_oom_begins", "ray_oom", "bad_alloc", "k8s_evicted", "errno_nomem", "python_memory_error", "notebook_ram", "opencl_host"}, confidence: finding.High,
		why: "the kernel, or who watches it, says that the machine ran out",
		verdict: func(s *situation) string {
			if rss, there := s.m.Get("rss_bytes"); there {
				return fmt.Sprintf("host memory, not the GPU: the machine ran out and the kernel killed process %d, which held %s", s.m.Fields["pid"], fine(rss))
			}
			return "host memory, not the GPU: the machine ran out"
		},
		remedies: actions("fewer workers and ranks on the machine", "keep samples in arrays or memory-mapped files", "a machine with more memory"),
	},
	{
		id: "unit-killed", cause: "host_ram", kinds: []string{"systemd_oom"}, confidence: finding.Medium,
		why: "systemd or a daemon beside it ended the unit for memory; it does not say whether the machine or a limit of the unit ran out",
		verdict: func(*situation) string {
			return "host memory, not the GPU: systemd ended the unit because the machine, or what the unit may take of it, ran out"
		},
		remedies: actions("systemctl show UNIT -p MemoryMax -p MemoryPeak tells whether it was the unit's limit; journalctl -k | grep -i oom names the process",
			"a unit of its own for the training, that the daemon leaves alone: systemd-run --user --scope -p ManagedOOMPreference=avoid ...", "fewer loader workers; data in arrays or memory-mapped files"),
	},
	{
		id: "heap-limit", cause: "host_ram", kinds: []string{"runtime_heap"}, confidence: finding.Medium,
		why: "a runtime reports its own heap, which is memory of the host",
		verdict: func(*situation) string {
			return "host memory, not the GPU: the heap that this runtime may use is full; the machine may have more"
		},
		remedies: actions("a larger heap: -Xmx (Java), spark.driver.memory and spark.executor.memory (Spark), NODE_OPTIONS=--max-old-space-size (Node)"),
	},
	{
		id: "weights-in-host-memory", cause: "host_ram", kinds: []string{"ollama_host"}, confidence: finding.High,
		why: "the program compares what the model takes of the machine's memory with what is free of it",
		verdict: func(s *situation) string {
			want, _ := s.m.Get("requested_host_bytes")
			have, _ := s.m.Get("free_host_bytes")
			return fmt.Sprintf("host memory, not the GPU: the model takes %s of the machine's memory and %s are free", fine(want), fine(have))
		},
		remedies: actions("a smaller or more quantised model, or a shorter context", "more layers on the GPU, if it has room", "swap, for trying only"),
	},
	{
		id: "program-killed", cause: "host_ram", kinds: []string{"shell_killed"}, confidence: finding.Medium,
		why: "the shell or the container reports SIGKILL, which the kernel's OOM killer sends when the machine or a container runs out",
		verdict: func(*situation) string {
			return "host memory, not the GPU: the program was killed from outside, as the kernel does when the machine or the container runs out; a GPU shortage would have given a Python error"
		},
		remedies: actions("dmesg | grep -i oom on the node names the process and what it held", "fewer loader workers; data in arrays or memory-mapped files", "more memory for the machine, the container or the job"),
	},
	{
		id: "workers-gone", cause: "host_ram", kinds: []string{"worker_exited"}, confidence: finding.Low,
		why: "workers that end without an error of their own were mostly killed for memory",
		verdict: func(*situation) string {
			return "loader workers ended without an error of their own: most often the kernel killed them for host memory, or /dev/shm was full"
		},
		remedies: actions("num_workers=0 shows the error itself, if there is one", "fewer workers; df -h /dev/shm while it runs"),
	},
	{
		id: "host-allocation", cause: "host_ram", kinds: []string{"cpu_alloc", "numpy_alloc"}, confidence: finding.High,
		why: "the allocation was one of the CPU",
		verdict: func(s *situation) string {
			n, there := s.m.Get("requested_host_bytes")
			switch {
			case !there:
				return "host memory, not the GPU: an allocation on the CPU was refused"
			case s.m.Words["shape"] != "":
				return fmt.Sprintf("host memory, not the GPU: an array of (%s) %s takes %s", s.m.Words["shape"], s.m.Words["dtype"], fine(n))
			}
			return fmt.Sprintf("host memory, not the GPU: %s were refused on the CPU%s", fine(n), s.phase())
		},
		remedies: func(s *situation) []finding.Remedy {
			out := []finding.Remedy{{Action: "do it in parts, or keep results on disk: what is collected over a data set grows with it"}}
			if s.m.Words["shape"] != "" {
				out = append([]finding.Remedy{{Action: "keep a sparse matrix sparse, or read it in chunks"}}, out...)
			}
			return out
		},
	},
	{
		id: "commit-limit", cause: "host_commit_limit", kinds: []string{"win_commit"}, confidence: finding.High,
		why: "error 1455 of Windows is its commit limit",
		verdict: func(*situation) string {
			return "not GPU memory: Windows has promised all the memory it has; every worker process commits some GiB for the CUDA libraries it loads"
		},
		remedies: actions("fewer loader workers (each loads the libraries again)", "a larger page file: System, Advanced, Performance, Virtual memory"),
	},
}

// memorySettings are where the limit of a job or container is set, by who says
// that it was reached.
var memorySettings = map[string]string{
	"slurm_oom":          "sbatch --mem=...",
	"lsf_memlimit":       "bsub -M ... -R \"rusage[mem=...]\"",
	"pbs_memlimit":       "qsub -l mem=...",
	"condor_memlimit":    "request_memory = ...",
	"k8s_oomkilled":      "resources.limits.memory of the container",
	"container_memlimit": "memory of the container or the task definition, spark.executor.memoryOverhead",
	"cgroup_oom":         "docker run --memory=..., resources.limits.memory, sbatch --mem=...",
}

// loadsCheckpoint reports whether lines around the message tell of loading.
func (s *situation) loadsCheckpoint() bool {
	_, ok := find(append(append([]string{}, s.m.Before...), s.m.After...), []string{"checkpointshards", "load_state_dict", "torch.load(", "loadingmodel", "from_pretrained("})
	return ok
}

// growth is what a series of sizes rises by from sample to sample, where it
// ended, and where it cannot rise any more.
func (s *situation) growth() (rate, last, full unit.Bytes) {
	v := s.m.Series
	if len(v) < 2 {
		return 0, 0, 0
	}
	return unit.Bytes((v[len(v)-1] - v[0]) / float64(len(v)-1)), unit.Bytes(v[len(v)-1]), unit.Bytes(s.m.Full)
}

var behaviourRules = []rule{
	{
		id: "gradients-cut", cause: "checkpoint_reentrant_no_grad", kinds: []string{"checkpoint_warning"}, confidence: finding.High,
		why: "PyTorch warns that the segment gets no gradients",
		verdict: func(*situation) string {
			return "no memory is short: re-entrant activation checkpointing cuts the gradients of a segment off, which then does not learn"
		},
		remedies: func(*situation) []finding.Remedy {
			return []finding.Remedy{
				{Action: "checkpointing that is not re-entrant", Flag: "use_reentrant=False", Exact: finding.ChangesResults},
				{Action: "or let the inputs need gradients", Flag: "model.enable_input_require_grads()", Exact: finding.ChangesResults},
			}
		},
	},
	{
		id: "few-workers", cause: "input_starved", kinds: []string{"util_warning"}, confidence: finding.High,
		why: "the trainer counted workers and CPUs",
		verdict: func(s *situation) string {
			if n, there := s.m.Fields["cpus"]; there {
				return fmt.Sprintf("no memory is short: few workers load data where the machine has %d CPUs, so that the GPU waits; a full card at 0 %% goes with it", n)
			}
			return "no memory is short: few workers load data, so that the GPU waits"
		},
		remedies: func(*situation) []finding.Remedy {
			return []finding.Remedy{
				{Action: "more workers", Flag: "num_workers=8", Exact: finding.SameNumbers},
				{Action: "pinned memory for the copies to the GPU", Flag: "pin_memory=True, persistent_workers=True", Exact: finding.SameNumbers},
			}
		},
	},
	{
		id: "bursts", cause: "input_starved", kinds: []string{"util_timing"}, confidence: finding.Medium,
		why: "batches arrive in bursts as large as the number of workers",
		verdict: func(s *situation) string {
			n := int(s.m.Fields["workers"])
			v := s.m.Series
			each := (v[len(v)-1] - v[0]) / float64(len(v)-n)
			return fmt.Sprintf("no memory is short: %d batches come together every %.1f s, %.2f s a batch; the workers are busy in lockstep and the CPU decides", n, each*float64(n), each)
		},
		remedies: actions("cheaper decoding and augmentation: smaller images on disk, another decoder, work moved to the GPU", "more CPU cores; with all cores busy a larger number of processes brings nothing"),
	},
}

// lastRules hold for what has no rule of its own.
var lastRules = []rule{
	{
		id: "other-library", cause: "device_full", confidence: finding.Low,
		why: "a library says that the device ran out, and no more",
		verdict: func(s *situation) string {
			out := "the GPU ran out of memory"
			if s.request > 0 {
				out += fmt.Sprintf(" when %s were asked for", fine(s.request))
			}
			if used, there := s.m.Get("in_use_bytes"); there {
				out += fmt.Sprintf(", with %s in use", fine(used))
			} else if s.allocated > 0 {
				out += fmt.Sprintf(", with %s allocated by this library", fine(s.allocated))
			}
			return out
		},
		remedies: actions("see what holds the GPU: nvidia-smi", "less at once: smaller batches or parts"),
	},
}
