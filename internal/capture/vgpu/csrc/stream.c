/* stream.c: streams and what is being captured on them.
 *
 * All work is done at once, so a stream has nothing to wait for. What it keeps is
 * its device, priority and number, and whether a graph is being captured on it.
 * Streams live in a table whose entries are reused but never unmapped, so that a
 * stale handle is recognised instead of being followed.
 */
#include "graph.h"
#include "runtime.h"

#include <pthread.h>
#include <string.h>

#define STREAMS 65536
struct stream {
	bool live;
	int device;
	unsigned flags;
	int priority;
	uint64_t id;
	uint64_t capture; /* id of the capture it takes part in, 0 for none */
};

/* A capture that has begun and not ended. */
struct capture {
	uint64_t id;
	int mode; /* 0 global, 1 of this thread, 2 relaxed */
	struct stream *origin;
	pthread_t thread;
	bool invalidated;
	struct vgpu_graph *graph;
};

static struct stream streams[STREAMS]; /* zero pages until used */
static size_t used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define CAPTURES 64
static struct capture captures[CAPTURES];
static int capturing; /* how many are under way; read without the lock */
static uint64_t next_stream, next_capture;
static __thread int exchange_mode; /* cudaThreadExchangeStreamCaptureMode */

static struct stream *known(void *handle)
{
	uintptr_t offset = (uintptr_t)handle - (uintptr_t)streams;
	if (offset >= sizeof streams || offset % sizeof *streams || !streams[offset / sizeof *streams].live)
		return NULL;
	return handle;
}

/* Handles of the default streams: null, legacy and per thread. */
static bool is_default(void *handle) { return (uintptr_t)handle <= 2; }

void *vgpu_stream_create(int device, unsigned flags, int priority)
{
	struct stream *s = NULL;
	pthread_mutex_lock(&lock);
	if (used < STREAMS) {
		s = &streams[used++];
	} else {
		for (size_t i = 0; i < STREAMS && !s; i++)
			if (!streams[i].live)
				s = &streams[i];
	}
	if (s)
		*s = (struct stream){true, device, flags, priority, ++next_stream + 2, 0};
	pthread_mutex_unlock(&lock);
	return s;
}

int vgpu_stream_destroy(void *handle)
{
	struct stream *s = known(handle);
	if (!s)
		return VGPU_INVALID_HANDLE;
	s->live = false;
	return VGPU_OK;
}

bool vgpu_stream_valid(void *handle) { return is_default(handle) || known(handle); }

int vgpu_stream_priority(void *handle)
{
	struct stream *s = known(handle);
	return s ? s->priority : 0;
}

unsigned vgpu_stream_flags(void *handle)
{
	struct stream *s = known(handle);
	return s ? s->flags : 0;
}

int vgpu_stream_device(void *handle)
{
	struct stream *s = known(handle);
	return s ? s->device : -1;
}

uint64_t vgpu_stream_id(void *handle)
{
	struct stream *s = known(handle);
	return s ? s->id : (uint64_t)(uintptr_t)handle;
}

/* --- capturing ----------------------------------------------------------- */

/* Called with the lock held. */
static struct capture *find(uint64_t id)
{
	for (size_t i = 0; id && i < CAPTURES; i++)
		if (captures[i].id == id)
			return &captures[i];
	return NULL;
}

static bool any(void) { return __atomic_load_n(&capturing, __ATOMIC_ACQUIRE) > 0; }

int vgpu_capture_begin(void *handle, int mode)
{
	struct stream *s = known(handle);
	int error = VGPU_INVALID_VALUE;
	if (!s)
		return VGPU_CAPTURE_UNSUPPORTED; /* the legacy stream cannot be captured */
	pthread_mutex_lock(&lock);
	for (size_t i = 0; !s->capture && i < CAPTURES; i++) {
		if (captures[i].id)
			continue;
		struct vgpu_graph *g = vgpu_graph_new();
		if (!g)
			break;
		captures[i] = (struct capture){++next_capture, mode, s, pthread_self(), false, g};
		s->capture = captures[i].id;
		__atomic_add_fetch(&capturing, 1, __ATOMIC_RELEASE);
		error = VGPU_OK;
		break;
	}
	pthread_mutex_unlock(&lock);
	return error;
}

int vgpu_capture_end(void *handle, void **graph)
{
	struct stream *s = known(handle);
	int error = VGPU_OK;
	*graph = NULL;
	if (!s)
		return VGPU_INVALID_HANDLE;
	pthread_mutex_lock(&lock);
	struct capture *c = find(s->capture);
	if (!c) {
		error = VGPU_INVALID_VALUE;
	} else if (c->origin != s) {
		error = VGPU_CAPTURE_UNMATCHED;
	} else if (c->mode != 2 && !pthread_equal(c->thread, pthread_self())) {
		error = VGPU_CAPTURE_WRONG_THREAD;
	} else {
		if (c->invalidated) {
			error = VGPU_CAPTURE_INVALIDATED;
			vgpu_graph_free(c->graph);
		} else {
			*graph = c->graph;
		}
		for (size_t i = 0; i < used; i++)
			if (streams[i].capture == c->id)
				streams[i].capture = 0;
		memset(c, 0, sizeof *c);
		__atomic_sub_fetch(&capturing, 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return error;
}

/* 0 none, 1 active, 2 invalidated, as cudaStreamCaptureStatus. */
int vgpu_capture_status(void *handle, uint64_t *id, void **graph)
{
	int status = 0;
	*id = 0;
	*graph = NULL;
	struct stream *s = any() ? known(handle) : NULL;
	if (!s || !s->capture)
		return 0;
	pthread_mutex_lock(&lock);
	struct capture *c = find(s->capture);
	if (c) {
		status = c->invalidated ? 2 : 1;
		*id = c->id;
		*graph = c->graph;
	}
	pthread_mutex_unlock(&lock);
	return status;
}

void vgpu_capture_work(void *handle)
{
	struct stream *s = any() ? known(handle) : NULL;
	if (!s || !s->capture)
		return;
	pthread_mutex_lock(&lock);
	struct capture *c = find(s->capture);
	if (c)
		c->graph->nodes++;
	pthread_mutex_unlock(&lock);
}

uint64_t vgpu_capture_id(void *handle)
{
	struct stream *s = any() ? known(handle) : NULL;
	return s ? s->capture : 0;
}

/* A stream that waits for an event of a capture takes part in it. */
void vgpu_capture_join(void *handle, uint64_t id)
{
	struct stream *s = known(handle);
	if (!s || !id || !any())
		return;
	pthread_mutex_lock(&lock);
	if (find(id) && !s->capture)
		s->capture = id;
	pthread_mutex_unlock(&lock);
}

int vgpu_capture_sync(void *handle)
{
	struct stream *s = any() ? known(handle) : NULL;
	if (!s || !s->capture)
		return VGPU_OK;
	pthread_mutex_lock(&lock);
	struct capture *c = find(s->capture);
	if (c)
		c->invalidated = true;
	pthread_mutex_unlock(&lock);
	return VGPU_CAPTURE_UNSUPPORTED;
}

/* Waiting for everything, or copying on the legacy stream, is forbidden while a
 * capture that is not relaxed goes on, unless the thread exchanged its mode. */
int vgpu_capture_sync_all(void)
{
	int error = VGPU_OK;
	if (!any() || exchange_mode == 2)
		return VGPU_OK;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < CAPTURES; i++) {
		struct capture *c = &captures[i];
		if (c->id && (c->mode == 0 || (c->mode == 1 && pthread_equal(c->thread, pthread_self())))) {
			c->invalidated = true;
			error = VGPU_CAPTURE_UNSUPPORTED;
		}
	}
	pthread_mutex_unlock(&lock);
	return error;
}

VGPU_API int cudaThreadExchangeStreamCaptureMode(int *mode)
{
	int before = exchange_mode;
	exchange_mode = *mode;
	*mode = before;
	return VGPU_OK;
}

VGPU_API int cuThreadExchangeStreamCaptureMode(int *mode) { return cudaThreadExchangeStreamCaptureMode(mode); }
