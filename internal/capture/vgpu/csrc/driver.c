/* driver.c: the driver's devices, contexts, streams and events. */
#include "layouts.h"
#include "memory.h"
#include "runtime.h"

#include <stdio.h>
#include <string.h>

/* The runtime's functions that the driver's share. */
int cudaEventRecord(void *event, void *stream);
int cudaEventCreateWithFlags(void **event, unsigned flags);
int cudaEventDestroy(void *event);
int cudaEventQuery(void *event);
int cudaEventElapsedTime(float *milliseconds, void *from, void *to);
int cudaStreamWaitEvent(void *stream, void *event, unsigned flags);
int cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority);
int cudaDeviceGetPCIBusId(char *text, int room, int device);
int cudaDeviceGetByPCIBusId(int *device, const char *text);
int cudaDeviceCanAccessPeer(int *can, int device, int peer);
int cudaDeviceGetP2PAttribute(int *v, int attribute, int device, int peer);
int cudaDeviceGetLimit(size_t *bytes, int limit);

static bool known(int device) { return device >= 0 && device < vgpu_device_count(); }

VGPU_API int cuInit(unsigned flags VGPU_UNUSED) { return vgpu_device_count() ? VGPU_OK : VGPU_NO_DEVICE; }

VGPU_API int cuDriverGetVersion(int *version)
{
	*version = vgpu_cuda_version();
	return VGPU_OK;
}

VGPU_API int cuDeviceGetCount(int *count)
{
	*count = vgpu_device_count();
	return VGPU_OK;
}

VGPU_API int cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return known(ordinal) ? VGPU_OK : VGPU_INVALID_DEVICE;
}

VGPU_API int cuDeviceGetName(char *name, int room, int device)
{
	if (!known(device) || room <= 0)
		return VGPU_INVALID_DEVICE;
	snprintf(name, (size_t)room, "%s", vgpu_config()->card.name);
	return VGPU_OK;
}

VGPU_API int cuDeviceGetUuid(unsigned char uuid[16], int device)
{
	vgpu_uuid(device, uuid);
	return known(device) ? VGPU_OK : VGPU_INVALID_DEVICE;
}

VGPU_API int cuDeviceGetUuid_v2(unsigned char uuid[16], int device) { return cuDeviceGetUuid(uuid, device); }

VGPU_API int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	*bytes = vgpu_config()->card.capacity_bytes;
	return known(device) ? VGPU_OK : VGPU_INVALID_DEVICE;
}

VGPU_API int cuDeviceGetAttribute(int *v, int attribute, int device)
{
	if (!known(device))
		return VGPU_INVALID_DEVICE;
	return vgpu_attribute(attribute, device, v) ? VGPU_OK : VGPU_INVALID_VALUE;
}

VGPU_API int cuDeviceComputeCapability(int *major, int *minor, int device)
{
	*major = vgpu_config()->card.capability / 10;
	*minor = vgpu_config()->card.capability % 10;
	return known(device) ? VGPU_OK : VGPU_INVALID_DEVICE;
}

VGPU_API int cuDeviceGetPCIBusId(char *text, int room, int device) { return cudaDeviceGetPCIBusId(text, room, device); }
VGPU_API int cuDeviceGetByPCIBusId(int *device, const char *text) { return cudaDeviceGetByPCIBusId(device, text); }
VGPU_API int cuDeviceCanAccessPeer(int *can, int device, int peer) { return cudaDeviceCanAccessPeer(can, device, peer); }
VGPU_API int cuDeviceGetP2PAttribute(int *v, int attribute, int device, int peer) { return cudaDeviceGetP2PAttribute(v, attribute, device, peer); }

/* --- contexts ------------------------------------------------------------- */

/* One context per device, its primary one; the address tells which. */
static char contexts[VGPU_MAX_DEVICES];

static void *context_of(int device) { return &contexts[device]; }

static int device_of(const void *context)
{
	uintptr_t i = (uintptr_t)context - (uintptr_t)contexts;
	return i < VGPU_MAX_DEVICES ? (int)i : -1;
}

VGPU_API int cuCtxGetCurrent(void **context)
{
	int device = vgpu_current_device();
	*context = vgpu_active(device) ? context_of(device) : NULL;
	return VGPU_OK;
}

VGPU_API int cuCtxSetCurrent(void *context)
{
	int device = device_of(context);
	if (!context)
		return VGPU_OK;
	if (device < 0)
		return VGPU_INVALID_CONTEXT;
	vgpu_set_current_device(device);
	vgpu_activate(device);
	return VGPU_OK;
}

#define STACKED 64
static __thread int stack[STACKED];
static __thread int depth;

VGPU_API int cuCtxPushCurrent_v2(void *context)
{
	if (device_of(context) < 0 || depth == STACKED)
		return VGPU_INVALID_CONTEXT;
	stack[depth++] = vgpu_current_device();
	return cuCtxSetCurrent(context);
}

VGPU_API int cuCtxPopCurrent_v2(void **context)
{
	if (context)
		*context = context_of(vgpu_current_device());
	if (depth)
		vgpu_set_current_device(stack[--depth]);
	return VGPU_OK;
}

VGPU_API int cuCtxGetDevice(int *device)
{
	*device = vgpu_current_device();
	return vgpu_active(*device) ? VGPU_OK : VGPU_INVALID_CONTEXT;
}

VGPU_API int cuCtxGetApiVersion(void *context VGPU_UNUSED, unsigned *version)
{
	*version = 3020; /* what the real driver has said since CUDA 3.2 */
	return VGPU_OK;
}

VGPU_API int cuCtxGetId(void *context, unsigned long long *id)
{
	int device = context ? device_of(context) : vgpu_current_device();
	*id = (unsigned long long)device + 1;
	return device >= 0 ? VGPU_OK : VGPU_INVALID_CONTEXT;
}

VGPU_API int cuCtxGetLimit(size_t *bytes, int limit) { return cudaDeviceGetLimit(bytes, limit); }

VGPU_API int cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5;
	return VGPU_OK;
}

VGPU_API int cuCtxSynchronize(void) { return vgpu_capture_sync_all(); }

VGPU_API int cuDevicePrimaryCtxRetain(void **context, int device)
{
	if (!known(device))
		return VGPU_INVALID_DEVICE;
	vgpu_activate(device);
	*context = context_of(device);
	return VGPU_OK;
}

VGPU_API int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
	if (!known(device))
		return VGPU_INVALID_DEVICE;
	*flags = 0;
	*active = vgpu_active(device);
	return VGPU_OK;
}

/* --- streams and events --------------------------------------------------- */

VGPU_API int cuStreamCreate(void **stream, unsigned flags) { return cudaStreamCreateWithPriority(stream, flags, 0); }
VGPU_API int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) { return cudaStreamCreateWithPriority(stream, flags, priority); }
VGPU_API int cuStreamDestroy_v2(void *stream) { return vgpu_stream_destroy(stream); }
VGPU_API int cuStreamQuery(void *stream) { return vgpu_capture_sync(stream); }
VGPU_API int cuStreamSynchronize(void *stream) { return vgpu_capture_sync(stream); }
VGPU_API int cuStreamWaitEvent(void *stream, void *event, unsigned flags) { return cudaStreamWaitEvent(stream, event, flags); }

VGPU_API int cuStreamGetPriority(void *stream, int *priority)
{
	*priority = vgpu_stream_priority(stream);
	return VGPU_OK;
}

VGPU_API int cuStreamGetFlags(void *stream, unsigned *flags)
{
	*flags = vgpu_stream_flags(stream);
	return VGPU_OK;
}

VGPU_API int cuStreamGetId(void *stream, unsigned long long *id)
{
	*id = vgpu_stream_id(stream);
	return VGPU_OK;
}

VGPU_API int cuStreamGetCtx(void *stream, void **context)
{
	int device = vgpu_stream_device(stream);
	*context = context_of(device >= 0 ? device : vgpu_current_device());
	return VGPU_OK;
}

VGPU_API int cuStreamIsCapturing(void *stream, int *status)
{
	uint64_t id;
	void *graph;
	*status = vgpu_capture_status(stream, &id, &graph);
	return VGPU_OK;
}

/* Work that a kernel would wait for is done: the value is written at once. */
VGPU_API int cuStreamWriteValue32_v2(void *stream, uintptr_t p, uint32_t value, unsigned flags VGPU_UNUSED)
{
	vgpu_capture_work(stream);
	vgpu_copy((void *)p, &value, sizeof value);
	return VGPU_OK;
}

VGPU_API int cuStreamWriteValue64_v2(void *stream, uintptr_t p, uint64_t value, unsigned flags VGPU_UNUSED)
{
	vgpu_capture_work(stream);
	vgpu_copy((void *)p, &value, sizeof value);
	return VGPU_OK;
}

VGPU_API int cuEventCreate(void **event, unsigned flags) { return cudaEventCreateWithFlags(event, flags); }
VGPU_API int cuEventDestroy_v2(void *event) { return cudaEventDestroy(event); }
VGPU_API int cuEventRecord(void *event, void *stream) { return cudaEventRecord(event, stream); }
VGPU_API int cuEventQuery(void *event) { return cudaEventQuery(event); }
VGPU_API int cuEventSynchronize(void *event) { return cudaEventQuery(event); }
VGPU_API int cuEventElapsedTime(float *milliseconds, void *from, void *to) { return cudaEventElapsedTime(milliseconds, from, to); }
VGPU_API int cuEventElapsedTime_v2(float *milliseconds, void *from, void *to) { return cudaEventElapsedTime(milliseconds, from, to); }
