package estimate

import (
	"fmt"
	"sync"

	"github.com/plimsoll-dev/plimsoll/internal/alloc"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A run is a tape that was played, and the allocator to replay it with.
type run struct {
	recipe   recipe.Recipe
	writer   *tape.Writer
	tape     *tape.Tape
	played   *Played
	settings alloc.Settings
	free     outcome // without a limit
}

// An outcome is what one replay came to.
type outcome struct {
	requested, allocated, reserved unit.Bytes // at the peak of what is allocated; reserved is its own peak
	event                          int        // of the allocated peak, -1 when nothing was allocated
	steps                          []alloc.Level
	steady                         unit.Bytes
	oom                            bool
	wanted                         unit.Bytes // where it ran out: the room that would have been enough there
}

// settingsOf reads the allocator's settings as the recipe's PyTorch does.
func settingsOf(r recipe.Recipe) (alloc.Settings, error) {
	version := alloc.Version{}
	if r.Torch != "" {
		v, err := alloc.ParseVersion(r.Torch)
		if err != nil {
			return alloc.Settings{}, &Error{Msg: err.Error()}
		}
		version = v
	}
	s, err := alloc.ParseSettings(r.AllocConf, version)
	if err != nil {
		return s, &Error{Msg: fmt.Sprintf("allocator settings %q: PyTorch %s refuses them: %v", r.AllocConf, version, err)}
	}
	if s.Backend == "cudaMallocAsync" {
		return s, &Error{Msg: "backend:cudaMallocAsync: memory is then handed out by the driver, whose rules are not known", Hint: "leave the backend out of the allocator's settings"}
	}
	return s, nil
}

// writers are used again, since growing them takes as long as writing.
var writers = sync.Pool{New: func() any { return new(tape.Writer) }}

// play plays a recipe on a kind of card and replays it without a limit.
func play(s Source, r recipe.Recipe, d kernel.Device, settings alloc.Settings) (*run, error) {
	out, err := perform(s, r, d, settings)
	if err == nil {
		err = out.settle()
	}
	return out, err
}

// perform plays a recipe on a kind of card.
func perform(s Source, r recipe.Recipe, d kernel.Device, settings alloc.Settings) (*run, error) {
	w, _ := writers.Get().(*tape.Writer)
	w.Reset()
	played, err := s.Play(r, d, w, Events)
	if err != nil {
		writers.Put(w)
		return nil, err
	}
	return &run{recipe: r, writer: w, tape: w.Tape(), played: played, settings: settings}, nil
}

// settle replays a run without a limit.
func (r *run) settle() (err error) {
	if r.free, err = r.replay(0); err == nil && r.free.oom {
		err = &Error{Msg: "one tensor of this run is larger than 2^60 bytes", Hint: "look at the sizes of the batch and of the model"}
	}
	return err
}

// release gives the tape back; nobody may look at it any more.
func (r *run) release() {
	writers.Put(r.writer)
	r.writer, r.tape = nil, nil
}

// replay lets the allocator take up to room bytes from the driver, 0 for no
// limit.
func (r *run) replay(room unit.Bytes) (outcome, error) {
	out := outcome{event: -1}
	// The first stretch is the building of the model. The last one begins
	// twice, so that the first of the two is empty and its point holds the
	// level at the end of the last step.
	starts := make([]int, 1, len(r.played.StepEnds)+3)
	starts = append(append(starts, r.loaded()), r.played.StepEnds...)
	starts = append(starts, starts[len(starts)-1])
	settings := r.settings
	if room == 0 {
		settings.Fraction = nil // without a limit there is nothing to have a share of
	}
	line, err := alloc.ReplayStretches(r.tape, settings, room, starts)
	if err != nil {
		return out, fmt.Errorf("replay: %w", err)
	}
	if out.oom = line.OOM != nil; out.oom && line.OOM.Err != nil {
		out.wanted = line.OOM.Err.Reserved + line.OOM.Err.Segment
	}
	if len(line.Devices) == 0 {
		return out, nil
	}
	d := line.Devices[0]
	out.requested, out.allocated, out.reserved, out.event = d.AtAllocated.Requested, d.Peak.Allocated, d.Peak.Reserved, d.PeakAllocatedEvent
	for i := range r.played.StepEnds {
		out.steps = append(out.steps, d.Curve[i+1].Level)
	}
	out.steady = d.Curve[len(d.Curve)-2].Allocated
	return out, nil
}

// loaded is the number of events until the model is built.
func (r *run) loaded() int {
	first := r.tape.Len()
	if len(r.played.StepEnds) > 0 {
		first = r.played.StepEnds[0]
	}
	for i := range first {
		if r.tape.PhaseOf(i) != tape.Load {
			return i
		}
	}
	return first
}

// within is what the run comes to on a device that has so much room: as
// without a limit where that is enough; else PyTorch gives back its cache, and
// may still fail.
func (r *run) within(room unit.Bytes) (outcome, error) {
	switch {
	case r.limitsItself():
		return r.inside(room)
	case r.free.reserved <= room:
		return r.free, nil
	case r.free.allocated > room:
		return outcome{oom: true}, nil
	}
	return r.inside(room)
}

// inside replays under a limit; no room at all is a failure.
func (r *run) inside(room unit.Bytes) (outcome, error) {
	if room <= 0 {
		return outcome{oom: true}, nil
	}
	return r.replay(room)
}

// limitsItself says that the settings bound the allocator by a share of the
// device, so that the size of the device always matters.
func (r *run) limitsItself() bool { return r.settings.Fraction != nil }

const (
	granularity = 2 * unit.MiB // what cudaMalloc rounds up to
	mostRoom    = 1 << 55      // of any device
)

// needs is the smallest room in which the run replays, to the driver's
// granularity. Where the settings leave the allocator a share of the device
// alone, what it reserves without a limit may be too little, and a share of
// nothing never does: the answer is 0 then.
func (r *run) needs() (unit.Bytes, error) {
	low, high := r.free.allocated.RoundUp(granularity), r.free.reserved.RoundUp(granularity)
	for r.limitsItself() {
		if high > mostRoom {
			return 0, nil
		}
		out, err := r.inside(high)
		if err != nil {
			return 0, err
		}
		if !out.oom {
			break
		}
		low, high = high+granularity, 2*high
	}
	return r.narrow(low, high)
}

// narrow is the smallest room from low to high in which the run replays, as it does in
// high. Rooms are halved; after one that was not enough, what was wanted there is tried,
// and after one that was, what was held.
func (r *run) narrow(low, high unit.Bytes) (unit.Bytes, error) {
	guess := high // none
	for low < high {
		room := low + (high-low)/2/granularity*granularity
		guessed := low <= guess && guess < high
		if guessed {
			room = guess
		}
		out, err := r.inside(room)
		if err != nil {
			return 0, err
		}
		held, wanted := min(room, out.reserved.RoundUp(granularity)), out.wanted.RoundUp(granularity)
		if r.limitsItself() { // they are of a share of the room
			held, wanted = room, high
		}
		switch {
		case out.oom && guessed: // elsewhere: a next guess would be as good as this one
			low, guess = room+granularity, high
		case out.oom:
			low, guess = room+granularity, wanted
		case guessed: // mostly the least
			high, guess = held, held-granularity
		default:
			high, guess = held, held
		}
	}
	return high, nil
}

// levels are the reserved bytes wherever they change.
func (r *run) levels(room unit.Bytes) ([]Level, error) {
	line, err := alloc.ReplayCurve(r.tape, r.settings, room, r.tape.Len())
	if err != nil || len(line.Devices) == 0 {
		return nil, err
	}
	var out []Level
	for _, p := range line.Devices[0].Curve {
		if n := len(out); n == 0 || out[n-1].Bytes != p.Reserved {
			out = append(out, Level{p.Event, p.Reserved})
		}
	}
	return out, nil
}
