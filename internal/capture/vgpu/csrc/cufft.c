/* cufft.c: plans and the size of their work areas. A plan is a small number;
 * transforms touch device memory only and are stubs (manifest). */
#include "library.h"

enum { CUFFT_OK = 0, CUFFT_INVALID_PLAN = 1, CUFFT_INVALID_VALUE = 4 };
enum { FFT_R2C = 0x2a, FFT_C2R = 0x2c, FFT_C2C = 0x29, FFT_D2Z = 0x6a, FFT_Z2D = 0x6c, FFT_Z2Z = 0x69 }; /* cufftType */

/* The work area of a plan, by its number: a plan asks for it once and callers ask
 * again rarely, so the newest thousand plans are remembered. */
#define PLANS 1024
static struct { int plan; size_t work; } plans[PLANS];

static int new_plan(void)
{
	static int last;
	return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

/* An axis up to this length is transformed by one kernel, in shared memory. */
#define SHORT_AXIS 4096
/* A prime factor above this is transformed by convolution (Bluestein), which
 * pads to more than twice the length. cuFFT's manual names 127 as the largest
 * prime with its own kernel. */
#define LARGE_PRIME 127

static long long largest_prime(long long n)
{
	long long largest = 1;
	for (long long p = 2; p * p <= n && p < 1 << 20; p++)
		while (n % p == 0) {
			largest = p;
			n /= p;
		}
	return n > 1 ? n : largest;
}

static size_t work_bytes(int rank, const long long *n, double batch, bool half, double point_bytes)
{
	double points = batch;
	bool padded = false;
	for (int i = 0; i < rank; i++) {
		long long axis = half && i == rank - 1 ? n[i] / 2 + 1 : n[i];
		points *= (double)axis;
		padded |= largest_prime(n[i]) > LARGE_PRIME;
	}
	if (rank == 1 && n[0] <= SHORT_AXIS && !padded)
		points = 0;
	return vgpu_estimate(VGPU_ESTIMATE_CUFFT_WORK, points * point_bytes * (padded ? 2 : 1));
}

static int make(int plan, int rank, const long long *n, long long batch, bool half, size_t point_bytes, size_t *work)
{
	size_t bytes;
	if (rank < 1 || rank > 3 || !n)
		return CUFFT_INVALID_VALUE;
	bytes = work_bytes(rank, n, (double)batch, half, (double)point_bytes);
	plans[plan % PLANS].plan = plan;
	plans[plan % PLANS].work = bytes;
	if (work)
		*work = bytes;
	return CUFFT_OK;
}

static int make_typed(int plan, int rank, const long long *n, long long batch, int type, size_t *work)
{
	bool half = type == FFT_R2C || type == FFT_C2R || type == FFT_D2Z || type == FFT_Z2D;
	bool twice = type == FFT_D2Z || type == FFT_Z2D || type == FFT_Z2Z;
	return make(plan, rank, n, batch, half, twice ? 16 : 8, work);
}

static int make_int(int plan, int rank, const int *n, int batch, int type, size_t *work)
{
	long long wide[3] = {1, 1, 1};
	if (rank < 1 || rank > 3 || !n)
		return CUFFT_INVALID_VALUE;
	for (int i = 0; i < rank; i++)
		wide[i] = n[i];
	return make_typed(plan, rank, wide, batch, type, work);
}

VGPU_API int cufftCreate(int *plan)
{
	*plan = new_plan();
	return CUFFT_OK;
}

/* Real to complex and back store about half of the last axis. cudaDataType
 * numbers real types 0, 1 and 2 (single, double, half). */
VGPU_API int cufftXtMakePlanMany(int plan, int rank, long long *n, long long *in_embed, long long in_stride, long long in_distance,
	int in_type, long long *out_embed, long long out_stride, long long out_distance, int out_type, long long batch, size_t *work,
	int execution_type)
{
	size_t in = vgpu_data_type_bytes(in_type), out = vgpu_data_type_bytes(out_type);
	return make(plan, rank, n, batch, in != out, in > out ? in : out, work);
}

VGPU_API int cufftMakePlanMany(int plan, int rank, int *n, int *in_embed, int in_stride, int in_distance, int *out_embed, int out_stride,
	int out_distance, int type, int batch, size_t *work)
{
	return make_int(plan, rank, n, batch, type, work);
}

VGPU_API int cufftMakePlanMany64(int plan, int rank, long long *n, long long *in_embed, long long in_stride, long long in_distance,
	long long *out_embed, long long out_stride, long long out_distance, int type, long long batch, size_t *work)
{
	return make_typed(plan, rank, n, batch, type, work);
}

VGPU_API int cufftMakePlan1d(int plan, int n, int type, int batch, size_t *work) { return make_int(plan, 1, &n, batch, type, work); }

VGPU_API int cufftMakePlan2d(int plan, int nx, int ny, int type, size_t *work)
{
	return make_int(plan, 2, (const int[]){nx, ny}, 1, type, work);
}

VGPU_API int cufftMakePlan3d(int plan, int nx, int ny, int nz, int type, size_t *work)
{
	return make_int(plan, 3, (const int[]){nx, ny, nz}, 1, type, work);
}

VGPU_API int cufftPlan1d(int *plan, int n, int type, int batch)
{
	*plan = new_plan();
	return make_int(*plan, 1, &n, batch, type, NULL);
}

VGPU_API int cufftPlanMany(int *plan, int rank, int *n, int *in_embed, int in_stride, int in_distance, int *out_embed, int out_stride,
	int out_distance, int type, int batch)
{
	*plan = new_plan();
	return make_int(*plan, rank, n, batch, type, NULL);
}

VGPU_API int cufftGetSize(int plan, size_t *work)
{
	if (plan < 1 || plans[plan % PLANS].plan != plan)
		return CUFFT_INVALID_PLAN;
	*work = plans[plan % PLANS].work;
	return CUFFT_OK;
}

VGPU_API int cufftGetVersion(int *version)
{
	*version = vgpu_version(VGPU_VERSION_CUFFT);
	return CUFFT_OK;
}
