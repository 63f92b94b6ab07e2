/* profiling.c: CUPTI and NVTX. No kernel runs, so there is nothing to record:
 * CUPTI refuses to be subscribed to, which PyTorch's profiler answers by
 * recording the CPU alone. Marks go nowhere. */
#include "library.h"

enum { CUPTI_OK = 0, CUPTI_INVALID = 1, CUPTI_NO_MORE_RECORDS = 12 };

VGPU_API int cuptiGetVersion(uint32_t *version)
{
	if (!version)
		return CUPTI_INVALID;
	*version = (uint32_t)vgpu_version(VGPU_VERSION_CUPTI);
	return CUPTI_OK;
}

VGPU_API int cuptiGetResultString(int result, const char **text)
{
	if (!text)
		return CUPTI_INVALID;
	*text = result == CUPTI_OK ? "CUPTI_SUCCESS" : result == CUPTI_NO_MORE_RECORDS ? "CUPTI_ERROR_MAX_LIMIT_REACHED"
		: "CUPTI_ERROR_NOT_SUPPORTED: the virtual GPU runs no kernels";
	return CUPTI_OK;
}

VGPU_API int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, void **record) { return CUPTI_NO_MORE_RECORDS; }

VGPU_API int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
	if (!dropped)
		return CUPTI_INVALID;
	*dropped = 0;
	return CUPTI_OK;
}

VGPU_API int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *last)
{
	if (last)
		*last = 0;
	return CUPTI_OK;
}

/* The identity of a range, and the depth of a nested one. */
VGPU_API uint64_t nvtxRangeStartA(const char *message)
{
	static uint64_t last;
	return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

static __thread int depth;

VGPU_API int nvtxRangePushA(const char *message) { return depth++; }
VGPU_API int nvtxRangePop(void) { return depth > 0 ? --depth : -1; }
