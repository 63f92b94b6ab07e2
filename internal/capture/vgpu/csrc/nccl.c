/* nccl.c: communicators of NCCL: they know their rank and size and never fail.
 * What the ranks say to one another is in nccl_collectives.c. */
#include "nccl_communicator.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A communicator joins the process's other ones that were made with the same
 * identity (nn.DataParallel has one for each device). */
static int new_communicator(struct nccl **out, int rank, int size, uint64_t clique, int device)
{
	if (!out || size < 1 || rank < 0 || rank >= size)
		return NCCL_INVALID_ARGUMENT;
	*out = malloc(sizeof **out);
	if (!*out)
		return NCCL_SYSTEM_ERROR;
	**out = (struct nccl){rank, size, device, clique};
	return NCCL_OK;
}

static uint64_t fresh_clique(void)
{
	static uint64_t last;
	return (uint64_t)getpid() << 32 | __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

static uint64_t clique_of(const struct nccl_id *id)
{
	uint64_t clique;
	memcpy(&clique, id->bytes, sizeof clique);
	return clique;
}

VGPU_API int ncclGetVersion(int *version)
{
	if (!version)
		return NCCL_INVALID_ARGUMENT;
	*version = vgpu_version(VGPU_VERSION_NCCL);
	return NCCL_OK;
}

VGPU_API int ncclGetUniqueId(struct nccl_id *id)
{
	uint64_t clique = fresh_clique();
	if (!id)
		return NCCL_INVALID_ARGUMENT;
	memset(id, 0x5a, sizeof *id);
	memcpy(id->bytes, &clique, sizeof clique);
	return NCCL_OK;
}

VGPU_API int ncclCommGetUniqueId(struct nccl *c, struct nccl_id *id) { return ncclGetUniqueId(id); }

VGPU_API int ncclCommInitRank(struct nccl **out, int size, struct nccl_id id, int rank)
{
	return new_communicator(out, rank, size, clique_of(&id), vgpu_current_device());
}

VGPU_API int ncclCommInitRankConfig(struct nccl **out, int size, struct nccl_id id, int rank, void *config)
{
	return new_communicator(out, rank, size, clique_of(&id), vgpu_current_device());
}

VGPU_API int ncclCommInitRankScalable(struct nccl **out, int size, int rank, int id_count, struct nccl_id *ids, void *config)
{
	if (id_count < 1 || !ids)
		return NCCL_INVALID_ARGUMENT;
	return new_communicator(out, rank, size, clique_of(ids), vgpu_current_device());
}

VGPU_API int ncclCommInitAll(struct nccl **out, int size, const int *devices)
{
	uint64_t clique = fresh_clique();
	for (int i = 0; i < size; i++) {
		int rc = new_communicator(&out[i], i, size, clique, devices ? devices[i] : i);
		if (rc)
			return rc;
	}
	return NCCL_OK;
}

/* Which ranks pass the same color only they know. The part is taken to be as
 * large as the whole, and the key, which PyTorch makes the new rank, as the rank. */
VGPU_API int ncclCommSplit(struct nccl *c, int color, int key, struct nccl **out, void *config)
{
	if (!c || !out)
		return NCCL_INVALID_ARGUMENT;
	*out = NULL;
	if (color < 0)
		return NCCL_OK;
	return new_communicator(out, key >= 0 && key < c->size ? key : c->rank, c->size, c->clique * 31 + (uint64_t)color + 1, c->device);
}

VGPU_API int ncclCommShrink(struct nccl *c, int *excluded, int excluded_count, struct nccl **out, void *config, int flags)
{
	int before = 0;
	if (!c || !out || excluded_count < 0 || excluded_count >= c->size)
		return NCCL_INVALID_ARGUMENT;
	for (int i = 0; i < excluded_count; i++)
		before += excluded[i] < c->rank;
	return new_communicator(out, c->rank - before, c->size - excluded_count, c->clique * 31 + 7, c->device);
}

VGPU_API int ncclCommGrow(struct nccl *c, int size, const struct nccl_id *id, int rank, struct nccl **out, void *config)
{
	int own = c ? c->rank : rank;
	return new_communicator(out, own, size, id ? clique_of(id) : fresh_clique(), vgpu_current_device());
}

VGPU_API int ncclCommDestroy(struct nccl *c)
{
	free(c);
	return NCCL_OK;
}

VGPU_API int ncclCommAbort(struct nccl *c) { return ncclCommDestroy(c); }

VGPU_API int ncclCommCount(const struct nccl *c, int *size)
{
	if (!c || !size)
		return NCCL_INVALID_ARGUMENT;
	*size = c->size;
	return NCCL_OK;
}

VGPU_API int ncclCommUserRank(const struct nccl *c, int *rank)
{
	if (!c || !rank)
		return NCCL_INVALID_ARGUMENT;
	*rank = c->rank;
	return NCCL_OK;
}

VGPU_API int ncclCommCuDevice(const struct nccl *c, int *device)
{
	if (!c || !device)
		return NCCL_INVALID_ARGUMENT;
	*device = c->device;
	return NCCL_OK;
}

VGPU_API int ncclCommGetAsyncError(struct nccl *c, int *error)
{
	if (!error)
		return NCCL_INVALID_ARGUMENT;
	*error = NCCL_OK;
	return NCCL_OK;
}

/* NCCL's own buffers are not modelled here: they are a row in the table of what
 * libraries take beside the context. */
VGPU_API int ncclCommMemStats(struct nccl *c, int which, uint64_t *value)
{
	if (!value)
		return NCCL_INVALID_ARGUMENT;
	*value = 0;
	return NCCL_OK;
}

VGPU_API const char *ncclGetErrorString(int error)
{
	switch (error) {
	case 0: return "no error";
	case 1: return "unhandled cuda error";
	case 2: return "unhandled system error";
	case 3: return "internal error";
	case 4: return "invalid argument";
	case 5: return "invalid usage";
	case 6: return "remote process exited or there was a network error";
	case 7: return "NCCL operation in progress";
	}
	return "unknown result code";
}

VGPU_API const char *ncclGetLastError(struct nccl *c) { return ""; }

/* Memory that NCCL allocates for the caller counts like the driver's. */
VGPU_API int ncclMemAlloc(void **out, size_t bytes)
{
	if (!out)
		return NCCL_INVALID_ARGUMENT;
	*out = vgpu_alloc(vgpu_current_device(), bytes);
	return *out || bytes == 0 ? NCCL_OK : NCCL_CUDA_ERROR;
}

VGPU_API int ncclMemFree(void *p)
{
	return !p || vgpu_free(p) ? NCCL_OK : NCCL_INVALID_ARGUMENT;
}

VGPU_API int ncclCommRegister(struct nccl *c, void *buffer, size_t bytes, void **handle)
{
	if (!handle)
		return NCCL_INVALID_ARGUMENT;
	*handle = vgpu_handle();
	return NCCL_OK;
}

struct nccl_window { void *buffer; };

VGPU_API int ncclCommWindowRegister(struct nccl *c, void *buffer, size_t bytes, struct nccl_window **out, int flags)
{
	*out = malloc(sizeof **out);
	if (!*out)
		return NCCL_SYSTEM_ERROR;
	(*out)->buffer = buffer;
	return NCCL_OK;
}

VGPU_API int ncclCommWindowDeregister(struct nccl *c, struct nccl_window *w)
{
	free(w);
	return NCCL_OK;
}

VGPU_API int ncclWinGetUserPtr(struct nccl *c, struct nccl_window *w, void **out)
{
	if (!w)
		return NCCL_INVALID_ARGUMENT;
	*out = w->buffer;
	return NCCL_OK;
}
