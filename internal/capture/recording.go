package capture

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/attribute"
	"github.com/plimsoll-dev/plimsoll/internal/whatif"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Recording is one card as one process used it, with all that is known of
// its blocks.
type Recording struct {
	*attribute.Recording
	Process  int // index into Result.Processes
	Device   int // CUDA index
	Snapshot string
	// Parameters are those of the models of the process, where Options.Operators
	// asked for them.
	Parameters []Parameter

	used   helperDevice
	steps  []helperStep
	room   unit.Bytes // that the replay was given
	replay whatif.Outcome
	// replayErr is why there is no replay.
	replayErr error
	// needs is the least that the process must have of the device, without
	// the context.
	needs unit.Bytes
}

// deviceBytes is what the driver gave the process, without the context.
func (r *Recording) deviceBytes() unit.Bytes { return max(r.used.DriverPeak, r.used.ReservedPeak) }

// record reads the snapshot of one process and attributes it. Devices on which
// nothing was allocated are left out.
func record(n int, w written, o Options, dirs userDirs) ([]Recording, []Warning, error) {
	if len(w.result.Devices) == 0 {
		return nil, nil, nil
	}
	tapes, warnings, err := readSnapshot(w.snapshot())
	if err != nil {
		return nil, nil, fmt.Errorf("read the recording of process %d: %w", w.result.PID, err)
	}
	var all []Recording
	for _, used := range w.result.Devices {
		if used.AllocatedPeak == 0 && used.DriverPeak == 0 {
			continue
		}
		t := tapes[used.Index]
		if t == nil {
			t = &tape.Tape{} // nothing was allocated there through PyTorch
		}
		before := int(used.stat("allocation.all.allocated")) - count(t, tape.Alloc)
		in := attribute.Input{
			Tape: t, Marks: ofDevice(w.marks, used.Index, func(m attribute.Mark) uint8 { return m.Device }),
			Labels:   ofDevice(w.labels, used.Index, func(l attribute.Label) uint8 { return l.Device }),
			UserDirs: dirs.user, HelperDir: dirs.helper,
		}
		conf := cmp.Or(t.Meta["alloc_conf"], w.result.AllocConf, o.allocConf())
		in.Flushes = flushesShow(in.Marks, used, conf)
		if before > 0 {
			in.Before = before
			warnings = append(warnings, Warning{"recording-cut", fmt.Sprintf(
				"the recording of device %d lacks the first %d allocations, so what they hold is not named", used.Index, before)})
		}
		r := Recording{Recording: attribute.Attribute(in), Process: n, Device: used.Index, Snapshot: w.snapshot(), used: used, Parameters: w.result.Parameters}
		for _, s := range w.result.Steps {
			if s.Device == used.Index {
				r.steps = append(r.steps, s)
			}
		}
		r.describe(w, o)
		all = append(all, r)
	}
	return all, warnings, nil
}

// flushesShow reports whether memory that goes back to the driver shows that a
// library emptied the cache, as cuDNN's benchmark does before each search. It
// also goes back when the allocator is short of memory or collects garbage,
// and when a private pool ends; these a replay does by itself.
func flushesShow(marks []attribute.Mark, used helperDevice, conf string) bool {
	pools := slices.ContainsFunc(marks, func(m attribute.Mark) bool { return m.Kind == "pool" })
	return !pools && used.stat("num_alloc_retries") == 0 && used.stat("num_ooms") == 0 && !strings.Contains(conf, "garbage_collection_threshold")
}

// userDirs are the folders that tell the user's own code apart.
type userDirs struct {
	user   []string
	helper string
}

// describe fills in the tape's own record of how it was made.
func (r *Recording) describe(w written, o Options) {
	set := r.Tape.SetMeta
	set("torch", w.result.Torch)
	set("cuda", w.result.CUDA)
	set("gpu", o.Card.Name)
	if r.Tape.Meta["alloc_conf"] == "" { // PyTorch's own recording says it from 2.1 on
		set("alloc_conf", cmp.Or(w.result.AllocConf, o.allocConf()))
	}
	set("capacity_bytes", strconv.FormatInt(int64(o.Card.Capacity), 10))
	set("context_bytes", strconv.FormatInt(int64(o.Context), 10))
	set("device", strconv.Itoa(r.Device))
	set("rank", strconv.Itoa(w.result.Rank))
	set("allocated_peak_bytes", strconv.FormatInt(int64(r.used.AllocatedPeak), 10))
	set("reserved_peak_bytes", strconv.FormatInt(int64(r.used.ReservedPeak), 10))
}

func count(t *tape.Tape, kind tape.Kind) int {
	n := 0
	for i := range t.Len() {
		if t.Kind(i) == kind {
			n++
		}
	}
	return n
}

func ofDevice[T any](rows []T, device int, of func(T) uint8) []T {
	var kept []T
	for _, row := range rows {
		if int(of(row)) == device {
			kept = append(kept, row)
		}
	}
	return kept
}
