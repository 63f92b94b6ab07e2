// Package view prepares the drawing of a recording: which blocks were in use
// when, in which segments, and who asked for them.
//
// A drawing has states, not events, on its horizontal axis: state 0 is what
// was there before the first event of the range, and state k what the k-th
// event left. A block is an interval of states, a segment is one, and both the
// page and the exports are made of these intervals.
//
// Sizes are those of the tape, rounded up as the allocator does; what it does
// not split off is told by a replay only. Package page shows a drawing.
package view

import (
	"errors"
	"fmt"
	"math"

	"github.com/plimsoll-dev/plimsoll/internal/alloc"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Recording is the tape of one device and what its file says beside it.
type Recording struct {
	Tape     *tape.Tape
	Device   uint8
	Final    []tape.Segment // the state at the end as the file has it, nil when it has none
	Settings alloc.Settings // in force when it was recorded
	Room     unit.Bytes     // what the allocator could get from the driver, 0 when unknown
	Ranges   []Range        // named ranges of time, such as steps of an optimizer
	Warnings []Warning
}

// A Range is a named stretch of time in microseconds since the epoch.
type Range struct {
	Name     string
	From, To int64
}

// A Warning says what a reader of the drawing cannot rely on.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Options say which part of a recording is drawn. The zero value draws all of
// it.
type Options struct {
	// From and To bound the events, From <= e < To; To 0 is the end.
	From, To int
	// MostBlocks bounds the blocks of the drawing, 0 for 6,000,000. When the
	// range holds more, the events around the peak are drawn.
	MostBlocks int
	// Category says what a block holds; nil takes the tape's word.
	Category func(tape.BlockID) tape.Category
}

// defaultMostBlocks takes 150 MB in a browser.
const defaultMostBlocks = 6_000_000

// A Drawing is a range of a recording's events with its totals.
type Drawing struct {
	Recording
	From, To int // events
	// Narrowed reports that the range is smaller than what was asked for,
	// since it holds too many blocks.
	Narrowed bool
	Totals   Totals
	// Blocks are the ids of the blocks that were in use at some moment of
	// the range: all from First on, and before it those of Earlier.
	Earlier []tape.BlockID
	First   tape.BlockID
	Last    tape.BlockID // one past the last
	// Segments are what was held from the driver at some moment of the
	// range.
	Segments []Segment
	Lines    *Lines

	later    int // blocks of the device from First on
	category func(tape.BlockID) tape.Category
	waiting  map[tape.BlockID]bool // given up before the first event, and not free yet
}

// States is the number of states: one more than events.
func (d *Drawing) States() int { return d.To - d.From + 1 }

// ErrRange is returned, wrapped, for a range without events.
var ErrRange = errors.New("no events in this range")

// New draws a recording.
func New(r Recording, o Options) (*Drawing, error) {
	n := r.Tape.Len()
	if o.To == 0 || o.To > n {
		o.To = n
	}
	if o.From < 0 || o.From > o.To || o.From == o.To && n > 0 {
		return nil, fmt.Errorf("events %d to %d of %d: %w", o.From, o.To, n, ErrRange)
	}
	if o.MostBlocks <= 0 {
		o.MostBlocks = defaultMostBlocks
	}
	d := &Drawing{Recording: r, From: o.From, To: o.To, category: o.Category, waiting: waiting(r)}
	if d.category == nil {
		d.category = func(b tape.BlockID) tape.Category { return r.Tape.Block(b).Category }
	}
	d.Lines = newLines(r.Tape)
	if err := d.total(); err != nil {
		return nil, err
	}
	d.chooseBlocks()
	for d.BlockCount() > o.MostBlocks && d.States() > 2*minimalRange {
		d.narrow(o.MostBlocks)
		if err := d.total(); err != nil {
			return nil, err
		}
		d.chooseBlocks()
	}
	var err error
	d.Segments, err = d.segments()
	return d, err
}

// minimalRange is the number of events that a drawing is not narrowed below.
const minimalRange = 1000

// narrow takes the events around the peak that have about so many blocks.
func (d *Drawing) narrow(most int) {
	share := 0.98 * float64(most-len(d.Earlier)) / float64(d.BlockCount()) // blocks are not even over the events
	events := max(int(float64(d.To-d.From)*max(share, 0)), minimalRange)
	from := min(max(d.Totals.Peak.State+d.From-events/2, d.From), d.To-events)
	d.From, d.To = from, from+events
	d.Narrowed = true
}

// waiting are the blocks that were given up before the first event.
func waiting(r Recording) map[tape.BlockID]bool {
	out := map[tape.BlockID]bool{}
	for _, s := range r.Tape.Initial {
		for _, b := range s.Blocks {
			if b.State == tape.PendingFree {
				out[b.Block] = true
			}
		}
	}
	return out
}

// BlockCount is the number of blocks of the drawing.
func (d *Drawing) BlockCount() int { return len(d.Earlier) + d.later }

// chooseBlocks finds the blocks that were in use in the range. Ids follow the
// events that made them, so that those made in the range lie side by side.
func (d *Drawing) chooseBlocks() {
	d.Earlier = nil
	n := d.Tape.Blocks()
	first := n
	for b := range n {
		block := d.Tape.Block(tape.BlockID(b))
		if block.Alloc >= d.From {
			first = b
			break
		}
		if block.Device == d.Device && (block.Free < 0 || block.Free >= d.From) && !d.waiting[tape.BlockID(b)] {
			d.Earlier = append(d.Earlier, tape.BlockID(b))
		}
	}
	last := first
	low, high := first, n
	for low < high { // the first block that is made after the range
		mid := (low + high) / 2
		if d.Tape.Block(tape.BlockID(mid)).Alloc < d.To {
			low = mid + 1
		} else {
			high = mid
		}
	}
	last = max(last, low)
	d.First, d.Last, d.later = tape.BlockID(first), tape.BlockID(last), last-first
	if d.Tape.Devices() == 1 && d.Device == 0 {
		return
	}
	d.later = 0
	for id := d.First; id < d.Last; id++ {
		if _, device, _ := d.Tape.Request(id); device == d.Device {
			d.later++
		}
	}
}

// Each calls f with every block of the drawing, by id, and the states in which
// it was in use: from start up to end, which is States() when nothing ended
// it.
func (d *Drawing) Each(f func(id tape.BlockID, b tape.Block, start, end int)) {
	one := func(id tape.BlockID) {
		b := d.Tape.Block(id)
		if b.Device != d.Device {
			return
		}
		start, end := 0, d.States()
		if b.Alloc >= d.From {
			start = b.Alloc - d.From + 1
		}
		if b.Free >= 0 && b.Free < d.To {
			end = b.Free - d.From + 1
		}
		f(id, b, start, end)
	}
	for _, id := range d.Earlier {
		one(id)
	}
	for id := d.First; id < d.Last; id++ {
		one(id)
	}
}

// Size is what a request takes from the allocator.
func (d *Drawing) Size(requested unit.Bytes) unit.Bytes {
	return max(requested, 1).RoundUp(least)
}

// Category says what a block holds.
func (d *Drawing) Category(b tape.BlockID) tape.Category { return d.category(b) }

// least is the smallest block of PyTorch's allocator, kMinBlockSize in
// c10/cuda/CUDACachingAllocator.cpp (2.0 to 2.15).
const least unit.Bytes = 512

// most bounds what is added up: no GPU has more, and sums stay numbers.
const most unit.Bytes = math.MaxInt64 / 4

// Used reports whether the device has a segment or an event.
func (r *Recording) Used() bool {
	for i := range r.Tape.Initial {
		if r.Tape.Initial[i].Device == r.Device {
			return true
		}
	}
	for i := range r.Tape.Len() {
		if r.Tape.Event(i).Device == r.Device {
			return true
		}
	}
	return false
}
