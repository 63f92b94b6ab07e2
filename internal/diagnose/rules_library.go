package diagnose

import (
	"fmt"
	"regexp"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/unit"
)

var libraryRules = []rule{
	{
		id: "index-first", cause: "disguised_not_oom", kinds: []string{"cublas_alloc_failed", "cudnn_not_initialized", "cudnn_alloc_failed", "cuda_error_oom"}, confidence: finding.High,
		when: func(s *situation) bool { return s.has("index") || s.logHas("device_assert") },
		why:  "the log has an index error or an assertion of a kernel as well, which breaks the context for all later calls",
		verdict: func(s *situation) string {
			return "not memory: an index is out of range, and the broken CUDA context made the library fail" + s.line("index")
		},
		remedies: actions("compare indices with sizes: max(input_ids) < vocabulary size, labels in 0..classes-1", "run the step on the CPU, or with CUDA_LAUNCH_BLOCKING=1: the first error then names the operation"),
	},
	{
		id: "cublas-handle", cause: "ambiguous_library_alloc", kinds: []string{"cublas_alloc_failed"}, confidence: finding.Medium,
		why: "the handle of cuBLAS fails both when the card is full and after an index error",
		verdict: func(*situation) string {
			return "cuBLAS got no memory for its handle: either the GPU is full, or an earlier index error broke the CUDA context"
		},
		remedies: actions("test 1: torch.cuda.mem_get_info() right before the call; with less than about 100 MiB free the GPU is full, so free memory first",
			"test 2: the same step on the CPU, or with CUDA_LAUNCH_BLOCKING=1; an index error shows itself there"),
	},
	{
		id: "cudnn-handle", cause: "disguised_oom", kinds: []string{"cudnn_not_initialized", "cudnn_alloc_failed", "cudnn_no_engine"}, confidence: finding.Medium,
		why: "cuDNN makes its handle and workspaces in what memory is left; it fails so when there is too little",
		verdict: func(s *situation) string {
			return "most likely out of GPU memory in disguise: cuDNN found none for its handle or workspace" + s.phase()
		},
		remedies: actions("leave more free: a smaller batch, or torch.cuda.mem_get_info() before the call to see how much there is",
			"if a tiny convolution fails in the same way, it is not memory but versions of cuDNN, CUDA and driver that do not fit together"),
	},
	{
		id: "library-workspace", cause: "disguised_oom", kinds: []string{"cuda_library_alloc"}, confidence: finding.High,
		why: "the status says that the library could not allocate; it does so at the driver, beside PyTorch's allocator",
		verdict: func(s *situation) string {
			return "out of GPU memory in disguise: a library of CUDA found none for its workspace" + s.phase()
		},
		remedies: actions("leave more free beside PyTorch's allocator: a smaller batch, or torch.cuda.empty_cache() before the call", "smaller matrices or transforms at a time, or this operation on the CPU"),
	},
	{
		id: "nccl-buffers", cause: "nccl_buffers", kinds: []string{"nccl_oom"}, confidence: finding.High,
		why: "NCCL allocates at the driver, outside of the framework's pool",
		verdict: func(s *situation) string {
			if s.request > 0 {
				return fmt.Sprintf("NCCL could not get %s on %s: the framework's allocator holds the rest of the card", fine(s.request), s.gpu())
			}
			return fmt.Sprintf("NCCL got no memory for its buffers on %s: the framework's allocator holds the rest of the card", s.gpu())
		},
		remedies: func(*situation) []finding.Remedy {
			return []finding.Remedy{
				{Action: "leave NCCL room: some hundred MiB for each communicator", Flag: "torch.cuda.set_per_process_memory_fraction(0.95)", Exact: finding.SameNumbers},
				{Action: "make the communicators first: one small all_reduce before the model is built", Exact: finding.SameNumbers},
				{Action: "fewer or smaller buffers", Flag: "NCCL_BUFFSIZE=2097152", Exact: finding.SameNumbers},
			}
		},
	},
	{
		id: "context-first", cause: "context_creation_failed", kinds: []string{"cuda_context_oom"}, confidence: finding.High,
		why: "the call that failed is the one that makes a CUDA context, before the program has anything on the device",
		verdict: func(*situation) string {
			return "the GPU had no memory left for a CUDA context when the program started to use it: something else holds it"
		},
		remedies: actions("see what holds the GPU: nvidia-smi; a process that crashed may still hold its memory", "give each rank or worker its own device: CUDA_VISIBLE_DEVICES"),
	},
	{
		id: "quantised-over-device", cause: "weights_do_not_fit", kinds: []string{"transformers_dispatch"}, confidence: finding.High,
		why: "the loader would have to leave part of the weights to the CPU",
		verdict: func(*situation) string {
			return "the quantised weights do not fit into what is free on the GPUs, so that part of them would have to be on the CPU"
		},
		remedies: actions("free the GPU first (nvidia-smi, del model and torch.cuda.empty_cache()): what is there counts against the weights", "fewer bits, more GPUs, or a smaller model",
			"the rest on the CPU, slowly: BitsAndBytesConfig(llm_int8_enable_fp32_cpu_offload=True) with a device_map of one's own"),
	},
	{
		id: "pool-limit", cause: "process_cap", kinds: []string{"cupy_oom"}, confidence: finding.High,
		when: func(s *situation) bool {
			limit, there := s.m.Get("limit_bytes")
			return there && s.allocated+s.request > limit
		},
		why: "a limit of the pool is printed, and what is allocated plus the request exceeds it",
		verdict: func(s *situation) string {
			limit, _ := s.m.Get("limit_bytes")
			return fmt.Sprintf("a limit of %s was set for CuPy's pool: %s allocated + %s asked for do not fit under it", fine(limit), fine(s.allocated), fine(s.request))
		},
		remedies: actions("a higher limit: cupy.get_default_memory_pool().set_limit(size=...), CUPY_GPU_MEMORY_LIMIT", "give back what the pool keeps and nobody uses: cupy.get_default_memory_pool().free_all_blocks()"),
	},
	{
		id: "library-refused-with-room", cause: "free_but_refused", kinds: []string{"rmm_oom", "catboost_oom"}, confidence: finding.Medium,
		when: func(s *situation) bool {
			_, there := s.m.Get("free_bytes")
			return there && s.request > 0 && s.free-s.request > tie
		},
		why: "the library prints more free memory than was asked for, by more than a tie",
		verdict: func(s *situation) string {
			return fmt.Sprintf("%s were refused although %s are free: the size of the card is not what decides", fine(s.request), fine(s.free))
		},
		remedies: actions("look whether another process or thread takes and frees memory at the same time: nvidia-smi, once a second",
			"look for a limit of a container, a virtual GPU or a partition, and for errors of the driver in dmesg"),
	},
	{
		id: "on-chip", cause: "not_device_memory", kinds: []string{"triton_smem", "triton_launch", "tpu_vmem"}, confidence: finding.High,
		why: "the limit is of one block of a kernel on the chip",
		verdict: func(s *situation) string {
			want, limit := s.m.Fields["smem_required_bytes"], s.m.Fields["smem_limit_bytes"]
			if limit == 0 {
				return "not device memory: a kernel wants more registers or threads for one block than this GPU has"
			}
			return fmt.Sprintf("not device memory: a kernel wants %d bytes of on-chip memory for one block, and this device has %d", want, limit)
		},
		remedies: actions("smaller blocks or a smaller num_stages in the kernel's configuration", "another backend for this kernel, or a version that is tuned for this GPU; the size of the batch does not matter"),
	},
	{
		id: "kernel-asserts", cause: "disguised_not_oom", kinds: []string{"device_assert"}, confidence: finding.High,
		why: "a kernel checked an index and stopped",
		verdict: func(s *situation) string {
			if a := s.m.Words["assertion"]; a != "" {
				return "not memory: a kernel stopped because an index or a label is out of range: " + quote(a)
			}
			return "not memory: a kernel stopped because an index or a label is out of range"
		},
		remedies: actions("check labels against the number of classes, and indices against the size of what they index", "CUDA_LAUNCH_BLOCKING=1 names the line"),
	},
}

var tensorflowRules = []rule{
	{
		id: "host-pool", cause: "host_pinned", kinds: []string{"tf_bfc", "tf_oom_shape"}, confidence: finding.High,
		when: func(s *situation) bool { return s.pool("cuda_host_bfc", "gpu_host_bfc") },
		why:  "the allocator that ran out is the pool of pinned host memory",
		verdict: func(s *situation) string {
			out := fmt.Sprintf("host memory, not the GPU: the pinned pool could not give %s", fine(s.request))
			if limit, there := s.m.Get("limit_bytes"); there {
				out += fmt.Sprintf(", with its limit of %s in use", fine(limit))
			}
			return out
		},
		remedies: func(*situation) []finding.Remedy {
			return []finding.Remedy{
				{Action: "feed smaller arrays at a time, from tf.data", Exact: finding.SameNumbers},
				{Action: "raise the limit of the pool", Flag: "TF_GPU_HOST_MEM_LIMIT_IN_MB", Exact: finding.SameNumbers},
			}
		},
	},
	{
		id: "cpu-pool", cause: "host_ram", kinds: []string{"tf_bfc", "tf_oom_shape"}, confidence: finding.High,
		when: func(s *situation) bool {
			_, gpu := s.m.Fields["gpu_index"]
			return !gpu && (s.pool("cpu", "mklcpu", "cpu_bfc") || contains(s.m.Words["device"], "cpu:"))
		},
		why: "the tensor belongs to the CPU",
		verdict: func(s *situation) string {
			return fmt.Sprintf("host memory, not the GPU: a tensor of %s on the CPU", fine(s.request))
		},
		remedies: actions("smaller batches, or a pipeline that does not hold the data set in memory"),
	},
	{
		id: "pool-got-little", cause: "other_process", kinds: []string{"tf_bfc", "tf_dst_tensor"}, confidence: finding.Medium,
		when: func(s *situation) bool {
			limit, a := s.m.Get("limit_bytes")
			used, b := s.m.Get("in_use_bytes")
			return a && b && limit < littlePool && used < limit/4
		},
		why: "TensorFlow's pool, which takes what is free, got less than half a GiB and is mostly unused",
		verdict: func(s *situation) string {
			limit, _ := s.m.Get("limit_bytes")
			return fmt.Sprintf("TensorFlow's pool is only %s: it takes what is free when it starts, so that something else held the rest of the GPU, or a limit was set", fine(limit))
		},
		remedies: actions("see what holds the GPU: nvidia-smi", "check memory_limit and per_process_gpu_memory_fraction"),
	},
	{
		id: "initial-parameters", cause: "weights_do_not_fit", kinds: []string{"tf_oom_shape"}, confidence: finding.High,
		when: func(s *situation) bool { return s.has("initialiser") },
		why:  "the operation makes the initial values of a variable",
		verdict: func(s *situation) string {
			return fmt.Sprintf("a parameter of %s [%s] does not fit when it is made, before any data; with its gradient and one moment it costs %s", fine(s.request), s.m.Words["shape"], fine(3*s.request))
		},
		remedies: actions("a smaller layer there, or a larger GPU; data plays no part", "see what else holds the GPU: nvidia-smi"),
	},
	{
		id: "over-limit", cause: "request_over_device", kinds: []string{"tf_bfc"}, confidence: finding.High,
		when: func(s *situation) bool { limit, there := s.m.Get("limit_bytes"); return there && s.request > limit },
		why:  "the request exceeds the limit of the pool",
		verdict: func(s *situation) string {
			limit, _ := s.m.Get("limit_bytes")
			return fmt.Sprintf("one request of %s is more than the whole pool of %s", fine(s.request), fine(limit))
		},
		remedies: actions("make that tensor in parts, or smaller"),
	},
	{
		id: "pool-has-room", cause: "fragmentation", kinds: []string{"tf_bfc"}, confidence: finding.Medium,
		when: func(s *situation) bool {
			limit, a := s.m.Get("limit_bytes")
			used, b := s.m.Get("in_use_bytes")
			return a && b && limit-used > s.request+tie
		},
		why: "the pool has more unused than was asked for",
		verdict: func(s *situation) string {
			limit, _ := s.m.Get("limit_bytes")
			used, _ := s.m.Get("in_use_bytes")
			return fmt.Sprintf("%s of the pool's %s are not in use, %s times the %s asked for, in pieces that are too small", fine(limit-used), fine(limit), times(limit-used, s.request), fine(s.request))
		},
		remedies: func(*situation) []finding.Remedy {
			return []finding.Remedy{{Action: "the driver's own pool, which does not cut memory up", Flag: "TF_GPU_ALLOCATOR=cuda_malloc_async", Exact: finding.SameNumbers}}
		},
	},
	{
		id: "tensor-too-much", cause: "device_full", kinds: []string{"tf_oom_shape", "tf_bfc"}, confidence: finding.Medium,
		why: "no other rule holds for the pool",
		verdict: func(s *situation) string {
			if s.m.Words["shape"] == "" {
				return fmt.Sprintf("the pool of %s is full: %s more do not fit%s", s.gpu(), fine(s.request), s.inUse())
			}
			assumed := ""
			if s.m.Words["assumed"] != "" {
				assumed = " (float32 assumed, the message names no type)"
			}
			return fmt.Sprintf("%s is full: a tensor of [%s] takes %s%s%s", s.gpu(), s.m.Words["shape"], fine(s.request), assumed, s.inUse())
		},
		remedies: func(s *situation) []finding.Remedy {
			half := s.request / 2
			return []finding.Remedy{
				{Action: "half the batch: half of this tensor", Saves: &half, Method: arithmetic, Exact: finding.SameExpectation},
				{Action: "mixed precision: half of each activation", Flag: "tf.keras.mixed_precision.set_global_policy(\"mixed_float16\")", Saves: &half, Method: arithmetic, Exact: finding.ChangesResults},
			}
		},
	},
	{
		id: "one-constant", cause: "dataset_on_gpu", kinds: []string{"tf_dst_tensor"}, confidence: finding.High,
		when: func(s *situation) bool {
			limit, a := s.m.Get("limit_bytes")
			chunk, b := s.m.Get("largest_chunk_bytes")
			return contains(s.m.Words["op"], "eagerconst") || s.has("eager constant") || a && b && float64(chunk) >= hugeShare*float64(limit)
		},
		why: "an array becomes a constant on the GPU, or one chunk is half of the pool",
		verdict: func(s *situation) string {
			limit, a := s.m.Get("limit_bytes")
			chunk, b := s.m.Get("largest_chunk_bytes")
			if !a || !b {
				return "out of GPU memory in disguise: a whole array is copied to the GPU as a constant"
			}
			return fmt.Sprintf("out of GPU memory in disguise: one chunk of %s is %s of the pool's %s, a whole data set that is copied to the GPU as a constant", fine(chunk), percentOf(chunk, limit), fine(limit))
		},
		remedies: actions("feed batches: tf.data from a generator or files instead of one array in fit()", "with tf.device(\"cpu\") around tf.constant and from_tensor_slices"),
	},
	{
		id: "copy-has-no-room", cause: "disguised_oom", kinds: []string{"tf_dst_tensor"}, confidence: finding.Medium,
		why: "the destination of a copy could not be allocated",
		verdict: func(s *situation) string {
			return "out of GPU memory in disguise: the tensor that a copy should fill could not be allocated" + s.inUse()
		},
		remedies: actions("a smaller batch", "see what else holds the GPU: nvidia-smi"),
	},
	{
		id: "little-free-at-start", cause: "other_process", kinds: []string{"tf_driver_alloc"}, confidence: finding.High,
		when: func(s *situation) bool {
			total, free := s.atStart()
			return total > 0 && float64(free) < hugeShare*float64(total)
		},
		why: "TensorFlow finds less than half of the device free when it starts",
		verdict: func(s *situation) string {
			total, free := s.atStart()
			return fmt.Sprintf("other processes hold %s of the %s on the GPU: TensorFlow found %s free when it started, and could not get %s", fine(total-free), fine(total), fine(free), fine(s.request))
		},
		remedies: func(s *situation) []finding.Remedy {
			total, free := s.atStart()
			held := total - free
			return []finding.Remedy{{Action: "see which they are and stop them, or take another GPU", Flag: "nvidia-smi, then CUDA_VISIBLE_DEVICES", Saves: &held, Method: arithmetic, Exact: finding.SameNumbers}}
		},
	},
	{
		id: "library-beside-pool", cause: "disguised_oom", kinds: []string{"tf_driver_alloc", "tf_library_handle"}, confidence: finding.High,
		when: func(s *situation) bool {
			return s.m.Kind.Name == "tf_library_handle" || s.request < unit.GiB || s.has("library handle")
		},
		why: "TensorFlow's pool has taken the card, and libraries that allocate beside it get nothing",
		verdict: func(s *situation) string {
			if s.request > 0 {
				return fmt.Sprintf("out of GPU memory in disguise: TensorFlow's own pool has the card, and the driver has not %s left", fine(s.request))
			}
			return "out of GPU memory in disguise: TensorFlow's own pool has the card, and a library found none for its handle"
		},
		remedies: func(*situation) []finding.Remedy {
			return []finding.Remedy{
				{Action: "let the pool grow as needed instead of taking the card", Flag: "TF_FORCE_GPU_ALLOW_GROWTH=true", Exact: finding.SameNumbers},
				{Action: "or limit it: tf.config.set_logical_device_configuration with a memory_limit below the card", Exact: finding.SameNumbers},
			}
		},
	},
	{
		id: "pool-refused", cause: "other_process", kinds: []string{"tf_driver_alloc"}, confidence: finding.Medium,
		why: "TensorFlow asks for most of the card at once, and the driver does not have it: something else holds part of it",
		verdict: func(s *situation) string {
			return fmt.Sprintf("TensorFlow asked for %s at once, for its pool, and the driver has less: something else holds the rest", fine(s.request))
		},
		remedies: actions("see what holds the GPU: nvidia-smi", "let the pool grow as needed: TF_FORCE_GPU_ALLOW_GROWTH=true"),
	},
	{
		id: "pinned", cause: "host_pinned", kinds: []string{"tf_driver_host", "ggml_pinned", "cuda_host_alloc"}, confidence: finding.High,
		why: "the request was for pinned memory of the host",
		verdict: func(s *situation) string {
			n, there := s.m.Get("requested_host_bytes")
			if !there {
				return "host memory, not the GPU: pinned host memory was refused"
			}
			return fmt.Sprintf("host memory, not the GPU: %s of pinned host memory were refused", fine(n))
		},
		remedies: actions("do not cache the data set in memory; smaller queues and prefetch", "raise the limit of locked memory (ulimit -l), or the memory of the machine"),
	},
}

var jaxRules = []rule{
	{
		id: "program-over-device", cause: "request_over_device", kinds: []string{"jax_buffer", "jax_tpu_hbm"}, confidence: finding.Medium,
		when: func(s *situation) bool {
			total, there := s.m.Get("total_prog_bytes")
			return there && (s.total > 0 && total > s.total || total >= largeProgram)
		},
		why: "the compiled program as a whole needs more than the device, or 8 GiB and more where the log does not tell its size",
		verdict: func(s *situation) string {
			total, _ := s.m.Get("total_prog_bytes")
			if s.total > 0 {
				return fmt.Sprintf("the compiled program needs %s where the device has %s", fine(total), fine(s.total))
			}
			out, _ := s.m.Get("live_out_bytes")
			temp, _ := s.m.Get("temp_bytes")
			params, _ := s.m.Get("params_bytes")
			return fmt.Sprintf("the compiled program needs %s = %s outputs + %s temporaries + %s parameters; a device with less free cannot run it, and it was the %s piece that failed",
				fine(total), fine(out), fine(temp), fine(params), fine(s.request))
		},
		remedies: func(s *situation) []finding.Remedy {
			out, _ := s.m.Get("live_out_bytes")
			temp, _ := s.m.Get("temp_bytes")
			params, _ := s.m.Get("params_bytes")
			var remedies []finding.Remedy
			if out > 0 {
				remedies = append(remedies, finding.Remedy{Action: fmt.Sprintf("return fewer or smaller outputs: they are %s together", fine(out)), Exact: finding.SameNumbers})
			}
			if temp > 0 {
				remedies = append(remedies, finding.Remedy{Action: fmt.Sprintf("compute activations again instead of keeping them: part of the %s of temporaries", fine(temp)), Flag: "jax.checkpoint", Exact: finding.SameNumbers})
			}
			if reused := min(out, params); reused > 0 {
				remedies = append(remedies, finding.Remedy{Action: fmt.Sprintf("donate inputs, so that outputs of the same shape take their place: %s at most", fine(reused)), Flag: "jax.jit(f, donate_argnums=...)", Exact: finding.SameNumbers})
			}
			return append(remedies, finding.Remedy{Action: "a smaller batch, or the computation sharded over devices", Exact: finding.SameExpectation})
		},
	},
	{
		id: "more-than-free", cause: "device_full", kinds: []string{"jax_tpu_alloc"}, confidence: finding.Medium,
		why: "the message tells what was asked for and what is free, and not who holds the rest",
		verdict: func(s *situation) string {
			if _, there := s.m.Get("free_bytes"); !there {
				return fmt.Sprintf("a buffer of %s found no room on the TPU", fine(s.request))
			}
			return fmt.Sprintf("a buffer of %s was asked for where %s are free", fine(s.request), fine(s.free))
		},
		remedies: actions("let go of what an earlier run left: arrays of the same session keep their memory until they are deleted", "a smaller batch, or shorter inputs", "shard the computation over devices"),
	},
	{
		id: "larger-than-gpus", cause: "request_over_device", kinds: []string{"jax_plain"}, confidence: finding.Low,
		when: func(s *situation) bool { return s.request >= largestCommon },
		why:  "one buffer of 80 GiB or more, which most GPUs do not have",
		verdict: func(s *situation) string {
			return fmt.Sprintf("one buffer of %s: nearly no single device has that", fine(s.request))
		},
		remedies: actions("shorter inputs, or the operation in chunks (jax.lax.map)", "shard the computation over devices"),
	},
	{
		id: "large-buffer", cause: "single_huge_request", kinds: []string{"jax_plain"}, confidence: finding.Low,
		when: func(s *situation) bool { return s.request >= largeBuffer },
		why:  "one buffer of 12 GiB or more; the log does not tell the size of the device",
		verdict: func(s *situation) string {
			return fmt.Sprintf("one buffer of %s: a device of %d GB has no room for it beside anything else, and the log does not say how large this one is", fine(s.request), s.tooSmall())
		},
		remedies: actions("shorter inputs, or attention in chunks", "a device with more memory"),
	},
	{
		id: "buffer", cause: "device_full", kinds: []string{"jax_plain", "jax_buffer"}, confidence: finding.Low,
		why: "XLA could not allocate a buffer; the message does not tell what else is on the device",
		verdict: func(s *situation) string {
			return fmt.Sprintf("a buffer of %s found no room on %s; the message does not say what holds the rest", fine(s.request), s.gpu())
		},
		remedies: func(*situation) []finding.Remedy {
			return []finding.Remedy{
				{Action: "keep preallocation on: with it off, memory is cut into pieces", Flag: "XLA_PYTHON_CLIENT_PREALLOCATE=true", Exact: finding.SameNumbers},
				{Action: "see what else holds the device: nvidia-smi, jax.profiler.save_device_memory_profile(\"memory.prof\")"},
				{Action: "a smaller batch, or shorter inputs", Exact: finding.SameExpectation},
			}
		},
	},
}

// arenaRules are for the pool of ONNX Runtime, of which each device has one.
var arenaRules = []rule{
	{
		id: "size-of-garbage", cause: "corrupt_size", kinds: []string{"onnxruntime_bfc"}, confidence: finding.High,
		when: func(s *situation) bool { return s.request >= impossible },
		why:  "the size is more than any memory has (1 PiB and more)",
		verdict: func(s *situation) string {
			return fmt.Sprintf("a buffer of %s exists nowhere: a shape was computed from damaged or negative numbers", fine(s.request))
		},
		remedies: actions("look at the shapes that go into the node that the message names", "sessions that are used by several threads at once: one for each"),
	},
	{
		id: "arena-of-the-cpu", cause: "host_ram", kinds: []string{"onnxruntime_bfc"}, confidence: finding.Medium,
		when: func(s *situation) bool { return s.has("onnx on cpu") && !s.has("onnx on gpu") },
		why:  "the lines around name the CPU's provider or arena, and none of a GPU",
		verdict: func(s *situation) string {
			return fmt.Sprintf("host memory, not the GPU: ONNX Runtime's arena for the CPU could not get %s", fine(s.request))
		},
		remedies: actions("smaller batches or inputs", "give memory back between runs: enable_cpu_mem_arena=False"),
	},
	{
		id: "arena-of-a-gpu", cause: "device_full", kinds: []string{"onnxruntime_bfc"}, confidence: finding.Medium,
		when: func(s *situation) bool { return s.has("onnx on gpu") },
		why:  "the lines around name a GPU's provider or arena",
		verdict: func(s *situation) string {
			return fmt.Sprintf("ONNX Runtime's arena could not get %s from the GPU", fine(s.request))
		},
		remedies: arenaRemedies,
	},
	{
		id: "some-arena", cause: "device_full", kinds: []string{"onnxruntime_bfc"}, confidence: finding.Low,
		why: "each device has such an arena and the message does not say whose it is; on the CPU it rarely fails",
		verdict: func(s *situation) string {
			return fmt.Sprintf("ONNX Runtime's arena could not get %s; the message does not say of which device, most likely the GPU", fine(s.request))
		},
		remedies: arenaRemedies,
	},
}

func arenaRemedies(*situation) []finding.Remedy {
	return []finding.Remedy{
		{Action: "let the arena grow by what is asked for instead of by powers of two", Flag: "arena_extend_strategy=kSameAsRequested", Exact: finding.SameNumbers},
		{Action: "see what else holds the GPU, also other sessions of this process: nvidia-smi, gpu_mem_limit"},
		{Action: "smaller batches or inputs", Exact: finding.SameNumbers},
	}
}

// Sizes of programs and buffers where the log does not tell that of the device.
const (
	largeProgram  = 8 * unit.GiB
	largeBuffer   = 12 * unit.GiB
	largestCommon = 80 * unit.GiB
	// littlePool is less than any card leaves to a program that has it alone.
	littlePool = 512 * unit.MiB
)

// cards are sizes that GPUs come in, in GB.
var cards = []unit.Bytes{12, 16, 24, 32, 40, 48, 64, 80}

// tooSmall is the largest card that a request would fill to four fifths or
// more.
func (s *situation) tooSmall() unit.Bytes {
	size := cards[0]
	for _, c := range cards {
		if c*unit.GiB*4/5 <= s.request {
			size = c
		}
	}
	return size
}

// startLine is what TensorFlow prints of a device when it starts.
var startLine = regexp.MustCompile(`(Total|Free) memory: ([\d.]+ ?[KMGT]iB)`)

// atStart is the size of the device and what was free of it when TensorFlow
// started, 0 when the log does not say.
func (s *situation) atStart() (total, free unit.Bytes) {
	for _, l := range s.m.Before {
		at := startLine.FindStringSubmatch(l)
		if at == nil {
			continue
		}
		n, err := unit.Parse(at[2])
		switch {
		case err != nil:
		case at[1] == "Total":
			total = n
		default:
			free = n
		}
	}
	return total, free
}

// pool reports whether the allocator of the message is one of these.
func (s *situation) pool(names ...string) bool {
	for _, n := range names {
		if s.m.Words["allocator"] == n {
			return true
		}
	}
	return false
}

// inUse says how full the pool is.
func (s *situation) inUse() string {
	limit, a := s.m.Get("limit_bytes")
	used, b := s.m.Get("in_use_bytes")
	if !a || !b {
		return ""
	}
	return fmt.Sprintf("; %s of the pool's %s are in use", fine(used), fine(limit))
}

// logHas reports whether the log has a message of that kind as well.
func (s *situation) logHas(kind string) bool {
	for _, m := range s.log.Messages {
		if m.Kind.Name == kind {
			return true
		}
	}
	return false
}
