/* runtime_stream.c: the runtime's streams and events. */
#include "runtime.h"

#include <stdlib.h>

static int create(void **stream, unsigned flags, int priority)
{
	if (!vgpu_device_count())
		return vgpu_result(VGPU_NO_DEVICE);
	vgpu_activate(vgpu_current_device());
	*stream = vgpu_stream_create(vgpu_current_device(), flags, priority < -5 ? -5 : priority > 0 ? 0 : priority);
	return vgpu_result(*stream ? VGPU_OK : VGPU_OUT_OF_MEMORY);
}

VGPU_API int cudaStreamCreate(void **stream) { return create(stream, 0, 0); }
VGPU_API int cudaStreamCreateWithFlags(void **stream, unsigned flags) { return create(stream, flags, 0); }
VGPU_API int cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority) { return create(stream, flags, priority); }
VGPU_API int cudaStreamDestroy(void *stream) { return vgpu_result(vgpu_stream_destroy(stream)); }

/* All work is done when the call that asked for it returns. */
VGPU_API int cudaStreamQuery(void *stream)
{
	if (!vgpu_stream_valid(stream))
		return vgpu_result(VGPU_INVALID_HANDLE);
	return vgpu_result(vgpu_capture_sync(stream));
}

VGPU_API int cudaStreamSynchronize(void *stream)
{
	if (!vgpu_stream_valid(stream))
		return vgpu_result(VGPU_INVALID_HANDLE);
	return vgpu_result(vgpu_capture_sync(stream));
}

VGPU_API int cudaStreamGetPriority(void *stream, int *priority)
{
	*priority = vgpu_stream_priority(stream);
	return vgpu_result(vgpu_stream_valid(stream) ? VGPU_OK : VGPU_INVALID_HANDLE);
}

VGPU_API int cudaStreamGetFlags(void *stream, unsigned *flags)
{
	*flags = vgpu_stream_flags(stream);
	return vgpu_result(vgpu_stream_valid(stream) ? VGPU_OK : VGPU_INVALID_HANDLE);
}

VGPU_API int cudaStreamGetId(void *stream, unsigned long long *id)
{
	*id = vgpu_stream_id(stream);
	return vgpu_result(vgpu_stream_valid(stream) ? VGPU_OK : VGPU_INVALID_HANDLE);
}

VGPU_API int cudaStreamGetDevice(void *stream, int *device)
{
	int d = vgpu_stream_device(stream);
	*device = d >= 0 ? d : vgpu_current_device();
	return vgpu_result(vgpu_stream_valid(stream) ? VGPU_OK : VGPU_INVALID_HANDLE);
}

/* Callbacks run at once, in the caller's thread: there is nothing to wait for. */
VGPU_API int cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data)
{
	vgpu_capture_work(stream);
	if (!vgpu_capture_id(stream))
		function(data);
	return VGPU_OK;
}

VGPU_API int cudaStreamAddCallback(void *stream, void (*callback)(void *, int, void *), void *data, unsigned flags VGPU_UNUSED)
{
	if (vgpu_capture_id(stream))
		return vgpu_result(vgpu_capture_sync(stream));
	callback(stream, VGPU_OK, data);
	return VGPU_OK;
}

/* --- events -------------------------------------------------------------- */

struct event {
	uint32_t magic;
	unsigned flags;
	bool recorded;
	uint64_t capture; /* the capture it was recorded in, 0 for none */
};
#define EVENT_MAGIC 0x65766e74u
#define DISABLE_TIMING 2u

static struct event *event_of(void *handle)
{
	struct event *e = handle;
	return e && e->magic == EVENT_MAGIC ? e : NULL;
}

static int create_event(void **event, unsigned flags)
{
	struct event *e = calloc(1, sizeof *e);
	if (!e)
		return vgpu_result(VGPU_OUT_OF_MEMORY);
	vgpu_activate(vgpu_current_device());
	e->magic = EVENT_MAGIC;
	e->flags = flags;
	*event = e;
	return VGPU_OK;
}

VGPU_API int cudaEventCreate(void **event) { return create_event(event, 0); }
VGPU_API int cudaEventCreateWithFlags(void **event, unsigned flags) { return create_event(event, flags); }

VGPU_API int cudaEventDestroy(void *event)
{
	struct event *e = event_of(event);
	if (!e)
		return vgpu_result(VGPU_INVALID_HANDLE);
	e->magic = 0;
	free(e);
	return VGPU_OK;
}

static int record(void *event, void *stream)
{
	struct event *e = event_of(event);
	if (!e || !vgpu_stream_valid(stream))
		return vgpu_result(VGPU_INVALID_HANDLE);
	e->recorded = true;
	e->capture = vgpu_capture_id(stream);
	return VGPU_OK;
}

VGPU_API int cudaEventRecord(void *event, void *stream) { return record(event, stream); }
VGPU_API int cudaEventRecordWithFlags(void *event, void *stream, unsigned flags VGPU_UNUSED) { return record(event, stream); }

VGPU_API int cudaEventQuery(void *event)
{
	struct event *e = event_of(event);
	return vgpu_result(!e ? VGPU_INVALID_HANDLE : VGPU_OK);
}

VGPU_API int cudaEventSynchronize(void *event)
{
	struct event *e = event_of(event);
	return vgpu_result(!e ? VGPU_INVALID_HANDLE : VGPU_OK);
}

VGPU_API int cudaStreamWaitEvent(void *stream, void *event, unsigned flags VGPU_UNUSED)
{
	struct event *e = event_of(event);
	if (!e || !vgpu_stream_valid(stream))
		return vgpu_result(VGPU_INVALID_HANDLE);
	vgpu_capture_join(stream, e->capture);
	return VGPU_OK;
}

/* Every interval is a millisecond: kernels take no time here, and equal times
 * make autotuners choose the same way on every run. */
static int elapsed(float *milliseconds, void *from, void *to)
{
	struct event *a = event_of(from), *b = event_of(to);
	if (!a || !b || !a->recorded || !b->recorded || ((a->flags | b->flags) & DISABLE_TIMING))
		return vgpu_result(VGPU_INVALID_HANDLE);
	*milliseconds = 1;
	return VGPU_OK;
}

VGPU_API int cudaEventElapsedTime(float *milliseconds, void *from, void *to) { return elapsed(milliseconds, from, to); }
VGPU_API int cudaEventElapsedTime_v2(float *milliseconds, void *from, void *to) { return elapsed(milliseconds, from, to); }
