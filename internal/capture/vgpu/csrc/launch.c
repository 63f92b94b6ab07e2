/* launch.c: launches, which do nothing, and questions about launching. */
#include "layouts.h"
#include "runtime.h"

#include <string.h>

#define INVALID_CONFIGURATION 9

/* A launch fails for what would fail on the card before anything runs. */
int vgpu_launch(const unsigned grid[3], const unsigned block[3], size_t shared_bytes, void *stream)
{
	const struct vgpu_card *c = &vgpu_config()->card;
	uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
	if (!grid[0] || !grid[1] || !grid[2] || !threads || threads > 1024 || block[2] > 64 ||
	    grid[0] > 2147483647u || grid[1] > 65535 || grid[2] > 65535)
		return INVALID_CONFIGURATION;
	if (shared_bytes > c->shared_per_block_optin && shared_bytes > c->shared_per_block)
		return VGPU_INVALID_VALUE;
	vgpu_activate(vgpu_current_device());
	vgpu_capture_work(stream);
	return VGPU_OK;
}

static int launch(const void *kernel, struct vgpu_dim3 grid, struct vgpu_dim3 block, size_t shared_bytes, void *stream)
{
	vgpu_check_image(kernel);
	return vgpu_result(vgpu_launch((unsigned[]){grid.x, grid.y, grid.z}, (unsigned[]){block.x, block.y, block.z}, shared_bytes, stream));
}

VGPU_API int cudaLaunchKernel(const void *kernel, struct vgpu_dim3 grid, struct vgpu_dim3 block, void **arguments VGPU_UNUSED, size_t shared_bytes, void *stream)
{
	return launch(kernel, grid, block, shared_bytes, stream);
}

VGPU_API int cudaLaunchCooperativeKernel(const void *kernel, struct vgpu_dim3 grid, struct vgpu_dim3 block, void **arguments VGPU_UNUSED, size_t shared_bytes, void *stream)
{
	return launch(kernel, grid, block, shared_bytes, stream);
}

VGPU_API int cudaLaunchKernelExC(const struct vgpu_launch *l, const void *kernel, void **arguments VGPU_UNUSED)
{
	return launch(kernel, l->grid, l->block, l->shared_bytes, l->stream);
}

/* From CUDA 13 on compiled code launches through a handle of the kernel. */
VGPU_API int __cudaGetKernel(const void **kernel, const void *host)
{
	*kernel = host;
	return VGPU_OK;
}

VGPU_API int __cudaLaunchKernel(const void *kernel, struct vgpu_dim3 grid, struct vgpu_dim3 block, void **arguments VGPU_UNUSED, size_t shared_bytes, void *stream)
{
	return launch(kernel, grid, block, shared_bytes, stream);
}

/* kernel<<<...>>> pushes its configuration and the stub of the kernel pops it. */
struct configuration {
	struct vgpu_dim3 grid, block;
	size_t shared_bytes;
	void *stream;
};
#define NESTED 64
static __thread struct configuration pushed[NESTED];
static __thread unsigned depth;

VGPU_API unsigned __cudaPushCallConfiguration(struct vgpu_dim3 grid, struct vgpu_dim3 block, size_t shared_bytes, void *stream)
{
	pushed[depth++ % NESTED] = (struct configuration){grid, block, shared_bytes, stream};
	return VGPU_OK;
}

VGPU_API int __cudaPopCallConfiguration(struct vgpu_dim3 *grid, struct vgpu_dim3 *block, size_t *shared_bytes, void *stream)
{
	const struct configuration *c = &pushed[--depth % NESTED];
	*grid = c->grid;
	*block = c->block;
	*shared_bytes = c->shared_bytes;
	*(void **)stream = c->stream;
	return VGPU_OK;
}

VGPU_API int cudaFuncGetAttributes(struct vgpu_function_attributes *a, const void *host)
{
	const struct vgpu_kernel k = vgpu_kernel_of(host);
	memset(a, 0, sizeof *a);
	a->threads_per_block = k.threads_per_block;
	a->registers = k.registers;
	a->ptx_version = a->binary_version = k.ptx_version;
	a->dynamic_shared_bytes = (int)vgpu_config()->card.shared_per_block;
	a->shared_carveout = -1;
	return VGPU_OK;
}

/* How many blocks fit on a multiprocessor depends on a kernel's registers and
 * static shared memory, which only its machine code tells. Two is what a block
 * of 1,024 threads with 32 registers reaches on most cards, and what the
 * recordings that this project checks against were made with. */
int vgpu_occupancy(int block_threads, size_t shared_bytes)
{
	const struct vgpu_card *c = &vgpu_config()->card;
	if (block_threads <= 0 || block_threads > 1024 || shared_bytes > c->shared_per_multiprocessor)
		return 0;
	return 2;
}

VGPU_API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel VGPU_UNUSED, int threads, size_t shared_bytes)
{
	*blocks = vgpu_occupancy(threads, shared_bytes);
	return VGPU_OK;
}

VGPU_API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *kernel VGPU_UNUSED, int threads, size_t shared_bytes, unsigned flags VGPU_UNUSED)
{
	*blocks = vgpu_occupancy(threads, shared_bytes);
	return VGPU_OK;
}

VGPU_API int cudaOccupancyMaxActiveClusters(int *clusters, const void *kernel VGPU_UNUSED, const struct vgpu_launch *l VGPU_UNUSED)
{
	*clusters = vgpu_config()->card.capability >= 90 ? vgpu_config()->card.multiprocessors / 2 : 0;
	return VGPU_OK;
}

VGPU_API int cudaOccupancyMaxPotentialClusterSize(int *size, const void *kernel VGPU_UNUSED, const struct vgpu_launch *l VGPU_UNUSED)
{
	*size = vgpu_config()->card.capability >= 90 ? 8 : 1; /* the portable maximum */
	return VGPU_OK;
}

VGPU_API int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *kernel VGPU_UNUSED, int blocks, int threads VGPU_UNUSED)
{
	const struct vgpu_card *c = &vgpu_config()->card;
	size_t share = blocks > 0 ? c->shared_per_multiprocessor / (size_t)blocks - c->shared_reserved_per_block : 0;
	*bytes = share < c->shared_per_block ? share : c->shared_per_block;
	return VGPU_OK;
}

VGPU_API int cudaGetFuncBySymbol(void **function, const void *symbol)
{
	*function = (void *)symbol;
	return VGPU_OK;
}

/* Attributes by CUfunction_attribute, which cudaFuncAttributes lists in the
 * same order. */
VGPU_API int cuFuncGetAttribute(int *v, int attribute, void *function)
{
	const struct vgpu_kernel k = vgpu_kernel_of(function);
	switch (attribute) {
	case 0: *v = k.threads_per_block; break;
	case 1: case 2: case 3: *v = 0; break; /* static shared, constant and local memory */
	case 4: *v = k.registers; break;
	case 5: case 6: *v = k.ptx_version; break;
	case 7: *v = 0; break;
	case 8: *v = (int)vgpu_config()->card.shared_per_block; break;
	case 9: *v = -1; break;
	case 10: case 11: case 12: case 13: case 14: case 15: *v = 0; break; /* clusters */
	default: return VGPU_INVALID_VALUE;
	}
	return VGPU_OK;
}

VGPU_API int cuKernelGetAttribute(int *v, int attribute, void *kernel, int device VGPU_UNUSED) { return cuFuncGetAttribute(v, attribute, kernel); }

VGPU_API int cuLaunchKernel(void *function VGPU_UNUSED, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
	unsigned shared_bytes, void *stream, void **arguments VGPU_UNUSED, void **extra VGPU_UNUSED)
{
	return vgpu_launch((unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, shared_bytes, stream);
}

VGPU_API int cuLaunchCooperativeKernel(void *function VGPU_UNUSED, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
	unsigned shared_bytes, void *stream, void **arguments VGPU_UNUSED)
{
	return vgpu_launch((unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, shared_bytes, stream);
}

VGPU_API int cuLaunchKernelEx(const struct vgpu_driver_launch *l, void *function VGPU_UNUSED, void **arguments VGPU_UNUSED, void **extra VGPU_UNUSED)
{
	return vgpu_launch(l->grid, l->block, l->shared_bytes, l->stream);
}

VGPU_API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function VGPU_UNUSED, int threads, size_t shared_bytes)
{
	*blocks = vgpu_occupancy(threads, shared_bytes);
	return VGPU_OK;
}

VGPU_API int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, void *function VGPU_UNUSED, int threads, size_t shared_bytes, unsigned flags VGPU_UNUSED)
{
	*blocks = vgpu_occupancy(threads, shared_bytes);
	return VGPU_OK;
}

VGPU_API int cuOccupancyMaxActiveClusters(int *clusters, void *function VGPU_UNUSED, const struct vgpu_driver_launch *l VGPU_UNUSED)
{
	*clusters = vgpu_config()->card.capability >= 90 ? vgpu_config()->card.multiprocessors / 2 : 0;
	return VGPU_OK;
}

VGPU_API int cuOccupancyMaxPotentialClusterSize(int *size, void *function VGPU_UNUSED, const struct vgpu_driver_launch *l VGPU_UNUSED)
{
	*size = vgpu_config()->card.capability >= 90 ? 8 : 1;
	return VGPU_OK;
}
