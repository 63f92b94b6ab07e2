/* errors.c: names and texts of errors, and the last error of each thread. */
#include "runtime.h"

/* Texts as cudaGetErrorString gives them (CUDA 12.4): programs search them, and
 * PyTorch prints them. The driver's names follow from the runtime's. */
static const struct {
	int code;
	const char *runtime_name, *driver_name, *text;
} errors[] = {
	{0, "cudaSuccess", "CUDA_SUCCESS", "no error"},
	{1, "cudaErrorInvalidValue", "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
	{2, "cudaErrorMemoryAllocation", "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	{3, "cudaErrorInitializationError", "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
	{4, "cudaErrorCudartUnloading", "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
	{9, "cudaErrorInvalidConfiguration", "CUDA_ERROR_INVALID_CONFIGURATION", "invalid configuration argument"},
	{13, "cudaErrorInvalidSymbol", "CUDA_ERROR_INVALID_SYMBOL", "invalid device symbol"},
	{35, "cudaErrorInsufficientDriver", "CUDA_ERROR_INSUFFICIENT_DRIVER", "CUDA driver version is insufficient for CUDA runtime version"},
	{98, "cudaErrorInvalidDeviceFunction", "CUDA_ERROR_INVALID_DEVICE_FUNCTION", "invalid device function"},
	{100, "cudaErrorNoDevice", "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
	{101, "cudaErrorInvalidDevice", "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
	{200, "cudaErrorInvalidKernelImage", "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
	{201, "cudaErrorDeviceUninitialized", "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
	{209, "cudaErrorNoKernelImageForDevice", "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
	{217, "cudaErrorPeerAccessUnsupported", "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported between these two devices"},
	{400, "cudaErrorInvalidResourceHandle", "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
	{401, "cudaErrorIllegalState", "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
	{500, "cudaErrorSymbolNotFound", "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
	{600, "cudaErrorNotReady", "CUDA_ERROR_NOT_READY", "device not ready"},
	{700, "cudaErrorIllegalAddress", "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
	{701, "cudaErrorLaunchOutOfResources", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
	{704, "cudaErrorPeerAccessAlreadyEnabled", "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"},
	{705, "cudaErrorPeerAccessNotEnabled", "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "peer access has not been enabled"},
	{709, "cudaErrorContextIsDestroyed", "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
	{710, "cudaErrorAssert", "CUDA_ERROR_ASSERT", "device-side assert triggered"},
	{712, "cudaErrorHostMemoryAlreadyRegistered", "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "part or all of the requested memory range is already mapped"},
	{713, "cudaErrorHostMemoryNotRegistered", "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "pointer does not correspond to a registered memory region"},
	{719, "cudaErrorLaunchFailure", "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
	{800, "cudaErrorNotPermitted", "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
	{801, "cudaErrorNotSupported", "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
	{900, "cudaErrorStreamCaptureUnsupported", "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
	{901, "cudaErrorStreamCaptureInvalidated", "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"},
	{902, "cudaErrorStreamCaptureMerge", "CUDA_ERROR_STREAM_CAPTURE_MERGE", "operation would result in a merge of separate capture sequences"},
	{903, "cudaErrorStreamCaptureUnmatched", "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "capture was not ended in the same stream as it began"},
	{904, "cudaErrorStreamCaptureUnjoined", "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
	{908, "cudaErrorStreamCaptureWrongThread", "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "attempt to terminate a thread-local capture sequence from another thread"},
	{999, "cudaErrorUnknown", "CUDA_ERROR_UNKNOWN", "unknown error"},
};
#define ERRORS (sizeof errors / sizeof *errors)

static __thread int last_error;

int vgpu_result(int error)
{
	if (error)
		last_error = error;
	return error;
}

const char *vgpu_error_text(int error)
{
	for (size_t i = 0; i < ERRORS; i++)
		if (errors[i].code == error)
			return errors[i].text;
	return NULL;
}

const char *vgpu_error_name(int error)
{
	for (size_t i = 0; i < ERRORS; i++)
		if (errors[i].code == error)
			return errors[i].driver_name;
	return NULL;
}

/* An error leaves the runtime at the first look at it: PyTorch clears an
 * out-of-memory error this way before it tries again. */
VGPU_API int cudaGetLastError(void)
{
	int error = last_error;
	last_error = VGPU_OK;
	return error;
}

VGPU_API int cudaPeekAtLastError(void) { return last_error; }

VGPU_API const char *cudaGetErrorName(int error)
{
	for (size_t i = 0; i < ERRORS; i++)
		if (errors[i].code == error)
			return errors[i].runtime_name;
	return "unrecognized error code";
}

VGPU_API const char *cudaGetErrorString(int error)
{
	const char *text = vgpu_error_text(error);
	return text ? text : "unrecognized error code";
}

VGPU_API int cuGetErrorName(int error, const char **name)
{
	*name = vgpu_error_name(error);
	return *name ? VGPU_OK : VGPU_INVALID_VALUE;
}

VGPU_API int cuGetErrorString(int error, const char **text)
{
	*text = vgpu_error_text(error);
	return *text ? VGPU_OK : VGPU_INVALID_VALUE;
}
