/* device.c: which devices there are, which is current, and their attributes. */
#include "runtime.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static __thread int current;
static int visible[VGPU_MAX_DEVICES], visible_count, physical_count;
static bool active[VGPU_MAX_DEVICES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* CUDA_VISIBLE_DEVICES names cards of the machine that the script was written
 * for. All cards of the virtual machine are alike, so an index that it does not
 * have stands for one that it has; no more are shown than were asked for. */
static void read_visible(void)
{
	const char *list = getenv("CUDA_VISIBLE_DEVICES");
	int wanted = vgpu_config()->devices;
	physical_count = wanted;
	if (!list) {
		for (visible_count = 0; visible_count < wanted; visible_count++)
			visible[visible_count] = visible_count;
		return;
	}
	while (*list && visible_count < wanted) {
		while (isspace((unsigned char)*list))
			list++;
		if (isdigit((unsigned char)*list)) {
			long index = strtol(list, NULL, 10);
			if (index >= VGPU_MAX_DEVICES)
				break;
			visible[visible_count++] = (int)index;
			if (index >= physical_count)
				physical_count = (int)index + 1;
		} else if (strncmp(list, "GPU-", 4) == 0) {
			visible[visible_count] = visible_count;
			visible_count++;
		} else {
			break; /* CUDA ends the list at the first entry that is none */
		}
		list += strcspn(list, ",");
		if (*list == ',')
			list++;
	}
}

int vgpu_device_count(void)
{
	pthread_once(&once, read_visible);
	return visible_count;
}

int vgpu_physical_count(void)
{
	pthread_once(&once, read_visible);
	return physical_count;
}

int vgpu_physical_index(int device)
{
	pthread_once(&once, read_visible);
	return device >= 0 && device < visible_count ? visible[device] : device;
}

int vgpu_current_device(void) { return current; }
void vgpu_set_current_device(int device) { current = device; }

void vgpu_activate(int device)
{
	if (device >= 0 && device < VGPU_MAX_DEVICES)
		__atomic_store_n(&active[device], true, __ATOMIC_RELAXED);
}

bool vgpu_active(int device)
{
	return device >= 0 && device < VGPU_MAX_DEVICES && __atomic_load_n(&active[device], __ATOMIC_RELAXED);
}

void vgpu_uuid(int device, unsigned char uuid[16])
{
	memcpy(uuid, "plimsoll\x40\0\x80\0\0\0\0", 16);
	uuid[15] = (unsigned char)vgpu_physical_index(device);
}

void vgpu_pci(int device, int *domain, int *bus, int *slot)
{
	*domain = 0;
	*bus = vgpu_physical_index(device) + 1;
	*slot = 0;
}

/* Attributes that are the same on every card PyTorch 2 runs on. Source: what
 * deviceQuery prints for Volta to Hopper; CUDA Programming Guide 13.0, table of
 * specifications per compute capability. */
static const struct {
	int attribute, value;
} constants[] = {
	{1, 1024}, {2, 1024}, {3, 1024}, {4, 64},           /* threads per block, block dimensions */
	{5, 2147483647}, {6, 65535}, {7, 65535},            /* grid dimensions */
	{9, 65536}, {10, 32}, {11, 2147483647},             /* constant memory, warp, pitch */
	{12, 65536}, {14, 512}, {15, 1}, {17, 0}, {18, 0},  /* registers per block, texture alignment, overlap, watchdog, integrated */
	{19, 1}, {20, 0}, {30, 512}, {31, 1}, {32, 0},      /* maps host memory, compute mode, surface alignment, concurrent kernels, ECC */
	{35, 0}, {40, 3}, {41, 1}, {50, 0}, {51, 32},       /* TCC, copy engines, unified addresses, PCI domain, pitch alignment */
	{78, 1}, {79, 1}, {80, 1}, {83, 1}, {84, 0}, {85, 0}, /* priorities, caches, managed memory, boards */
	{86, 0}, {87, 2}, {88, 0}, {89, 1}, {90, 1}, {91, 1}, /* host atomics ... registered pointers */
	{92, 0}, {93, 0}, {94, 0}, {95, 1}, {96, 0}, {98, 0}, {99, 1}, /* stream memory operations v1, cooperative launch, flushes, registering */
	{100, 0}, {101, 0}, {102, 1}, {103, 1}, {104, 0}, {105, 0}, /* page tables, managed, virtual memory management, file descriptors, Win32 */
	{107, 0}, {110, 0}, {112, 1}, {113, 1}, {114, 1}, {115, 1}, /* compression, RDMA with VMM ... memory pools */
	{116, 0}, {117, 0}, {118, 0}, {119, 1}, {121, 1}, {122, 0}, {123, 0}, {124, 0}, /* RDMA, pool handles, deferred arrays, stream memory operations */
	{125, 1}, {126, 4}, {127, 0}, {128, 0}, {129, 1},   /* IPC events, sync domains, tensor maps (by capability below), fabric, function pointers */
	{130, 0}, {131, -1}, {132, 0}, {133, 0}, {134, -1}, {135, 0}, {138, 0}, /* NUMA, multicast, MPS, graphics */
	{139, 0}, {140, 0}, {141, 0}, {142, 0}, {143, 0}, {144, 0}, {145, 0}, {147, 0},
};

/* Sizes of textures and surfaces, in the order of the attribute numbers of the
 * three runs below. Source: the same table, capability 7.5 to 9.0. */
static const struct {
	int first;
	int count;
	int value[22];
} dimensions[] = {
	{21, 9, {131072, 131072, 65536, 16384, 16384, 16384, 32768, 32768, 2048}},
	{42, 2, {32768, 2048}},
	{45, 5, {32768, 32768, 8192, 8192, 32768}},
	{52, 22, {32768, 32768, 2046, 32768, 131072, 65536, 16384, 16384, 16384, 32768, 2048, 32768, 32768, 2048, 32768, 32768, 2046, 268435456, 131072, 65000, 2097120, 32768}},
	{74, 1, {32768}},
	{77, 1, {32768}},
};

static bool card_attribute(int attribute, int device, int *value)
{
	const struct vgpu_card *c = &vgpu_config()->card;
	int domain, bus, slot;
	vgpu_pci(device, &domain, &bus, &slot);
	switch (attribute) {
	case 8: *value = (int)c->shared_per_block; break;
	case 13: *value = c->clock_khz; break;
	case 16: *value = c->multiprocessors; break;
	case 33: *value = bus; break;
	case 34: *value = slot; break;
	case 36: *value = c->memory_clock_khz; break;
	case 37: *value = c->memory_bus_bits; break;
	case 38: *value = (int)c->l2_bytes; break;
	case 39: *value = c->threads_per_multiprocessor; break;
	case 75: *value = c->capability / 10; break;
	case 76: *value = c->capability % 10; break;
	case 81: *value = (int)c->shared_per_multiprocessor; break;
	case 82: *value = c->registers_per_multiprocessor; break;
	case 97: *value = (int)c->shared_per_block_optin; break;
	case 106: *value = c->blocks_per_multiprocessor; break;
	case 108: *value = c->capability >= 80 ? (int)(c->l2_bytes / 4 * 3) : 0; break;
	case 109: *value = c->capability >= 80 ? 134213632 : 0; break;
	case 111: *value = (int)c->shared_reserved_per_block; break;
	case 120: case 127: *value = c->capability >= 90; break; /* clusters, tensor maps */
	default: return false;
	}
	return true;
}

bool vgpu_attribute(int attribute, int device, int *value)
{
	if (card_attribute(attribute, device, value))
		return true;
	for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions; i++) {
		if (attribute >= dimensions[i].first && attribute < dimensions[i].first + dimensions[i].count) {
			*value = dimensions[i].value[attribute - dimensions[i].first];
			return true;
		}
	}
	for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
		if (constants[i].attribute == attribute) {
			*value = constants[i].value;
			return true;
		}
	}
	return false;
}
