/* nccl_collectives.c: collective calls, as one process sees them.
 *
 * The other ranks are taken to hold what this one holds: a sum or a broadcast
 * leaves the rank's own contents, a gathering repeats them in every slot. That
 * keeps small values (shapes, lengths, flags) plausible, and large contents are
 * dropped by vgpu_copy as everywhere. Broadcasts between the devices of one
 * process, which come in a group, really copy from the root.
 */
#include "nccl_communicator.h"

#include <string.h>

/* ncclDataType_t numbers the types; the order here is that numbering. */
static size_t element_bytes(int type)
{
	static const unsigned char bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
	return type >= 0 && (size_t)type < sizeof bytes ? bytes[type] : 4;
}

static int move(void *to, const void *from, size_t bytes)
{
	if (to && from && to != from && bytes)
		vgpu_copy(to, from, bytes);
	return NCCL_OK;
}

/* --- broadcasts within a process ------------------------------------------ */

/* A group holds at most one call for each device in practice; more than the
 * table holds are done at once, each from its own buffer. */
#define PENDING 256
struct broadcast {
	uint64_t clique;
	int rank, root;
	const void *from;
	void *to;
	size_t bytes;
};
static __thread struct broadcast pending[PENDING];
static __thread int pending_count, group_depth;

/* A gathering of uneven pieces is a group of broadcasts, one from each rank. Of
 * the ranks in other processes nothing arrives, so their slots are given what
 * this rank sends, as in ncclAllGather. */
static const void *gathered(const struct broadcast *b)
{
	for (int i = 0; i < pending_count; i++) {
		const struct broadcast *own = &pending[i];
		if (own->clique == b->clique && own->rank == b->rank && own->root == own->rank && own->bytes == b->bytes)
			return own->from;
	}
	return b->from;
}

/* The source of a broadcast: the call of the root in the same group with the
 * same size. A clique makes several broadcasts in a group in the same order, so
 * the n-th of a rank belongs to the n-th of the root. */
static const void *source(int at)
{
	const struct broadcast *b = &pending[at];
	int nth = 0;
	for (int i = 0; i < at; i++)
		nth += pending[i].clique == b->clique && pending[i].rank == b->rank && pending[i].root == b->root;
	for (int i = 0; i < pending_count; i++) {
		const struct broadcast *r = &pending[i];
		if (r->clique != b->clique || r->root != b->root || r->rank != b->root)
			continue;
		if (nth-- == 0)
			return r->bytes == b->bytes ? r->from : b->from;
	}
	return b->rank == b->root ? b->from : gathered(b);
}

static void run_pending(void)
{
	for (int i = 0; i < pending_count; i++)
		move(pending[i].to, source(i), pending[i].bytes);
	pending_count = 0;
}

VGPU_API int ncclGroupStart(void)
{
	group_depth++;
	return NCCL_OK;
}

VGPU_API int ncclGroupEnd(void)
{
	if (group_depth > 0 && --group_depth == 0)
		run_pending();
	return NCCL_OK;
}

/* ncclSimInfo_t: size, magic, version, then the estimated time. */
struct nccl_simulation { size_t size; unsigned magic, version; float milliseconds; };

VGPU_API int ncclGroupSimulateEnd(struct nccl_simulation *s)
{
	if (s)
		s->milliseconds = 0;
	return ncclGroupEnd();
}

VGPU_API int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, struct nccl *c, void *stream)
{
	size_t bytes = count * element_bytes(type);
	if (!c)
		return NCCL_INVALID_ARGUMENT;
	if (group_depth == 0 || pending_count == PENDING)
		return move(to, from, bytes);
	pending[pending_count++] = (struct broadcast){c->clique, c->rank, root, from, to, bytes};
	return NCCL_OK;
}

VGPU_API int ncclBcast(void *buffer, size_t count, int type, int root, struct nccl *c, void *stream)
{
	return ncclBroadcast(buffer, buffer, count, type, root, c, stream);
}

/* --- the others ----------------------------------------------------------- */

VGPU_API int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, struct nccl *c, void *stream)
{
	return move(to, from, count * element_bytes(type));
}

VGPU_API int ncclReduce(const void *from, void *to, size_t count, int type, int op, int root, struct nccl *c, void *stream)
{
	if (!c)
		return NCCL_INVALID_ARGUMENT;
	return c->rank == root ? move(to, from, count * element_bytes(type)) : NCCL_OK;
}

/* The whole is at most VGPU_SMALL_BYTES, or its slots are not worth copying. */
static int repeat(void *to, const void *from, size_t bytes, int times)
{
	if (bytes == 0 || bytes * (size_t)times > VGPU_SMALL_BYTES)
		return NCCL_OK;
	for (int i = 0; i < times; i++)
		move((char *)to + (size_t)i * bytes, from, bytes);
	return NCCL_OK;
}

VGPU_API int ncclAllGather(const void *from, void *to, size_t count, int type, struct nccl *c, void *stream)
{
	size_t bytes = count * element_bytes(type);
	unsigned char own[1024];
	if (!c)
		return NCCL_INVALID_ARGUMENT;
	if (bytes <= sizeof own) { /* the rank's own slot may be the source */
		vgpu_copy(own, from, bytes);
		return repeat(to, own, bytes, c->size);
	}
	return repeat(to, from, bytes, c->size);
}

VGPU_API int ncclGather(const void *from, void *to, size_t count, int type, int root, struct nccl *c, void *stream)
{
	if (!c)
		return NCCL_INVALID_ARGUMENT;
	return c->rank == root ? ncclAllGather(from, to, count, type, c, stream) : NCCL_OK;
}

VGPU_API int ncclScatter(const void *from, void *to, size_t count, int type, int root, struct nccl *c, void *stream)
{
	size_t bytes = count * element_bytes(type);
	if (!c)
		return NCCL_INVALID_ARGUMENT;
	return c->rank == root ? move(to, (const char *)from + (size_t)c->rank * bytes, bytes) : NCCL_OK;
}

VGPU_API int ncclReduceScatter(const void *from, void *to, size_t count, int type, int op, struct nccl *c, void *stream)
{
	size_t bytes = count * element_bytes(type);
	if (!c)
		return NCCL_INVALID_ARGUMENT;
	return move(to, (const char *)from + (size_t)c->rank * bytes, bytes);
}

VGPU_API int ncclAlltoAll(const void *from, void *to, size_t count, int type, struct nccl *c, void *stream)
{
	if (!c)
		return NCCL_INVALID_ARGUMENT;
	return move(to, from, count * element_bytes(type) * (size_t)c->size);
}

/* What another rank would send is not known; the buffer stays as it is. */
VGPU_API int ncclSend(const void *from, size_t count, int type, int peer, struct nccl *c, void *stream) { return c ? NCCL_OK : NCCL_INVALID_ARGUMENT; }
VGPU_API int ncclRecv(void *to, size_t count, int type, int peer, struct nccl *c, void *stream) { return c ? NCCL_OK : NCCL_INVALID_ARGUMENT; }

/* The built-in operations are 0 to 4. */
VGPU_API int ncclRedOpCreatePreMulSum(int *op, void *scalar, int type, int residence, struct nccl *c)
{
	static int last = 4;
	if (!op)
		return NCCL_INVALID_ARGUMENT;
	*op = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	return NCCL_OK;
}
