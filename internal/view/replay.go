package view

import (
	"errors"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/internal/alloc"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Replay is the recording replayed under other settings.
type Replay struct {
	Conf        string     `json:"conf"`
	Check       string     `json:"check"` // how the replay under the recorded settings compares with the recording
	Recorded    unit.Bytes `json:"recorded"`
	Reserved    unit.Bytes `json:"reserved_bytes"`
	Allocated   unit.Bytes `json:"allocated_bytes"`
	DriverCalls int64      `json:"driver_calls"`
	Retries     int64      `json:"retries"`
	OOMState    *int       `json:"oom_state,omitempty"`
	// States and Levels are the reserved bytes as steps: Levels[i] is the
	// highest from States[i] up to the next.
	States []int        `json:"states"`
	Levels []unit.Bytes `json:"levels"`
	Map    *SegmentMap  `json:"map,omitempty"` // at the peak of the reserved bytes, where it is carried along

	timeline *alloc.Timeline
	peak     int // state
}

// A SegmentMap is the segments at one moment: address, bytes, flags (1 small,
// 2 expandable), pool, and the blocks in use as address, bytes and number in
// the drawing, -1 for those that are not in it.
type SegmentMap struct {
	State    int   `json:"state"`
	Segments []any `json:"segments"`
}

// ErrDiffers is returned, wrapped, when the recording cannot be replayed.
var ErrDiffers = errors.New("the replay of the recording does not do what was recorded")

// Settings that people try, in the order in which they are offered.
var Settings = []string{"expandable_segments:True", "max_split_size_mb:128", "garbage_collection_threshold:0.8", "roundup_power2_divisions:8"}

// curvePoints is how finely the reserved bytes of a replay are kept.
const curvePoints = 20_000

// Replay replays the recording under settings that are written as in
// PYTORCH_CUDA_ALLOC_CONF, on a device of the given room, 0 for no limit. What
// was in use before the recording is asked for again, so that the settings
// hold for it, too.
func (d *Drawing) Replay(conf string, check Check) (*Replay, error) {
	if check.Err != nil {
		return nil, check.Err
	}
	settings, err := alloc.ParseSettings(conf, check.version)
	if err != nil {
		return nil, fmt.Errorf("settings %q: %w", conf, err)
	}
	t, err := alloc.ReplayEditedStretches(d.Tape, settings, d.Room, check.edit, d.stretches())
	if err != nil {
		return nil, fmt.Errorf("replay with %q: %w", conf, err)
	}
	dev := &t.Devices[d.Device]
	r := &Replay{
		Conf: conf, Check: check.Text, Recorded: check.Reserved, Reserved: dev.Peak.Reserved, Allocated: dev.Peak.Allocated,
		DriverCalls: dev.DriverCalls(), Retries: dev.Retries, timeline: t,
	}
	if t.OOM != nil && t.OOM.Device == int(d.Device) {
		state := min(max(t.OOM.Event-d.From+1, 0), d.States()-1)
		r.OOMState = &state
	}
	for _, p := range dev.Curve {
		if n := len(r.Levels); n == 0 || r.Levels[n-1] != p.Reserved {
			r.States = append(r.States, min(max(p.Event-d.From+1, 0), d.States()))
			r.Levels = append(r.Levels, p.Reserved)
		}
		if p.Reserved == dev.Peak.Reserved && r.peak == 0 {
			r.peak = p.Event - d.From + 1
		}
	}
	return r, nil
}

// stretches are the events at which the levels of a replay are kept: even
// ones, over the range that is drawn.
func (d *Drawing) stretches() []int {
	n := d.To - d.From
	points := min(n, curvePoints)
	starts := make([]int, points)
	for i := range starts {
		starts[i] = d.From + i*n/points
	}
	return starts
}

// PeakMap puts the segments at the replay's peak into the replay, for a page
// that cannot ask.
func (d *Drawing) PeakMap(r *Replay) { r.Map = d.MapAt(r, r.peak) }

// A Check is how the recording compares with its own replay.
type Check struct {
	Text     string
	Reserved unit.Bytes // the peak under the recorded settings, to compare with
	Err      error      // wraps ErrDiffers when nothing can be concluded from a replay

	version alloc.Version
	edit    alloc.Edit
}

// versions are the PyTorch releases whose allocators differ, newest first. A
// snapshot does not say which one wrote it.
var versions = []alloc.Version{alloc.Newest, {Major: 2, Minor: 8}, {Major: 2, Minor: 6}, {Major: 2, Minor: 4}, {Major: 2, Minor: 1}}

// Verify replays the recording under its own settings and compares every
// address and every segment.
func (d *Drawing) Verify() Check {
	if d.Tape.Len() == 0 {
		return Check{Err: fmt.Errorf("%w: it has no events", ErrDiffers)}
	}
	c := Check{version: d.Settings.Version, edit: alloc.Edit{Anew: len(d.Tape.Initial) > 0}}
	if !d.Totals.HasReserved {
		c.Text = "The run was computed, so there is nothing to compare the replay with."
	} else if err := c.compare(d); err != nil {
		return Check{Err: err}
	}
	settings := d.Settings
	settings.Version = c.version
	base, err := alloc.ReplayEdited(d.Tape, settings, d.Room, c.edit)
	if err != nil {
		return Check{Err: err}
	}
	c.Reserved = base.Devices[d.Device].Peak.Reserved
	return c
}

// compare finds the version whose allocator does what was recorded.
func (c *Check) compare(d *Drawing) error {
	tried := versions
	if c.version != (alloc.Version{}) {
		tried = []alloc.Version{c.version}
	}
	var first *alloc.Comparison
	for _, v := range tried {
		s := d.Settings
		s.Version = v
		got, err := alloc.Verify(d.Tape, s, d.Final)
		if err != nil {
			return err
		}
		if got.Equal() {
			c.version, c.edit.Marks, c.edit.Cuts = v, got.Marks, got.Emptied
			c.Text = fmt.Sprintf("Checked first: under the recorded settings the replay gives all %d addresses and all %d segment events as recorded.",
				got.Allocs, got.SegmentAllocs+got.SegmentFrees+got.Maps+got.Unmaps)
			return nil
		}
		if first == nil {
			first = got
		}
	}
	return fmt.Errorf("%w in %d places, the first: %s", ErrDiffers, first.Total, first.Differences[0])
}

// MapAt returns the segments of a replay in a state.
func (d *Drawing) MapAt(r *Replay, state int) *SegmentMap {
	state = min(max(state, 0), d.States()-1)
	return d.segmentMap(r.timeline.Segments(int(d.Device), d.From+state-1), state)
}

func (d *Drawing) segmentMap(list []tape.Segment, state int) *SegmentMap {
	m := &SegmentMap{State: state, Segments: []any{}}
	number := d.numbers()
	for i := range list {
		s := &list[i]
		flags, pool := 0, ""
		if s.Small {
			flags |= 1
		}
		if s.Expandable {
			flags |= 2
		}
		if s.Pool != [2]uint64{} {
			pool = fmt.Sprintf("%d.%d", s.Pool[0], s.Pool[1])
		}
		blocks := []any{}
		for _, b := range s.Blocks {
			if b.State != tape.Inactive {
				blocks = append(blocks, []any{b.Addr, b.Bytes, number(b.Block)})
			}
		}
		m.Segments = append(m.Segments, []any{s.Addr, s.Bytes, flags, pool, blocks})
	}
	return m
}

// numbers tells the number of a block in the drawing, the order of Each; -1
// for others.
func (d *Drawing) numbers() func(tape.BlockID) int {
	earlier := map[tape.BlockID]int{}
	for i, b := range d.Earlier {
		earlier[b] = i
	}
	several := d.Tape.Devices() > 1
	var later map[tape.BlockID]int
	if several { // blocks of other devices lie between
		later = map[tape.BlockID]int{}
		n := len(d.Earlier)
		for b := d.First; b < d.Last; b++ {
			if _, device, _ := d.Tape.Request(b); device == d.Device {
				later[b] = n
				n++
			}
		}
	}
	return func(b tape.BlockID) int {
		if n, ok := earlier[b]; ok {
			return n
		}
		if several {
			if n, ok := later[b]; ok {
				return n
			}
			return -1
		}
		if b < d.First || b >= d.Last {
			return -1
		}
		return len(d.Earlier) + int(b-d.First)
	}
}
