package diagnose

import "testing"

// TestMessagesOfLibraries has messages as public threads show them, of XGBoost,
// CatBoost, CuPy, SGLang, batch systems and others, with what they say.
func TestMessagesOfLibraries(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		text, framework, cause string
		fields                 map[string]int64
	}{
		{"CUDA error: build/xgboost/plugin/updater_gpu/src/device_helpers.cuh(386): out of memory", "xgboost", "device_full", nil},
		{"error CUDA error: out of memory (c:\\projects\\lc0\\src\\neural\\cuda\\network_cudnn.cc:442", "pytorch", "context_creation_failed", nil},
		{"Memory allocation error on worker 0: std::bad_alloc: cudaErrorMemoryAllocation: out of memory\n- Free memory: 8126464\n- Requested memory: 33554432", "rapids", "device_full",
			map[string]int64{"requested_bytes": 33554432, "free_bytes": 8126464}},
		{"std::bad_alloc: cudaErrorMemoryAllocation: out of memory\n- Free memory: 11310923776\n- Requested memory: 47996", "rapids", "free_but_refused",
			map[string]int64{"requested_bytes": 47996}},
		{`std::bad_alloc: cudaErrorMemoryAllocation: out of memory\\n- Free memory: 53.1098GB\\n- Requested memory: 64GB`, "rapids", "device_full",
			map[string]int64{"requested_bytes": 65536 * mib}},
		{"Error: Out of memory. Requested 8880 MB; Free 5902.061425 MB\nuncaught exception:\n    type -> NCudaLib::TOutOfMemoryError", "catboost", "device_full",
			map[string]int64{"requested_bytes": 8880 * mib}},
		{"Exception in main training loop: Out of memory allocating 25,600,000 bytes (allocated so far: 3,635,267,072 bytes).", "cupy", "device_full",
			map[string]int64{"requested_bytes": 25600000, "allocated_bytes": 3635267072}},
		{"Out of memory allocating 805,306,368 bytes (allocated so far: 536,870,912 bytes, limit set to: 1,073,741,824 bytes).", "cupy", "process_cap",
			map[string]int64{"limit_bytes": 1073741824}},
		{"Out of memory allocating 805306368 bytes.", "jax", "device_full", map[string]int64{"requested_bytes": 805306368}},
		{"Error at driver init: Call to cuInit results in CUDA_ERROR_OUT_OF_MEMORY (2)", "cuda", "context_creation_failed", nil},
		{"[719] Call to cuMemAlloc results in CUDA_ERROR_LAUNCH_FAILED", "", "", nil},
		{"ERROR: Out of GPU memory trying to allocate 1.250 GiB\nEffective GPU memory usage: 99.72% (7.771 GiB/7.793 GiB)", "julia", "device_full",
			map[string]int64{"requested_bytes": 1280 * mib}},
		{"Not enough memory. Please try to increase --mem-fraction-static.", "sglang", "kv_cache_too_small", nil},
		{"Prefill out of memory. Try to lower your batch size.\nTry to allocate 8192 tokens.\nAvailable tokens: 5012", "sglang", "kv_cache_too_small",
			map[string]int64{"wanted_tokens": 8192, "free_tokens": 5012}},
		{"| 1 | UNAVAILABLE: [TensorRT-LLM][ERROR] CUDA runtime error in ::cudaMallocAsync(ptr, n, s->get()): out of memory (/a |", "tensorrt-llm", "device_full", nil},
		{"CUDA runtime error in cudaDeviceGetDefaultMemPool(&memPool, device): operation not supported (/app/bufferManager.cpp:170)", "", "", nil},
		{"[malloc_or_wait] Unable to allocate 124367104 bytes.", "mlx", "unified_memory_limit", map[string]int64{"requested_bytes": 124367104}},
		{"TDRV:tensor_allocate   Failed to allocate 180355072 bytes on DEVICE for tensor UNKNOWN.", "neuron", "device_full", map[string]int64{"requested_bytes": 180355072}},
		{"Init] cudaHostAlloc failed, ret[2], out of memory", "cuda", "host_pinned", nil},
		{"failed to allocate 8.00G from device: hipError_t(1002)", "tensorflow", "other_process", map[string]int64{"requested_bytes": 8192 * mib}},
		{"ImportError: DLL load failed while importing _ufuncs: 页面文件太小，无法完成操作。", "pytorch", "host_commit_limit", nil},
		{"ImportError: DLL load failed while importing _ufuncs: \xd2\xb3\xc3\xe6\xce\xc4\xbc\xfe\xcc\xab\xd0\xa1", "pytorch", "host_commit_limit", nil},
		{"ImportError: DLL load failed while importing _ufuncs: 找不到指定的模块。", "", "", nil},
		{"vkAllocateMemory failed -2", "vulkan", "device_full", nil},
		{"ggml_vulkan: Requested buffer size exceeds device buffer size limit: ErrorOutOfDeviceMemory\nggml_gallocr_reserve_n_impl: failed to allocate Vulkan0 buffer of size 8753520640", "llama.cpp", "single_allocation_limit",
			map[string]int64{"requested_bytes": 8753520640}},
		{"    return tensor.pin_memory()\nRuntimeError: CUDA error: out of memory", "pytorch", "host_pinned", nil},
		{"RuntimeError: NVML_SUCCESS == r INTERNAL ASSERT FAILED at \"../c10/cuda/CUDACachingAllocator.cpp\":1154, please report a bug to PyTorch.", "pytorch", "disguised_oom", nil},
		{"level_zero backend failed with error: 20 (UR_RESULT_ERROR_DEVICE_LOST)", "", "", nil},
		{"ResourceExhaustedError: failed to allocate memory [Op:AddV2]", "tensorflow", "device_full", nil},
		{"=>> PBS: job killed: mem 16784392kb exceeded limit 16777216kb", "pbs", "job_memory_limit", map[string]int64{"limit_bytes": 16777216 << 10}},
		{"=>> PBS: job killed: vmem 36515172352 exceeded limit 34359738368", "pbs", "job_memory_limit", map[string]int64{"limit_bytes": 34359738368}},
		{"TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.", "lsf", "job_memory_limit", nil},
		{"systemd[1]: train.service: Failed with result 'oom-kill'.", "systemd", "host_ram", nil},
		{"systemd[1]: Started Userspace Out-Of-Memory (OOM) Killer.", "", "", nil},
		{"systemd-oomd[840]: Killed /user.slice/a.scope due to memory pressure for /user.slice being 51.07% > 50.00% for > 20s with reclaim activity", "systemd", "host_ram", nil},
		{"11300781  train  OUT_OF_ME+    0:125", "slurm", "job_memory_limit", nil},
		{"Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space", "java", "host_ram", nil},
		{"google.api_core.exceptions.ResourceExhausted: 429 Quota exceeded for quota metric", "", "", nil},
		{"Error: model requires more system memory (10.4 GiB) than is available (8.2 GiB)", "ollama", "host_ram", nil},
	} {
		r := explain(t, "step 1\n"+c.text+"\n")
		if c.cause == "" {
			if len(r.Diagnoses) != 0 {
				t.Errorf("%q is taken for %s", c.text, r.Diagnoses[0].Message.Kind.Name)
			}
			continue
		}
		if len(r.Diagnoses) != 1 {
			t.Errorf("%q: %d messages", c.text, len(r.Diagnoses))
			continue
		}
		d := r.Diagnoses[0]
		if m := d.Message; m.Framework != c.framework || d.Cause.ID != c.cause {
			t.Errorf("%q: %s of %s, want %s of %s", c.text, d.Cause.ID, m.Framework, c.cause, c.framework)
		}
		for name, want := range c.fields {
			if got := d.Message.Fields[name]; got != want {
				t.Errorf("%q: %s is %d, want %d", c.text, name, got, want)
			}
		}
	}
}
