/* pool.c: stream-ordered memory (cudaMallocAsync), which PyTorch's backend of
 * that name uses.
 *
 * The real pool's inner order is not published. This one takes memory from the
 * driver in steps of 32 MiB, gives out the best fitting piece in multiples of
 * 512 bytes and joins neighbours when they are free, so that what a process uses
 * is exact and what its pool reserves is an estimate, which the log says.
 */
#include "layouts.h"
#include "memory.h"
#include "runtime.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define STEP_BYTES ((size_t)32 << 20)
#define PIECE_BYTES ((size_t)512)

struct piece {
	uintptr_t start;
	size_t bytes;
	bool free;
	bool first; /* begins a chunk: never joined to what lies before it */
};

struct pool {
	int device;
	uint64_t threshold; /* what may stay reserved without being used */
	uint64_t used, used_high, reserved, reserved_high;
	struct piece *pieces; /* by address */
	size_t count, room;
};

#define POOLS 256
static struct pool pools[POOLS]; /* the default pools of the devices come first */
static size_t pool_count = VGPU_MAX_DEVICES;
static struct pool *chosen[VGPU_MAX_DEVICES]; /* cudaDeviceSetMemPool */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct pool *default_pool(int device)
{
	pools[device].device = device;
	return &pools[device];
}

static struct pool *current_pool(int device) { return chosen[device] ? chosen[device] : default_pool(device); }

static struct pool *pool_of(void *handle)
{
	uintptr_t offset = (uintptr_t)handle - (uintptr_t)pools;
	return offset < sizeof pools && offset % sizeof *pools == 0 ? handle : NULL;
}

/* The functions from here to the next line of dashes are called with the lock held. */

static size_t position(const struct pool *p, uintptr_t start)
{
	size_t low = 0, high = p->count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (p->pieces[middle].start < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool insert(struct pool *p, struct piece piece)
{
	size_t at = position(p, piece.start);
	if (p->count == p->room) {
		size_t more = p->room ? p->room * 2 : 256;
		struct piece *grown = realloc(p->pieces, more * sizeof *grown);
		if (!grown)
			return false;
		p->pieces = grown;
		p->room = more;
	}
	memmove(p->pieces + at + 1, p->pieces + at, (p->count - at) * sizeof *p->pieces);
	p->pieces[at] = piece;
	p->count++;
	return true;
}

static void remove_at(struct pool *p, size_t at)
{
	memmove(p->pieces + at, p->pieces + at + 1, (p->count - at - 1) * sizeof *p->pieces);
	p->count--;
}

static struct piece *best_fit(struct pool *p, size_t n)
{
	struct piece *best = NULL;
	for (size_t i = 0; i < p->count; i++) {
		struct piece *c = &p->pieces[i];
		if (c->free && c->bytes >= n && (!best || c->bytes < best->bytes))
			best = c;
	}
	return best;
}

/* Split n bytes off a free piece and return where they begin, or 0. */
static uintptr_t carve(struct pool *p, struct piece *c, size_t n)
{
	uintptr_t start = c->start;
	size_t rest = c->bytes - n;
	c->bytes = n;
	c->free = false;
	if (rest && !insert(p, (struct piece){start + n, rest, true, false})) {
		c->bytes += rest;
		c->free = true;
		return 0;
	}
	p->used += n;
	if (p->used > p->used_high)
		p->used_high = p->used;
	return start;
}

static void join(struct pool *p, size_t at)
{
	if (at + 1 < p->count && p->pieces[at + 1].free && !p->pieces[at + 1].first) {
		p->pieces[at].bytes += p->pieces[at + 1].bytes;
		remove_at(p, at + 1);
	}
	if (at > 0 && p->pieces[at - 1].free && !p->pieces[at].first) {
		p->pieces[at - 1].bytes += p->pieces[at].bytes;
		remove_at(p, at);
	}
}

/* A chunk that is wholly free, while more is reserved than may be. */
static uintptr_t surplus(struct pool *p, uint64_t keep)
{
	for (size_t i = 0; p->reserved > keep && i < p->count; i++) {
		struct piece *c = &p->pieces[i];
		if (c->free && c->first && (i + 1 == p->count || p->pieces[i + 1].first)) {
			uintptr_t start = c->start;
			p->reserved -= c->bytes;
			remove_at(p, i);
			return start;
		}
	}
	return 0;
}

/* ---------------------------------------------------------------------------- */

static void trim(struct pool *p, uint64_t keep)
{
	uintptr_t start;
	do {
		pthread_mutex_lock(&lock);
		start = surplus(p, keep);
		pthread_mutex_unlock(&lock);
		if (start)
			vgpu_free((void *)start);
	} while (start);
}

static bool extend(struct pool *p, size_t n)
{
	size_t bytes = n > STEP_BYTES ? vgpu_pages(n) : STEP_BYTES;
	void *chunk = vgpu_alloc(p->device, bytes);
	if (!chunk && bytes > vgpu_pages(n))
		chunk = vgpu_alloc(p->device, bytes = vgpu_pages(n));
	if (!chunk)
		return false;
	vgpu_space_mark_stream_ordered((uintptr_t)chunk);
	pthread_mutex_lock(&lock);
	bool kept = insert(p, (struct piece){(uintptr_t)chunk, bytes, true, true});
	if (kept) {
		p->reserved += bytes;
		if (p->reserved > p->reserved_high)
			p->reserved_high = p->reserved;
	}
	pthread_mutex_unlock(&lock);
	if (!kept)
		vgpu_free(chunk);
	return kept;
}

static int allocate(struct pool *p, void **out, size_t n)
{
	uintptr_t start = 0;
	n = (n + PIECE_BYTES - 1) & ~(PIECE_BYTES - 1);
	*out = NULL;
	if (!n)
		return VGPU_OK;
	vgpu_note("the pool of cudaMallocAsync is modelled: used bytes are exact, reserved bytes an estimate");
	vgpu_activate(p->device);
	for (int attempt = 0; attempt < 2 && !start; attempt++) {
		pthread_mutex_lock(&lock);
		struct piece *c = best_fit(p, n);
		if (c)
			start = carve(p, c, n);
		pthread_mutex_unlock(&lock);
		if (!start && !attempt && !extend(p, n))
			break;
	}
	*out = (void *)start;
	return start ? VGPU_OK : VGPU_OUT_OF_MEMORY;
}

static int release(void *at)
{
	struct pool *owner = NULL;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < pool_count && !owner; i++) {
		struct pool *p = &pools[i];
		size_t k = position(p, (uintptr_t)at);
		if (k < p->count && p->pieces[k].start == (uintptr_t)at && !p->pieces[k].free) {
			p->used -= p->pieces[k].bytes;
			p->pieces[k].free = true;
			join(p, k);
			owner = p;
		}
	}
	pthread_mutex_unlock(&lock);
	if (owner)
		trim(owner, owner->threshold > owner->used ? owner->threshold : owner->used);
	return owner ? VGPU_OK : VGPU_INVALID_VALUE;
}

static int create(void **handle, const struct vgpu_pool_props *props)
{
	struct pool *p = NULL;
	if (props->location.id < 0 || props->location.id >= vgpu_device_count())
		return VGPU_INVALID_DEVICE;
	pthread_mutex_lock(&lock);
	if (pool_count < POOLS)
		p = &pools[pool_count++];
	pthread_mutex_unlock(&lock);
	if (!p)
		return VGPU_OUT_OF_MEMORY;
	p->device = props->location.id;
	*handle = p;
	return VGPU_OK;
}

/* By cudaMemPoolAttr: 1 to 3 are switches for reuse, then the threshold and
 * reserved and used bytes, each with its high mark. */
static int get(void *handle, int attribute, void *value)
{
	struct pool *p = pool_of(handle);
	if (!p)
		return VGPU_INVALID_VALUE;
	switch (attribute) {
	case 1: case 2: case 3: *(int *)value = 1; break;
	case 4: *(uint64_t *)value = p->threshold; break;
	case 5: *(uint64_t *)value = p->reserved; break;
	case 6: *(uint64_t *)value = p->reserved_high; break;
	case 7: *(uint64_t *)value = p->used; break;
	case 8: *(uint64_t *)value = p->used_high; break;
	default: return VGPU_INVALID_VALUE;
	}
	return VGPU_OK;
}

static int set(void *handle, int attribute, const void *value)
{
	struct pool *p = pool_of(handle);
	if (!p)
		return VGPU_INVALID_VALUE;
	switch (attribute) {
	case 1: case 2: case 3: break; /* nothing is pending, so reuse needs no rule */
	case 4: p->threshold = *(const uint64_t *)value; break;
	case 6: p->reserved_high = p->reserved; break; /* only a reset to the present is allowed */
	case 8: p->used_high = p->used; break;
	default: return VGPU_INVALID_VALUE;
	}
	return VGPU_OK;
}

static bool known(int device) { return device >= 0 && device < vgpu_device_count(); }

VGPU_API int cudaMallocAsync(void **p, size_t n, void *stream)
{
	vgpu_capture_work(stream);
	return vgpu_result(allocate(current_pool(vgpu_current_device()), p, n));
}

VGPU_API int cudaMallocFromPoolAsync(void **p, size_t n, void *pool, void *stream)
{
	vgpu_capture_work(stream);
	return vgpu_result(pool_of(pool) ? allocate(pool, p, n) : VGPU_INVALID_VALUE);
}

VGPU_API int cudaFreeAsync(void *p, void *stream)
{
	vgpu_capture_work(stream);
	return vgpu_result(!p || release(p) == VGPU_OK || vgpu_free(p) ? VGPU_OK : VGPU_INVALID_VALUE);
}

VGPU_API int cudaDeviceGetDefaultMemPool(void **pool, int device)
{
	if (!known(device))
		return vgpu_result(VGPU_INVALID_DEVICE);
	*pool = default_pool(device);
	return VGPU_OK;
}

VGPU_API int cudaDeviceGetMemPool(void **pool, int device)
{
	if (!known(device))
		return vgpu_result(VGPU_INVALID_DEVICE);
	*pool = current_pool(device);
	return VGPU_OK;
}

VGPU_API int cudaDeviceSetMemPool(int device, void *pool)
{
	if (!known(device) || !pool_of(pool))
		return vgpu_result(VGPU_INVALID_VALUE);
	chosen[device] = pool;
	return VGPU_OK;
}

VGPU_API int cudaMemPoolCreate(void **pool, const struct vgpu_pool_props *props) { return vgpu_result(create(pool, props)); }
VGPU_API int cudaMemPoolGetAttribute(void *pool, int attribute, void *value) { return vgpu_result(get(pool, attribute, value)); }
VGPU_API int cudaMemPoolSetAttribute(void *pool, int attribute, void *value) { return vgpu_result(set(pool, attribute, value)); }

VGPU_API int cudaMemPoolTrimTo(void *pool, size_t keep)
{
	if (!pool_of(pool))
		return vgpu_result(VGPU_INVALID_VALUE);
	trim(pool, keep);
	return VGPU_OK;
}

VGPU_API int cudaMemPoolDestroy(void *pool) { return cudaMemPoolTrimTo(pool, 0); }

VGPU_API int cudaMemPoolGetAccess(int *flags, void *pool VGPU_UNUSED, struct vgpu_location *location VGPU_UNUSED)
{
	*flags = 3; /* read and write, from every device */
	return VGPU_OK;
}

VGPU_API int cuMemAllocAsync(uintptr_t *p, size_t n, void *stream) { return cudaMallocAsync((void **)p, n, stream); }
VGPU_API int cuMemAllocFromPoolAsync(uintptr_t *p, size_t n, void *pool, void *stream) { return cudaMallocFromPoolAsync((void **)p, n, pool, stream); }
VGPU_API int cuMemFreeAsync(uintptr_t p, void *stream) { return cudaFreeAsync((void *)p, stream); }
VGPU_API int cuDeviceGetDefaultMemPool(void **pool, int device) { return cudaDeviceGetDefaultMemPool(pool, device); }
VGPU_API int cuDeviceGetMemPool(void **pool, int device) { return cudaDeviceGetMemPool(pool, device); }
VGPU_API int cuDeviceSetMemPool(int device, void *pool) { return cudaDeviceSetMemPool(device, pool); }
VGPU_API int cuMemPoolCreate(void **pool, const struct vgpu_pool_props *props) { return create(pool, props); }
VGPU_API int cuMemPoolDestroy(void *pool) { return cudaMemPoolTrimTo(pool, 0); }
VGPU_API int cuMemPoolTrimTo(void *pool, size_t keep) { return cudaMemPoolTrimTo(pool, keep); }
VGPU_API int cuMemPoolGetAttribute(void *pool, int attribute, void *value) { return get(pool, attribute, value); }
VGPU_API int cuMemPoolSetAttribute(void *pool, int attribute, void *value) { return set(pool, attribute, value); }
