/* runtime_device.c: the runtime's calls about devices. */
#include "layouts.h"
#include "memory.h"
#include "runtime.h"

#include <stdio.h>
#include <string.h>

#define PROP_STRUCT vgpu_prop
#define PROP_MAJOR PLIMSOLL_CUDA_MAJOR
#include "prop_layout.h"
#undef PROP_STRUCT
#undef PROP_MAJOR
_Static_assert(sizeof(struct vgpu_prop) == (PLIMSOLL_CUDA_MAJOR == 11 ? 728 : PLIMSOLL_CUDA_MAJOR == 12 ? 1032 : 1008), "cudaDeviceProp");

static bool known(int device) { return device >= 0 && device < vgpu_device_count(); }

static int value(int attribute, int device)
{
	int v = 0;
	vgpu_attribute(attribute, device, &v);
	return v;
}

static void run(int *out, int device, int first, int count)
{
	for (int i = 0; i < count; i++)
		out[i] = value(first + i, device);
}

/* The structure's order of textures and surfaces, as attribute numbers. */
static void dimensions(int textures[23], int surfaces[14], int device)
{
	static const int order[23] = {22, 23, 73, 74, 70, 71, 72, 45, 46, 24, 25, 26, 47, 48, 49, 52, 42, 43, 27, 28, 29, 53, 54};
	for (int i = 0; i < 23; i++)
		textures[i] = value(order[i], device);
	run(surfaces, device, 55, 14);
}

#define FILL_COMMON(p, d) do { \
	const struct vgpu_card *c = &vgpu_config()->card; \
	memset(p, 0, sizeof *(p)); \
	snprintf((p)->name, sizeof (p)->name, "%s", c->name); \
	vgpu_uuid(d, (p)->uuid); \
	(p)->total_bytes = c->capacity_bytes; \
	(p)->shared_per_block = c->shared_per_block; \
	(p)->registers_per_block = value(12, d); \
	(p)->warp = value(10, d); \
	(p)->pitch = (size_t)value(11, d); \
	(p)->threads_per_block = value(1, d); \
	run((p)->block_dim, d, 2, 3); \
	run((p)->grid_dim, d, 5, 3); \
	(p)->constant_bytes = (size_t)value(9, d); \
	(p)->major = c->capability / 10; \
	(p)->minor = c->capability % 10; \
	(p)->texture_alignment = (size_t)value(14, d); \
	(p)->texture_pitch_alignment = (size_t)value(51, d); \
	(p)->multiprocessors = c->multiprocessors; \
	(p)->maps_host = value(19, d); \
	(p)->texture_1d[0] = value(21, d); \
	(p)->texture_1d[1] = value(77, d); \
	dimensions((p)->textures, (p)->surfaces, d); \
	(p)->surface_alignment = (size_t)value(30, d); \
	(p)->concurrent_kernels = value(31, d); \
	vgpu_pci(d, &(p)->pci_domain, &(p)->pci_bus, &(p)->pci_device); \
	(p)->copy_engines = value(40, d); \
	(p)->unified_addressing = value(41, d); \
	(p)->bus_bits = c->memory_bus_bits; \
	(p)->l2_bytes = (int)c->l2_bytes; \
	(p)->persisting_l2_bytes = value(108, d); \
	(p)->threads_per_multiprocessor = c->threads_per_multiprocessor; \
	(p)->stream_priorities = value(78, d); \
	(p)->l1_global = value(79, d); \
	(p)->l1_local = value(80, d); \
	(p)->shared_per_multiprocessor = c->shared_per_multiprocessor; \
	(p)->registers_per_multiprocessor = c->registers_per_multiprocessor; \
	(p)->managed_memory = value(83, d); \
	(p)->concurrent_managed = value(89, d); \
	(p)->preemption = value(90, d); \
	(p)->registered_pointers = value(91, d); \
	(p)->cooperative = value(95, d); \
	(p)->shared_per_block_optin = c->shared_per_block_optin; \
	(p)->blocks_per_multiprocessor = c->blocks_per_multiprocessor; \
	(p)->access_window_bytes = value(109, d); \
	(p)->shared_reserved_per_block = c->shared_reserved_per_block; \
} while (0)

#define FILL_BEFORE_13(p, d) do { \
	(p)->clock_khz = vgpu_config()->card.clock_khz; \
	(p)->overlap = value(15, d); \
	(p)->texture_1d_linear = value(69, d); \
	(p)->memory_clock_khz = vgpu_config()->card.memory_clock_khz; \
	(p)->single_to_double = value(87, d); \
} while (0)

#define FILL_FROM_12(p, d) do { \
	(p)->host_register = value(99, d); \
	(p)->sparse_arrays = value(112, d); \
	(p)->host_register_read_only = value(113, d); \
	(p)->timeline_semaphores = value(114, d); \
	(p)->memory_pools = value(115, d); \
	(p)->pool_handles = (unsigned)value(119, d); \
	(p)->deferred_arrays = value(121, d); \
	(p)->ipc_events = value(125, d); \
	(p)->cluster_launch = value(120, d); \
	(p)->unified_functions = value(129, d); \
} while (0)

static int properties(struct vgpu_prop *p, int device)
{
	if (!p)
		return vgpu_result(VGPU_INVALID_VALUE);
	if (!known(device))
		return vgpu_result(VGPU_INVALID_DEVICE);
	FILL_COMMON(p, device);
#if PLIMSOLL_CUDA_MAJOR < 13
	FILL_BEFORE_13(p, device);
#endif
#if PLIMSOLL_CUDA_MAJOR >= 12
	FILL_FROM_12(p, device);
#endif
#if PLIMSOLL_CUDA_MAJOR >= 13
	p->numa_id = value(131, device);
	p->host_numa_id = value(134, device);
#endif
	return VGPU_OK;
}

#if PLIMSOLL_CUDA_MAJOR == 12
/* CUDA 12 kept the name for the layout of 11 and gave its own a new one. */
#define PROP_STRUCT vgpu_prop_11
#define PROP_MAJOR 11
#include "prop_layout.h"
_Static_assert(sizeof(struct vgpu_prop_11) == 728, "cudaDeviceProp of CUDA 11");

VGPU_API int cudaGetDeviceProperties(struct vgpu_prop_11 *p, int device)
{
	if (!p)
		return vgpu_result(VGPU_INVALID_VALUE);
	if (!known(device))
		return vgpu_result(VGPU_INVALID_DEVICE);
	FILL_COMMON(p, device);
	FILL_BEFORE_13(p, device);
	return VGPU_OK;
}

VGPU_API int cudaGetDeviceProperties_v2(struct vgpu_prop *p, int device) { return properties(p, device); }
#else
VGPU_API int cudaGetDeviceProperties(struct vgpu_prop *p, int device) { return properties(p, device); }
#endif

VGPU_API int cudaDeviceGetAttribute(int *v, int attribute, int device)
{
	if (!v)
		return vgpu_result(VGPU_INVALID_VALUE);
	if (!known(device))
		return vgpu_result(VGPU_INVALID_DEVICE);
	return vgpu_result(vgpu_attribute(attribute, device, v) ? VGPU_OK : VGPU_INVALID_VALUE);
}

VGPU_API int cudaGetDeviceCount(int *count)
{
	*count = vgpu_device_count();
	return vgpu_result(*count ? VGPU_OK : VGPU_NO_DEVICE);
}

VGPU_API int cudaGetDevice(int *device)
{
	if (!vgpu_device_count())
		return vgpu_result(VGPU_NO_DEVICE);
	*device = vgpu_current_device();
	return VGPU_OK;
}

VGPU_API int cudaSetDevice(int device)
{
	if (!vgpu_device_count())
		return vgpu_result(VGPU_NO_DEVICE);
	if (!known(device))
		return vgpu_result(VGPU_INVALID_DEVICE);
	vgpu_set_current_device(device);
#if PLIMSOLL_CUDA_MAJOR >= 12
	vgpu_activate(device); /* from CUDA 12 on this makes the primary context */
#endif
	return VGPU_OK;
}

VGPU_API int cudaInitDevice(int device, unsigned flags VGPU_UNUSED, unsigned more VGPU_UNUSED)
{
	if (!known(device))
		return vgpu_result(VGPU_INVALID_DEVICE);
	vgpu_activate(device);
	return VGPU_OK;
}

VGPU_API int cudaChooseDevice(int *device, const void *properties VGPU_UNUSED)
{
	*device = 0;
	return vgpu_result(vgpu_device_count() ? VGPU_OK : VGPU_NO_DEVICE);
}

VGPU_API int cudaDriverGetVersion(int *version)
{
	*version = vgpu_cuda_version();
	return VGPU_OK;
}

VGPU_API int cudaRuntimeGetVersion(int *version)
{
	*version = vgpu_cuda_version();
	return VGPU_OK;
}

VGPU_API int cudaGetDeviceFlags(unsigned *flags)
{
	*flags = 0;
	return VGPU_OK;
}

VGPU_API int cudaDeviceGetPCIBusId(char *text, int room, int device)
{
	int domain, bus, slot;
	if (!known(device))
		return vgpu_result(VGPU_INVALID_DEVICE);
	vgpu_pci(device, &domain, &bus, &slot);
	return vgpu_result(snprintf(text, (size_t)(room > 0 ? room : 0), "%04x:%02x:%02x.0", domain, bus, slot) < room ? VGPU_OK : VGPU_INVALID_VALUE);
}

VGPU_API int cudaDeviceGetByPCIBusId(int *device, const char *text)
{
	unsigned domain, bus, slot;
	if (sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3 && (domain = 0, sscanf(text, "%x:%x", &bus, &slot) != 2))
		return vgpu_result(VGPU_INVALID_VALUE);
	for (int d = 0; d < vgpu_device_count(); d++) {
		if (vgpu_physical_index(d) + 1 == (int)bus) {
			*device = d;
			return VGPU_OK;
		}
	}
	return vgpu_result(VGPU_INVALID_DEVICE);
}

VGPU_API int cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5;
	return VGPU_OK;
}

/* Limits by cudaLimit: stack, printf buffer, heap, launch depth, pending
 * launches, L2 fetch, persisting L2. Defaults of the Programming Guide 12.4. */
VGPU_API int cudaDeviceGetLimit(size_t *bytes, int limit)
{
	static const size_t defaults[] = {1024, 7340032, 8388608, 2, 2048, 64, 0};
	if (limit < 0 || limit >= (int)(sizeof defaults / sizeof *defaults))
		return vgpu_result(VGPU_INVALID_VALUE);
	*bytes = defaults[limit];
	return VGPU_OK;
}

VGPU_API int cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	if (!known(device) || !known(peer))
		return vgpu_result(VGPU_INVALID_DEVICE);
	*can = device != peer;
	return VGPU_OK;
}

static bool peer_enabled[VGPU_MAX_DEVICES][VGPU_MAX_DEVICES];

VGPU_API int cudaDeviceEnablePeerAccess(int peer, unsigned flags VGPU_UNUSED)
{
	int device = vgpu_current_device();
	if (!known(peer) || peer == device)
		return vgpu_result(VGPU_INVALID_DEVICE);
	if (__atomic_exchange_n(&peer_enabled[device][peer], true, __ATOMIC_RELAXED))
		return vgpu_result(VGPU_PEER_ALREADY_ENABLED);
	return VGPU_OK;
}

VGPU_API int cudaDeviceDisablePeerAccess(int peer)
{
	if (!known(peer))
		return vgpu_result(VGPU_INVALID_DEVICE);
	if (!__atomic_exchange_n(&peer_enabled[vgpu_current_device()][peer], false, __ATOMIC_RELAXED))
		return vgpu_result(VGPU_PEER_NOT_ENABLED);
	return VGPU_OK;
}

/* Performance rank, access, native atomics, array access. */
VGPU_API int cudaDeviceGetP2PAttribute(int *v, int attribute, int device, int peer)
{
	if (!known(device) || !known(peer) || device == peer)
		return vgpu_result(VGPU_INVALID_DEVICE);
	*v = attribute == 1 ? 0 : 1;
	return VGPU_OK;
}

VGPU_API int cudaDeviceSynchronize(void)
{
	vgpu_activate(vgpu_current_device());
	return vgpu_result(vgpu_capture_sync_all());
}

VGPU_API int cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
	int device = vgpu_current_device();
	if (!vgpu_device_count())
		return vgpu_result(VGPU_NO_DEVICE);
	vgpu_activate(device);
	*free_bytes = vgpu_books_free(device);
	*total_bytes = vgpu_config()->card.capacity_bytes;
	return VGPU_OK;
}
