package oomlog

// The numbers of signals in Linux.
const (
	sigBus  = 7
	sigKill = 9
)

// hostKinds are messages about the memory of the machine, not of a GPU.
var hostKinds = []Kind{
	{
		Name: "worker_killed", Framework: "pytorch", Versions: "0.4-2.15", About: "a loader worker got SIGKILL, mostly from the kernel's OOM killer",
		Form: "DataLoader worker (pid {*}) is killed by signal: Killed", Fixed: map[string]int64{"signal": sigKill}, Fields: []string{"signal"},
		Example: "RuntimeError: DataLoader worker (pid 22358) is killed by signal: Killed.",
	},
	{
		Name: "worker_shm", Framework: "pytorch", Versions: "0.4-2.15", About: "a loader worker found no room in /dev/shm",
		Form:  "DataLoader worker (pid {*}) is killed by signal: Bus error",
		Also:  []string{"Unexpected bus error encountered in worker"},
		Fixed: map[string]int64{"signal": sigBus}, Fields: []string{"signal"}, Absorbs: []string{"worker_killed", "worker_exited"},
		Example: "RuntimeError: DataLoader worker (pid 7579) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.",
	},
	{
		Name: "shm_full", Framework: "pytorch", Versions: "0.4-2.15", About: "a tensor found no room in /dev/shm",
		Form: "unable to write to file </torch_", Also: []string{"unable to allocate shared memory(shm)", "unable to resize file </torch_"},
		Example: "RuntimeError: unable to write to file </torch_1234_5678>: No space left on device (28)",
	},
	{
		Name: "nccl_shm", Framework: "pytorch", Versions: "1.0-2.15", About: "NCCL found no room in /dev/shm",
		Form: "Error: failed to extend /dev/shm/nccl-", Also: []string{"Error while creating shared memory segment /dev/shm/nccl-"},
		Example: "ubuntu:9621:9688 [3] misc/shmutils.cc:71 NCCL WARN Error: failed to extend /dev/shm/nccl-fjwOOB to 5967876 bytes",
	},
	{
		Name: "worker_exited", Framework: "pytorch", Versions: "0.4-2.15", About: "loader workers ended without saying why",
		Form:    "DataLoader worker (pid(s) {*}) exited unexpectedly",
		Example: "RuntimeError: DataLoader worker (pid(s) 1234, 1235) exited unexpectedly",
	},
	{
		Name: "torchrun_sigkill", Framework: "pytorch", Versions: "1.9-2.15", About: "a rank got SIGKILL, mostly from the kernel's OOM killer",
		Form: "failed (exitcode: -9)", Also: []string{"exitcode : -9 (pid:", "Signal 9 (SIGKILL) received by PID", "died with <Signals.SIGKILL: 9>", "terminated with signal SIGKILL", "exits with return code = -9", "was killed by signal 9 (SIGKILL)"},
		Fixed: map[string]int64{"signal": sigKill}, Fields: []string{"signal"},
		Example: "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank: 0 (pid: 27657) of binary: python",
	},
	{
		Name: "torchrun_sigbus", Framework: "pytorch", Versions: "1.9-2.15", About: "a rank got SIGBUS, mostly from a full /dev/shm",
		Form: "failed (exitcode: -7)", Also: []string{"exitcode : -7 (pid:", "Signal 7 (SIGBUS) received by PID"},
		Fixed: map[string]int64{"signal": sigBus}, Fields: []string{"signal"},
		Example: "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -7) local_rank: 0 (pid: 27657) of binary: python",
	},
	{
		Name: "slurm_oom", Framework: "slurm", Versions: "any", About: "the job's memory limit",
		Form: "oom-kill event", Also: []string{"oom_kill event", "oom-kill event(s)", "Exceeded job memory limit", "Exceeded step memory limit", "exceeded memory limit (", "State: OUT_OF_MEMORY", "OUT_OF_ME+", "srun: error: {_:word} task {_:word} Out Of Memory"}, Absorbs: []string{"shell_killed"},
		Example: "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=191.batch cgroup. Some of your processes may have been killed by the cgroup out-of-memory handler.",
	},
	{
		Name: "lsf_memlimit", Framework: "lsf", Versions: "any", About: "the job's memory limit, bsub -M",
		Form:    "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit",
		Example: "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.",
	},
	{
		Name: "pbs_memlimit", Framework: "pbs", Versions: "any", About: "the job's memory limit, qsub -l mem=",
		Form:   "PBS: job killed: <?v?>mem <?job total ?>{used_bytes:size} exceeded limit {limit_bytes:size}",
		Also:   []string{"PBS: job killed: <?v?>mem <?job total ?>{used_bytes:int} exceeded limit {limit_bytes:int}"},
		Fields: []string{"used_bytes", "limit_bytes"}, Least: 2,
		Example: "=>> PBS: job killed: mem 16784392kb exceeded limit 16777216kb",
	},
	{
		Name: "condor_memlimit", Framework: "htcondor", Versions: "any", About: "the job's memory limit, request_memory",
		Form:    "Job has gone over <?cgroup ?>memory limit of {_:int} megabytes",
		Example: "Job has gone over memory limit of 2048 megabytes. Peak usage: 2100 megabytes.",
	},
	{
		Name: "container_memlimit", Framework: "container", Versions: "any", About: "the container's memory limit, as ECS, YARN and Vertex AI tell of it",
		Form:    "Container killed due to memory usage",
		Also:    []string{"Container killed by YARN for exceeding memory limits", "is running beyond physical memory limits", "ran out-of-memory and exited with a non-zero status of"},
		Absorbs: []string{"shell_killed"},
		Example: "OutOfMemoryError: Container killed due to memory usage",
	},
	{
		Name: "kernel_oom", Framework: "linux", Versions: "any", About: "the kernel's OOM killer, whole machine", Absorbs: []string{"kernel_oom_begins"},
		Form:    "Out of memory: Killed process {pid:int} (<?{name:text}) total-vm:{total_vm_bytes:size}, anon-rss:{rss_bytes:size}?>",
		Also:    []string{"Out of memory: Kill process {pid:int} (", "oom-kill:constraint=CONSTRAINT_NONE", "System OOM encountered, victim process: {name:text}, pid: {pid:int}", "Killed process {pid:int} (<?{name:text}) total-vm:{total_vm_bytes:size}, anon-rss:{rss_bytes:size}?>"},
		Fields:  []string{"pid", "total_vm_bytes", "rss_bytes"},
		Example: "[12345.678901] Out of memory: Killed process 4242 (python3) total-vm:98765432kB, anon-rss:65432100kB, file-rss:0kB, shmem-rss:0kB",
	},
	{
		Name: "kernel_oom_begins", Framework: "linux", Versions: "any", About: "the kernel's OOM killer starts; whom it kills is not in this log",
		Form:    "invoked oom-killer:",
		Example: "[597411.196310] python3 invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), order=0, oom_score_adj=0",
	},
	{
		Name: "cgroup_oom", Framework: "linux", Versions: "any", About: "the kernel's OOM killer, for a container or a job",
		Form:    "Memory cgroup out of memory: Killed process {pid:int} (<?{name:text}) total-vm:{total_vm_bytes:size}, anon-rss:{rss_bytes:size}?>",
		Also:    []string{"oom-kill:constraint=CONSTRAINT_MEMCG", "Memory cgroup out of memory: Kill process {pid:int} ("},
		Absorbs: []string{"kernel_oom_begins", "kernel_oom"},
		Fields:  []string{"pid", "total_vm_bytes", "rss_bytes"},
		Example: "Memory cgroup out of memory: Killed process 4242 (python3) total-vm:98765432kB, anon-rss:65432100kB, file-rss:0kB, shmem-rss:0kB",
	},
	{
		Name: "systemd_oom", Framework: "systemd", Versions: "any", About: "systemd, its oomd or earlyoom ended a unit for the memory of the machine or of the unit",
		Form: "A process of this unit has been killed by the OOM killer",
		Also: []string{
			"Failed with result 'oom-kill'", "systemd-oomd killed {_:int} process(es) in this unit", "due to memory pressure for {*} being {*} for > ",
			"due to memory used ({_:int}) / total ({_:int}) and swap used", "low memory! at or below SIG",
		},
		Absorbs: []string{"shell_killed", "kernel_oom_begins"},
		Example: "systemd[1]: train.service: A process of this unit has been killed by the OOM killer.",
	},
	{
		Name: "shell_killed", Framework: "linux", Versions: "any", About: "a shell says that a program got SIGKILL, mostly from the kernel's OOM killer",
		Form: "Killed", Also: []string{": line {_:int}: {pid:int} Killed", "zsh: killed", "Exit Code: 137", "exit code 137", "exited with code 137", "exit status 137", "\"ExitCode\": 137", "srun: error: {_:word} task {_:word} Killed", "died through signal KILL"}, Fields: []string{"pid"}, Finish: onlyKilled,
		Example: "/var/spool/slurmd/job00191/slurm_script: line 28:  8156 Killed                  python3 main.py",
	},
	{
		Name: "k8s_oomkilled", Framework: "kubernetes", Versions: "any", About: "the container's memory limit",
		Form: "OOMKilled", Finish: oneWord, Absorbs: []string{"shell_killed"},
		Example: "    Reason:       OOMKilled",
	},
	{
		Name: "k8s_evicted", Framework: "kubernetes", Versions: "any", About: "the node ran low, and Kubernetes took the pod off it",
		Form:    "The node was low on resource: memory",
		Example: "Message:      The node was low on resource: memory. Container trainer was using 61Gi, which exceeds its request of 16Gi.",
	},
	{
		Name: "ray_oom", Framework: "ray", Versions: "any", About: "Ray ended a task before the machine ran out",
		Form: "Task was killed due to the node running low on memory", Also: []string{"killed due to the node running low on memory", "Workers (tasks / actors) killed due to memory pressure (OOM)"},
		Example: "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.",
	},
	{
		Name: "cpu_alloc", Framework: "pytorch", Versions: "1.0-2.15", About: "a tensor of the CPU",
		Form:   "DefaultCPUAllocator: can't allocate memory: you tried to allocate {requested_host_bytes:int} bytes",
		Also:   []string{"DefaultCPUAllocator: not enough memory: you tried to allocate {requested_host_bytes:int}", "not enough memory: you tried to allocate {requested_host_bytes:size}. Buy new RAM", "posix_memalign(&data, gAlignment, nbytes) == 0. 12 vs 0"},
		Fields: []string{"requested_host_bytes"}, Least: 1,
		Example: "RuntimeError: [enforce fail at alloc_cpu.cpp:73] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 3077222400 bytes. Error code 12 (Cannot allocate memory)",
	},
	{
		Name: "numpy_alloc", Framework: "numpy", Versions: "any", About: "an array of the CPU",
		Form:   "Unable to allocate {requested_host_bytes:size} for an array with shape ({shape:shape})<? and data type {dtype:word}?>",
		Also:   []string{"Unable to allocate array with shape ({shape:shape})<? and data type {dtype:word}?>"},
		Fields: []string{"requested_host_bytes"}, Least: 1, Finish: finishArray,
		Example: "numpy.core._exceptions.MemoryError: Unable to allocate 926. GiB for an array with shape (6794880, 36601) and data type float32",
	},
	{
		Name: "errno_nomem", Framework: "linux", Versions: "any", About: "the kernel refused memory to a program, or to start another one",
		Form: "[Errno 12] Cannot allocate memory", Also: []string{"fork: Cannot allocate memory", "errno=12) Cannot allocate memory", "Cannot allocate memory for thread-local data", "unable to mmap {*}: Cannot allocate memory (12)"},
		Example: "OSError: [Errno 12] Cannot allocate memory",
	},
	{
		Name: "python_memory_error", Framework: "python", Versions: "any", About: "Python itself got no memory",
		Form: "MemoryError", Finish: onlyLine,
		Example: "MemoryError",
	},
	{
		Name: "win_commit", Framework: "pytorch", Versions: "1.0-2.15", About: "what Windows promises to all processes is used up",
		Form: "[WinError 1455]", Also: []string{
			"The paging file is too small for this operation to complete", "Die Auslagerungsdatei ist zu klein", "Le fichier de pagination est insuffisant",
			"DLL load failed{*}页面文件太小", "DLL load failed{*}\xd2\xb3\xc3\xe6\xce\xc4\xbc\xfe\xcc\xab\xd0\xa1", // the same in GBK
		},
		Example: "OSError: [WinError 1455] The paging file is too small for this operation to complete. Error loading \"caffe2_detectron_ops.dll\" or one of its dependencies.",
	},
	{
		Name: "runtime_heap", Framework: "java", Versions: "any", About: "the heap that a runtime may use is full",
		Form:    "java.lang.OutOfMemoryError: Java heap space",
		Also:    []string{"java.lang.OutOfMemoryError: GC overhead limit exceeded", "JavaScript heap out of memory"},
		Example: "Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space",
	},
	{
		Name: "cuda_host_alloc", Framework: "cuda", Versions: "any", About: "pinned memory of the host could not be had",
		Form: "cudaHostAlloc failed, ret[2], out of memory", Also: []string{"hipHostMalloc failed: out of memory", "cudaHostAlloc failed: out of memory", "cudaMallocHost failed: out of memory"},
		Example: "[ERROR] MD(14433,7fea2effd700,python): [mindspore/ccsrc/minddata/dataset/util/arena.cc:250] Init] cudaHostAlloc failed, ret[2], out of memory",
	},
	{
		Name: "opencl_host", Framework: "opencl", Versions: "any", About: "OpenCL got no memory of the host",
		Form: "LightGBMError: Out of Host Memory", Also: []string{"CL_OUT_OF_HOST_MEMORY"},
		Example: "lightgbm.basic.LightGBMError: Out of Host Memory",
	},
	{
		Name: "notebook_ram", Framework: "notebook", Versions: "any", About: "a hosted notebook used up the machine",
		Form: "Your session crashed after using all available RAM", Also: []string{"Your notebook tried to allocate more memory than is available"},
		Example: "Your session crashed after using all available RAM.",
	},
	{
		Name: "ollama_host", Framework: "ollama", Versions: "any", About: "what a model takes of the machine's memory is not there",
		Form:   "model requires more system memory ({requested_host_bytes:size}) than is available ({free_host_bytes:size})",
		Fields: []string{"requested_host_bytes", "free_host_bytes"}, Least: 2,
		Example: "Error: model requires more system memory (10.4 GiB) than is available (8.2 GiB)",
	},
	{
		Name: "bad_alloc", Framework: "c++", Versions: "any", About: "memory of the host for a C++ program",
		Form: "std::bad_alloc", Also: []string{"MemoryError: bad allocation"},
		Example: "terminate called after throwing an instance of 'std::bad_alloc'",
	},
}

// behaviourKinds are messages that people bring when they ask about memory or
// a slow GPU, and that are not about exhausted memory at all.
var behaviourKinds = []Kind{
	{
		Name: "checkpoint_warning", Framework: "pytorch", Versions: "0.4-2.15", About: "re-entrant checkpointing cuts gradients off",
		Form:    "None of the inputs have requires_grad=True. Gradients will be None",
		Example: "UserWarning: None of the inputs have requires_grad=True. Gradients will be None",
	},
	{
		Name: "util_warning", Framework: "lightning", Versions: "0.8-2.9", About: "few workers load data",
		Form:    "does not have many workers which may be a bottleneck<?{*}(try {cpus:int} which is the number of cpus on this machine)?>",
		Fields:  []string{"cpus"},
		Example: "UserWarning: The dataloader, train dataloader, does not have many workers which may be a bottleneck. Consider increasing the value of the `num_workers` argument` (try 32 which is the number of cpus on this machine) in the `DataLoader` init to improve performance.",
	},
	{
		Name: "shm_series", Framework: "pytorch", Versions: "any", About: "repeated lines of df about /dev/shm, which fills",
		Form: "/dev/shm", Fields: []string{"samples", "interval_s"}, Finish: onlySeries,
		Example: "tmpfs                 24G   38M   24G   1% /dev/shm\ntmpfs                 24G  630M   23G   3% /dev/shm\ntmpfs                 24G  1.9G   22G   8% /dev/shm\ntmpfs                 24G  3.8G   20G  16% /dev/shm",
	},
	{
		Name: "util_timing", Framework: "pytorch", Versions: "any", About: "times of batches that come in bursts",
		Form: "s from start", Fields: []string{"samples", "workers"}, Finish: onlySeries,
		Example: "22.7s from start\n22.7s from start\n45.6s from start\n45.6s from start\n67.4s from start\n67.8s from start",
	},
}

// details complete messages from other lines of the log.
var details = []detail{
	{form: "Stats: Limit: {limit_bytes:int} InUse: {in_use_bytes:int} MaxInUse: {_:int} NumAllocs: {num_allocs:int} MaxAllocSize: {max_alloc_bytes:int}", kinds: []string{"tf_bfc"}},
	{form: "Stats: Limit: {limit_bytes:int} InUse: {in_use_bytes:int}", kinds: []string{"tf_dst_tensor"}},
	{form: "Sum Total of in-use chunks: {in_use_bytes:size}", kinds: []string{"tf_dst_tensor", "tf_bfc"}},
	{form: "memory_limit_: {limit_bytes:int}", kinds: []string{"tf_dst_tensor", "tf_bfc"}},
	{form: "Chunks of size {largest_chunk_bytes:int} totalling", kinds: []string{"tf_dst_tensor"}, keep: largest},
	{form: "the current vLLM instance can use total_gpu_memory ({total_bytes:size}) x gpu_memory_utilization ({*}) = {budget_bytes:size}", kinds: []string{"vllm_no_kv"}},
	{form: "KV self size = {kv_bytes:size}", kinds: []string{"ggml_cuda_alloc"}},
	{form: "amdgpu: VRAM: {card_bytes:size}", card: "the kernel's log"},
	{form: "compute capability {*}VMM: {*} VRAM: {card_bytes:size}", card: "llama.cpp"},
}
