// Command recording compares a snapshot made by a capture with one that was
// recorded on a real GPU: every allocation and every free, in order and size.
//
// usage: recording RECORDED.pickle CAPTURED.pickle
//
// The recording began somewhere in the run, so it is looked for at the end of
// the capture. Events are allowed to be on one side only when they are named:
// those are printed, and the exit code is 1 when there is any.
package main

import (
	"fmt"
	"os"

	"github.com/plimsoll-dev/plimsoll/internal/format/snapshot"
	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: recording RECORDED.pickle CAPTURED.pickle")
		os.Exit(2)
	}
	recorded, err := load(os.Args[1])
	if err == nil {
		var captured *tape.Tape
		if captured, err = load(os.Args[2]); err == nil {
			if !compare(recorded, captured) {
				os.Exit(1)
			}
			return
		}
	}
	fmt.Fprintln(os.Stderr, "compare recordings:", err)
	os.Exit(2)
}

func load(path string) (*tape.Tape, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	s, err := snapshot.Read(f, info.Size(), path, input.Limits{})
	if err != nil {
		return nil, err
	}
	if len(s.Tapes) == 0 {
		return nil, fmt.Errorf("%s: no device has events", path)
	}
	return s.Tapes[0], nil
}

// A step is what is compared of an event: what was done, and to how much.
type step struct {
	free  bool
	bytes unit.Bytes
	event int
}

func steps(t *tape.Tape) []step {
	var out []step
	for i := range t.Len() {
		switch e := t.Event(i); e.Kind {
		case tape.Alloc:
			out = append(out, step{false, e.Bytes, i})
		case tape.Free:
			out = append(out, step{true, e.Bytes, i})
		}
	}
	return out
}

func same(a, b step) bool { return a.free == b.free && a.bytes == b.bytes }

// compare aligns the two from their ends and reports what only one has.
func compare(recorded, captured *tape.Tape) bool {
	r, c := steps(recorded), ending(steps(recorded), steps(captured))
	equal, only := align(r, c)
	fmt.Printf("recorded %d allocations and frees, %d of them equal in order and size\n", len(r), equal)
	for i, o := range only {
		if i == 20 {
			fmt.Printf("  and %d more\n", len(only)-i)
			break
		}
		t, side := recorded, "recorded only"
		if o.captured {
			t, side = captured, "captured only"
		}
		fmt.Printf("  %s: event %d, %s of %d bytes%s\n", side, o.step.event, verb(o.step), o.step.bytes, origin(t, o.step))
	}
	was, is := rise(recorded, 0, recorded.Len()), rise(captured, first(c, equal, only), c[len(c)-1].event+1)
	fmt.Printf("rise from the first recorded event to the peak: recorded %d bytes, captured %d bytes\n", was, is)
	return equal == len(r) && len(only) == 0 && was == is
}

func verb(s step) string {
	if s.free {
		return "free"
	}
	return "allocation"
}

func origin(t *tape.Tape, s step) string {
	frames := t.Site(t.Event(s.event).Site)
	if len(frames) == 0 {
		return ""
	}
	return fmt.Sprintf(" at %s:%d %s", frames[0].File, frames[0].Line, frames[0].Name)
}
