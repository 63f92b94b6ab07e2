package strata

import (
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A walker goes through the events of one device and keeps its totals.
type walker struct {
	tape      *tape.Tape
	options   Options
	live      []bool
	next      int // of options.Reserved
	allocated unit.Bytes
	reserved  unit.Bytes
}

// walk calls change for every block that begins (+size) or ends (-size), the
// initial ones at event -1, and then seen for every event of the device.
func walk(t *tape.Tape, o Options, change func(event int, b tape.BlockID, by unit.Bytes), seen func(event int, w *walker)) {
	w := &walker{tape: t, options: o, live: make([]bool, t.Blocks())}
	w.initial(change)
	for i := range t.Len() {
		e := t.Event(i)
		if e.Device != o.Device {
			continue
		}
		w.step(i, e, change)
		seen(i, w)
	}
}

func (w *walker) initial(change func(int, tape.BlockID, unit.Bytes)) {
	for _, s := range w.tape.Initial {
		if s.Device != w.options.Device {
			continue
		}
		w.reserved += s.Bytes
		for _, b := range s.Blocks {
			if b.State == tape.Active {
				w.begin(-1, b.Block, b.Bytes, change)
			}
		}
	}
	if w.options.Reserved != nil {
		w.reserved = 0
	}
}

func (w *walker) step(i int, e tape.Event, change func(int, tape.BlockID, unit.Bytes)) {
	switch e.Kind {
	case tape.Alloc:
		w.begin(i, e.Block, w.size(e.Block, e.Bytes), change)
	case tape.Free, tape.FreeRequested:
		if w.live[e.Block] {
			w.live[e.Block] = false
			size := w.size(e.Block, e.Bytes)
			w.allocated -= size
			change(i, e.Block, -size)
		}
	}
	if w.options.Reserved != nil {
		for ; w.next < len(w.options.Reserved) && w.options.Reserved[w.next].Event <= i; w.next++ {
			w.reserved = w.options.Reserved[w.next].Bytes
		}
		return
	}
	switch e.Kind {
	case tape.SegmentAlloc, tape.SegmentMap:
		w.reserved += e.Bytes
	case tape.SegmentFree, tape.SegmentUnmap:
		w.reserved -= e.Bytes
	}
}

func (w *walker) begin(i int, b tape.BlockID, size unit.Bytes, change func(int, tape.BlockID, unit.Bytes)) {
	w.live[b] = true
	w.allocated += size
	change(i, b, size)
}

// least is the smallest block of PyTorch's allocator, kMinBlockSize in
// c10/cuda/CUDACachingAllocator.cpp (2.0 to 2.15).
const least unit.Bytes = 512

func (w *walker) size(b tape.BlockID, requested unit.Bytes) unit.Bytes {
	if w.options.BlockSize != nil {
		return w.options.BlockSize(b)
	}
	return max(requested, 1).RoundUp(least)
}
