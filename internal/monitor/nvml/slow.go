//go:build cgo && linux

package nvml

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/series"
)

// slow is what takes too long for every read: traffic on PCIe, for which the
// driver measures twice 20 ms, and errors, which are waited for. Each has a
// goroutine of its own, so that one that hangs delays nothing; it works when a read
// asks for it, since to wake up at times of its own would cost more than the work.
type slow struct {
	wg              sync.WaitGroup
	traffics, xided beside
	mu              sync.Mutex
	// By GPU; the newest values.
	traffic map[int]traffic
	xids    map[int]uint64
	events  map[int]int // how many; of a GPU that is listened to
	news    map[int][]series.Problem
}

// A beside is work that a read asks for and does not wait for.
type beside struct {
	asked chan struct{}
	due   atomic.Int64 // nanoseconds of the clock from which it may be asked again
}

// ask asks for the work, unless it is done still or was done just before.
func (b *beside) ask(now time.Time) {
	if b.asked != nil && now.UnixNano() >= b.due.Load() {
		select {
		case b.asked <- struct{}{}:
		default:
		}
	}
}

// each works whenever it is asked, until stop. The work says for how long not to ask
// again.
func (b *beside) each(stop <-chan struct{}, now func() time.Time, work func() (rest time.Duration)) {
	for {
		select {
		case <-stop:
			return
		case <-b.asked:
			rest := work()
			b.due.Store(now().Add(rest).UnixNano())
		}
	}
}

func (sl *slow) start(s *source) {
	sl.traffic, sl.xids, sl.news = map[int]traffic{}, map[int]uint64{}, map[int][]series.Problem{}
	sl.events = map[int]int{}
	if s.lib.has("nvmlDeviceGetPcieThroughput") {
		sl.traffics.asked = make(chan struct{}, 1)
		sl.wg.Go(func() { sl.watchTraffic(s) })
	}
	for _, needed := range []string{"nvmlEventSetCreate", "nvmlEventSetWait", "nvmlDeviceRegisterEvents"} {
		if !s.lib.has(needed) {
			return
		}
	}
	sl.xided.asked = make(chan struct{}, 1)
	sl.wg.Go(func() { sl.watchErrors(s) })
}

// ask asks for what is due.
func (sl *slow) ask(now time.Time) {
	sl.traffics.ask(now)
	sl.xided.ask(now)
}

// handles are the GPUs' handles, asked for anew: those of workers are theirs.
func handles(s *source) []nvml.Device {
	out := make([]nvml.Device, len(s.devices))
	for i := range out {
		if d, ret := s.lib.DeviceGetHandleByIndex(i); ret == nvml.SUCCESS {
			out[i] = d
		}
	}
	return out
}

// errorEvery is how often errors are asked for. To wait for them within the library
// costs more than all other calls: it keeps the runtime's watch over its threads
// awake, a hundred times a second.
const errorEvery = time.Second

// maxFailures in a row end the watch of a driver that has no events.
const (
	maxFailures = 10
	forGood     = 100 * 365 * 24 * time.Hour
)

func (sl *slow) watchErrors(s *source) {
	set, ret := s.lib.EventSetCreate()
	if ret != nvml.SUCCESS {
		return
	}
	devices := handles(s)
	for i, d := range devices {
		if d != nil && d.RegisterEvents(nvml.EventTypeXidCriticalError, set) == nvml.SUCCESS {
			sl.mu.Lock()
			sl.events[i] = 0
			sl.mu.Unlock()
		}
	}
	failures := 0
	sl.xided.each(s.stop, s.now, func() time.Duration {
		for {
			e, ret := set.Wait(0)
			switch code(ret) {
			case monitor.CodeOK:
				for i, d := range devices {
					if d == e.Device {
						sl.tell(i, e.EventData)
					}
				}
				continue // there may be more
			case monitor.CodeTimeout:
				failures = 0
			default:
				failures++
			}
			if failures >= maxFailures {
				return forGood
			}
			return errorEvery
		}
	})
}

func (sl *slow) tell(gpu int, xid uint64) {
	sl.mu.Lock()
	defer sl.mu.Unlock()
	sl.xids[gpu] = xid
	sl.events[gpu]++
	sl.news[gpu] = append(sl.news[gpu], series.Problem{
		Source: name, Status: series.Failed, What: fmt.Sprintf("GPU %d: the driver told error XID %d; NVIDIA's catalogue of XID errors says what it means", gpu, xid),
	})
}

// addTo adds what is known of a GPU to its answer. Values of a GPU that does not
// answer stay as they were.
func (sl *slow) addTo(gpu int, now time.Time, a *answer) {
	sl.mu.Lock()
	defer sl.mu.Unlock()
	d := &a.devices[0]
	if d.Status == series.OK {
		if t, ok := sl.traffic[gpu]; ok && now.Sub(t.at) < trafficOld {
			d.Values.Set(series.PCIeSent, t.sent)
			d.Values.Set(series.PCIeReceived, t.received)
		}
		if x, ok := sl.xids[gpu]; ok {
			d.Values.Set(series.XID, series.Of(float64(x)))
		}
		if n, ok := sl.events[gpu]; ok {
			d.Values.Set(series.XIDEvents, series.Of(float64(n)))
		}
	}
	a.problems = append(a.problems, sl.news[gpu]...)
	delete(sl.news, gpu)
}
