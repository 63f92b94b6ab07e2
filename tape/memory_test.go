package tape

import (
	"runtime"
	"testing"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// maxEventBytes is what an event may take in memory, all columns and its
// share of the block table included.
const maxEventBytes = 32

// TestMemoryOfAnEvent measures the heap that a long tape holds.
func TestMemoryOfAnEvent(t *testing.T) {
	const events = 5_000_000
	for _, c := range []struct {
		name string
		make func() *Tape
	}{
		{"a training loop", func() *Tape { return loop(events) }},
		{"nothing but allocations", func() *Tape {
			tp := &Tape{}
			for i := range events {
				tp.Append(Event{Kind: Alloc, Bytes: unit.Bytes(i%100) * unit.GiB, Addr: 1<<46 + uint64(i)<<9, Time: 1_700_000_000_000_000 + int64(i)})
			}
			return tp
		}},
		{"nothing but segments", func() *Tape {
			tp := &Tape{}
			for i := range events {
				tp.Append(Event{Kind: SegmentAlloc, Bytes: 20 * unit.MiB, Addr: 1<<46 + uint64(i)<<9, Time: 1_700_000_000_000_000 + int64(i)})
			}
			return tp
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := heap()
			tp := c.make()
			got := float64(heap()-before) / float64(tp.Len())
			t.Logf("%.1f bytes an event", got)
			if got > maxEventBytes {
				t.Errorf("%.1f bytes an event, the limit is %d", got, maxEventBytes)
			}
			runtime.KeepAlive(tp)
		})
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkAppend(b *testing.B) {
	b.ReportAllocs()
	tp := &Tape{}
	for i := range b.N {
		tp.Append(Event{Kind: Alloc, Bytes: 4096, Addr: uint64(i) << 9, Time: int64(i)})
	}
}
