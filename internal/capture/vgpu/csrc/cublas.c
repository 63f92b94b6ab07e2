/* cublas.c: the state of a cuBLAS handle, and the calls that copy for the host.
 *
 * PyTorch allocates cuBLAS's workspace itself (cublasSetWorkspace), so nothing is
 * estimated here. Products touch device memory only and are stubs (manifest).
 */
#include "library.h"

#include <stdlib.h>

enum { CUBLAS_OK = 0, CUBLAS_NOT_INITIALIZED = 1, CUBLAS_NO_MEMORY = 3, CUBLAS_INVALID = 7 };

struct cublas {
	void *stream;
	void *workspace;
	size_t workspace_bytes;
	int pointer_mode; /* 0: scalars lie on the host */
	int math_mode;
	int atomics_mode;
	int sm_target;
};

VGPU_API int cublasCreate_v2(struct cublas **handle)
{
	if (!handle)
		return CUBLAS_INVALID;
	*handle = calloc(1, sizeof **handle);
	return *handle ? CUBLAS_OK : CUBLAS_NO_MEMORY;
}

VGPU_API int cublasDestroy_v2(struct cublas *handle)
{
	free(handle);
	return handle ? CUBLAS_OK : CUBLAS_NOT_INITIALIZED;
}

/* A pair of calls for one field of the handle. */
#define FIELD(Set, Get, type, field) \
	VGPU_API int Set(struct cublas *handle, type value) \
	{ \
		if (!handle) \
			return CUBLAS_NOT_INITIALIZED; \
		handle->field = value; \
		return CUBLAS_OK; \
	} \
	VGPU_API int Get(struct cublas *handle, type *value) \
	{ \
		if (!handle) \
			return CUBLAS_NOT_INITIALIZED; \
		*value = handle->field; \
		return CUBLAS_OK; \
	}

FIELD(cublasSetStream_v2, cublasGetStream_v2, void *, stream)
FIELD(cublasSetPointerMode_v2, cublasGetPointerMode_v2, int, pointer_mode)
FIELD(cublasSetMathMode, cublasGetMathMode, int, math_mode)
FIELD(cublasSetAtomicsMode, cublasGetAtomicsMode, int, atomics_mode)
FIELD(cublasSetSmCountTarget, cublasGetSmCountTarget, int, sm_target)

VGPU_API int cublasSetWorkspace_v2(struct cublas *handle, void *workspace, size_t bytes)
{
	if (!handle)
		return CUBLAS_NOT_INITIALIZED;
	handle->workspace = workspace;
	handle->workspace_bytes = bytes;
	return CUBLAS_OK;
}

VGPU_API int cublasGetVersion_v2(struct cublas *handle, int *version)
{
	*version = vgpu_version(VGPU_VERSION_CUBLAS);
	return CUBLAS_OK;
}

VGPU_API int cublasGetProperty(int part, int *value)
{
	int version = vgpu_version(VGPU_VERSION_CUBLAS);
	const int parts[] = {version / 10000, version / 100 % 100, version % 100};
	if (part < 0 || part > 2)
		return CUBLAS_INVALID;
	*value = parts[part];
	return CUBLAS_OK;
}

VGPU_API size_t cublasGetCudartVersion(void) { return vgpu_cuda_version(); }

static const char *status_name(int status)
{
	switch (status) {
	case 0: return "CUBLAS_STATUS_SUCCESS";
	case 1: return "CUBLAS_STATUS_NOT_INITIALIZED";
	case 3: return "CUBLAS_STATUS_ALLOC_FAILED";
	case 7: return "CUBLAS_STATUS_INVALID_VALUE";
	case 8: return "CUBLAS_STATUS_ARCH_MISMATCH";
	case 11: return "CUBLAS_STATUS_MAPPING_ERROR";
	case 13: return "CUBLAS_STATUS_EXECUTION_FAILED";
	case 14: return "CUBLAS_STATUS_INTERNAL_ERROR";
	case 15: return "CUBLAS_STATUS_NOT_SUPPORTED";
	case 16: return "CUBLAS_STATUS_LICENSE_ERROR";
	}
	return "CUBLAS_STATUS_UNKNOWN";
}

VGPU_API const char *cublasGetStatusName(int status) { return status_name(status); }
VGPU_API const char *cublasGetStatusString(int status) { return status_name(status); }

/* Copy a matrix column by column; a vector is a matrix of one row. */
static int copy_columns(int64_t rows, int64_t columns, size_t element, const void *from, int64_t from_ld, void *to, int64_t to_ld)
{
	if (rows < 0 || columns < 0 || from_ld <= 0 || to_ld <= 0)
		return CUBLAS_INVALID;
	if (rows == from_ld && rows == to_ld) {
		vgpu_copy(to, from, (size_t)(rows * columns) * element);
		return CUBLAS_OK;
	}
	for (int64_t i = 0; i < columns; i++)
		vgpu_copy((char *)to + (size_t)(i * to_ld) * element, (const char *)from + (size_t)(i * from_ld) * element,
			(size_t)rows * element);
	return CUBLAS_OK;
}

#define COPIES(direction) \
	VGPU_API int cublas##direction##Vector(int n, int element, const void *x, int incx, void *y, int incy) \
	{ \
		return copy_columns(1, n, (size_t)element, x, incx, y, incy); \
	} \
	VGPU_API int cublas##direction##VectorAsync(int n, int element, const void *x, int incx, void *y, int incy, void *stream) \
	{ \
		return copy_columns(1, n, (size_t)element, x, incx, y, incy); \
	} \
	VGPU_API int cublas##direction##Matrix(int rows, int columns, int element, const void *a, int lda, void *b, int ldb) \
	{ \
		return copy_columns(rows, columns, (size_t)element, a, lda, b, ldb); \
	} \
	VGPU_API int cublas##direction##MatrixAsync(int rows, int columns, int element, const void *a, int lda, void *b, int ldb, void *stream) \
	{ \
		return copy_columns(rows, columns, (size_t)element, a, lda, b, ldb); \
	}

COPIES(Set)
COPIES(Get)
