/* cudnn.c: the cuDNN handle, its versions and its error texts. */
#include "cudnn_descriptors.h"

#include <stdlib.h>
#include <string.h>

VGPU_API int cudnnCreate(struct cudnn **handle)
{
	if (!handle)
		return CUDNN_BAD_PARAM;
	*handle = calloc(1, sizeof **handle);
	return *handle ? CUDNN_OK : CUDNN_NO_MEMORY;
}

VGPU_API int cudnnDestroy(struct cudnn *handle)
{
	free(handle);
	return CUDNN_OK;
}

VGPU_API int cudnnSetStream(struct cudnn *handle, void *stream)
{
	if (!handle)
		return CUDNN_BAD_PARAM;
	handle->stream = stream;
	return CUDNN_OK;
}

VGPU_API int cudnnGetStream(struct cudnn *handle, void **stream)
{
	if (!handle || !stream)
		return CUDNN_BAD_PARAM;
	*stream = handle->stream;
	return CUDNN_OK;
}

/* PyTorch compares this with the version it was compiled against, so the
 * configuration carries the one that the wheel requires. */
VGPU_API size_t cudnnGetVersion(void) { return (size_t)vgpu_version(VGPU_VERSION_CUDNN); }

VGPU_API size_t cudnnGetCudartVersion(void) { return vgpu_cuda_version(); }

/* Version 9 counts the major version in ten thousands, 8 and older in thousands. */
VGPU_API int cudnnGetProperty(int part, int *value)
{
	int version = vgpu_version(VGPU_VERSION_CUDNN);
	int major_unit = version >= 90000 ? 10000 : 1000;
	const int parts[] = {version / major_unit, version % major_unit / 100, version % 100};
	if (part < 0 || part > 2 || !value)
		return CUDNN_BAD_PARAM;
	*value = parts[part];
	return CUDNN_OK;
}

VGPU_API const char *cudnnGetErrorString(int status)
{
	static const char *const version8[] = {
		"CUDNN_STATUS_SUCCESS", "CUDNN_STATUS_NOT_INITIALIZED", "CUDNN_STATUS_ALLOC_FAILED",
		"CUDNN_STATUS_BAD_PARAM", "CUDNN_STATUS_INTERNAL_ERROR", "CUDNN_STATUS_INVALID_VALUE",
		"CUDNN_STATUS_ARCH_MISMATCH", "CUDNN_STATUS_MAPPING_ERROR", "CUDNN_STATUS_EXECUTION_FAILED",
		"CUDNN_STATUS_NOT_SUPPORTED", "CUDNN_STATUS_LICENSE_ERROR",
	};
	if (status >= 0 && (size_t)status < sizeof version8 / sizeof *version8)
		return version8[status];
	switch (status / 1000) {
	case 1: return "CUDNN_STATUS_NOT_INITIALIZED";
	case 2: return "CUDNN_STATUS_BAD_PARAM";
	case 3: return "CUDNN_STATUS_NOT_SUPPORTED";
	case 4: return "CUDNN_STATUS_INTERNAL_ERROR";
	case 5: return "CUDNN_STATUS_EXECUTION_FAILED";
	}
	return "CUDNN_UNKNOWN_STATUS";
}

VGPU_API void cudnnGetLastErrorString(char *message, size_t room)
{
	static const char text[] = "the virtual GPU does not do this";
	if (!message || room == 0)
		return;
	strncpy(message, text, room - 1);
	message[room - 1] = 0;
}

/* Kernels never run, so none can have failed. */
VGPU_API int cudnnQueryRuntimeError(struct cudnn *handle, int *status, int mode, void *tag)
{
	if (!status)
		return CUDNN_BAD_PARAM;
	*status = CUDNN_OK;
	return CUDNN_OK;
}
