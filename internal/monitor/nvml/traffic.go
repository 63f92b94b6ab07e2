//go:build cgo && linux

package nvml

// The driver measures each throughput for 20 ms. Called one after another from Go,
// each of these waits wakes up the runtime's watch over its threads, and hands the
// processor over and back: so all are made in one call of C.

/*
#cgo CFLAGS: -D_GNU_SOURCE
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stddef.h>

typedef struct {
	void *device;
	int code[2];
	unsigned int speed[2]; // KB/s, by nvmlPcieUtilCounter_t: sent, received
} plimsoll_traffic;

static void plimsoll_read_traffic(plimsoll_traffic *all, int n) {
	enum { UNINITIALIZED = 1, NO_FUNCTION = 13 };
	int (*read)(void *, int, unsigned int *) = (int (*)(void *, int, unsigned int *))dlsym(RTLD_DEFAULT, "nvmlDeviceGetPcieThroughput");
	for (plimsoll_traffic *t = all; t < all + n; t++)
		for (int which = 0; which < 2; which++)
			t->code[which] = read == NULL ? NO_FUNCTION : t->device == NULL ? UNINITIALIZED : read(t->device, which, &t->speed[which]);
}
*/
import "C"

import (
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A traffic is how much went over a GPU's PCIe link.
type traffic struct {
	sent, received series.Value
	at             time.Time
}

// How often PCIe is looked at: a twentieth of the time is spent on it at most, half of
// that by who looks on for hours; and for how long a value is shown.
const (
	trafficLeast = 2 * time.Second
	trafficShare = 20
	sparingShare = 40
	trafficOld   = 20 * time.Second
)

// kilobyte is the driver's (nvml.h).
const kilobyte = 1000

func (sl *slow) watchTraffic(s *source) {
	var all []C.plimsoll_traffic
	for _, d := range handles(s) {
		var t C.plimsoll_traffic
		if d != nil {
			t.device = handleOf(d)
		}
		all = append(all, t)
	}
	if len(all) == 0 {
		return
	}
	share := time.Duration(trafficShare)
	if s.sparing {
		share = sparingShare
	}
	sl.traffics.each(s.stop, s.now, func() time.Duration {
		began := s.now()
		C.plimsoll_read_traffic(&all[0], C.int(len(all)))
		now := s.now()
		sl.mu.Lock()
		defer sl.mu.Unlock()
		for i, t := range all {
			if t.device != nil {
				sl.traffic[i] = traffic{sent: throughput(t, nvml.PCIE_UTIL_TX_BYTES), received: throughput(t, nvml.PCIE_UTIL_RX_BYTES), at: now}
			}
		}
		return max(trafficLeast, (share-1)*now.Sub(began))
	})
}

func throughput(t C.plimsoll_traffic, which nvml.PcieUtilCounter) series.Value {
	if c := code(nvml.Return(t.code[which])); c != monitor.CodeOK {
		return series.Without(c.Status())
	}
	return series.Of(float64(t.speed[which]) * kilobyte)
}
