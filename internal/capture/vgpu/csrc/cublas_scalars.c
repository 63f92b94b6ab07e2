/* cublas_scalars.c: the cuBLAS calls that give a number or a status to the host.
 *
 * A dot product, a norm or an index goes to where the caller's pointer says. On the
 * host it is written as the result for a vector of zeros; on the device it is left
 * alone like every value that a kernel would write. Status codes say success.
 */
#include "library.h"

enum { CUBLAS_OK = 0 };

#define DOT(name, bytes) \
	VGPU_API int cublas##name(void *handle, int n, const void *x, int incx, const void *y, int incy, void *result) \
	{ \
		vgpu_clear_host(result, bytes); \
		return CUBLAS_OK; \
	}
DOT(Sdot_v2, 4)
DOT(Ddot_v2, 8)
DOT(Cdotu_v2, 8)
DOT(Cdotc_v2, 8)
DOT(Zdotu_v2, 16)
DOT(Zdotc_v2, 16)

VGPU_API int cublasDotEx(void *handle, int n, const void *x, int x_type, int incx, const void *y, int y_type, int incy,
	void *result, int result_type, int compute_type)
{
	vgpu_clear_host(result, vgpu_data_type_bytes(result_type));
	return CUBLAS_OK;
}

VGPU_API int cublasDotcEx(void *handle, int n, const void *x, int x_type, int incx, const void *y, int y_type, int incy,
	void *result, int result_type, int compute_type)
{
	vgpu_clear_host(result, vgpu_data_type_bytes(result_type));
	return CUBLAS_OK;
}

VGPU_API int cublasNrm2Ex(void *handle, int n, const void *x, int x_type, int incx, void *result, int result_type, int compute_type)
{
	vgpu_clear_host(result, vgpu_data_type_bytes(result_type));
	return CUBLAS_OK;
}

#define REDUCTION(name, bytes) \
	VGPU_API int cublas##name(void *handle, int n, const void *x, int incx, void *result) \
	{ \
		vgpu_clear_host(result, bytes); \
		return CUBLAS_OK; \
	}
REDUCTION(Snrm2_v2, 4)
REDUCTION(Dnrm2_v2, 8)
REDUCTION(Scnrm2_v2, 4)
REDUCTION(Dznrm2_v2, 8)
REDUCTION(Sasum_v2, 4)
REDUCTION(Dasum_v2, 8)
REDUCTION(Scasum_v2, 4)
REDUCTION(Dzasum_v2, 8)

/* Indices count from 1; every entry of a zero vector is its largest, so the first
 * one is the answer, and 0 that of an empty vector. */
#define EXTREMUM(name) \
	VGPU_API int cublas##name(void *handle, int n, const void *x, int incx, int *result) \
	{ \
		if (result && !vgpu_on_device(result)) \
			*result = n > 0 && incx > 0; \
		return CUBLAS_OK; \
	}
EXTREMUM(Isamax_v2)
EXTREMUM(Idamax_v2)
EXTREMUM(Icamax_v2)
EXTREMUM(Izamax_v2)
EXTREMUM(Isamin_v2)
EXTREMUM(Idamin_v2)
EXTREMUM(Icamin_v2)
EXTREMUM(Izamin_v2)

/* The rotation that leaves a vector as it is: what a second entry of zero gives.
 * The cosine is real; the entries have entry_bytes. */
#define ROTATION(T, real, entry_bytes) \
	VGPU_API int cublas##T##rotg_v2(void *handle, void *a, void *b, real *cosine, void *sine) \
	{ \
		vgpu_clear_host(b, entry_bytes); \
		vgpu_clear_host(sine, entry_bytes); \
		if (cosine && !vgpu_on_device(cosine)) \
			*cosine = 1; \
		return CUBLAS_OK; \
	}
ROTATION(S, float, 4)
ROTATION(D, double, 8)
ROTATION(C, float, 8)
ROTATION(Z, double, 16)

/* The flag -2 says that the modified rotation is the identity. */
#define MODIFIED_ROTATION(T, real) \
	VGPU_API int cublas##T##rotmg_v2(void *handle, real *d1, real *d2, real *x1, const real *y1, real *param) \
	{ \
		if (param && !vgpu_on_device(param)) \
			*param = -2; \
		return CUBLAS_OK; \
	}
MODIFIED_ROTATION(S, float)
MODIFIED_ROTATION(D, double)

/* Batched factorisations: the codes of getrf and matinv lie on the device, one a
 * matrix; those of getrs, geqrf and gels are one number on the host. */
#define BATCHED(T, bytes) \
	VGPU_API int cublas##T##getrfBatched(void *handle, int n, void *const a[], int lda, int *pivots, int *info, int batch) \
	{ \
		vgpu_clear_info(info, batch > 0 ? (size_t)batch : 0); \
		return CUBLAS_OK; \
	} \
	VGPU_API int cublas##T##getriBatched(void *handle, int n, const void *const a[], int lda, const int *pivots, void *const c[], \
		int ldc, int *info, int batch) \
	{ \
		vgpu_clear_info(info, batch > 0 ? (size_t)batch : 0); \
		return CUBLAS_OK; \
	} \
	VGPU_API int cublas##T##matinvBatched(void *handle, int n, const void *const a[], int lda, void *const inverse[], \
		int ld_inverse, int *info, int batch) \
	{ \
		vgpu_clear_info(info, batch > 0 ? (size_t)batch : 0); \
		return CUBLAS_OK; \
	} \
	VGPU_API int cublas##T##getrsBatched(void *handle, int transposed, int n, int sides, const void *const a[], int lda, \
		const int *pivots, void *const b[], int ldb, int *info, int batch) \
	{ \
		vgpu_clear_info(info, 1); \
		return CUBLAS_OK; \
	} \
	VGPU_API int cublas##T##geqrfBatched(void *handle, int m, int n, void *const a[], int lda, void *const tau[], int *info, int batch) \
	{ \
		vgpu_clear_info(info, 1); \
		return CUBLAS_OK; \
	} \
	VGPU_API int cublas##T##gelsBatched(void *handle, int transposed, int m, int n, int sides, void *const a[], int lda, \
		void *const c[], int ldc, int *info, int *device_info, int batch) \
	{ \
		vgpu_clear_info(info, 1); \
		vgpu_clear_info(device_info, batch > 0 ? (size_t)batch : 0); \
		return CUBLAS_OK; \
	}
VGPU_BLAS_TYPES(BATCHED)
