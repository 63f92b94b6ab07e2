// Package attribute says of each block on a recorded tape what it holds,
// which module and which line of the user's code made it, and what was live
// at a moment.
//
// What is known comes from the helper: marks by allocation count, and labels
// by address. What nobody labelled is judged by when it was allocated and
// when it was given up, by the rules in rules.go; each rule says why.
//
// It is pure: no files, no processes, no clock.
package attribute

import (
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Mark is a line of the helper's marks: something happened on a device
// after Count allocations, that is, before allocation number Count from 0.
type Mark struct {
	Device uint8
	Count  int
	Kind   string // "phase", "step", "enter", "exit", "empty_cache", "pool", "fraction", "note"
	Value  string
	Name   string
}

// A Label is a line of the helper's labels: after Count allocations the block
// that covers Addr held a tensor of this category.
type Label struct {
	Device   uint8
	Count    int
	Category tape.Category
	Addr     uint64
	Bytes    unit.Bytes // of the tensor, not of the block
	Name     string     // qualified, "layers.0.weight"; may be empty
}

// Input is what is known of one device of one process.
type Input struct {
	Tape   *tape.Tape // as the snapshot reader made it, of one device
	Marks  []Mark     // of that device, in the order they were made
	Labels []Label    // of that device
	// Before is how many allocations were made before the tape's first
	// event, because the recording was cut.
	Before int
	// Flushes says that memory which goes back to the driver unasked for does
	// so because a library emptied the cache.
	Flushes bool
	// UserDirs are the folders whose files are the user's own code.
	UserDirs []string
	// HelperDir is the folder of the helper, whose frames are skipped.
	HelperDir string
}

// A Recording is a tape of one device whose blocks are attributed.
type Recording struct {
	Tape    *tape.Tape
	Unknown int // labels whose address no block covers

	modules moduleTable
	lines   lineTable
}

// Attribute makes a Recording. The input's tape is not changed.
func Attribute(in Input) *Recording {
	r := &Recording{lines: newLineTable(in.UserDirs, in.HelperDir)}
	counts := allocations(in.Tape, in.Before)
	r.Tape = joined(in, counts)
	r.modules.read(r.Tape)
	r.label(in.Labels, allocations(r.Tape, in.Before))
	r.judge()
	return r
}

// A counter turns allocation counts into event indices.
type counter struct {
	events []int // of each Alloc
	before int
	length int
}

func allocations(t *tape.Tape, before int) counter {
	c := counter{before: before, length: t.Len()}
	for i := range t.Len() {
		if t.Kind(i) == tape.Alloc {
			c.events = append(c.events, i)
		}
	}
	return c
}

// event is where something stands that happened after count allocations: at
// the next allocation. Frees between the last allocation and the mark come
// before it, which is right for the ends of phases: what a phase drops at its
// end is dropped by it.
func (c counter) event(count int) int {
	n := count - c.before
	switch {
	case n < 0:
		return 0
	case n >= len(c.events):
		return c.length
	}
	return c.events[n]
}

// last is the event of the last allocation made before count, -1 when there
// is none.
func (c counter) last(count int) int {
	n := min(count-c.before, len(c.events)) - 1
	if n < 0 {
		return -1
	}
	return c.events[n]
}
