/* memory.h: the address space, the books and the contents of device memory, for
 * the files that answer memory calls. Other libraries need only core.h. */
#ifndef PLIMSOLL_MEMORY_H
#define PLIMSOLL_MEMORY_H

#include "core.h"

enum vgpu_kind {
	VGPU_NOTHING = 0,
	VGPU_ALLOCATION,  /* cudaMalloc and its relatives: addresses and pages at once */
	VGPU_RESERVATION, /* cuMemAddressReserve: addresses only */
	VGPU_MAPPING,     /* cuMemMap: physical pages under part of a reservation */
};

/* A range of device addresses, in whole pages. */
struct vgpu_range {
	uintptr_t start;
	size_t bytes;      /* whole pages */
	size_t requested;  /* what the caller asked for */
	enum vgpu_kind kind;
	int device;
	uint32_t parent;   /* of a mapping: its reservation */
	uint64_t physical; /* of a mapping: the handle that backs it */
	uint64_t id;       /* unique in the process, CU_POINTER_ATTRIBUTE_BUFFER_ID */
	bool stream_ordered; /* from a pool: cudaMallocAsync */
};

size_t vgpu_pages(size_t n); /* n rounded up to whole pages; saturates */

/* Take free addresses for n bytes. Returns 0 when there are none. */
uintptr_t vgpu_space_take(size_t n, size_t alignment, enum vgpu_kind kind, int device);
/* Put a mapping over part of a reservation, or take it away again. */
int vgpu_space_map(uintptr_t p, size_t n, int device, uint64_t physical);
int vgpu_space_unmap(uintptr_t p, size_t n, void (*unmapped)(uint64_t physical));
/* Give back the range that starts at p, if it is of that kind. */
bool vgpu_space_give(uintptr_t p, enum vgpu_kind kind, struct vgpu_range *was);
bool vgpu_space_find(uintptr_t p, struct vgpu_range *found);
void vgpu_space_mark_stream_ordered(uintptr_t p);
/* The whole range, reserved at the first call; false when the system refused. */
bool vgpu_space(uintptr_t *base, size_t *bytes);
/* Make pages readable and writable where the system did not allow that for the
 * whole range at once. 0 when they are. */
int vgpu_space_touch(uintptr_t p, size_t n);
/* Make n bytes read as zeros and give their host memory back. */
void vgpu_space_zero(uintptr_t p, size_t n);

/* The driver's books of one device, without the context. */
struct vgpu_books {
	uint64_t used;        /* bytes in whole pages */
	uint64_t peak;
	uint64_t allocations; /* calls that took pages */
	uint64_t frees;       /* calls that gave pages back */
};
bool vgpu_books_take(int device, size_t bytes); /* false: over capacity */
void vgpu_books_give(int device, size_t bytes);
struct vgpu_books vgpu_books(int device);
/* Free bytes as cudaMemGetInfo says it. */
size_t vgpu_books_free(int device);

/* Host memory that CUDA knows about. */
enum vgpu_host_kind { VGPU_HOST_PINNED, VGPU_HOST_REGISTERED, VGPU_HOST_MANAGED };
struct vgpu_host {
	uintptr_t start;
	size_t bytes;
	enum vgpu_host_kind kind;
	int device;
	unsigned flags;
};
void *vgpu_host_alloc(size_t n, enum vgpu_host_kind kind, int device, unsigned flags);
int vgpu_host_register(void *p, size_t n, int device, unsigned flags);
int vgpu_host_unregister(void *p);
bool vgpu_host_free(void *p); /* pinned or managed memory of ours */
bool vgpu_host_find(const void *p, struct vgpu_host *found);

/* Let copies within device memory write zeros in this thread, or copy again. */
void vgpu_blank(bool on);

#endif
