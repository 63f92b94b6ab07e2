/* driver_memory.c: the driver's allocation, copying and pointer attributes. */
#include "layouts.h"
#include "memory.h"
#include "runtime.h"

#include <string.h>

int cudaMalloc(void **p, size_t n);
int cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height);
int cudaMallocManaged(void **p, size_t n, unsigned flags);
int cudaMallocHost(void **p, size_t n);
int cudaHostAlloc(void **p, size_t n, unsigned flags);
int cudaFree(void *p);
int cudaFreeHost(void *p);
int cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
int cudaHostGetDevicePointer(void **device, void *host, unsigned flags);

VGPU_API int cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes) { return cudaMemGetInfo(free_bytes, total_bytes); }
VGPU_API int cuMemAlloc_v2(uintptr_t *p, size_t n) { return n ? cudaMalloc((void **)p, n) : VGPU_INVALID_VALUE; }
VGPU_API int cuMemAllocManaged(uintptr_t *p, size_t n, unsigned flags) { return cudaMallocManaged((void **)p, n, flags); }
VGPU_API int cuMemFree_v2(uintptr_t p) { return cudaFree((void *)p); }
VGPU_API int cuMemAllocHost_v2(void **p, size_t n) { return cudaMallocHost(p, n); }
VGPU_API int cuMemHostAlloc(void **p, size_t n, unsigned flags) { return cudaHostAlloc(p, n, flags); }
VGPU_API int cuMemFreeHost(void *p) { return cudaFreeHost(p); }
VGPU_API int cuMemHostRegister_v2(void *p, size_t n, unsigned flags) { return vgpu_host_register(p, n, vgpu_current_device(), flags); }
VGPU_API int cuMemHostUnregister(void *p) { return vgpu_host_unregister(p); }
VGPU_API int cuMemHostGetDevicePointer_v2(uintptr_t *device, void *host, unsigned flags) { return cudaHostGetDevicePointer((void **)device, host, flags); }

VGPU_API int cuMemAllocPitch_v2(uintptr_t *p, size_t *pitch, size_t width, size_t height, unsigned element VGPU_UNUSED)
{
	return cudaMallocPitch((void **)p, pitch, width, height);
}

VGPU_API int cuMemGetAddressRange_v2(uintptr_t *base, size_t *bytes, uintptr_t p)
{
	struct vgpu_range r;
	struct vgpu_host h;
	if (vgpu_space_find(p, &r)) {
		if (base)
			*base = r.start;
		if (bytes)
			*bytes = r.requested;
		return VGPU_OK;
	}
	if (!vgpu_host_find((void *)p, &h))
		return VGPU_NOT_FOUND;
	if (base)
		*base = h.start;
	if (bytes)
		*bytes = h.bytes;
	return VGPU_OK;
}

/* --- copies and fills ------------------------------------------------------ */

static int copy(uintptr_t to, uintptr_t from, size_t n, void *stream)
{
	vgpu_capture_work(stream);
	vgpu_copy((void *)to, (const void *)from, n);
	return VGPU_OK;
}

VGPU_API int cuMemcpy(uintptr_t to, uintptr_t from, size_t n) { return copy(to, from, n, NULL); }
VGPU_API int cuMemcpyAsync(uintptr_t to, uintptr_t from, size_t n, void *stream) { return copy(to, from, n, stream); }
VGPU_API int cuMemcpyHtoD_v2(uintptr_t to, const void *from, size_t n) { return copy(to, (uintptr_t)from, n, NULL); }
VGPU_API int cuMemcpyHtoDAsync_v2(uintptr_t to, const void *from, size_t n, void *stream) { return copy(to, (uintptr_t)from, n, stream); }
VGPU_API int cuMemcpyDtoH_v2(void *to, uintptr_t from, size_t n) { return copy((uintptr_t)to, from, n, NULL); }
VGPU_API int cuMemcpyDtoHAsync_v2(void *to, uintptr_t from, size_t n, void *stream) { return copy((uintptr_t)to, from, n, stream); }
VGPU_API int cuMemcpyDtoD_v2(uintptr_t to, uintptr_t from, size_t n) { return copy(to, from, n, NULL); }
VGPU_API int cuMemcpyDtoDAsync_v2(uintptr_t to, uintptr_t from, size_t n, void *stream) { return copy(to, from, n, stream); }

VGPU_API int cuMemcpyPeer(uintptr_t to, void *to_context VGPU_UNUSED, uintptr_t from, void *from_context VGPU_UNUSED, size_t n)
{
	return copy(to, from, n, NULL);
}

VGPU_API int cuMemcpyPeerAsync(uintptr_t to, void *to_context VGPU_UNUSED, uintptr_t from, void *from_context VGPU_UNUSED, size_t n, void *stream)
{
	return copy(to, from, n, stream);
}

/* A pattern of two or four bytes fills a small range for real. */
static int fill(uintptr_t p, const void *pattern, size_t width, size_t count, void *stream)
{
	if (count > SIZE_MAX / width)
		return VGPU_INVALID_VALUE;
	vgpu_capture_work(stream);
	if (count * width > VGPU_SMALL_BYTES) {
		vgpu_fill((void *)p, 0, count * width);
		return VGPU_OK;
	}
	for (size_t i = 0; i < count; i++)
		vgpu_copy((void *)(p + i * width), pattern, width);
	return VGPU_OK;
}

VGPU_API int cuMemsetD8_v2(uintptr_t p, unsigned char v, size_t n) { return fill(p, &v, sizeof v, n, NULL); }
VGPU_API int cuMemsetD16_v2(uintptr_t p, unsigned short v, size_t n) { return fill(p, &v, sizeof v, n, NULL); }
VGPU_API int cuMemsetD32_v2(uintptr_t p, unsigned v, size_t n) { return fill(p, &v, sizeof v, n, NULL); }
VGPU_API int cuMemsetD8Async(uintptr_t p, unsigned char v, size_t n, void *stream) { return fill(p, &v, sizeof v, n, stream); }
VGPU_API int cuMemsetD16Async(uintptr_t p, unsigned short v, size_t n, void *stream) { return fill(p, &v, sizeof v, n, stream); }
VGPU_API int cuMemsetD32Async(uintptr_t p, unsigned v, size_t n, void *stream) { return fill(p, &v, sizeof v, n, stream); }

/* --- pointer attributes ----------------------------------------------------- */

/* By CUpointer_attribute. False: the attribute is not known here. */
static bool attribute(void *out, int which, uintptr_t p, const struct vgpu_range *r, const struct vgpu_host *h)
{
	switch (which) {
	case 1: return false; /* the context: filled by the caller */
	case 2: *(int *)out = r ? 2 : 1; break; /* memory type: device or host */
	case 3: *(uintptr_t *)out = p; break;
	case 4: *(void **)out = h ? (void *)p : NULL; break;
	case 6: *(bool *)out = false; break; /* synchronous memory operations */
	case 7: *(uint64_t *)out = r ? r->id : h->start; break;
	case 8: *(bool *)out = h && h->kind == VGPU_HOST_MANAGED; break;
	case 9: *(int *)out = r ? r->device : h->device; break;
	case 10: *(bool *)out = false; break; /* legacy IPC: shared by encoded handles only */
	case 11: *(uintptr_t *)out = r ? r->start : h->start; break;
	case 12: *(size_t *)out = r ? r->requested : h->bytes; break;
	case 13: *(bool *)out = true; break; /* mapped */
	case 14: *(uint64_t *)out = 0; break; /* handle types for export */
	case 15: *(bool *)out = false; break; /* GPUDirect RDMA */
	case 16: *(int *)out = 3; break; /* access: read and write */
	case 17: *(void **)out = NULL; break; /* memory pool */
	default: return false;
	}
	return true;
}

int cuDevicePrimaryCtxRetain(void **context, int device);

VGPU_API int cuPointerGetAttribute(void *out, int which, uintptr_t p)
{
	struct vgpu_range r;
	struct vgpu_host h;
	bool device = vgpu_space_find(p, &r), host = !device && vgpu_host_find((void *)p, &h);
	if (!device && !host)
		return VGPU_INVALID_VALUE;
	if (which == 1)
		return cuDevicePrimaryCtxRetain(out, device ? r.device : h.device);
	return attribute(out, which, p, device ? &r : NULL, host ? &h : NULL) ? VGPU_OK : vgpu_refuse(VGPU_DRIVER, "cuPointerGetAttribute");
}

VGPU_API int cuPointerGetAttributes(unsigned count, int *which, void **out, uintptr_t p)
{
	/* For an unknown pointer every answer is zero and the call succeeds. */
	static const unsigned char width[] = {0, 8, 4, 8, 8, 16, 1, 8, 1, 4, 1, 8, 8, 1, 8, 1, 4, 8};
	for (unsigned i = 0; i < count; i++) {
		if (cuPointerGetAttribute(out[i], which[i], p) == VGPU_OK)
			continue;
		if (which[i] < 1 || which[i] >= (int)sizeof width)
			return VGPU_INVALID_VALUE;
		memset(out[i], 0, width[which[i]]);
	}
	return VGPU_OK;
}
