/* cusolver.c: cuSOLVER's dense calls with one function for each element type:
 * handles, work sizes, and status codes that say success.
 *
 * A call "_bufferSize" gives a number of elements, not bytes. Factors, pivots and
 * values stay whatever their memory held; the codes read 0.
 */
#include "library.h"

#include <stdlib.h>

enum { SOLVER_OK = 0, SOLVER_NOT_INITIALIZED = 1, SOLVER_NO_MEMORY = 2 };

struct solver { void *stream; };

VGPU_API int cusolverDnCreate(struct solver **handle)
{
	*handle = calloc(1, sizeof **handle);
	return *handle ? SOLVER_OK : SOLVER_NO_MEMORY;
}

VGPU_API int cusolverDnDestroy(struct solver *handle)
{
	free(handle);
	return SOLVER_OK;
}

VGPU_API int cusolverDnSetStream(struct solver *handle, void *stream)
{
	if (!handle)
		return SOLVER_NOT_INITIALIZED;
	handle->stream = stream;
	return SOLVER_OK;
}

VGPU_API int cusolverDnGetStream(struct solver *handle, void **stream)
{
	if (!handle)
		return SOLVER_NOT_INITIALIZED;
	*stream = handle->stream;
	return SOLVER_OK;
}

VGPU_API int cusolverGetVersion(int *version)
{
	*version = vgpu_version(VGPU_VERSION_CUSOLVER);
	return SOLVER_OK;
}

/* Parameters of the Jacobi methods and of the 64-bit calls: what they hold only
 * a kernel would read. */
#define PARAMETERS(Name) \
	VGPU_API int cusolverDnCreate##Name(void **out) \
	{ \
		*out = vgpu_handle(); \
		return SOLVER_OK; \
	} \
	VGPU_API int cusolverDnDestroy##Name(void *p) { return SOLVER_OK; }
PARAMETERS(GesvdjInfo)
PARAMETERS(SyevjInfo)
PARAMETERS(Params)

/* How well a Jacobi method converged: at once, without a residual. */
#define CONVERGENCE(Name) \
	VGPU_API int cusolverDnX##Name##GetSweeps(void *handle, void *info, int *sweeps) \
	{ \
		*sweeps = 1; \
		return SOLVER_OK; \
	} \
	VGPU_API int cusolverDnX##Name##GetResidual(void *handle, void *info, double *residual) \
	{ \
		*residual = 0; \
		return SOLVER_OK; \
	}
CONVERGENCE(gesvdj)
CONVERGENCE(syevj)

/* Elements of scratch memory for a rule of estimates.h. */
static int elements(enum vgpu_estimate rule, double count, size_t bytes)
{
	double n = (double)vgpu_estimate(rule, count * (double)bytes) / (double)bytes;
	return n > 2147483647.0 ? 2147483647 : (int)n;
}

static int solved(int *info, int count)
{
	vgpu_clear_info(info, count > 0 ? (size_t)count : 0);
	return SOLVER_OK;
}

static double largest(int a, int b) { return a > b ? a : b; }
static double square(int n) { return (double)n * n; }

/* Factorisations: LU, Cholesky, QR, and that of a symmetric indefinite matrix. */
#define FACTOR(T, bytes) \
	VGPU_API int cusolverDn##T##getrf_bufferSize(struct solver *h, int m, int n, void *a, int lda, int *work) \
	{ \
		*work = elements(VGPU_ESTIMATE_CUSOLVER_GETRF, 64.0 * largest(m, n), bytes); \
		return SOLVER_OK; \
	} \
	VGPU_API int cusolverDn##T##getrf(struct solver *h, int m, int n, void *a, int lda, void *work, int *pivots, int *info) \
	{ \
		return solved(info, 1); \
	} \
	VGPU_API int cusolverDn##T##getrs(struct solver *h, int transposed, int n, int sides, const void *a, int lda, const int *pivots, \
		void *b, int ldb, int *info) \
	{ \
		return solved(info, 1); \
	} \
	VGPU_API int cusolverDn##T##potrf_bufferSize(struct solver *h, int uplo, int n, void *a, int lda, int *work) \
	{ \
		*work = elements(VGPU_ESTIMATE_CUSOLVER_POTRF, 64.0 * n, bytes); \
		return SOLVER_OK; \
	} \
	VGPU_API int cusolverDn##T##potrf(struct solver *h, int uplo, int n, void *a, int lda, void *work, int work_size, int *info) \
	{ \
		return solved(info, 1); \
	} \
	VGPU_API int cusolverDn##T##potrs(struct solver *h, int uplo, int n, int sides, const void *a, int lda, void *b, int ldb, int *info) \
	{ \
		return solved(info, 1); \
	} \
	VGPU_API int cusolverDn##T##potrfBatched(struct solver *h, int uplo, int n, void *a[], int lda, int *info, int batch) \
	{ \
		return solved(info, batch); \
	} \
	VGPU_API int cusolverDn##T##potrsBatched(struct solver *h, int uplo, int n, int sides, void *a[], int lda, void *b[], int ldb, \
		int *info, int batch) \
	{ \
		return solved(info, 1); \
	} \
	VGPU_API int cusolverDn##T##geqrf_bufferSize(struct solver *h, int m, int n, void *a, int lda, int *work) \
	{ \
		*work = elements(VGPU_ESTIMATE_CUSOLVER_GEQRF, 64.0 * n, bytes); \
		return SOLVER_OK; \
	} \
	VGPU_API int cusolverDn##T##geqrf(struct solver *h, int m, int n, void *a, int lda, void *tau, void *work, int work_size, int *info) \
	{ \
		return solved(info, 1); \
	} \
	VGPU_API int cusolverDn##T##sytrf_bufferSize(struct solver *h, int n, void *a, int lda, int *work) \
	{ \
		*work = elements(VGPU_ESTIMATE_CUSOLVER_SYTRF, 64.0 * n, bytes); \
		return SOLVER_OK; \
	} \
	VGPU_API int cusolverDn##T##sytrf(struct solver *h, int uplo, int n, void *a, int lda, int *pivots, void *work, int work_size, int *info) \
	{ \
		return solved(info, 1); \
	}
VGPU_BLAS_TYPES(FACTOR)

/* The orthogonal factor of QR is called "or" for real and "un" for complex types. */
#define ORTHOGONAL(T, generate, multiply, bytes) \
	VGPU_API int cusolverDn##T##generate##_bufferSize(struct solver *h, int m, int n, int k, const void *a, int lda, const void *tau, int *work) \
	{ \
		*work = elements(VGPU_ESTIMATE_CUSOLVER_GEQRF, 64.0 * n, bytes); \
		return SOLVER_OK; \
	} \
	VGPU_API int cusolverDn##T##generate(struct solver *h, int m, int n, int k, void *a, int lda, const void *tau, void *work, \
		int work_size, int *info) \
	{ \
		return solved(info, 1); \
	} \
	VGPU_API int cusolverDn##T##multiply##_bufferSize(struct solver *h, int side, int transposed, int m, int n, int k, const void *a, \
		int lda, const void *tau, const void *c, int ldc, int *work) \
	{ \
		*work = elements(VGPU_ESTIMATE_CUSOLVER_GEQRF, 64.0 * (side == 0 ? n : m), bytes); \
		return SOLVER_OK; \
	} \
	VGPU_API int cusolverDn##T##multiply(struct solver *h, int side, int transposed, int m, int n, int k, const void *a, int lda, \
		const void *tau, void *c, int ldc, void *work, int work_size, int *info) \
	{ \
		return solved(info, 1); \
	}
ORTHOGONAL(S, orgqr, ormqr, 4)
ORTHOGONAL(D, orgqr, ormqr, 8)
ORTHOGONAL(C, ungqr, unmqr, 8)
ORTHOGONAL(Z, ungqr, unmqr, 16)

/* Singular values: by QR iteration, by Jacobi rotations, and approximately. */
#define SINGULAR(T, bytes) \
	VGPU_API int cusolverDn##T##gesvd_bufferSize(struct solver *h, int m, int n, int *work) \
	{ \
		*work = elements(VGPU_ESTIMATE_CUSOLVER_GESVD, 64.0 * ((double)m + n) + square(n), bytes); \
		return SOLVER_OK; \
	} \
	VGPU_API int cusolverDn##T##gesvd(struct solver *h, signed char job_u, signed char job_v, int m, int n, void *a, int lda, void *s, \
		void *u, int ldu, void *v, int ldv, void *work, int work_size, void *real_work, int *info) \
	{ \
		return solved(info, 1); \
	} \
	VGPU_API int cusolverDn##T##gesvdj_bufferSize(struct solver *h, int job, int economy, int m, int n, const void *a, int lda, \
		const void *s, const void *u, int ldu, const void *v, int ldv, int *work, void *parameters) \
	{ \
		*work = elements(VGPU_ESTIMATE_CUSOLVER_GESVDJ, (double)m * n + 2 * square(n), bytes); \
		return SOLVER_OK; \
	} \
	VGPU_API int cusolverDn##T##gesvdj(struct solver *h, int job, int economy, int m, int n, void *a, int lda, void *s, void *u, int ldu, \
		void *v, int ldv, void *work, int work_size, int *info, void *parameters) \
	{ \
		return solved(info, 1); \
	} \
	VGPU_API int cusolverDn##T##gesvdjBatched_bufferSize(struct solver *h, int job, int m, int n, const void *a, int lda, const void *s, \
		const void *u, int ldu, const void *v, int ldv, int *work, void *parameters, int batch) \
	{ \
		*work = elements(VGPU_ESTIMATE_CUSOLVER_GESVDJ, batch * ((double)m * n + 2 * square(n)), bytes); \
		return SOLVER_OK; \
	} \
	VGPU_API int cusolverDn##T##gesvdjBatched(struct solver *h, int job, int m, int n, void *a, int lda, void *s, void *u, int ldu, \
		void *v, int ldv, void *work, int work_size, int *info, void *parameters, int batch) \
	{ \
		return solved(info, batch); \
	} \
	VGPU_API int cusolverDn##T##gesvdaStridedBatched_bufferSize(struct solver *h, int job, int rank, int m, int n, const void *a, int lda, \
		long long a_step, const void *s, long long s_step, const void *u, int ldu, long long u_step, const void *v, int ldv, \
		long long v_step, int *work, int batch) \
	{ \
		*work = elements(VGPU_ESTIMATE_CUSOLVER_GESVDJ, batch * ((double)m * n + 2 * square(n)), bytes); \
		return SOLVER_OK; \
	} \
	VGPU_API int cusolverDn##T##gesvdaStridedBatched(struct solver *h, int job, int rank, int m, int n, const void *a, int lda, \
		long long a_step, void *s, long long s_step, void *u, int ldu, long long u_step, void *v, int ldv, long long v_step, \
		void *work, int work_size, int *info, double *residuals, int batch) \
	{ \
		vgpu_clear_host(residuals, batch > 0 ? (size_t)batch * sizeof *residuals : 0); \
		return solved(info, batch); \
	}
VGPU_BLAS_TYPES(SINGULAR)

/* Symmetric eigenvalues: "sy" for real and "he" for complex types. */
#define SYMMETRIC(T, sy, bytes) \
	VGPU_API int cusolverDn##T##sy##evd_bufferSize(struct solver *h, int job, int uplo, int n, const void *a, int lda, const void *w, int *work) \
	{ \
		*work = elements(VGPU_ESTIMATE_CUSOLVER_SYEVD, job ? 2 * square(n) + 6.0 * n + 1 : 66.0 * n, bytes); \
		return SOLVER_OK; \
	} \
	VGPU_API int cusolverDn##T##sy##evd(struct solver *h, int job, int uplo, int n, void *a, int lda, void *w, void *work, int work_size, int *info) \
	{ \
		return solved(info, 1); \
	} \
	VGPU_API int cusolverDn##T##sy##evj_bufferSize(struct solver *h, int job, int uplo, int n, const void *a, int lda, const void *w, int *work, \
		void *parameters) \
	{ \
		*work = elements(VGPU_ESTIMATE_CUSOLVER_SYEVJ, 2 * square(n), bytes); \
		return SOLVER_OK; \
	} \
	VGPU_API int cusolverDn##T##sy##evj(struct solver *h, int job, int uplo, int n, void *a, int lda, void *w, void *work, int work_size, \
		int *info, void *parameters) \
	{ \
		return solved(info, 1); \
	} \
	VGPU_API int cusolverDn##T##sy##evjBatched_bufferSize(struct solver *h, int job, int uplo, int n, const void *a, int lda, const void *w, \
		int *work, void *parameters, int batch) \
	{ \
		*work = elements(VGPU_ESTIMATE_CUSOLVER_SYEVJ, batch * 2 * square(n), bytes); \
		return SOLVER_OK; \
	} \
	VGPU_API int cusolverDn##T##sy##evjBatched(struct solver *h, int job, int uplo, int n, void *a, int lda, void *w, void *work, \
		int work_size, int *info, void *parameters, int batch) \
	{ \
		return solved(info, batch); \
	}
SYMMETRIC(S, sy, 4)
SYMMETRIC(D, sy, 8)
SYMMETRIC(C, he, 8)
SYMMETRIC(Z, he, 16)
