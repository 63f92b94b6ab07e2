/* export.c: what the capture's helper asks the virtual GPU itself, through ctypes. */
#include "memory.h"

VGPU_API int plimsoll_vgpu_abi(void) { return 1; }

/* The range from which device memory is handed out; zeros when there is none. */
VGPU_API void plimsoll_vgpu_range(uintptr_t *base, size_t *bytes)
{
	if (!vgpu_space(base, bytes)) {
		*base = 0;
		*bytes = 0;
	}
}

/* Make device pages readable and writable by the host: 0 when they are. */
VGPU_API int plimsoll_vgpu_touch(uintptr_t p, size_t n) { return vgpu_space_touch(p, n); }

/* While on, copies that this thread makes within device memory write zeros: an
 * operator whose kernels find a size is left with zero for it, not with what
 * its own copies of other things left behind. */
VGPU_API void plimsoll_vgpu_blank(int on) { vgpu_blank(on != 0); }

/* Bytes used now, their peak, calls that allocated, calls that freed. */
VGPU_API void plimsoll_vgpu_books(int device, uint64_t out[4])
{
	struct vgpu_books b = vgpu_books(device);
	out[0] = b.used;
	out[1] = b.peak;
	out[2] = b.allocations;
	out[3] = b.frees;
}
