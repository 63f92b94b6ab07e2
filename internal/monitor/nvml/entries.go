//go:build cgo && linux

package nvml

// go-nvml asks for the processes of a GPU with room for one, and again with twice as
// much until they fit: four calls of the driver for eight processes, each second.
// Here the room is kept, so that one call does. The structures repeat those of nvml.h.

/*
#cgo CFLAGS: -D_GNU_SOURCE
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stddef.h>

// Entries of the first version of the calls have neither instance.
typedef struct {
	unsigned int pid;
	unsigned long long memory;
	unsigned int gpu_instance, compute_instance;
} plimsoll_entry;

typedef struct {
	unsigned int pid;
	unsigned long long memory;
} plimsoll_first_entry;

// Fills entries, which has room for *count, and says in *count how many there are.
// names are those of the call, the newest first, the last of the first version.
static int plimsoll_list(const char *const names[3], void *device, plimsoll_entry *entries, unsigned int *count) {
	enum { NO_FUNCTION = 13 };
	int (*list)(void *, unsigned int *, void *) = NULL;
	int version = 3;
	while (list == NULL && version > 0) list = (int (*)(void *, unsigned int *, void *))dlsym(RTLD_DEFAULT, names[3 - version--]);
	if (list == NULL) return NO_FUNCTION;
	unsigned int room = *count;
	int code = list(device, count, entries);
	if (version > 0 || code != 0) return code;
	plimsoll_first_entry *first = (plimsoll_first_entry *)entries;
	for (unsigned int i = *count < room ? *count : room; i-- > 0;) {
		plimsoll_first_entry e = first[i];
		entries[i] = (plimsoll_entry){e.pid, e.memory, 0, 0};
	}
	return code;
}

static int plimsoll_list_compute(void *device, plimsoll_entry *entries, unsigned int *count) {
	static const char *const names[3] = {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses"};
	return plimsoll_list(names, device, entries, count);
}

static int plimsoll_list_graphics(void *device, plimsoll_entry *entries, unsigned int *count) {
	static const char *const names[3] = {"nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2", "nvmlDeviceGetGraphicsRunningProcesses"};
	return plimsoll_list(names, device, entries, count);
}

static int plimsoll_list_shared(void *device, plimsoll_entry *entries, unsigned int *count) {
	static const char *const names[3] = {"nvmlDeviceGetMPSComputeRunningProcesses_v3", "nvmlDeviceGetMPSComputeRunningProcesses_v2", "nvmlDeviceGetMPSComputeRunningProcesses"};
	return plimsoll_list(names, device, entries, count);
}
*/
import "C"

import (
	"reflect"
	"unsafe"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/plimsoll-dev/plimsoll/series"
)

// An entry is a process as the driver lists it.
type entry = C.plimsoll_entry

// lists are the calls that list the processes of a GPU.
var lists = []struct {
	symbol string
	kind   series.UseKind
	rare   bool
	read   func(dev unsafe.Pointer, entries *entry, count *C.uint) C.int
}{
	{"nvmlDeviceGetComputeRunningProcesses", series.Compute, false, func(d unsafe.Pointer, e *entry, n *C.uint) C.int { return C.plimsoll_list_compute(d, e, n) }},
	{"nvmlDeviceGetGraphicsRunningProcesses", series.Graphics, true, func(d unsafe.Pointer, e *entry, n *C.uint) C.int { return C.plimsoll_list_graphics(d, e, n) }},
	{"nvmlDeviceGetMPSComputeRunningProcesses", series.Shared, true, func(d unsafe.Pointer, e *entry, n *C.uint) C.int { return C.plimsoll_list_shared(d, e, n) }},
}

// Of how many processes the driver is asked at first, and at most: more than that is
// no number of processes on a GPU.
const (
	fewProcesses  = 64
	mostProcesses = 1 << 16
)

// handleOf is the GPU as the library knows it.
func handleOf(dev nvml.Device) unsafe.Pointer {
	return reflect.ValueOf(dev).FieldByName("Handle").UnsafePointer()
}

// fill has the driver fill room, and makes more of it where it is too small. What it
// returns is of use until the next call.
func fill[T any](room *[]T, ask func(first *T, count *C.uint) C.int) ([]T, nvml.Return) {
	if *room == nil {
		*room = make([]T, fewProcesses)
	}
	for {
		count := C.uint(len(*room))
		ret := nvml.Return(ask(&(*room)[0], &count))
		switch {
		case ret == nvml.ERROR_INSUFFICIENT_SIZE && len(*room) < mostProcesses:
			*room = make([]T, min(max(int(count), 2*len(*room)), mostProcesses))
		case ret != nvml.SUCCESS:
			return nil, ret
		default:
			return (*room)[:min(int(count), len(*room))], ret
		}
	}
}

// list lists processes of dev by one of lists.
func (g *gpu) list(which int, dev nvml.Device) ([]entry, nvml.Return) {
	handle := handleOf(dev)
	return fill(&g.entries, func(first *entry, count *C.uint) C.int { return lists[which].read(handle, first, count) })
}
