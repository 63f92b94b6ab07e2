// Package snapshot reads PyTorch's memory snapshots: pickles of protocols 2
// to 5 by torch.cuda.memory._dump_snapshot or by its C++ writer, and the same
// data as JSON.
//
// A snapshot holds the state at its end and the events before it, of which
// the oldest may be missing. The tapes begin with the state before the first
// event that is there, worked out from both.
//
// Sizes on the tapes are what operators asked for. Nothing in a file is run.
package snapshot

import (
	"errors"
	"fmt"
	"io"

	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// A Snapshot is what one file says.
type Snapshot struct {
	// Tapes holds one tape for each device that has events or segments, by
	// rising device number.
	Tapes []*tape.Tape
	// Devices are the numbers of the devices, with the same index as Tapes.
	Devices []uint8
	// Final is the state at the end as the file has it, with the same index
	// as Tapes. Blocks in use carry the ids of the tape.
	Final [][]tape.Segment
	// Settings are the allocator's settings as the file has them: strings,
	// bools, int64s, float64s and maps of these. Nil when it has none, as
	// before PyTorch 2.3.
	Settings map[string]any
	// Annotations are the ranges that were recorded beside the events, in
	// the order of the file.
	Annotations []Annotation
	// Contexts says which compile context and user metadata events had; it
	// has the same index as Tapes.
	Contexts [][]Context
	// Facts are counts and sums of the file as it stands.
	Facts Facts
	// Old reports that blocks have no addresses, as before PyTorch 2.1.
	Old bool
	// Warnings qualify what stands in the other fields.
	Warnings []Warning
	// Truncated reports that the file ends early, at byte Size.
	Truncated bool
	Size      int64
}

// An Annotation is one end of a named range of time.
type Annotation struct {
	Name   string // "Optimizer.step#AdamW.step"
	Begin  bool   // else the range ends here
	Device int    // -1 when the file does not say
	Time   int64  // microseconds since the epoch, 0 when unknown
}

// A Context holds from event Event on until the next one.
type Context struct {
	Event    int
	Compile  string // of torch.compile, "0/0"; "" when there was none
	Metadata string // set by the user
}

// A Warning says what a reader of the snapshot cannot rely on.
type Warning struct {
	Code    string // kebab-case
	Device  int    // -1 when it is about the whole file
	Message string // one sentence without a full stop
}

// Read reads a snapshot of size bytes; the name stands in errors. When the
// file ends early it returns what can be told and an error that wraps
// input.ErrTruncated.
func Read(r io.ReaderAt, size int64, name string, lim input.Limits) (*Snapshot, error) {
	in := input.NewReader(r, size, name, lim)
	prefix, err := in.Window(4 << 10)
	if err != nil {
		return nil, err
	}
	var rec *recording
	switch kind, reason := classify(prefix); kind {
	case pickleFile:
		rec, err = readPickle(in)
	case jsonFile:
		rec = newRecording(in)
		err = rec.readJSON(r)
	default:
		return nil, in.Errorf(0, "no memory snapshot: %s", reason)
	}
	defer rec.wait()
	if err != nil && !errors.Is(err, input.ErrTruncated) {
		return nil, err
	}
	rec.truncated = err != nil
	if !rec.truncated && !rec.sawSegments && !rec.sawTraces {
		return nil, in.Errorf(-1, `no memory snapshot: neither "segments" nor "device_traces" is in it`)
	}
	s, buildErr := rec.snapshot()
	if buildErr != nil {
		return nil, fmt.Errorf("%s: %w", name, buildErr)
	}
	return s, err
}
