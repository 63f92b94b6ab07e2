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
	if w.s.lib.handle.Lookup(symbol) != nil {
		return monitor.CodeNoFunction
	}
	return w.call(symbol, f)
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

// readProcesses reads who is on dev, and how busy they keep it.
func (g *gpu) readProcesses(w *worker, dev nvml.Device, id string, a *answer) {
	if writesLongEntries(w.s.driver) {
		a.problems = append(a.problems, series.Problem{Source: name, Status: series.NotSupported, What: "driver " + w.s.driver + " lists processes in a form that only it has, so they are not read; install 535.98 or newer"})
		return
	}
	busy := g.readProcessBusy(w, dev)
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
			a.problems = append(a.problems, series.Problem{Source: name, Status: c.Status(), What: fmt.Sprintf("GPU %d: list its processes: %v", w.index, c)})
		}
		if len(ps) == 0 {
			g.skip[row] = g.next(row, someReads)
		}
		a.uses = slices.Grow(a.uses, len(ps))
		for _, p := range ps {
			if p.pid == 0 || p.pid > maxPID {
				strange++
				continue
			}
			u := series.Use{Device: id, Kind: list.kind}
			memory := series.Of(float64(p.memory))
			if p.memory == unknownMemory {
				memory = series.Without(series.NotSupported)
			}
			u.Values.Set(series.UseMemory, memory)
			if b, ok := busy[uint32(p.pid)]; ok {
				u.Values.Set(series.UseBusy, series.Of(b.sm/b.n/percent))
				u.Values.Set(series.UseMemoryBusy, series.Of(b.memory/b.n/percent))
			}
			a.uses = append(a.uses, pidUse{int(p.pid), u})
		}
	}
	if strange > 0 {
		a.problems = append(a.problems, series.Problem{Source: name, Status: series.Failed, What: fmt.Sprintf("GPU %d: %d entries of its list of processes are no processes; driver and library may disagree about its form", w.index, strange)})
	}
}
