/* fresh.c: new blocks read as zeros.
 *
 * PyTorch's allocator hands the same addresses out again without telling the
 * driver, and kernels write nothing here. A counter that a kernel should have
 * written (how many entries of a mask are set, whether a factorisation failed)
 * would then read as whatever an earlier tensor held at its address, and a script
 * would be told to allocate by it. PyTorch calls back at every allocation when
 * its GPU trace is on; the helper answers with the call below.
 */
#include "core.h"

#include <sys/mman.h>

/* Every block is at least this large (the allocator's rounding), so that no
 * neighbour is touched. Counters and status codes are smaller. */
#define FRESH_BYTES 512
#define HOST_PAGE ((uintptr_t)4096)

/* Forget what the first bytes of a block hold. A page that was never written is
 * left alone: it reads as zeros already, and writing would cost host memory. */
VGPU_API void plimsoll_vgpu_fresh(uintptr_t p)
{
	unsigned char resident = 0;
	if (!vgpu_on_device((const void *)p))
		return;
	if (mincore((void *)(p & ~(HOST_PAGE - 1)), HOST_PAGE, &resident) == 0 && (resident & 1))
		vgpu_fill((void *)p, 0, FRESH_BYTES);
}
