/* nvml.c: the management library: what PyTorch, its OOM text and pynvml ask. */
#include "memory.h"
#include "runtime.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	NVML_OK = 0,
	NVML_INVALID_ARGUMENT = 2,
	NVML_NOT_SUPPORTED = 3,
	NVML_NOT_FOUND = 6,
	NVML_INSUFFICIENT_SIZE = 7,
};

/* Handles are addresses in this array; NVML sees every card of the machine,
 * whatever CUDA_VISIBLE_DEVICES says. */
static char handles[VGPU_MAX_DEVICES];

static int index_of(const void *handle)
{
	uintptr_t i = (uintptr_t)handle - (uintptr_t)handles;
	return i < (uintptr_t)vgpu_physical_count() ? (int)i : -1;
}

/* The CUDA device that shows a card, or -1. */
static int device_of(const void *handle)
{
	int i = index_of(handle);
	for (int d = 0; i >= 0 && d < vgpu_device_count(); d++)
		if (vgpu_physical_index(d) == i)
			return d;
	return -1;
}

static int text(char *out, unsigned room, const char *value)
{
	return snprintf(out, room, "%s", value) < (int)room ? NVML_OK : NVML_INSUFFICIENT_SIZE;
}

VGPU_API int nvmlInit(void) { return NVML_OK; }
VGPU_API int nvmlInit_v2(void) { return NVML_OK; }
VGPU_API int nvmlInitWithFlags(unsigned flags VGPU_UNUSED) { return NVML_OK; }
VGPU_API int nvmlShutdown(void) { return NVML_OK; }

VGPU_API const char *nvmlErrorString(int error)
{
	switch (error) {
	case NVML_OK: return "Success";
	case 1: return "Uninitialized";
	case NVML_INVALID_ARGUMENT: return "Invalid Argument";
	case NVML_NOT_SUPPORTED: return "Not Supported";
	case NVML_NOT_FOUND: return "Not Found";
	case NVML_INSUFFICIENT_SIZE: return "Insufficient Size";
	default: return "Unknown Error";
	}
}

VGPU_API int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
	*version = vgpu_cuda_version();
	return NVML_OK;
}

VGPU_API int nvmlSystemGetCudaDriverVersion(int *version) { return nvmlSystemGetCudaDriverVersion_v2(version); }

/* The first driver that came with the CUDA in use, so that a check of the one
 * against the other passes. Source: CUDA Toolkit Release Notes, table 3. */
VGPU_API int nvmlSystemGetDriverVersion(char *version, unsigned room)
{
	return text(version, room, PLIMSOLL_CUDA_MAJOR == 11 ? "515.43.04" : PLIMSOLL_CUDA_MAJOR == 12 ? "550.54.14" : "580.65.06");
}

VGPU_API int nvmlSystemGetNVMLVersion(char *version, unsigned room) { return text(version, room, "13.0.0"); }

VGPU_API int nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = (unsigned)vgpu_physical_count();
	return NVML_OK;
}

VGPU_API int nvmlDeviceGetCount(unsigned *count) { return nvmlDeviceGetCount_v2(count); }

VGPU_API int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle)
{
	if (index >= (unsigned)vgpu_physical_count())
		return NVML_INVALID_ARGUMENT;
	*handle = &handles[index];
	return NVML_OK;
}

VGPU_API int nvmlDeviceGetHandleByIndex(unsigned index, void **handle) { return nvmlDeviceGetHandleByIndex_v2(index, handle); }

VGPU_API int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **handle)
{
	unsigned domain, bus, slot;
	if (sscanf(id, "%x:%x:%x", &domain, &bus, &slot) != 3 || bus < 1 || bus > (unsigned)vgpu_physical_count())
		return NVML_NOT_FOUND;
	*handle = &handles[bus - 1];
	return NVML_OK;
}

VGPU_API int nvmlDeviceGetHandleByPciBusId(const char *id, void **handle) { return nvmlDeviceGetHandleByPciBusId_v2(id, handle); }

static void uuid_text(int index, char out[41])
{
	/* The same bytes as vgpu_uuid, in NVML's writing. */
	snprintf(out, 41, "GPU-706c696d-736f-6c6c-4000-8000000000%02x", (unsigned)index & 0xff);
}

VGPU_API int nvmlDeviceGetUUID(void *handle, char *uuid, unsigned room)
{
	char own[41];
	int i = index_of(handle);
	if (i < 0)
		return NVML_INVALID_ARGUMENT;
	uuid_text(i, own);
	return text(uuid, room, own);
}

VGPU_API int nvmlDeviceGetHandleByUUID(const char *uuid, void **handle)
{
	char own[41];
	for (int i = 0; i < vgpu_physical_count(); i++) {
		uuid_text(i, own);
		if (strcmp(own, uuid) == 0) {
			*handle = &handles[i];
			return NVML_OK;
		}
	}
	return NVML_NOT_FOUND;
}

VGPU_API int nvmlDeviceGetIndex(void *handle, unsigned *index)
{
	int i = index_of(handle);
	if (i < 0)
		return NVML_INVALID_ARGUMENT;
	*index = (unsigned)i;
	return NVML_OK;
}

VGPU_API int nvmlDeviceGetMinorNumber(void *handle, unsigned *number) { return nvmlDeviceGetIndex(handle, number); }
VGPU_API int nvmlDeviceGetName(void *handle VGPU_UNUSED, char *name, unsigned room) { return text(name, room, vgpu_config()->card.name); }

struct pci {
	char legacy_id[16];
	unsigned domain, bus, device, pci_device, pci_subsystem;
	char id[32];
};

VGPU_API int nvmlDeviceGetPciInfo_v3(void *handle, struct pci *p)
{
	int i = index_of(handle);
	if (i < 0)
		return NVML_INVALID_ARGUMENT;
	memset(p, 0, sizeof *p);
	p->bus = (unsigned)i + 1;
	snprintf(p->legacy_id, sizeof p->legacy_id, "0000:%02X:00.0", (unsigned)(i + 1) & 0xff);
	snprintf(p->id, sizeof p->id, "00000000:%02X:00.0", (unsigned)(i + 1) & 0xff);
	return NVML_OK;
}

VGPU_API int nvmlDeviceGetPciInfo(void *handle, struct pci *p) { return nvmlDeviceGetPciInfo_v3(handle, p); }

VGPU_API int nvmlDeviceGetCudaComputeCapability(void *handle VGPU_UNUSED, int *major, int *minor)
{
	*major = vgpu_config()->card.capability / 10;
	*minor = vgpu_config()->card.capability % 10;
	return NVML_OK;
}

/* --- memory ------------------------------------------------------------------ */

/* What this process takes of a card: what CUDA handed out and the context. */
static uint64_t own_bytes(void *handle)
{
	int device = device_of(handle);
	if (device < 0 || !vgpu_active(device))
		return 0;
	return vgpu_books(device).used + vgpu_config()->card.context_bytes;
}

struct memory {
	uint64_t total, free, used;
};
struct memory_2 {
	unsigned version;
	uint64_t total, reserved, free, used;
};
_Static_assert(sizeof(struct memory_2) == 40, "nvmlMemory_v2_t");

/* The difference between what nvidia-smi shows as total and what CUDA does is
 * kept by the driver: version 1 counts it as used, version 2 on its own. */
VGPU_API int nvmlDeviceGetMemoryInfo(void *handle, struct memory *m)
{
	const struct vgpu_card *c = &vgpu_config()->card;
	m->total = c->nvml_total_bytes;
	m->used = own_bytes(handle) + (c->nvml_total_bytes - c->capacity_bytes);
	m->free = m->total - m->used;
	return index_of(handle) >= 0 ? NVML_OK : NVML_INVALID_ARGUMENT;
}

VGPU_API int nvmlDeviceGetMemoryInfo_v2(void *handle, struct memory_2 *m)
{
	const struct vgpu_card *c = &vgpu_config()->card;
	m->total = c->nvml_total_bytes;
	m->reserved = c->nvml_total_bytes - c->capacity_bytes;
	m->used = own_bytes(handle);
	m->free = m->total - m->reserved - m->used;
	return index_of(handle) >= 0 ? NVML_OK : NVML_INVALID_ARGUMENT;
}

VGPU_API int nvmlDeviceGetBAR1MemoryInfo(void *handle VGPU_UNUSED, struct memory *m)
{
	/* total, free, used, in that order here too */
	m->total = m->free = vgpu_config()->card.nvml_total_bytes;
	m->used = 0;
	return NVML_OK;
}

struct process_1 {
	unsigned pid;
	uint64_t used;
};
struct process {
	unsigned pid;
	uint64_t used;
	unsigned gpu_instance, compute_instance;
};
_Static_assert(sizeof(struct process_1) == 16 && sizeof(struct process) == 24, "nvmlProcessInfo_t");
#define NO_INSTANCE 0xffffffffu

/* The only process that NVML shows is the one that asks: PyTorch's OOM text
 * looks for its own and adds the others up. */
VGPU_API int nvmlDeviceGetComputeRunningProcesses(void *handle, unsigned *count, struct process_1 *processes)
{
	uint64_t used = own_bytes(handle);
	unsigned room = *count;
	*count = used ? 1 : 0;
	if (room < *count)
		return NVML_INSUFFICIENT_SIZE;
	if (used)
		*processes = (struct process_1){(unsigned)getpid(), used};
	return NVML_OK;
}

VGPU_API int nvmlDeviceGetComputeRunningProcesses_v2(void *handle, unsigned *count, struct process *processes)
{
	uint64_t used = own_bytes(handle);
	unsigned room = *count;
	*count = used ? 1 : 0;
	if (room < *count)
		return NVML_INSUFFICIENT_SIZE;
	if (used)
		*processes = (struct process){(unsigned)getpid(), used, NO_INSTANCE, NO_INSTANCE};
	return NVML_OK;
}

VGPU_API int nvmlDeviceGetComputeRunningProcesses_v3(void *handle, unsigned *count, struct process *processes)
{
	return nvmlDeviceGetComputeRunningProcesses_v2(handle, count, processes);
}

static int no_processes(unsigned *count)
{
	*count = 0;
	return NVML_OK;
}

VGPU_API int nvmlDeviceGetGraphicsRunningProcesses(void *handle VGPU_UNUSED, unsigned *count, void *processes VGPU_UNUSED) { return no_processes(count); }
VGPU_API int nvmlDeviceGetGraphicsRunningProcesses_v2(void *handle VGPU_UNUSED, unsigned *count, void *processes VGPU_UNUSED) { return no_processes(count); }
VGPU_API int nvmlDeviceGetGraphicsRunningProcesses_v3(void *handle VGPU_UNUSED, unsigned *count, void *processes VGPU_UNUSED) { return no_processes(count); }

/* --- load, heat, power: an idle card ------------------------------------------- */

VGPU_API int nvmlDeviceGetUtilizationRates(void *handle VGPU_UNUSED, unsigned rates[2])
{
	rates[0] = rates[1] = 0; /* percent of the last second: processor, memory */
	return NVML_OK;
}

VGPU_API int nvmlDeviceGetTemperature(void *handle VGPU_UNUSED, int sensor VGPU_UNUSED, unsigned *celsius)
{
	*celsius = 30;
	return NVML_OK;
}

VGPU_API int nvmlDeviceGetPowerUsage(void *handle VGPU_UNUSED, unsigned *milliwatts)
{
	*milliwatts = 50000;
	return NVML_OK;
}

VGPU_API int nvmlDeviceGetTotalEnergyConsumption(void *handle VGPU_UNUSED, unsigned long long *millijoules)
{
	*millijoules = 0;
	return NVML_OK;
}

/* Clocks by nvmlClockType: graphics, multiprocessor, memory, video. */
static int clock_mhz(int type, unsigned *mhz)
{
	const struct vgpu_card *c = &vgpu_config()->card;
	*mhz = (unsigned)(type == 2 ? c->memory_clock_khz : c->clock_khz) / 1000;
	return NVML_OK;
}

VGPU_API int nvmlDeviceGetClockInfo(void *handle VGPU_UNUSED, int type, unsigned *mhz) { return clock_mhz(type, mhz); }
VGPU_API int nvmlDeviceGetMaxClockInfo(void *handle VGPU_UNUSED, int type, unsigned *mhz) { return clock_mhz(type, mhz); }

/* --- topology ------------------------------------------------------------------ */

VGPU_API int nvmlDeviceGetMigMode(void *handle VGPU_UNUSED, unsigned *current, unsigned *pending)
{
	*current = *pending = 0;
	return vgpu_config()->card.capability >= 80 ? NVML_OK : NVML_NOT_SUPPORTED;
}

VGPU_API int nvmlDeviceIsMigDeviceHandle(void *handle VGPU_UNUSED, unsigned *is)
{
	*is = 0;
	return NVML_OK;
}

/* By nvmlGpuP2PCapsIndex: read, write, NVLink, atomics, PCI. Cards reach one
 * another over PCI; there are no links. */
VGPU_API int nvmlDeviceGetP2PStatus(void *a VGPU_UNUSED, void *b VGPU_UNUSED, int index, int *status)
{
	*status = index == 2 || index == 3 ? 5 /* not supported */ : 0;
	return NVML_OK;
}

VGPU_API int nvmlDeviceGetTopologyCommonAncestor(void *a VGPU_UNUSED, void *b VGPU_UNUSED, int *level)
{
	*level = 30; /* one host bridge */
	return NVML_OK;
}

/* No card has links or a fabric: what a machine without NVSwitch answers. */
VGPU_API int nvmlDeviceGetGpuFabricInfo(void *handle VGPU_UNUSED, void *info VGPU_UNUSED) { return NVML_NOT_SUPPORTED; }
VGPU_API int nvmlDeviceGetGpuFabricInfoV(void *handle VGPU_UNUSED, void *info VGPU_UNUSED) { return NVML_NOT_SUPPORTED; }
VGPU_API int nvmlDeviceGetNvLinkState(void *handle VGPU_UNUSED, unsigned link VGPU_UNUSED, int *active VGPU_UNUSED) { return NVML_NOT_SUPPORTED; }
VGPU_API int nvmlDeviceGetNvLinkRemoteDeviceType(void *handle VGPU_UNUSED, unsigned link VGPU_UNUSED, int *type VGPU_UNUSED) { return NVML_NOT_SUPPORTED; }
VGPU_API int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *handle VGPU_UNUSED, unsigned link VGPU_UNUSED, struct pci *p VGPU_UNUSED) { return NVML_NOT_SUPPORTED; }
VGPU_API int nvmlDeviceGetNvLinkRemotePciInfo(void *handle, unsigned link, struct pci *p) { return nvmlDeviceGetNvLinkRemotePciInfo_v2(handle, link, p); }
