//go:build cgo && linux

package nvml

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A worker makes all calls for one GPU, in a goroutine of its own.
type worker struct {
	s     *source
	index int
	asked chan struct{}
	done  chan answer

	// Of the reader.
	pending, late bool // a question is open; it was open before this read
	last          answer
	lastAt        time.Time
	told          []pidUse // what the last read of all GPUs says of this one

	gpu gpu

	mu      sync.Mutex
	calling call // that the worker makes now
}

// A call is one of the library's functions; the zero call is none.
type call struct {
	symbol string
	began  time.Time
}

// An answer is what was read of one GPU.
type answer struct {
	devices  []series.Device // the GPU, and its instances
	uses     []pidUse
	problems []series.Problem
	unified  bool
}

type pidUse struct {
	pid int
	use series.Use
}

func (a *answer) addTo(r *monitor.Reading) {
	r.Devices = append(r.Devices, a.devices...)
	r.Problems = append(r.Problems, a.problems...)
	r.UnifiedMemory = r.UnifiedMemory || a.unified
}

func newWorker(s *source, index int) *worker {
	w := &worker{s: s, index: index, asked: make(chan struct{}, 1), done: make(chan answer, 1), gpu: gpu{sparing: s.sparing}}
	go w.run()
	return w
}

func (w *worker) run() {
	for {
		select {
		case <-w.s.stop:
			return
		case <-w.asked:
			w.done <- w.gpu.read(w)
		}
	}
}

// call makes one call of the library, if it has it.
func (w *worker) call(symbol string, f func() nvml.Return) monitor.DriverCode {
	if !w.s.lib.has(symbol) {
		return monitor.CodeNoFunction
	}
	return w.make(symbol, f)
}

// make makes a call that the library has.
func (w *worker) make(symbol string, f func() nvml.Return) monitor.DriverCode {
	w.says(call{symbol, w.s.now()})
	c := code(f())
	w.says(call{})
	return c
}

func (w *worker) says(c call) {
	w.mu.Lock()
	w.calling = c
	w.mu.Unlock()
}

// ask begins a read, unless the last one has not come back. One that came back too
// late is of the past and dropped.
func (w *worker) ask() {
	if w.pending {
		select {
		case <-w.done:
			w.pending = false
		default:
			w.late = true
			return
		}
	}
	w.pending, w.late = true, false
	w.asked <- struct{}{}
}

// wait returns the answer, or the last one marked as stuck when ctx ends. It does
// not wait for a GPU that let an earlier read wait already.
func (w *worker) wait(ctx context.Context) answer {
	if w.late {
		return w.stuck()
	}
	select {
	case a := <-w.done:
		return w.take(a)
	case <-ctx.Done():
	}
	// Another GPU may have used the time up; this one may have answered long since.
	select {
	case a := <-w.done:
		return w.take(a)
	default:
		return w.stuck()
	}
}

func (w *worker) take(a answer) answer {
	w.pending = false
	w.last, w.lastAt = a, w.s.now()
	return a
}

// stuck is the last answer of a GPU that does not give another.
func (w *worker) stuck() answer {
	now := w.s.now()
	a := answer{uses: w.last.uses, unified: w.last.unified}
	problem := fmt.Sprintf("GPU %d does not answer", w.index)
	w.mu.Lock()
	c := w.calling
	w.mu.Unlock()
	if c.symbol != "" {
		problem += fmt.Sprintf(": %s has not returned for %v", c.symbol, now.Sub(c.began).Round(100*time.Millisecond))
	}
	a.problems = []series.Problem{{Source: name, Status: series.Stuck, What: problem + "; its values are the last ones, see dmesg for XID errors"}}
	if len(w.last.devices) == 0 {
		d := unnamed(w.index)
		d.Status, d.Problem = series.Stuck, problem
		d.Values = monitor.WithoutAll(series.ScopeDevice, series.Stuck)
		a.devices = []series.Device{d}
		return a
	}
	for _, d := range w.last.devices {
		if d.Status == series.OK {
			d.Status, d.Problem, d.StaleFor = series.Stuck, problem, max(now.Sub(w.lastAt), 1)
			d.Values = stuckWhereAbsent(d.Values)
		}
		a.devices = append(a.devices, d)
	}
	return a
}

// stuckWhereAbsent is vs with what was never read marked as stuck.
func stuckWhereAbsent(vs series.Values) series.Values {
	out := monitor.WithoutAll(series.ScopeDevice, series.Stuck)
	for i, v := range vs {
		if v.Status != series.Absent {
			out[i] = v
		}
	}
	return out
}

// unnamed is a GPU of which only the driver's number is known.
func unnamed(index int) series.Device {
	return series.Device{ID: fmt.Sprintf("nvidia:%d", index), Index: index, Vendor: "nvidia", Minor: -1}
}
