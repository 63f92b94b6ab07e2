package oomlog

// libraryKinds are errors of what PyTorch is built on. Some say memory and
// mean something else, some the other way round.
var libraryKinds = []Kind{
	{
		Name: "cublas_alloc_failed", Framework: "pytorch", Versions: "1.0-2.15", About: "cuBLAS got no memory for its handle, or the context was broken before",
		Form: "CUBLAS_STATUS_ALLOC_FAILED", Also: []string{"CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate", "HIPBLAS_STATUS_ALLOC_FAILED", "cublas runtime error : resource allocation failed", "cublas runtime error : library not initialized"},
		Example: "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
	},
	{
		Name: "cudnn_not_initialized", Framework: "pytorch", Versions: "0.4-2.15", About: "cuDNN could not make its handle",
		Form: "CUDNN_STATUS_NOT_INITIALIZED", Also: []string{"MIOPEN_STATUS_NOT_INITIALIZED", "miopenStatusNotInitialized"},
		Example: "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED",
	},
	{
		Name: "cudnn_alloc_failed", Framework: "pytorch", Versions: "0.4-2.15", About: "cuDNN got no memory",
		Form:    "CUDNN_STATUS_ALLOC_FAILED",
		Example: "RuntimeError: cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
	},
	{
		Name: "cudnn_no_engine", Framework: "pytorch", Versions: "1.0-2.15", About: "no convolution was left that fits what memory there was",
		Form: "Unable to find a valid cuDNN algorithm to run convolution", Also: []string{"GET was unable to find an engine to execute this computation"},
		Example: "RuntimeError: Unable to find a valid cuDNN algorithm to run convolution",
	},
	{
		Name: "cuda_library_alloc", Framework: "pytorch", Versions: "1.0-2.15", About: "another library of CUDA got no memory for its workspace",
		Form: "CUSOLVER_STATUS_ALLOC_FAILED", Also: []string{"CUFFT_ALLOC_FAILED", "CUSPARSE_STATUS_ALLOC_FAILED", "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "CURAND_STATUS_ALLOCATION_FAILED"},
		Example: "RuntimeError: cusolver error: CUSOLVER_STATUS_ALLOC_FAILED, when calling `cusolverDnCreate(handle)`",
	},
	{
		Name: "nccl_oom", Framework: "pytorch", Versions: "1.0-2.15", About: "NCCL got no device memory for its buffers",
		Form:   "Failed to CUDA calloc {requested_bytes:int} bytes",
		Also:   []string{"NCCL WARN Cuda failure<? 2?> 'out of memory'", "Cuda failure<? 2?> 'out of memory'", "Failed to CUDA host alloc {requested_bytes:int} bytes"},
		Fields: []string{"gpu_index", "requested_bytes"}, Finish: finishNCCL,
		Example: "node1:100:200 [3] include/alloc.h:185 NCCL WARN Failed to CUDA calloc 6291456 bytes",
	},
	{
		Name: "triton_smem", Framework: "pytorch", Versions: "2.0-2.15", About: "on-chip memory of one block of a kernel",
		Form:    "out of resource: shared memory, Required: {smem_required_bytes:int}, Hardware limit<?ation?>: {smem_limit_bytes:int}",
		Fields:  []string{"smem_required_bytes", "smem_limit_bytes"},
		Example: "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 131072, Hardware limit: 101376. Reducing block sizes or `num_stages` may help.",
	},
	{
		Name: "tpu_vmem", Framework: "jax", Versions: "0.2-0.9", About: "on-chip memory of one kernel of a TPU",
		Form:   "Ran out of memory in memory space vmem. Used {smem_required_bytes:size} of {smem_limit_bytes:size} vmem",
		Also:   []string{"Ran out of memory in memory space smem. Used {smem_required_bytes:size} of {smem_limit_bytes:size} smem"},
		Fields: []string{"smem_required_bytes", "smem_limit_bytes"}, Least: 2,
		Example: "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space vmem. Used 20.10M of 16.00M vmem. Exceeded vmem capacity by 4.10M.",
	},
	{
		Name: "device_assert", Framework: "pytorch", Versions: "0.4-2.15", About: "a kernel checked an index or a label and stopped",
		Form:    "thread: [{*}] Assertion `{assertion:text}` failed",
		Also:    []string{"CUDA error: device-side assert triggered", "HIP error: device-side assert triggered", "cuda runtime error (59) : device-side assert triggered", "cuda runtime error (710) : device-side assert triggered"},
		Example: "ClassNLLCriterion.cu:108: cunn_ClassNLLCriterion_updateOutput_kernel: block: [0,0,0], thread: [27,0,0] Assertion `t >= 0 && t < n_classes` failed.",
	},
	{
		Name: "triton_launch", Framework: "pytorch", Versions: "1.0-2.15", About: "a kernel wants more registers or threads than a block has",
		Form: "CUDA error: too many resources requested for launch", Also: []string{"out of resource: registers", "out of resource: threads"},
		Example: "RuntimeError: CUDA error: too many resources requested for launch",
	},
}

// tensorflowKinds are the messages of TensorFlow's allocators.
var tensorflowKinds = []Kind{
	{
		Name: "tf_oom_shape", Framework: "tensorflow", Versions: "1.0-2.20", About: "one tensor that could not be allocated, by its shape",
		Form:   "OOM when allocating tensor with shape[{shape:shape}]<? and type {dtype:text} on {device:text} by allocator {allocator:word}?>",
		Also:   []string{"OOM when allocating tensor of shape [{shape:shape}]<? and type {dtype:word}?>"},
		Fields: []string{"gpu_index", "requested_bytes"}, Finish: finishShape,
		Example: "ResourceExhaustedError: OOM when allocating tensor with shape[128,128,109,109] and type float on /job:localhost/replica:0/task:0/device:GPU:1 by allocator GPU_1_bfc",
	},
	{
		Name: "tf_bfc", Framework: "tensorflow", Versions: "1.0-2.20", About: "the report of the pool that could not serve a request",
		Form:   "Allocator ({allocator:text}) ran out of memory trying to allocate {requested_bytes:size}<? (rounded to {rounded_bytes:int})?>",
		Also:   []string{"Ran out of memory trying to allocate {requested_bytes:size}"},
		Fields: []string{"gpu_index", "requested_bytes", "limit_bytes", "in_use_bytes", "max_alloc_bytes", "num_allocs"}, Finish: finishPool,
		Absorbs: []string{"tf_oom_shape"},
		Example: "2017-07-31 11:36:02.748547: W tensorflow/core/common_runtime/bfc_allocator.cc:273] Allocator (GPU_0_bfc) ran out of memory trying to allocate 3.72GiB.  Current allocation summary follows.",
	},
	{
		Name: "tf_dst_tensor", Framework: "tensorflow", Versions: "1.0-2.20", About: "a copy to the GPU found no room there",
		Form:   "Dst tensor is not initialized",
		Also:   []string{"Failed copying input tensor from {*} to {*}device:GPU:{gpu_index:int} in order to run {op:text}: Dst tensor is not initialized"},
		Fields: []string{"gpu_index", "limit_bytes", "largest_chunk_bytes", "in_use_bytes"}, Absorbs: []string{"tf_bfc", "tf_oom_shape"},
		Example: "InternalError: Failed copying input tensor from /job:localhost/replica:0/task:0/device:CPU:0 to /job:localhost/replica:0/task:0/device:GPU:0 in order to run _EagerConst: Dst tensor is not initialized.",
	},
	{
		Name: "tf_driver_alloc", Framework: "tensorflow", Versions: "1.0-2.20", About: "the driver refused memory that TensorFlow wanted for its pool",
		Form:   "failed to allocate {*} ({requested_bytes:int} bytes) from device: CUDA_ERROR_OUT_OF_MEMORY",
		Also:   []string{"failed to allocate {requested_bytes:size} from device: hipError_t(1002)"},
		Fields: []string{"requested_bytes"}, Absorbs: []string{"tf_library_handle"},
		Example: "E tensorflow/stream_executor/cuda/cuda_driver.cc:828] failed to allocate 32.00M (33554432 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
	},
	{
		Name: "tf_driver_host", Framework: "tensorflow", Versions: "1.0-2.20", About: "pinned memory of the host could not be had",
		Form: "failed to alloc {requested_host_bytes:int} bytes on host<?: CUDA_ERROR_OUT_OF_MEMORY?>", Also: []string{"could not allocate pinned host memory of size: {requested_host_bytes:int}"},
		Fields: []string{"requested_host_bytes"}, Least: 1,
		Example: "E tensorflow/stream_executor/cuda/cuda_driver.cc:802] failed to alloc 34359738368 bytes on host: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
	},
	{
		Name: "tf_alloc", Framework: "tensorflow", Versions: "2.8-2.20", About: "an operation got no memory; the message has no sizes",
		Form: "ResourceExhaustedError: failed to allocate memory", Also: []string{"RESOURCE_EXHAUSTED: failed to allocate memory"},
		Example: "tensorflow.python.framework.errors_impl.ResourceExhaustedError: failed to allocate memory [Op:AddV2]",
	},
	{
		Name: "tf_library_handle", Framework: "tensorflow", Versions: "1.0-2.20", About: "cuBLAS or cuDNN could not start, mostly because TensorFlow's pool has all the memory",
		Form: "failed to create cublas handle: ", Also: []string{"Could not create cudnn handle: ", "Failed to get convolution algorithm. This is probably because cuDNN failed to initialize"},
		Absorbs: []string{"cublas_alloc_failed", "cudnn_not_initialized", "cudnn_alloc_failed"},
		Example: "E tensorflow/stream_executor/cuda/cuda_blas.cc:238] failed to create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED",
	},
}

// jaxKinds are the messages of XLA.
var jaxKinds = []Kind{
	{
		Name: "jax_plain", Framework: "jax", Versions: "0.1-0.9", About: "one buffer could not be allocated",
		Form:   "Out of memory while trying to allocate {requested_bytes:size}",
		Also:   []string{"Out of memory allocating {requested_bytes:size}", "Failed to allocate {requested_bytes:int} bytes for new constant", "Failed to allocate request for {requested_bytes:size} ({requested_bytes:int}B) on device ordinal {gpu_index:int}"},
		Fields: []string{"gpu_index", "requested_bytes"}, Least: 1, Finish: notCupy,
		Example: "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 14285187448 bytes.",
	},
	{
		Name: "jax_buffer", Framework: "jax", Versions: "0.2-0.9", About: "as jax_plain, with the sums of the compiled program",
		Form:   "Out of memory while trying to allocate {requested_bytes:size}{*}BufferAssignment stats: {*}parameter allocation: {params_bytes:size}<? constant allocation: {_:size}?> maybe_live_out allocation: {live_out_bytes:size} preallocated temp allocation: {temp_bytes:size}<? preallocated temp fragmentation: {_:size} ({*})?> total allocation: {total_prog_bytes:size}<? total fragmentation: {frag_bytes:size}?>",
		Fields: []string{"requested_bytes", "params_bytes", "live_out_bytes", "temp_bytes", "total_prog_bytes", "frag_bytes"}, Least: 2,
		Absorbs: []string{"jax_plain"},
		Example: "XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4770354232 bytes.\nBufferAssignment OOM Debugging.\nBufferAssignment stats:\n             parameter allocation:  372.76MiB\n              constant allocation:    48.5KiB\n        maybe_live_out allocation:    9.64GiB\n     preallocated temp allocation:    4.44GiB\n                 total allocation:   14.44GiB\n              total fragmentation:  680.30MiB (4.60%)",
	},
	{
		Name: "jax_tpu_hbm", Framework: "jax", Versions: "0.2-0.9", About: "a compiled program that is larger than the memory of a TPU",
		Form:   "Ran out of memory in memory space hbm. Used {total_prog_bytes:size} of {total_bytes:size} hbm<?. Exceeded hbm capacity by {_:size}?>",
		Also:   []string{"unlikely to have enough memory. Requires {total_prog_bytes:size}, has {total_bytes:size} available"},
		Fields: []string{"total_prog_bytes", "total_bytes"}, Least: 2, Absorbs: []string{"jax_tpu_alloc"},
		Example: "XlaRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 18.42G of 15.48G hbm. Exceeded hbm capacity by 2.94G.",
	},
	{
		Name: "jax_tpu_alloc", Framework: "jax", Versions: "0.2-0.9", About: "one buffer on a TPU, with what is free there",
		Form:   "Attempting to allocate {requested_bytes:size}. That was not possible. There are {free_bytes:size} free",
		Also:   []string{"Attempting to reserve {requested_bytes:size} at the bottom of memory. That was not possible. There are {free_bytes:size} free"},
		Fields: []string{"requested_bytes", "free_bytes"}, Least: 1,
		Example: "XlaRuntimeError: RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 7.50G. That was not possible. There are 5.25G free.; (0x0x0_HBM0)",
	},
}

// servingKinds are the messages of inference engines.
var servingKinds = []Kind{
	{
		Name: "vllm_no_kv", Framework: "vllm", Versions: "0.1-0.20", About: "nothing is left for the KV cache",
		Form:   "model weights take {weights_bytes:size}; non_torch_memory takes {non_torch_bytes:size}; PyTorch activation peak memory takes {activations_bytes:size}; the rest of the memory reserved for KV Cache is {kv_bytes:size}",
		Also:   []string{"No available memory for the cache blocks"},
		Fields: []string{"total_bytes", "budget_bytes", "weights_bytes", "non_torch_bytes", "activations_bytes", "kv_bytes"}, Finish: finishKV,
		Example: "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.",
	},
	{
		Name: "vllm_kv_too_long", Framework: "vllm", Versions: "0.8-0.20", About: "one sequence of the longest kind does not fit into the KV cache",
		Form:   "max seq len ({max_len:int}), ({kv_needed_bytes:size} KV cache is needed, which is larger than the available KV cache memory ({kv_avail_bytes:size}).<? Based on the available memory, the estimated maximum model length is {est_len:int}?>",
		Also:   []string{"max seq len ({max_len:int}), {kv_needed_bytes:size} KV cache is needed, which is larger than the available KV cache memory ({kv_avail_bytes:size}).<? Based on the available memory, the estimated maximum model length is {est_len:int}?>"},
		Fields: []string{"max_len", "kv_needed_bytes", "kv_avail_bytes", "est_len"}, Least: 3,
		Example: "ValueError: To serve at least one request with the models's max seq len (262144), (24.0 GiB KV cache is needed, which is larger than the available KV cache memory (3.18 GiB). Based on the available memory, the estimated maximum model length is 34736. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.",
	},
	{
		Name: "vllm_kv_tokens", Framework: "vllm", Versions: "0.1-0.9", About: "the KV cache holds fewer tokens than one sequence may have",
		Form:   "max seq len ({max_len:int}) is larger than the maximum number of tokens that can be stored in KV cache ({kv_tokens:int})",
		Fields: []string{"max_len", "kv_tokens"}, Least: 2,
		Example: "ValueError: The model's max seq len (4096) is larger than the maximum number of tokens that can be stored in KV cache (3664). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.",
	},
	{
		Name: "vllm_sampler", Framework: "vllm", Versions: "0.8-0.20", About: "the KV cache left too little for the sampler",
		Form:   "CUDA out of memory occurred when warming up sampler with {dummy_requests:int} dummy requests",
		Fields: []string{"dummy_requests"}, Least: 1, Absorbs: torchSized,
		Example: "RuntimeError: CUDA out of memory occurred when warming up sampler with 256 dummy requests. Please try lowering `max_num_seqs` or `gpu_memory_utilization` when initializing the engine.",
	},
	{
		Name: "vllm_startup_free", Framework: "vllm", Versions: "0.8-0.20", About: "the card is fuller than the share that was asked for leaves",
		Form:   "Free memory on device {*}({free:text}/{total_bytes:size}) on startup is less than desired GPU memory utilization ({*}, {budget_bytes:size})",
		Fields: []string{"free_bytes", "total_bytes", "budget_bytes"}, Least: 1, Finish: finishStartup,
		Example: "ValueError: Free memory on device (3.92/23.65 GiB) on startup is less than desired GPU memory utilization (0.9, 21.28 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.",
	},
	{
		Name: "sglang_no_kv", Framework: "sglang", Versions: "0.1-0.6", About: "nothing is left for the KV cache",
		Form:    "Not enough memory. Please try to increase --mem-fraction-static",
		Also:    []string{"Not enough memory. Please try increasing --mem-fraction-static"},
		Example: "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
	},
	{
		Name: "sglang_pool", Framework: "sglang", Versions: "0.1-0.6", About: "the KV cache has no room for the tokens of a batch",
		Form:    "Prefill out of memory. Try to lower your batch size.<? Try to allocate {wanted_tokens:int} tokens.<? Available tokens: {free_tokens:int}?>?>",
		Also:    []string{"Decode out of memory. Try to lower your batch size.<? Try to allocate {wanted_tokens:int} tokens.<? Available tokens: {free_tokens:int}?>?>"},
		Fields:  []string{"wanted_tokens", "free_tokens"},
		Example: "RuntimeError: Prefill out of memory. Try to lower your batch size.\nTry to allocate 8192 tokens.\nAvailable tokens: 5012",
	},
	{
		Name: "tgi_warmup", Framework: "tgi", Versions: "any", About: "the first, largest batch did not fit beside the weights",
		Form:   "Not enough memory to handle {tokens:int} prefill tokens",
		Fields: []string{"tokens"}, Least: 1, Absorbs: torchSized,
		Example: "RuntimeError: Not enough memory to handle 4096 prefill tokens. You need to decrease `--max-batch-prefill-tokens`",
	},
	{
		Name: "ggml_cuda_alloc", Framework: "llama.cpp", Versions: "2023-2026", About: "one buffer of llama.cpp; it says cudaMalloc on AMD, too",
		Form:   "allocating {requested_bytes:size} on device {gpu_index:int}: cudaMalloc failed: out of memory<?{*}failed to allocate {backend:text} buffer of size {requested_bytes:int}?>",
		Fields: []string{"gpu_index", "requested_bytes", "kv_bytes"}, Least: 2, Finish: finishGGML, Absorbs: []string{"ggml_graph_alloc"},
		Example: "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 14136.04 MiB on device 0: cudaMalloc failed: out of memory\nggml_gallocr_reserve_n: failed to allocate ROCm0 buffer of size 14822711296",
	},
	{
		Name: "ggml_cuda_error", Framework: "llama.cpp", Versions: "2023-2026", About: "the driver's error inside of llama.cpp",
		Form:    "CUDA error: out of memory current device: {gpu_index:int}, in function",
		Fields:  []string{"gpu_index"},
		Example: "CUDA error: out of memory\n  current device: 0, in function alloc at ggml-cuda.cu:442",
	},
	{
		Name: "ggml_other_alloc", Framework: "llama.cpp", Versions: "2023-2026", About: "one buffer of another backend of llama.cpp",
		Form:   "ggml_vulkan: Device memory allocation of size {requested_bytes:int} failed",
		Also:   []string{"ggml_metal_init: error: failed to allocate buffer, size = {requested_bytes:size}", "failed to allocate buffer, size = {requested_bytes:size}", "can't allocate {requested_bytes:int} Bytes of memory on device"},
		Fields: []string{"requested_bytes"}, Least: 1, Absorbs: []string{"ggml_graph_alloc", "vulkan_oom"},
		Example: "ggml_vulkan: Device memory allocation of size 2147483648 failed.",
	},
	{
		Name: "ggml_graph_alloc", Framework: "llama.cpp", Versions: "2023-2026", About: "the buffer for computing, as the planner of graphs names it", Absorbs: []string{"cuda_driver_oom", "vulkan_oom"},
		Form: "ggml_gallocr_reserve_n: failed to allocate {backend:word} buffer of size {requested_bytes:int}", Fields: []string{"requested_bytes"}, Least: 2,
		Also:    []string{"ggml_gallocr_reserve_n_impl: failed to allocate {backend:word} buffer of size {requested_bytes:int}"},
		Example: "ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 1073741824",
	},
	{
		Name: "ggml_pinned", Framework: "llama.cpp", Versions: "2023-2026", About: "pinned memory of the host could not be had; llama.cpp goes on without",
		Form: "failed to allocate {requested_host_bytes:size} of pinned memory", Fields: []string{"requested_host_bytes"}, Least: 1,
		Example: "ggml_cuda_host_malloc: failed to allocate 1900.00 MiB of pinned memory: out of memory",
	},
}

// otherKinds are messages of further libraries.
var otherKinds = []Kind{
	{
		Name: "cupy_oom", Framework: "cupy", Versions: "any", About: "CuPy's pool",
		Form: "OutOfMemoryError: Out of memory allocating {requested_bytes:grouped} bytes (allocated so far: {allocated_bytes:grouped} bytes<?, limit set to: {limit_bytes:grouped} bytes?>)",
		Also: []string{
			"Out of memory allocating {requested_bytes:grouped} bytes (allocated so far: {allocated_bytes:grouped} bytes<?, limit set to: {limit_bytes:grouped} bytes?>)",
			"out of memory to allocate {requested_bytes:grouped} bytes (total {_:grouped} bytes",
		},
		Fields: []string{"requested_bytes", "allocated_bytes", "limit_bytes"}, Least: 2,
		Example: "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 1,073,741,824 bytes (allocated so far: 7,516,192,768 bytes).",
	},
	{
		Name: "onnxruntime_bfc", Framework: "onnxruntime", Versions: "any", About: "ONNX Runtime's pool",
		Form:   "Failed to allocate memory for requested buffer of size {requested_bytes:int}",
		Fields: []string{"requested_bytes"}, Least: 1,
		Example: "onnxruntime::BFCArena::AllocateRawInternal(size_t, bool) Failed to allocate memory for requested buffer of size 4294967296",
	},
	{
		Name: "tensorrt_oom", Framework: "tensorrt", Versions: "any", About: "TensorRT's own allocator, while an engine is built or loaded",
		Form: "Requested amount of GPU memory ({requested_bytes:int} bytes) could not be allocated",
		Also: []string{
			"Error Code 1: Cuda Runtime (out of memory)", "Error Code 2: OutOfMemory (<?Requested size was {requested_bytes:int} bytes?>", "Cuda Error in allocate: 2 (out of memory)",
			"Cuda Error in nvinfer1::internal::DefaultAllocator::allocate: 2 (out of memory)", "User allocator error allocating {requested_bytes:int}-byte buffer",
			"OutOfMemory Error in nvinfer1::",
		},
		Fields: []string{"requested_bytes"}, Least: 1,
		Example: "[W] Requested amount of GPU memory (1180463648 bytes) could not be allocated. There may not be enough free memory for allocation to succeed.",
	},
	{
		Name: "trtllm_oom", Framework: "tensorrt-llm", Versions: "any", About: "the driver's error inside of TensorRT-LLM",
		Form:    "CUDA runtime error in {*}: out of memory",
		Example: "RuntimeError: [TensorRT-LLM][ERROR] CUDA runtime error in ::cudaMallocAsync(ptr, n, mCudaStream->get()): out of memory (/app/tensorrt_llm/cpp/tensorrt_llm/runtime/tllmBuffers.h:112)",
	},
	{
		Name: "catboost_oom", Framework: "catboost", Versions: "any", About: "CatBoost's pool on the GPU; MB means 2^20 bytes here",
		Form:   "Error: Out of memory. Requested {requested_bytes:size}; Free {free_bytes:size}",
		Also:   []string{"NCudaLib::TOutOfMemoryError", "not enough memory for tree-ctrs: {*} available, need at least"},
		Fields: []string{"requested_bytes", "free_bytes"}, Least: 2,
		Example: "/src/catboost/catboost/cuda/cuda_lib/memory_pool/stack_like_memory_pool.h:303: Error: Out of memory. Requested 8880 MB; Free 5902.061425 MB",
	},
	{
		Name: "faiss_oom", Framework: "faiss", Versions: "any", About: "faiss' memory of a GPU",
		Form:   "StandardGpuResources: alloc fail type {*} dev {gpu_index:int} space {*} size {requested_bytes:int} bytes",
		Fields: []string{"gpu_index", "requested_bytes"}, Least: 2, Absorbs: []string{"cuda_driver_oom"},
		Example: "StandardGpuResources: alloc fail type FlatData dev 0 space Device stream 0x5581b1f30 size 15360000000 bytes (cudaMalloc error out of memory [2])",
	},
	{
		Name: "julia_oom", Framework: "julia", Versions: "any", About: "CUDA.jl, with what is in use on the device",
		Form:   "Out of GPU memory trying to allocate {requested_bytes:size}<? Effective GPU memory usage: {*}% ({in_use_bytes:size}/{total_bytes:size})?>",
		Fields: []string{"requested_bytes", "in_use_bytes", "total_bytes"}, Least: 1,
		Example: "ERROR: Out of GPU memory trying to allocate 1.250 GiB\nEffective GPU memory usage: 99.72% (7.771 GiB/7.793 GiB)",
	},
	{
		Name: "transformers_dispatch", Framework: "transformers", Versions: "any", About: "quantised weights do not fit, so that some would be on the CPU",
		Form:    "Make sure you have enough GPU RAM to fit the quantized model",
		Example: "ValueError: Some modules are dispatched on the CPU or the disk. Make sure you have enough GPU RAM to fit the quantized model.",
	},
	{
		Name: "accelerate_no_batch", Framework: "accelerate", Versions: "any", About: "even one sample ran out, after all smaller batches",
		Form:    "No executable batch size found, reached zero",
		Example: "RuntimeError: No executable batch size found, reached zero.",
	},
	{
		Name: "opencl_oom", Framework: "opencl", Versions: "any", About: "OpenCL got no memory of the device",
		Form: "Memory Object Allocation Failure", Also: []string{"OpenCL error: CL_OUT_OF_RESOURCES"},
		Example: "what():  Memory Object Allocation Failure",
	},
	{
		Name: "vulkan_oom", Framework: "vulkan", Versions: "any", About: "Vulkan got no memory of the device, as ncnn and games tell",
		Form: "VK_ERROR_OUT_OF_DEVICE_MEMORY", Also: []string{"vkAllocateMemory failed -2", "vk::Device::allocateMemory: ErrorOutOfDeviceMemory", "VK Error Code: ERROR_OUT_OF_DEVICE_MEMORY"},
		Example: "vkAllocateMemory failed -2",
	},
	{
		Name: "neuron_oom", Framework: "neuron", Versions: "any", About: "AWS Neuron's memory of a device",
		Form:   "Failed to alloc DEVICE memory: {requested_bytes:int}",
		Also:   []string{"Failed to allocate {requested_bytes:int} bytes on DEVICE for tensor", "nrt_tensor_allocate status=4 message=\"Allocation Failure\""},
		Fields: []string{"requested_bytes"}, Least: 1,
		Example: "2024-Oct-15 18:01:17.728750  3882:3882  ERROR  TDRV:dmem_alloc_internal                     Failed to alloc DEVICE memory: 180355072",
	},
	{
		Name: "blender_oom", Framework: "blender", Versions: "any", About: "Cycles got no memory of the GPU",
		Form: "System is out of GPU memory", Also: []string{"Out of memory in cuMemAlloc"},
		Example: "Error: System is out of GPU memory",
	},
	{
		Name: "cuda_context_oom", Framework: "cuda", Versions: "any", About: "no memory for a CUDA context: the device was full before the program came",
		Form: "Call to cuInit results in CUDA_ERROR_OUT_OF_MEMORY", Also: []string{
			"Call to cuDevicePrimaryCtxRetain results in CUDA_ERROR_OUT_OF_MEMORY", "Call to cuCtxCreate results in CUDA_ERROR_OUT_OF_MEMORY",
			"cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY", "cuCtxCreate failed: out of memory", "cuInit failed: out of memory",
		},
		Absorbs: []string{"cuda_driver_oom"},
		Example: "numba.cuda.cudadrv.error.CudaSupportError: Error at driver init: Call to cuInit results in CUDA_ERROR_OUT_OF_MEMORY (2)",
	},
	{
		Name: "cuda_file_oom", Framework: "cuda", Versions: "any", About: "the driver's error with the place in a source file, as thrust and old XGBoost write it",
		Form:    ".cuh({_:int}): <?error: ?>out of memory",
		Also:    []string{".cu({_:int}): <?error: ?>out of memory", ".hpp({_:int}): <?error: ?>out of memory", "parallel_for failed: out of memory", "std::bad_alloc: out of memory"},
		Finish:  finishFile,
		Example: "CUDA error: build/xgboost/src/xgboost/plugin/updater_gpu/src/device_helpers.cuh(386): out of memory",
	},
	{
		Name: "rmm_oom", Framework: "rapids", Versions: "any", About: "RAPIDS' allocator: cuDF, cuML, XGBoost",
		Form: "std::bad_alloc: <?out_of_memory: ?>CUDA error at", Also: []string{
			"std::bad_alloc: <?out_of_memory: ?>RMM failure at",
			"std::bad_alloc: cudaErrorMemoryAllocation: out of memory<? - Free memory: {free_bytes:int} - Requested memory: {requested_bytes:int}?>",
			"std::bad_alloc: cudaErrorMemoryAllocation: out of memory<?{*}- Free memory: {free_bytes:size}{*}- Requested memory: {requested_bytes:size}?>", "RMM_ERROR_OUT_OF_MEMORY",
		},
		Fields: []string{"requested_bytes", "free_bytes"}, Absorbs: []string{"cuda_driver_oom"},
		Example: "MemoryError: std::bad_alloc: out_of_memory: RMM failure at:include/rmm/mr/device/pool_memory_resource.hpp:196: Maximum pool size exceeded",
	},
	{
		Name: "caffe_oom", Framework: "caffe", Versions: "any", About: "the driver's error as Caffe passed it on",
		Form:    "Check failed: error == cudaSuccess (2 vs. 0) out of memory",
		Example: "F0102 03:04:05.678901  1234 syncedmem.cpp:71] Check failed: error == cudaSuccess (2 vs. 0)  out of memory",
	},
	{
		Name: "theano_oom", Framework: "theano", Versions: "any", About: "Theano, with what the driver has",
		Form:   "Error allocating {requested_bytes:int} bytes of device memory (out of memory). Driver report {free_bytes:int} bytes free and {total_bytes:int} bytes total",
		Fields: []string{"requested_bytes", "free_bytes", "total_bytes"}, Least: 1,
		Example: "Error allocating 71323200 bytes of device memory (out of memory). Driver report 10526720 bytes free and 4294770688 bytes total",
	},
	{
		Name: "paddle_oom", Framework: "paddle", Versions: "any", About: "PaddlePaddle's allocator; GB means 2^30 bytes here",
		Form: "Out of memory error on GPU {gpu_index:int}. Cannot allocate {requested_bytes:size} memory on GPU {_:int}, {in_use_bytes:size} memory has been allocated and available memory is only {free_bytes:size}",
		Also: []string{
			"Out of memory error on GPU {gpu_index:int}. Cannot allocate {requested_bytes:size} memory on GPU {_:int}, available memory is only {free_bytes:size}",
			"enforce allocating <= available failed, {requested_bytes:int} > {free_bytes:int}",
		},
		Fields: []string{"gpu_index", "requested_bytes", "in_use_bytes", "free_bytes"}, Least: 2,
		Example: "ResourceExhaustedError: Out of memory error on GPU 0. Cannot allocate 1.234375GB memory on GPU 0, 15.717529GB memory has been allocated and available memory is only 54.812500MB.",
	},
	{
		Name: "cuda_driver_oom", Framework: "cuda", Versions: "any", About: "the driver's error as some program passed it on",
		Form: "CUDA_ERROR_OUT_OF_MEMORY", Also: []string{
			"cudaMalloc failed: out of memory", "cudaMalloc retry failed: out of memory", "CUDA failed with error 2 out of memory", "CUDA failed with error out of memory",
			"CUDA failure 2: out of memory", "cudaErrorMemoryAllocation out of memory", "hipErrorOutOfMemory", "Error out of memory at line {_:int} in file",
			"cuMemAlloc failed: out of memory", "failed with error out of memory", "CUDA runtime error: out of memory", "is false: CUDA: out of memory", "[CUDA] out of memory",
			"alloc failed ({_:size}): out of memory",
		},
		Example: "numba.cuda.cudadrv.driver.CudaAPIError: [2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY",
	},
}

// torchSized are PyTorch's kinds that have sizes.
var torchSized = []string{
	"torch_cached", "torch_reserved", "torch_reserved_hint", "torch_reserved_allowed", "torch_v21", "torch_v22", "torch_v22_allowed",
	"torch_v25_pools", "torch_v25_pools_allowed", "torch_v29", "torch_generic", "torch_cut",
}
