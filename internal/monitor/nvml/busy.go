//go:build cgo && linux

package nvml

// go-nvml wraps nvmlDeviceGetProcessesUtilizationInfo without a way to pass the
// array that the driver is to fill, and the driver answers nothing without one. So
// the call is made here, by its name in the library, which load opened for all. The
// structures repeat those of nvml.h, first version.

/*
#cgo CFLAGS: -D_GNU_SOURCE
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stddef.h>

typedef struct {
	unsigned long long at;
	unsigned int pid, sm, memory, encoder, decoder, jpeg, flow;
} plimsoll_busy;

typedef struct {
	unsigned int version, count;
	unsigned long long since;
	plimsoll_busy *busy;
} plimsoll_all_busy;

enum { NO_FUNCTION = 13 };

// Fills busy, which has room for *count, and says in *count how many there are.
static int plimsoll_read_busy(void *device, unsigned long long since, plimsoll_busy *busy, unsigned int *count) {
	int (*read)(void *, plimsoll_all_busy *) = (int (*)(void *, plimsoll_all_busy *))dlsym(RTLD_DEFAULT, "nvmlDeviceGetProcessesUtilizationInfo");
	if (read == NULL) return NO_FUNCTION;
	plimsoll_all_busy all = {sizeof all | 1 << 24, *count, since, busy};
	int code = read(device, &all);
	*count = all.count;
	return code;
}
*/
import "C"

import (
	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A busy is a sample as the driver writes it.
type busy = C.plimsoll_busy

// A moment is one sample of the driver: how busy a process kept the GPU, in percent.
type moment struct {
	at, pid, sm, memory uint64
}

// busyCalls are the calls for the driver's samples since a time, the best first. With
// Blackwell the older one says that it is not supported, or that nobody is busy
// (HAMi-core#218); drivers before 550 have no other.
var busyCalls = []struct {
	symbol string
	read   func(g *gpu, dev nvml.Device) ([]moment, nvml.Return)
}{
	{"nvmlDeviceGetProcessesUtilizationInfo", (*gpu).momentsOfAll},
	{"nvmlDeviceGetProcessUtilization", (*gpu).moments},
}

// momentsOfAll asks as drivers do since 550.
func (g *gpu) momentsOfAll(dev nvml.Device) ([]moment, nvml.Return) {
	handle := handleOf(dev)
	all, ret := fill(&g.room, func(first *busy, count *C.uint) C.int {
		return C.plimsoll_read_busy(handle, C.ulonglong(g.seen), first, count)
	})
	g.samples = g.samples[:0]
	for _, b := range all {
		g.samples = append(g.samples, moment{uint64(b.at), uint64(b.pid), uint64(b.sm), uint64(b.memory)})
	}
	return g.samples, ret
}

// moments asks as drivers did before 550.
func (g *gpu) moments(dev nvml.Device) ([]moment, nvml.Return) {
	samples, ret := dev.GetProcessUtilization(g.seen)
	g.samples = g.samples[:0]
	for _, s := range samples {
		g.samples = append(g.samples, moment{s.TimeStamp, uint64(s.Pid), uint64(s.SmUtil), uint64(s.MemUtil)})
	}
	return g.samples, ret
}

// A sum adds up the samples of one process.
type sum struct{ sm, memory, n float64 }

// readProcessBusy reads the driver's samples since the last time. A process without
// one may be busy or not: it is Absent, not 0.
func (g *gpu) readProcessBusy(w *worker, dev nvml.Device) {
	clear(g.busy)
	for i, way := range busyCalls {
		row := busyRow + i
		if g.reads < g.skip[row] {
			continue
		}
		var moments []moment
		c := w.call(way.symbol, func() (ret nvml.Return) { moments, ret = way.read(g, dev); return ret })
		if c == monitor.CodeOK || c == code(nvml.ERROR_NOT_FOUND) {
			g.sumUp(moments)
			return
		}
		if c.Status() == series.NotSupported {
			g.skip[row] = g.reads + missingReads
		}
	}
}

func (g *gpu) sumUp(moments []moment) {
	if g.busy == nil {
		g.busy = map[uint32]sum{}
	}
	since := g.seen
	for _, m := range moments {
		// The buffer may hold what is older than asked for, and rubbish.
		if m.at <= since || m.sm > percent || m.memory > percent {
			continue
		}
		g.seen = max(g.seen, m.at)
		o := g.busy[uint32(m.pid)]
		g.busy[uint32(m.pid)] = sum{o.sm + float64(m.sm), o.memory + float64(m.memory), o.n + 1}
	}
}
