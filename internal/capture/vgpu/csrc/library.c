/* library.c: versions, element sizes and status codes for the libraries. */
#include "library.h"

#include <stdlib.h>
#include <string.h>

/* The versions that belong to each CUDA version, encoded as the library itself
 * does, for a PyTorch that does not say what it requires. The rows of 11.7, 12.4
 * and 13.2 hold what those wheels' METADATA names (cuBLAS, cuDNN, cuSPARSELt,
 * NCCL) or the libraries' headers; the others name the same release series, which
 * is enough for callers that compare with a threshold. */
static const struct {
	int cuda; /* from this CUDA version on */
	int version[VGPU_VERSION_COUNT];
} rows[] = {
	/* cublas, cudnn, cufft, curand, cusolver, cusparse, cusparselt, nccl, cupti */
	{0, {111003, 8500, 10900, 10210, 11400, 11704, 300, 21403, 17}},      /* torch 2.0.1+cu117 */
	{11080, {111103, 8700, 10900, 10300, 11401, 11705, 300, 21403, 18}},  /* torch 2.0.1+cu118 */
	{12010, {120103, 8902, 11002, 10302, 11405, 12101, 400, 21805, 18}},  /* torch 2.1+cu121 */
	{12040, {120405, 90100, 11201, 10305, 11601, 12301, 602, 22105, 22}}, /* torch 2.6+cu124 */
	{12060, {120604, 90501, 11300, 10307, 11701, 12504, 603, 22602, 24}}, /* torch 2.7+cu126 */
	{12080, {120804, 91002, 11303, 10309, 11703, 12508, 701, 22703, 26}}, /* torch 2.8+cu128 */
	{13000, {130100, 91300, 12000, 10400, 12004, 12603, 800, 22707, 130000}}, /* torch 2.9+cu130 */
	{13020, {130400, 92600, 12200, 10402, 12100, 12700, 801, 23007, 130200}}, /* torch 2.15+cu132 */
};

/* A version in PLIMSOLL_VGPU, and the variable by which the Go side passes what
 * the user's PyTorch requires. */
static const struct { const char *key, *variable; } names[VGPU_VERSION_COUNT] = {
	{"cublas_version", "PLIMSOLL_CUBLAS"},
	{"cudnn_version", "PLIMSOLL_CUDNN"},
	{"cufft_version", ""},
	{"curand_version", ""},
	{"cusolver_version", ""},
	{"cusparse_version", ""},
	{"cusparselt_version", "PLIMSOLL_CUSPARSELT"},
	{"nccl_version", "PLIMSOLL_NCCL"},
	{"cupti_version", ""},
};

/* The same CUDA came with cuDNN 8 and with 9: PyTorch's soname decides. */
static int of_cudnn_major(int version)
{
	if (PLIMSOLL_CUDNN_MAJOR >= 9 && version < 90000)
		return 90100; /* torch 2.4 and 2.5 for CUDA 11.8 and 12.1 */
	if (PLIMSOLL_CUDNN_MAJOR == 8 && version >= 90000)
		return 8902; /* torch 2.1 to 2.3 */
	return version;
}

int vgpu_version(enum vgpu_versioned which)
{
	const char *required = getenv(names[which].variable);
	size_t row = 0;
	int version;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].cuda <= vgpu_cuda_version())
			row = i;
	version = rows[row].version[which];
	if (which == VGPU_VERSION_CUDNN)
		version = of_cudnn_major(version);
	if (required && atoi(required) > 0)
		version = atoi(required);
	return (int)vgpu_setting(names[which].key, (uint64_t)version);
}

/* library_types.h numbers the types; the order here is that numbering. */
size_t vgpu_data_type_bytes(int cuda_data_type)
{
	static const unsigned char bytes[] = {
		4, 8, 2, 1, 8, 16, 4, 2, 1, 2, 4, 8, 4, 8, 2, 4, /* 0 R_32F .. 15 C_16BF */
		1, 1, 1, 1, 2, 4, 2, 4, 8, 16, 8, 16, 1, 1, 1, 1, /* 16 R_4I .. 28 R_8F_E4M3 .. 31 */
		1, 1, 1, 1,
	};
	if (cuda_data_type < 0 || (size_t)cuda_data_type >= sizeof bytes)
		return 4;
	return bytes[cuda_data_type];
}

void vgpu_clear_info(void *info, size_t count)
{
	if (info)
		vgpu_fill(info, 0, count * sizeof(int));
}

void vgpu_clear_host(void *result, size_t bytes)
{
	if (result && !vgpu_on_device(result))
		memset(result, 0, bytes);
}
