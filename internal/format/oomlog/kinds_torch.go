package oomlog

// The parts that PyTorch's messages share.
const (
	torchHead   = "Tried to allocate {requested_bytes:size} <?(?>GPU {gpu_index:int}; {total_bytes:size} total capacity; {allocated_bytes:size} already allocated; "
	torchModern = "Tried to allocate {requested_bytes:size}. GPU {gpu_index:int} has a total capacity of {total_bytes:size} of which {free_bytes:size} is free. {:processes}"
	torchMisses = "Tried to allocate {requested_bytes:size}. GPU {gpu_index:int} has a total capacty of {total_bytes:size} of which {free_bytes:size} is free. {:processes}"
	torchLive   = "Of the allocated memory {allocated_bytes:size} is allocated by PyTorch, "
	torchPools  = "with {private_pool_bytes:size} allocated in private pools (e.g., {*} Graphs), "
	torchUnused = "and {reserved_unallocated_bytes:size} is reserved by PyTorch but unallocated. "
	torchHint   = "If reserved but unallocated memory is large try setting "
	torchEmpty  = "<?Please use `empty_cache` to release all unoccupied cached memory.?>"
	torchOldAdv = " If reserved memory is >> allocated memory"
	// Advice names the variable, under the name that a build knows.
	torchAdvice = "<?" + torchHint + "PYTORCH_{*}_ALLOC_CONF=expandable_segments:True?>"
)

// Words that stand before "out of memory" and how they are named.
var (
	cudaOrHIP = []string{"cuda", "hip"}
	onlyXPU   = []string{"xpu"}
	noDevice  = []string{""}
)

var (
	oldFields    = []string{"gpu_index", "requested_bytes", "total_bytes", "allocated_bytes", "free_bytes"}
	modernFields = []string{"gpu_index", "requested_bytes", "total_bytes", "free_bytes", "this_process_bytes", "allocated_bytes", "reserved_unallocated_bytes", "self_pid"}
	poolFields   = append([]string{"private_pool_bytes"}, modernFields...)
)

// torchKinds are the messages of PyTorch's allocators, by age.
var torchKinds = []Kind{
	{
		Name: "torch_thc", Framework: "pytorch", Versions: "0.1-0.4", About: "the driver's error as PyTorch passed it on before 1.0, without sizes",
		Form: "cuda runtime error (2) : out of memory", Also: []string{"error=2 : out of memory"},
		Example: "RuntimeError: cuda runtime error (2) : out of memory at /pytorch/aten/src/THC/generic/THCStorage.cu:58",
	},
	{
		Name: "torch_cached", Framework: "pytorch", Versions: "1.0-1.3", About: "cached is the unused part of what is reserved",
		Form: torchHead + "{free_bytes:size} free; {cached_bytes:size} cached", Devices: cudaOrHIP, Least: 6,
		Fields:  append([]string{"cached_bytes"}, oldFields...),
		Example: "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.93 GiB total capacity; 6.50 GiB already allocated; 12.31 MiB free; 100.00 MiB cached)",
	},
	{
		Name: "torch_reserved", Framework: "pytorch", Versions: "1.4-1.9", About: "reserved contains what is allocated",
		Form: torchHead + "{free_bytes:size} free; {reserved_bytes:size} reserved in total by PyTorch<?)?>", Devices: cudaOrHIP, Least: 5,
		Fields:  append([]string{"reserved_bytes"}, oldFields...),
		Example: "RuntimeError: CUDA out of memory. Tried to allocate 512.00 MiB (GPU 1; 15.78 GiB total capacity; 14.00 GiB already allocated; 200.00 MiB free; 14.50 GiB reserved in total by PyTorch)",
	},
	{
		Name: "torch_reserved_hint", Framework: "pytorch", Versions: "1.10-2.0", About: "as torch_reserved, with advice on fragmentation",
		Form: torchHead + "{free_bytes:size} free; {reserved_bytes:size} reserved in total by PyTorch<?)?>" + torchOldAdv, Devices: cudaOrHIP, Least: 6,
		Fields:  append([]string{"reserved_bytes"}, oldFields...),
		Example: "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB (GPU 0; 23.69 GiB total capacity; 20.00 GiB already allocated; 500.00 MiB free; 22.00 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF",
	},
	{
		Name: "torch_reserved_allowed", Framework: "pytorch", Versions: "1.8-2.0", About: "as torch_reserved, with the limit that a memory fraction sets",
		Form: torchHead + "{free_bytes:size} free; {allowed_bytes:size} allowed; {reserved_bytes:size} reserved in total by PyTorch<?)?>", Devices: cudaOrHIP, Least: 6,
		Fields:  append([]string{"allowed_bytes", "reserved_bytes"}, oldFields...),
		Example: "RuntimeError: CUDA out of memory. Tried to allocate 1.00 GiB (GPU 0; 23.69 GiB total capacity; 10.00 GiB already allocated; 12.00 GiB free; 11.85 GiB allowed; 11.00 GiB reserved in total by PyTorch)",
	},
	{
		Name: "torch_v21", Framework: "pytorch", Versions: "2.1", About: "the first with processes; it says capacty; reserved but unallocated is beside allocated",
		Form:    torchMisses + torchLive + torchUnused + "<?" + torchHint + "max_split_size_mb?>",
		Devices: cudaOrHIP, Least: 4, Fields: modernFields,
		Example: "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 32.00 MiB. GPU 0 has a total capacty of 8.00 GiB of which 20.00 MiB is free. Including non-PyTorch memory, this process has 7.50 GiB memory in use. Of the allocated memory 6.90 GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting max_split_size_mb to avoid fragmentation.  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF",
	},
	{
		Name: "torch_v22", Framework: "pytorch", Versions: "2.2-2.8", About: "advises expandable_segments",
		Form:    torchModern + torchLive + torchUnused + torchAdvice,
		Devices: cudaOrHIP, Least: 4, Fields: modernFields,
		Example: "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.65 GiB of which 1.00 GiB is free. Process 4242 has 3.00 GiB memory in use. Including non-PyTorch memory, this process has 19.60 GiB memory in use. Of the allocated memory 18.00 GiB is allocated by PyTorch, and 1.20 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)",
	},
	{
		Name: "torch_v22_allowed", Framework: "pytorch", Versions: "2.8-2.15", About: "as torch_v22, with the limit that a memory fraction sets",
		Form:    torchModern + "{allowed_bytes:size} allowed; " + torchLive + torchUnused + torchAdvice,
		Devices: cudaOrHIP, Least: 5, Fields: append([]string{"allowed_bytes"}, modernFields...),
		Example: "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.65 GiB of which 12.00 GiB is free. 11.82 GiB allowed; Of the allocated memory 10.00 GiB is allocated by PyTorch, and 1.20 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)",
	},
	{
		Name: "torch_v25_pools", Framework: "pytorch", Versions: "2.5-2.15", About: "with the private pools of CUDA graphs, which allocated contains",
		Form:    torchModern + torchLive + torchPools + torchUnused + torchAdvice,
		Devices: cudaOrHIP, Least: 6, Fields: poolFields,
		Example: "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 15.77 GiB of which 300.00 MiB is free. Process 999 has 15.40 GiB memory in use. Of the allocated memory 13.70 GiB is allocated by PyTorch, with 46.00 MiB allocated in private pools (e.g., CUDA Graphs), and 700.00 MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)",
	},
	{
		Name: "torch_v25_pools_allowed", Framework: "pytorch", Versions: "2.8-2.15", About: "as torch_v25_pools, with the limit that a memory fraction sets",
		Form:    torchModern + "{allowed_bytes:size} allowed; " + torchLive + torchPools + torchUnused + torchAdvice,
		Devices: cudaOrHIP, Least: 7, Fields: append([]string{"allowed_bytes"}, poolFields...),
		Example: "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 MiB. GPU 0 has a total capacity of 255.98 GiB of which 240.00 GiB is free. 2.00 GiB allowed; Of the allocated memory 1.90 GiB is allocated by PyTorch, with 17.00 MiB allocated in private pools (e.g., HIP Graphs), and 55.00 MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)",
	},
	{
		Name: "torch_v29", Framework: "pytorch", Versions: "2.9-2.15", About: "its advice names PYTORCH_ALLOC_CONF",
		Form:    torchModern + "<?{allowed_bytes:size} allowed; ?>" + torchLive + "<?" + torchPools + "?>" + torchUnused + torchHint + "PYTORCH_ALLOC_CONF",
		Devices: cudaOrHIP, Least: 99, Fields: append([]string{"allowed_bytes"}, poolFields...),
		Example: "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 572.00 MiB. GPU 0 has a total capacity of 39.49 GiB of which 300.00 MiB is free. Including non-PyTorch memory, this process has 39.10 GiB memory in use. Of the allocated memory 38.00 GiB is allocated by PyTorch, and 320.00 MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)",
	},
	{
		Name: "torch_generic", Framework: "pytorch", Versions: "2.10-2.15", About: "the allocator for all devices, which names none",
		Form:    torchModern + "<?{allowed_bytes:size} allowed; ?>" + torchLive + "<?" + torchPools + "?>" + torchUnused + "<?" + torchHint + "PYTORCH_<?CUDA_?>ALLOC_CONF?>",
		Devices: noDevice, Least: 4, Fields: append([]string{"allowed_bytes"}, poolFields...),
		Example: "torch.OutOfMemoryError: Out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.65 GiB of which 1.50 GiB is free. Of the allocated memory 20.00 GiB is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)",
	},
	{
		Name: "torch_xpu_v1", Framework: "pytorch-xpu", Versions: "1.10-2.4", About: "Intel's extension for PyTorch",
		Form: torchHead + "{reserved_bytes:size} reserved in total by PyTorch", Least: 5,
		Also:    []string{"Current platform can NOT allocate memory block with size larger than {_:size}! " + torchHead + "{reserved_bytes:size} reserved in total by PyTorch"},
		Fields:  []string{"gpu_index", "requested_bytes", "total_bytes", "allocated_bytes", "reserved_bytes"},
		Example: "RuntimeError: XPU out of memory. Tried to allocate 1.71 GiB (GPU 0; 15.56 GiB total capacity; 176.00 MiB already allocated; 176.00 MiB reserved in total by PyTorch)",
	},
	{
		Name: "torch_xpu_v2", Framework: "pytorch-xpu", Versions: "2.5-2.15", About: "PyTorch's own allocator for Intel GPUs",
		Form:    torchModern + torchLive + torchUnused + torchEmpty,
		Also:    []string{"Tried to allocate {requested_bytes:size}. GPU {gpu_index:int} has a total capacity of {total_bytes:size}. " + torchLive + torchUnused + torchEmpty},
		Devices: onlyXPU, Least: 4, Fields: modernFields, Absorbs: []string{"xpu_driver_oom"},
		Example: "torch.OutOfMemoryError: XPU out of memory. Tried to allocate 32.00 GiB. GPU 0 has a total capacity of 11.59 GiB of which 9.01 GiB is free. Of the allocated memory 0 bytes is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated. Please use `empty_cache` to release all unoccupied cached memory.",
	},
	{
		Name: "torch_npu", Framework: "pytorch-npu", Versions: "1.8-2.15", About: "Huawei's extension for Ascend; reserved contains what is allocated",
		Form:    "Tried to allocate {requested_bytes:size} <?(?>NPU {gpu_index:int}; {total_bytes:size} total capacity; {allocated_bytes:size} already allocated; <?{_:size} current active; ?>{free_bytes:size} free; <?{allowed_bytes:size} allowed; ?>{reserved_bytes:size} reserved in total by PyTorch<?)?>",
		Devices: []string{"npu"}, Least: 5, Fields: append([]string{"allowed_bytes", "reserved_bytes"}, oldFields...),
		Example: "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB total capacity; 58.10 GiB already allocated; 58.10 GiB current active; 512.00 MiB free; 59.30 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.",
	},
	{
		Name: "xpu_driver_oom", Framework: "pytorch-xpu", Versions: "1.10-2.15", About: "the driver's error of Intel GPUs, without sizes",
		Form: "UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", Also: []string{"ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", "XPU out of memory, please use `empty_cache`", "PI_ERROR_OUT_OF_RESOURCES", "UR_RESULT_ERROR_OUT_OF_RESOURCES", "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
		Example: "RuntimeError: level_zero backend failed with error: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)",
	},
	{
		Name: "torch_directml", Framework: "pytorch-directml", Versions: "1.8-2.4", About: "Microsoft's DirectML for any GPU under Windows",
		Form: "Could not allocate tensor with {requested_bytes:int} bytes. There is not enough GPU video memory available", Fields: []string{"requested_bytes"}, Least: 99,
		Example: "RuntimeError: Could not allocate tensor with 377487360 bytes. There is not enough GPU video memory available!",
	},
	{
		Name: "torch_async", Framework: "pytorch", Versions: "2.0-2.15", About: "the backend cudaMallocAsync",
		Form:   "would exceed allowed memory. (out of memory) <?Currently allocated : {allocated_bytes:size} Requested : {requested_bytes:size} Device limit : {total_bytes:size} Free (according to CUDA): {free_bytes:size} <?PyTorch limit (set by user-supplied memory fraction) : {allowed_bytes:size}?>?>",
		Also:   []string{"Allocation on device"},
		Fields: []string{"gpu_index", "allocated_bytes", "requested_bytes", "total_bytes", "free_bytes", "allowed_bytes"}, Finish: finishAsync,
		Example: "torch.cuda.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)\nCurrently allocated     : 6.89 GiB\nRequested               : 320.00 MiB\nDevice limit            : 23.69 GiB\nFree (according to CUDA): 2.94 MiB\nPyTorch limit (set by user-supplied memory fraction)\n                        : 17179869184.00 GiB",
	},
	{
		Name: "torch_bogus_size", Framework: "pytorch", Versions: "1.8-2.15", About: "a size that no memory has",
		Form:    "Tried to allocate more than 1EB memory",
		Example: "RuntimeError: CUDA out of memory. Tried to allocate more than 1EB memory.",
	},
	{
		Name: "torch_nvml_assert", Framework: "pytorch", Versions: "2.1-2.15", About: "the message itself could not be made, since NVML failed",
		Form: "NVML_SUCCESS == r INTERNAL ASSERT FAILED at {*}CUDACachingAllocator.cpp", Also: []string{"NVML_SUCCESS == DriverAPI::get()->nvml{*}INTERNAL ASSERT FAILED at {*}CUDACachingAllocator.cpp"},
		Example: "RuntimeError: NVML_SUCCESS == r INTERNAL ASSERT FAILED at \"../c10/cuda/CUDACachingAllocator.cpp\":1154, please report a bug to PyTorch.",
	},
	{
		Name: "torch_cut", Framework: "pytorch", Versions: "1.0-2.15", About: "a message of PyTorch of which only the beginning is there",
		Form: "Tried to allocate {requested_bytes:size}", Also: []string{"CUDA out of memory", "HIP out of memory", torchHead}, Devices: cudaOrHIP,
		Fields: []string{"requested_bytes", "gpu_index", "total_bytes", "allocated_bytes"}, Finish: onlyAlone,
		Example: "E   RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB",
	},
	{
		Name: "mps_gb", Framework: "pytorch-mps", Versions: "1.12-2.6", About: "Apple's GPUs; GB means 2^30 bytes here",
		Form:   "MPS backend out of memory (MPS allocated: {allocated_bytes:size}, other allocations: {other_allocations_bytes:size}, max allowed: {max_allowed_bytes:size}). Tried to allocate {requested_bytes:size} on {*} pool.",
		Fields: []string{"allocated_bytes", "other_allocations_bytes", "max_allowed_bytes", "requested_bytes"}, Least: 2, Finish: notBinaryPrefix,
		Example: "RuntimeError: MPS backend out of memory (MPS allocated: 8.02 GB, other allocations: 400.10 MB, max allowed: 9.07 GB). Tried to allocate 1.50 GB on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit for memory allocations (may cause system failure).",
	},
	{
		Name: "mps_gib", Framework: "pytorch-mps", Versions: "2.7-2.15", About: "as mps_gb, written in GiB",
		Form:   "MPS backend out of memory (MPS allocated: {allocated_bytes:size}, other allocations: {other_allocations_bytes:size}, max allowed: {max_allowed_bytes:size}). Tried to allocate {requested_bytes:size} on {*} pool.",
		Fields: []string{"allocated_bytes", "other_allocations_bytes", "max_allowed_bytes", "requested_bytes"}, Least: 2, Finish: binaryPrefix,
		Example: "RuntimeError: MPS backend out of memory (MPS allocated: 8.02 GiB, other allocations: 400.10 MiB, max allowed: 9.07 GiB). Tried to allocate 1.50 GiB on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit for memory allocations (may cause system failure).",
	},
	{
		Name: "mps_buffer", Framework: "pytorch-mps", Versions: "1.12-2.15", About: "one buffer is larger than Metal allows",
		Form: "Invalid buffer size: {requested_bytes:size}", Also: []string{"[metal::malloc] Attempting to allocate {requested_bytes:int} bytes which is greater than the maximum allowed buffer size of {_:int} bytes"}, Fields: []string{"requested_bytes"}, Least: 1,
		Example: "RuntimeError: Invalid buffer size: 24.14 GB",
	},
	{
		Name: "mlx_malloc", Framework: "mlx", Versions: "any", About: "MLX got no more of the memory that the GPU shares",
		Form:   "[malloc_or_wait] Unable to allocate {requested_bytes:int} bytes",
		Also:   []string{"[metal::malloc] Unable to allocate {requested_bytes:int} bytes"},
		Fields: []string{"requested_bytes"}, Least: 1,
		Example: "libc++abi: terminating due to uncaught exception of type std::runtime_error: [malloc_or_wait] Unable to allocate 124367104 bytes.",
	},
	{
		Name: "mps_command_buffer", Framework: "pytorch-mps", Versions: "1.12-2.15", About: "Metal gave up on work that was sent to the GPU",
		Form: "kIOGPUCommandBufferCallbackErrorOutOfMemory", Also: []string{"Insufficient Memory (IOAF code 8)"},
		Example: "Error: command buffer exited with error status. Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)",
	},
	{
		Name: "cuda_error_oom", Framework: "pytorch", Versions: "1.0-2.15", About: "the driver's error from outside of the caching allocator",
		Form:    "CUDA error: out of memory<?Search for `cudaErrorMemoryAllocation?>",
		Also:    []string{"CUDA driver error: out of memory", "HIP error: out of memory", "cudaErrorMemoryAllocation: out of memory"},
		Example: "RuntimeError: CUDA error: out of memory",
	},
}
