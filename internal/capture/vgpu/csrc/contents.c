/* contents.c: allocation by the core, and what copies and fills leave behind.
 *
 * Small contents are real, since they steer scripts (a stop flag, a loss, a
 * shape that ranks compare). Large contents are zeros and take no host memory.
 */
#include "memory.h"

#include <string.h>

void *vgpu_alloc(int device, size_t n)
{
	uintptr_t p;
	size_t bytes = vgpu_pages(n ? n : 1);
	if (!vgpu_books_take(device, bytes))
		return NULL;
	p = vgpu_space_take(n, 0, VGPU_ALLOCATION, device);
	if (!p)
		vgpu_books_give(device, bytes);
	return (void *)p;
}

bool vgpu_free(void *p)
{
	struct vgpu_range was;
	if (!vgpu_space_give((uintptr_t)p, VGPU_ALLOCATION, &was))
		return false;
	vgpu_books_give(was.device, was.bytes);
	return true;
}

int vgpu_device_of(const void *p)
{
	struct vgpu_range r;
	return vgpu_space_find((uintptr_t)p, &r) ? r.device : -1;
}

static bool open_pages(const void *p, size_t n)
{
	return !vgpu_on_device(p) || vgpu_space_touch((uintptr_t)p, n) == 0;
}

/* Whether copies within device memory write zeros, in this thread. */
static _Thread_local bool blank;

void vgpu_blank(bool on) { blank = on; }

void vgpu_copy(void *to, const void *from, size_t n)
{
	bool to_device = vgpu_on_device(to), from_device = vgpu_on_device(from);
	if (!n)
		return;
	if (blank && to_device && from_device) {
		vgpu_fill(to, 0, n);
		return;
	}
	if (n <= VGPU_SMALL_BYTES || (!to_device && !from_device)) {
		if (open_pages(to, n) && open_pages(from, n))
			memmove(to, from, n);
		return;
	}
	if (to_device)
		vgpu_space_zero((uintptr_t)to, n);
	else
		memset(to, 0, n);
}

void vgpu_fill(void *p, int byte, size_t n)
{
	if (!n)
		return;
	if (n > VGPU_SMALL_BYTES && vgpu_on_device(p))
		vgpu_space_zero((uintptr_t)p, n);
	else if (open_pages(p, n))
		memset(p, byte, n);
}
