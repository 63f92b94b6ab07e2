/* runtime_memory.c: the runtime's calls that allocate, free and ask about memory. */
#include "layouts.h"
#include "memory.h"
#include "runtime.h"

#include <string.h>

VGPU_API int cudaMalloc(void **p, size_t n)
{
	int device = vgpu_current_device();
	if (!p)
		return vgpu_result(VGPU_INVALID_VALUE);
	*p = NULL;
	if (!vgpu_device_count())
		return vgpu_result(VGPU_NO_DEVICE);
	vgpu_activate(device);
	if (!n)
		return VGPU_OK; /* as the real one: success and a null pointer */
	*p = vgpu_alloc(device, n);
	return vgpu_result(*p ? VGPU_OK : VGPU_OUT_OF_MEMORY);
}

VGPU_API int cudaFree(void *p)
{
	vgpu_activate(vgpu_current_device());
	if (!p || vgpu_free(p) || vgpu_host_free(p))
		return VGPU_OK;
	return vgpu_result(VGPU_INVALID_VALUE);
}

VGPU_API int cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
	*pitch = (width + 511) & ~(size_t)511;
	if (height && *pitch > SIZE_MAX / height)
		return vgpu_result(VGPU_OUT_OF_MEMORY);
	return cudaMalloc(p, *pitch * height);
}

static int host_alloc(void **p, size_t n, enum vgpu_host_kind kind, unsigned flags)
{
	if (!p)
		return vgpu_result(VGPU_INVALID_VALUE);
	*p = NULL;
	if (!vgpu_device_count())
		return vgpu_result(VGPU_NO_DEVICE);
	vgpu_activate(vgpu_current_device());
	if (!n)
		return VGPU_OK;
	*p = vgpu_host_alloc(n, kind, vgpu_current_device(), flags);
	return vgpu_result(*p ? VGPU_OK : VGPU_OUT_OF_MEMORY);
}

VGPU_API int cudaHostAlloc(void **p, size_t n, unsigned flags) { return host_alloc(p, n, VGPU_HOST_PINNED, flags); }
VGPU_API int cudaMallocHost(void **p, size_t n) { return host_alloc(p, n, VGPU_HOST_PINNED, 0); }

/* Managed memory moves between host and device as it is used, so that it may be
 * larger than the device: it lives on the host here and is not counted. */
VGPU_API int cudaMallocManaged(void **p, size_t n, unsigned flags)
{
	vgpu_note("managed memory (cudaMallocManaged) is kept on the host and not counted as device memory");
	return host_alloc(p, n, VGPU_HOST_MANAGED, flags);
}

VGPU_API int cudaFreeHost(void *p)
{
	return vgpu_result(!p || vgpu_host_free(p) ? VGPU_OK : VGPU_INVALID_VALUE);
}

VGPU_API int cudaHostRegister(void *p, size_t n, unsigned flags)
{
	return vgpu_result(vgpu_host_register(p, n, vgpu_current_device(), flags));
}

VGPU_API int cudaHostUnregister(void *p) { return vgpu_result(vgpu_host_unregister(p)); }

VGPU_API int cudaHostGetDevicePointer(void **device, void *host, unsigned flags VGPU_UNUSED)
{
	struct vgpu_host h;
	if (!vgpu_host_find(host, &h))
		return vgpu_result(VGPU_INVALID_VALUE);
	*device = host; /* one address space */
	return VGPU_OK;
}

VGPU_API int cudaHostGetFlags(unsigned *flags, void *host)
{
	struct vgpu_host h;
	if (!vgpu_host_find(host, &h))
		return vgpu_result(VGPU_INVALID_VALUE);
	*flags = h.flags;
	return VGPU_OK;
}

VGPU_API int cudaPointerGetAttributes(struct vgpu_pointer_attributes *a, const void *p)
{
	enum { UNREGISTERED, HOST, DEVICE, MANAGED };
	struct vgpu_range r;
	struct vgpu_host h;
	memset(a, 0, sizeof *a);
	if (vgpu_space_find((uintptr_t)p, &r)) {
		a->type = DEVICE;
		a->device = r.device;
		a->device_pointer = (void *)p;
	} else if (vgpu_host_find(p, &h)) {
		a->type = h.kind == VGPU_HOST_MANAGED ? MANAGED : HOST;
		a->device = h.device;
		a->device_pointer = a->host_pointer = (void *)p;
	} else {
		a->type = UNREGISTERED;
		a->device = -2; /* cudaInvalidDeviceId */
		a->host_pointer = (void *)p;
	}
	return VGPU_OK;
}

/* Advice and prefetching move managed pages, of which none move here. */
VGPU_API int cudaMemRangeGetAttribute(void *data, size_t bytes, int attribute VGPU_UNUSED, const void *p, size_t n VGPU_UNUSED)
{
	struct vgpu_host h;
	if (!vgpu_host_find(p, &h) || h.kind != VGPU_HOST_MANAGED)
		return vgpu_result(VGPU_INVALID_VALUE);
	memset(data, 0, bytes);
	return VGPU_OK;
}
