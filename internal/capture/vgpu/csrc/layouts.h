/* layouts.h: structures that cross the interface of the runtime and the driver,
 * by CUDA major. Sizes and offsets are asserted here from numbers taken off the
 * real headers once; `go test -run TestLayouts` compares again when it is given
 * the headers' folder. */
#ifndef PLIMSOLL_LAYOUTS_H
#define PLIMSOLL_LAYOUTS_H

#include "core.h"

struct vgpu_pointer_attributes {
	int type; /* 0 unregistered, 1 host, 2 device, 3 managed */
	int device;
	void *device_pointer;
	void *host_pointer;
#if PLIMSOLL_CUDA_MAJOR >= 13
	long reserved[8];
#endif
};
_Static_assert(sizeof(struct vgpu_pointer_attributes) == (PLIMSOLL_CUDA_MAJOR >= 13 ? 88 : 24), "cudaPointerAttributes");

struct vgpu_function_attributes {
	size_t shared_bytes, constant_bytes, local_bytes;
	int threads_per_block;
	int registers;
	int ptx_version, binary_version; /* 90 is 9.0 */
	int cache_ca;
	int dynamic_shared_bytes;
	int shared_carveout;
#if PLIMSOLL_CUDA_MAJOR >= 12
	int cluster_must_be_set;
	int cluster[3];
	int cluster_scheduling;
	int non_portable_cluster;
	int reserved[16];
#endif
};
_Static_assert(sizeof(struct vgpu_function_attributes) == (PLIMSOLL_CUDA_MAJOR >= 12 ? 144 : 56), "cudaFuncAttributes");

/* cudaMemLocation and CUmemLocation. */
struct vgpu_location {
	int type; /* 1 device */
	int id;
};

/* cudaMemAccessDesc and CUmemAccessDesc. */
struct vgpu_access {
	struct vgpu_location location;
	int flags; /* 0 none, 1 read, 3 read and write */
};
_Static_assert(sizeof(struct vgpu_access) == 12, "cudaMemAccessDesc");

/* cudaMemPoolProps and CUmemPoolProps; what follows the location differs by
 * major and is not looked at. */
struct vgpu_pool_props {
	int type;
	int handles;
	struct vgpu_location location;
	void *security;
	unsigned char rest[64];
};
_Static_assert(sizeof(struct vgpu_pool_props) == 88, "cudaMemPoolProps");

/* CUmemAllocationProp. */
struct vgpu_allocation_prop {
	int type;
	int handles;
	struct vgpu_location location;
	void *security;
	unsigned char flags[8];
};
_Static_assert(sizeof(struct vgpu_allocation_prop) == 32, "CUmemAllocationProp");

struct vgpu_dim3 {
	unsigned x, y, z;
};

/* cudaLaunchConfig_t; CUlaunchConfig has its dimensions as six plain numbers
 * and 32 bits of shared memory, and so does not share the layout. */
struct vgpu_launch {
	struct vgpu_dim3 grid, block;
	size_t shared_bytes;
	void *stream;
	void *attributes;
	unsigned attribute_count;
};
_Static_assert(offsetof(struct vgpu_launch, stream) == 32, "cudaLaunchConfig_t");

struct vgpu_driver_launch {
	unsigned grid[3], block[3];
	unsigned shared_bytes;
	void *stream;
	void *attributes;
	unsigned attribute_count;
};
_Static_assert(offsetof(struct vgpu_driver_launch, stream) == 32, "CUlaunchConfig");

/* cudaIpcMemHandle_t, cudaIpcEventHandle_t and the driver's. */
struct vgpu_ipc_handle {
	unsigned char bytes[64];
};

#endif
