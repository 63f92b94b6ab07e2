/* cusolver64.c: cuSOLVER's dense calls with 64-bit sizes, which name the element
 * type in an argument and give their work sizes in bytes, one on the device and
 * one on the host. None of ours needs host memory. */
#include "library.h"

enum { SOLVER_OK = 0 };

static int sizes(enum vgpu_estimate rule, double elements, int type, size_t *device, size_t *host)
{
	*device = vgpu_estimate(rule, elements * (double)vgpu_data_type_bytes(type));
	*host = 0;
	return SOLVER_OK;
}

static int solved(int *info, int64_t count)
{
	vgpu_clear_info(info, count > 0 ? (size_t)count : 0);
	return SOLVER_OK;
}

VGPU_API int cusolverDnXgetrf_bufferSize(void *h, void *params, int64_t m, int64_t n, int type, const void *a, int64_t lda, int compute_type,
	size_t *device, size_t *host)
{
	return sizes(VGPU_ESTIMATE_CUSOLVER_GETRF, 64.0 * (double)(m > n ? m : n), type, device, host);
}

VGPU_API int cusolverDnXgetrf(void *h, void *params, int64_t m, int64_t n, int type, void *a, int64_t lda, int64_t *pivots, int compute_type,
	void *device, size_t device_size, void *host, size_t host_size, int *info)
{
	return solved(info, 1);
}

VGPU_API int cusolverDnXgetrs(void *h, void *params, int transposed, int64_t n, int64_t sides, int a_type, const void *a, int64_t lda,
	const int64_t *pivots, int b_type, void *b, int64_t ldb, int *info)
{
	return solved(info, 1);
}

VGPU_API int cusolverDnXpotrf_bufferSize(void *h, void *params, int uplo, int64_t n, int type, const void *a, int64_t lda, int compute_type,
	size_t *device, size_t *host)
{
	return sizes(VGPU_ESTIMATE_CUSOLVER_POTRF, 64.0 * (double)n, type, device, host);
}

VGPU_API int cusolverDnXpotrf(void *h, void *params, int uplo, int64_t n, int type, void *a, int64_t lda, int compute_type, void *device,
	size_t device_size, void *host, size_t host_size, int *info)
{
	return solved(info, 1);
}

VGPU_API int cusolverDnXpotrs(void *h, void *params, int uplo, int64_t n, int64_t sides, int a_type, const void *a, int64_t lda, int b_type,
	void *b, int64_t ldb, int *info)
{
	return solved(info, 1);
}

VGPU_API int cusolverDnXgeqrf_bufferSize(void *h, void *params, int64_t m, int64_t n, int type, const void *a, int64_t lda, int tau_type,
	const void *tau, int compute_type, size_t *device, size_t *host)
{
	return sizes(VGPU_ESTIMATE_CUSOLVER_GEQRF, 64.0 * (double)n, type, device, host);
}

VGPU_API int cusolverDnXgeqrf(void *h, void *params, int64_t m, int64_t n, int type, void *a, int64_t lda, int tau_type, void *tau,
	int compute_type, void *device, size_t device_size, void *host, size_t host_size, int *info)
{
	return solved(info, 1);
}

VGPU_API int cusolverDnXsyevd_bufferSize(void *h, void *params, int job, int uplo, int64_t n, int type, const void *a, int64_t lda, int w_type,
	const void *w, int compute_type, size_t *device, size_t *host)
{
	double size = (double)n;
	return sizes(VGPU_ESTIMATE_CUSOLVER_SYEVD, job ? 2 * size * size + 6 * size + 1 : 66 * size, type, device, host);
}

VGPU_API int cusolverDnXsyevd(void *h, void *params, int job, int uplo, int64_t n, int type, void *a, int64_t lda, int w_type, void *w,
	int compute_type, void *device, size_t device_size, void *host, size_t host_size, int *info)
{
	return solved(info, 1);
}

VGPU_API int cusolverDnXsyevBatched_bufferSize(void *h, void *params, int job, int uplo, int64_t n, int type, const void *a, int64_t lda,
	int w_type, const void *w, int compute_type, size_t *device, size_t *host, int64_t batch)
{
	return sizes(VGPU_ESTIMATE_CUSOLVER_SYEVJ, 2.0 * (double)n * (double)n * (double)batch, type, device, host);
}

VGPU_API int cusolverDnXsyevBatched(void *h, void *params, int job, int uplo, int64_t n, int type, void *a, int64_t lda, int w_type, void *w,
	int compute_type, void *device, size_t device_size, void *host, size_t host_size, int *info, int64_t batch)
{
	return solved(info, batch);
}

VGPU_API int cusolverDnXgesvd_bufferSize(void *h, void *params, signed char job_u, signed char job_v, int64_t m, int64_t n, int type,
	const void *a, int64_t lda, int s_type, const void *s, int u_type, const void *u, int64_t ldu, int v_type, const void *v, int64_t ldv,
	int compute_type, size_t *device, size_t *host)
{
	return sizes(VGPU_ESTIMATE_CUSOLVER_GESVD, 64.0 * (double)(m + n) + (double)n * (double)n, type, device, host);
}

VGPU_API int cusolverDnXgesvd(void *h, void *params, signed char job_u, signed char job_v, int64_t m, int64_t n, int type, void *a,
	int64_t lda, int s_type, void *s, int u_type, void *u, int64_t ldu, int v_type, void *v, int64_t ldv, int compute_type, void *device,
	size_t device_size, void *host, size_t host_size, int *info)
{
	return solved(info, 1);
}

VGPU_API int cusolverDnXgeev_bufferSize(void *h, void *params, int job_left, int job_right, int64_t n, int type, const void *a, int64_t lda,
	int w_type, const void *w, int left_type, const void *left, int64_t ld_left, int right_type, const void *right, int64_t ld_right,
	int compute_type, size_t *device, size_t *host)
{
	return sizes(VGPU_ESTIMATE_CUSOLVER_GEEV, 3.0 * (double)n * (double)n + 64.0 * (double)n, type, device, host);
}

VGPU_API int cusolverDnXgeev(void *h, void *params, int job_left, int job_right, int64_t n, int type, void *a, int64_t lda, int w_type,
	void *w, int left_type, void *left, int64_t ld_left, int right_type, void *right, int64_t ld_right, int compute_type, void *device,
	size_t device_size, void *host, size_t host_size, int *info)
{
	return solved(info, 1);
}

VGPU_API int cusolverDnXsytrs_bufferSize(void *h, int uplo, int64_t n, int64_t sides, int a_type, const void *a, int64_t lda,
	const int64_t *pivots, int b_type, void *b, int64_t ldb, size_t *device, size_t *host)
{
	return sizes(VGPU_ESTIMATE_CUSOLVER_SYTRS, (double)n * (double)sides, a_type, device, host);
}

VGPU_API int cusolverDnXsytrs(void *h, int uplo, int64_t n, int64_t sides, int a_type, const void *a, int64_t lda, const int64_t *pivots,
	int b_type, void *b, int64_t ldb, void *device, size_t device_size, void *host, size_t host_size, int *info)
{
	return solved(info, 1);
}
