/* driver_virtual.c: the driver's virtual memory management, which PyTorch's
 * expandable segments stand on: addresses are reserved, physical memory is
 * created and counted, and the one is mapped under the other. */
#include "layouts.h"
#include "memory.h"
#include "runtime.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Physical memory lives until it was released and unmapped everywhere. */
struct physical {
	size_t bytes;
	int device;
	int references; /* the caller's handle, each retained one, each mapping */
	struct vgpu_allocation_prop prop;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct physical *memories; /* a handle is an index plus one */
static size_t count, room;

/* Called with the lock held. */
static struct physical *find(uint64_t handle)
{
	return handle && handle <= count && memories[handle - 1].references ? &memories[handle - 1] : NULL;
}

static uint64_t add(struct physical m)
{
	uint64_t handle = 0;
	pthread_mutex_lock(&lock);
	if (count == room) {
		size_t more = room ? room * 2 : 1024;
		struct physical *p = realloc(memories, more * sizeof *memories);
		if (p) {
			memories = p;
			room = more;
		}
	}
	if (count < room) {
		memories[count++] = m;
		handle = count;
	}
	pthread_mutex_unlock(&lock);
	return handle;
}

static bool retain(uint64_t handle, struct physical *copy)
{
	pthread_mutex_lock(&lock);
	struct physical *m = find(handle);
	if (m) {
		m->references++;
		*copy = *m;
	}
	pthread_mutex_unlock(&lock);
	return m != NULL;
}

static bool drop(uint64_t handle)
{
	struct physical gone = {0};
	pthread_mutex_lock(&lock);
	struct physical *m = find(handle);
	if (m && --m->references == 0)
		gone = *m;
	pthread_mutex_unlock(&lock);
	if (gone.bytes)
		vgpu_books_give(gone.device, gone.bytes);
	return m != NULL;
}

VGPU_API int cuMemGetAllocationGranularity(size_t *bytes, const struct vgpu_allocation_prop *prop VGPU_UNUSED, int option VGPU_UNUSED)
{
	*bytes = VGPU_PAGE_BYTES;
	return VGPU_OK;
}

VGPU_API int cuMemAddressReserve(uintptr_t *p, size_t n, size_t alignment, uintptr_t wanted VGPU_UNUSED, unsigned long long flags VGPU_UNUSED)
{
	if (!n || n % VGPU_PAGE_BYTES)
		return VGPU_INVALID_VALUE;
	*p = vgpu_space_take(n, alignment, VGPU_RESERVATION, vgpu_current_device());
	return *p ? VGPU_OK : VGPU_OUT_OF_MEMORY;
}

VGPU_API int cuMemAddressFree(uintptr_t p, size_t n)
{
	struct vgpu_range was;
	if (!vgpu_space_find(p, &was) || was.bytes != vgpu_pages(n))
		return VGPU_INVALID_VALUE;
	return vgpu_space_give(p, VGPU_RESERVATION, &was) ? VGPU_OK : VGPU_INVALID_VALUE;
}

VGPU_API int cuMemCreate(uint64_t *handle, size_t n, const struct vgpu_allocation_prop *prop, unsigned long long flags VGPU_UNUSED)
{
	enum { DEVICE = 1 };
	if (!n || n % VGPU_PAGE_BYTES || prop->location.type != DEVICE)
		return VGPU_INVALID_VALUE;
	if (prop->location.id < 0 || prop->location.id >= vgpu_device_count())
		return VGPU_INVALID_DEVICE;
	if (!vgpu_books_take(prop->location.id, n))
		return VGPU_OUT_OF_MEMORY;
	*handle = add((struct physical){n, prop->location.id, 1, *prop});
	if (*handle)
		return VGPU_OK;
	vgpu_books_give(prop->location.id, n);
	return VGPU_OUT_OF_MEMORY;
}

VGPU_API int cuMemRelease(uint64_t handle) { return drop(handle) ? VGPU_OK : VGPU_INVALID_VALUE; }

VGPU_API int cuMemMap(uintptr_t p, size_t n, size_t offset, uint64_t handle, unsigned long long flags VGPU_UNUSED)
{
	struct physical m;
	int error;
	if (!retain(handle, &m))
		return VGPU_INVALID_VALUE;
	if (offset > m.bytes || n > m.bytes - offset)
		error = VGPU_INVALID_VALUE;
	else
		error = vgpu_space_map(p, n, m.device, handle);
	if (error)
		drop(handle);
	return error;
}

static void unmapped(uint64_t handle) { drop(handle); }

VGPU_API int cuMemUnmap(uintptr_t p, size_t n) { return vgpu_space_unmap(p, n, unmapped); }

/* Access is never withheld: what is mapped may be used. */
VGPU_API int cuMemSetAccess(uintptr_t p, size_t n, const struct vgpu_access *access VGPU_UNUSED, size_t accesses VGPU_UNUSED)
{
	struct vgpu_range r;
	while (n) {
		if (!vgpu_space_find(p, &r) || r.kind != VGPU_MAPPING)
			return VGPU_INVALID_VALUE;
		size_t step = r.start + r.bytes - p;
		if (step >= n)
			break;
		p += step;
		n -= step;
	}
	return VGPU_OK;
}

VGPU_API int cuMemGetAccess(unsigned long long *flags, const struct vgpu_location *location VGPU_UNUSED, uintptr_t p)
{
	struct vgpu_range r;
	*flags = vgpu_space_find(p, &r) && r.kind == VGPU_MAPPING ? 3 : 0;
	return VGPU_OK;
}

VGPU_API int cuMemRetainAllocationHandle(uint64_t *handle, void *p)
{
	struct vgpu_range r;
	struct physical m;
	if (!vgpu_space_find((uintptr_t)p, &r) || r.kind != VGPU_MAPPING || !retain(r.physical, &m))
		return VGPU_INVALID_VALUE;
	*handle = r.physical;
	return VGPU_OK;
}

VGPU_API int cuMemGetAllocationPropertiesFromHandle(struct vgpu_allocation_prop *prop, uint64_t handle)
{
	pthread_mutex_lock(&lock);
	struct physical *m = find(handle);
	if (m)
		*prop = m->prop;
	pthread_mutex_unlock(&lock);
	return m ? VGPU_OK : VGPU_INVALID_VALUE;
}
