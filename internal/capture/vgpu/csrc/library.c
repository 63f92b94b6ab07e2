/* library.c: versions, element sizes and status codes for the libraries. */
#include "library.h"

#include <string.h>

/* The build that belongs to each CUDA version, used when the configuration does
 * not say which one the user's PyTorch asks for ("cudnn_version=92600"). Each
 * row is what the PyTorch wheel of that CUDA version requires (its METADATA);
 * numbers are encoded as the library itself does. */
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

static const char *const keys[VGPU_VERSION_COUNT] = {
	"cublas_version", "cudnn_version", "cufft_version", "curand_version", "cusolver_version",
	"cusparse_version", "cusparselt_version", "nccl_version", "cupti_version",
};

int vgpu_version(enum vgpu_versioned which)
{
	size_t row = 0;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].cuda <= vgpu_cuda_version())
			row = i;
	return (int)vgpu_setting(keys[which], (uint64_t)rows[row].version[which]);
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
