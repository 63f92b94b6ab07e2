//go:build cgo && linux

package nvml

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/series"
)

// callExact is call for one version of a function only.
func (w *worker) callExact(symbol string, f func() nvml.Return) monitor.DriverCode {
	if !w.s.lib.hasExact(symbol) {
		return monitor.CodeNoFunction
	}
	return w.make(symbol, f)
}

// fieldNumber is the number of a field, by its type.
func fieldNumber(f nvml.FieldValue) float64 {
	n := binary.NativeEndian.Uint64(f.Value[:])
	switch nvml.ValueType(f.ValueType) {
	case nvml.VALUE_TYPE_DOUBLE:
		return math.Float64frombits(n)
	case nvml.VALUE_TYPE_UNSIGNED_INT:
		return float64(uint32(n))
	case nvml.VALUE_TYPE_SIGNED_INT:
		return float64(int32(n))
	case nvml.VALUE_TYPE_SIGNED_LONG_LONG:
		return float64(int64(n))
	}
	return float64(n)
}

// Drivers 535.43 and 535.86 wrote entries of 32 bytes where all others write 24
// (nvitop#75, gpustat#161), beyond the end of what was made for them.
func writesLongEntries(driver string) bool {
	return strings.HasPrefix(driver, "535.43.") || strings.HasPrefix(driver, "535.86.")
}

// maxPID is the highest that Linux gives (include/linux/threads.h).
const maxPID = 4194304

// unknownMemory stands for an amount that the driver does not know.
const unknownMemory = math.MaxUint64

// readProcesses reads who is on dev, and how busy they keep it, if it is time to.
func (g *gpu) readProcesses(w *worker, dev nvml.Device, id string) {
	if !g.lists {
		return
	}
	if writesLongEntries(w.s.driver) {
		g.refused = append(g.refused, series.Problem{Source: name, Status: series.NotSupported, What: "driver " + w.s.driver + " lists processes in a form that only it has, so they are not read; install 535.98 or newer"})
		return
	}
	g.readProcessBusy(w, dev)
	strange := 0
	for i, list := range lists {
		// What most GPUs never have is asked for at each read only where it was seen.
		row := listsRow + i
		if list.rare && id == g.self.ID && g.reads < g.skip[row] {
			continue
		}
		var ps []entry
		c := w.call(list.symbol, func() (ret nvml.Return) { ps, ret = g.list(i, dev); return ret })
		if c.Status() == series.NoPermission {
			g.refused = append(g.refused, series.Problem{Source: name, Status: c.Status(), What: fmt.Sprintf("GPU %d: list its processes: %v", w.index, c)})
		}
		if len(ps) == 0 {
			g.skip[row] = g.next(row, someReads)
		}
		for _, p := range ps {
			if p.pid == 0 || p.pid > maxPID {
				strange++
				continue
			}
			u := series.Use{Device: id, Kind: list.kind, Values: g.useValues()}
			memory := series.Of(float64(p.memory))
			if p.memory == unknownMemory {
				memory = series.Without(series.NotSupported)
			}
			u.Values.Set(series.UseMemory, memory)
			if b, ok := g.busy[uint32(p.pid)]; ok {
				u.Values.Set(series.UseBusy, series.Of(b.sm/b.n/percent))
				u.Values.Set(series.UseMemoryBusy, series.Of(b.memory/b.n/percent))
			}
			g.found = append(g.found, pidUse{int(p.pid), u})
		}
	}
	if strange > 0 {
		g.refused = append(g.refused, series.Problem{Source: name, Status: series.Failed, What: fmt.Sprintf("GPU %d: %d entries of its list of processes are no processes; driver and library may disagree about its form", w.index, strange)})
	}
}

// useCounters is how many values a process on a GPU has.
var useCounters = len(series.Counters(series.ScopeUse))

// useValues is room for the values of one, which holds until the next list.
func (g *gpu) useValues() series.Values {
	n, from := useCounters, len(g.numbers)
	g.numbers = slices.Grow(g.numbers, n)[:from+n]
	out := g.numbers[from : from+n : from+n]
	clear(out)
	return out
}

// tell tells what was found, to stay: what was told before where that is the same.
func (g *gpu) tell() {
	same := func(a, b pidUse) bool { return a.pid == b.pid && isSame(a.use, b.use) }
	if slices.EqualFunc(g.found, g.uses, same) {
		return
	}
	g.uses = slices.Clone(g.found)
	numbers := make(series.Values, 0, useCounters*len(g.uses))
	for i := range g.uses {
		from := len(numbers)
		numbers = append(numbers, g.uses[i].use.Values...)
		g.uses[i].use.Values = numbers[from:len(numbers):len(numbers)]
	}
}

func isSame(a, b series.Use) bool {
	return a.Device == b.Device && a.Kind == b.Kind && slices.Equal(a.Values, b.Values)
}
