package view

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Totals are the sums over the blocks and segments of a range.
type Totals struct {
	Peak         Moment // of the allocated bytes
	PeakReserved Moment // of the reserved bytes
	First, Last  Moment // the ends of the range
	// HasReserved reports that the tape knows what was held from the
	// driver.
	HasReserved bool
	// Kinds counts the events of the device by kind.
	Kinds map[tape.Kind]int
	// OOMs are the failed requests, the first ones where there are many.
	OOMs []OOM
	// Overview are the highest levels of equal stretches of the range.
	Overview []Moment
	// Timed reports that the events have times.
	Timed bool
}

// A Moment is a state and its levels.
type Moment struct {
	State     int
	Allocated unit.Bytes // in blocks
	Requested unit.Bytes // what operators asked for
	Reserved  unit.Bytes // held from the driver
	Blocks    int
}

// An OOM is a request that failed.
type OOM struct {
	State     int
	Requested unit.Bytes // after rounding
	Free      unit.Bytes // what the driver had
}

// mostOOMs bounds the failed requests that are listed; a loop that tries
// again and again makes thousands.
const mostOOMs = 200

// overviewLength is the number of stretches of an overview.
const overviewLength = 1200

// A walker keeps the levels while the events go by.
type walker struct {
	d      *Drawing
	now    Moment
	live   []uint64 // one bit a block
	totals *Totals
}

// total walks over all events up to the end of the range.
func (d *Drawing) total() error {
	t := Totals{Kinds: map[tape.Kind]int{}}
	w := &walker{d: d, totals: &t, live: make([]uint64, (d.Tape.Blocks()+63)/64)}
	w.initial()
	for i := range d.From {
		if err := w.step(i); err != nil {
			return err
		}
	}
	t.First = w.now
	t.Peak, t.PeakReserved = w.now, w.now
	t.Overview = make([]Moment, min(overviewLength, d.States()))
	w.look(0)
	for i := d.From; i < d.To; i++ {
		if err := w.step(i); err != nil {
			return err
		}
		w.note(i)
		w.look(i - d.From + 1)
	}
	t.Last = w.now
	d.Totals = t
	return nil
}

func (w *walker) initial() {
	for i := range w.d.Tape.Initial {
		s := &w.d.Tape.Initial[i]
		if s.Device != w.d.Device {
			continue
		}
		w.now.Reserved += min(s.Bytes, most)
		w.totals.HasReserved = true
		for _, b := range s.Blocks {
			if b.State == tape.Active {
				w.begin(b.Block)
			}
		}
	}
}

// step changes the levels as event i does.
func (w *walker) step(i int) error {
	t := w.d.Tape
	k := t.Kind(i)
	if k.HasBlock() {
		id := t.BlockOf(i)
		if _, device, _ := t.Request(id); device != w.d.Device {
			return nil
		}
		if k == tape.Alloc {
			w.begin(id)
		} else if w.live[id/64]>>(id%64)&1 != 0 {
			w.end(id)
		}
		if w.now.Allocated > most {
			return fmt.Errorf("event %d: the blocks in use add up to %s, which no GPU has", i, w.now.Allocated)
		}
		return nil
	}
	e := t.Event(i)
	if e.Device != w.d.Device {
		return nil
	}
	switch k {
	case tape.SegmentAlloc, tape.SegmentMap:
		w.now.Reserved += e.Bytes
		w.totals.HasReserved = true
	case tape.SegmentFree, tape.SegmentUnmap:
		w.now.Reserved -= e.Bytes
	}
	if w.now.Reserved > most {
		return fmt.Errorf("event %d: the segments add up to %s, which no GPU has", i, w.now.Reserved)
	}
	return nil
}

func (w *walker) begin(id tape.BlockID) {
	n, _, _ := w.d.Tape.Request(id)
	w.live[id/64] |= 1 << (id % 64)
	w.now.Requested += n
	w.now.Allocated += w.d.Size(n)
	w.now.Blocks++
}

func (w *walker) end(id tape.BlockID) {
	n, _, _ := w.d.Tape.Request(id)
	w.live[id/64] &^= 1 << (id % 64)
	w.now.Requested -= n
	w.now.Allocated -= w.d.Size(n)
	w.now.Blocks--
}

// note counts event i of the range.
func (w *walker) note(i int) {
	t, k := w.d.Tape, w.d.Tape.Kind(i)
	if k.HasBlock() {
		if _, device, _ := t.Request(t.BlockOf(i)); device != w.d.Device {
			return
		}
		w.totals.Kinds[k]++
		return
	}
	e := t.Event(i)
	if e.Device != w.d.Device {
		return
	}
	w.totals.Kinds[k]++
	if k == tape.OOM && len(w.totals.OOMs) < mostOOMs {
		w.totals.OOMs = append(w.totals.OOMs, OOM{State: i - w.d.From + 1, Requested: e.Bytes, Free: unit.Bytes(min(e.Addr, uint64(most)))})
	}
}

// look compares the levels of a state with the highest so far.
func (w *walker) look(state int) {
	t := w.totals
	w.now.State = state
	if w.now.Allocated > t.Peak.Allocated {
		t.Peak = w.now
	}
	if w.now.Reserved > t.PeakReserved.Reserved {
		t.PeakReserved = w.now
	}
	at := &t.Overview[state*len(t.Overview)/w.d.States()]
	if w.now.Allocated >= at.Allocated {
		reserved := at.Reserved
		*at = w.now
		at.Reserved = reserved
	}
	at.Reserved = max(at.Reserved, w.now.Reserved)
}

// EachState calls f with every event of the device in the range and the levels
// after it.
func (d *Drawing) EachState(f func(event int, e tape.Event, now Moment) error) error {
	w := &walker{d: d, totals: &Totals{}, live: make([]uint64, (d.Tape.Blocks()+63)/64)}
	w.initial()
	for i := range d.To {
		if err := w.step(i); err != nil {
			return err
		}
		if i < d.From {
			continue
		}
		e := d.Tape.Event(i)
		if e.Device != d.Device {
			continue
		}
		w.now.State = i - d.From + 1
		if err := f(i, e, w.now); err != nil {
			return err
		}
	}
	return nil
}
