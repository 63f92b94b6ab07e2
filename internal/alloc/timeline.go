package alloc

import (
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Level is how the memory of a device stands at one moment, in bytes.
type Level struct {
	Requested unit.Bytes // asked for by operators, of blocks in use
	Allocated unit.Bytes // in blocks that were handed out and not given up
	Reserved  unit.Bytes // held from the driver
}

// A Timeline is the outcome of a replay.
type Timeline struct {
	Devices []DeviceTimeline // by device number
	OOM     *OOMEvent        // the first request that failed, nil if none did

	replay *replay
}

// A DeviceTimeline is the outcome for one device.
type DeviceTimeline struct {
	// Peak holds the largest value of each amount; they need not have been
	// reached at the same time.
	Peak Level
	// PeakAllocatedEvent and PeakReservedEvent are the events that reached
	// the peaks, -1 for the initial state.
	PeakAllocatedEvent, PeakReservedEvent int
	// AtAllocated and AtReserved are the levels right after these events.
	AtAllocated, AtReserved Level
	// Final is the level at the end.
	Final Level
	// Retries are the requests that succeeded or failed only after a flush.
	Retries int64
	// DriverAllocs and DriverFrees count what was asked of the driver.
	DriverAllocs, DriverFrees int64
	// Stats are all counters under PyTorch's names.
	Stats map[string]int64
	// Curve is empty unless it was asked for.
	Curve []Point
}

// DriverCalls is the number of times memory was got from the driver or given
// back.
func (d *DeviceTimeline) DriverCalls() int64 { return d.DriverAllocs + d.DriverFrees }

// A Point is a stretch of a curve: the highest levels from event Event up to
// the next point.
type Point struct {
	Event int
	Level
}

// An OOMEvent is a request that failed.
type OOMEvent struct {
	Event    int // -1 when not even the initial state fits
	Device   int
	Block    tape.BlockID // NoBlock when the tape records the failure
	Recorded bool         // it failed when the tape was recorded, too
	Err      *OOMError

	survived bool // the program went on afterwards
}

// A watch follows the peaks of a device.
type watch struct {
	allocated, reserved     unit.Bytes
	atAllocated, atReserved int
	levelA, levelR          Level
	points                  []Point
}

func (d *device) level() Level {
	return Level{d.current(requestedBytes), d.current(allocatedBytes), d.reserved}
}

// watch starts to follow the peaks, with the initial state as the first.
func (r *replay) watch() {
	for _, d := range r.devices {
		r.watches = append(r.watches, newWatch(d))
	}
}

func newWatch(d *device) watch {
	l := d.level()
	return watch{allocated: l.Allocated, reserved: l.Reserved, atAllocated: -1, atReserved: -1, levelA: l, levelR: l}
}

// look is called after an event that may have raised a level.
func (w *watch) look(d *device, event int) {
	a := d.current(allocatedBytes)
	if a > w.allocated {
		w.allocated, w.atAllocated, w.levelA = a, event, d.level()
	}
	if d.reserved > w.reserved {
		w.reserved, w.atReserved, w.levelR = d.reserved, event, d.level()
	}
	if n := len(w.points); n > 0 {
		p := &w.points[n-1].Level
		p.Requested = max(p.Requested, d.current(requestedBytes))
		p.Allocated = max(p.Allocated, a)
		p.Reserved = max(p.Reserved, d.reserved)
	}
}

// curve runs the whole tape, in stretches that begin at the given events.
func (r *replay) curve(starts []int) {
	at := 0
	for _, first := range starts {
		r.run(at, first)
		at = first
		for i, d := range r.devices {
			w := &r.watches[i]
			w.points = append(w.points, Point{first, d.level()})
		}
	}
	r.run(at, r.tape.Len())
}

func (r *replay) timeline() *Timeline {
	t := &Timeline{OOM: r.oom, replay: r}
	for i, d := range r.devices {
		t.Devices = append(t.Devices, r.watches[i].timeline(d))
	}
	return t
}

// timeline is the outcome of what was watched.
func (w *watch) timeline(d *device) DeviceTimeline {
	return DeviceTimeline{
		Peak: Level{
			unit.Bytes(d.stats[allPools][requestedBytes].peak), unit.Bytes(d.stats[allPools][allocatedBytes].peak), unit.Bytes(d.stats[allPools][reservedBytes].peak),
		},
		PeakAllocatedEvent: w.atAllocated, PeakReservedEvent: w.atReserved, AtAllocated: w.levelA, AtReserved: w.levelR,
		Final: d.level(), Retries: d.scalars.retries, DriverAllocs: d.scalars.deviceAllocs, DriverFrees: d.scalars.deviceFrees,
		Stats: d.statistics(), Curve: w.points,
	}
}

// A LiveBlock is a block in use at some moment.
type LiveBlock struct {
	Block     tape.BlockID
	Device    int
	Addr      uint64     // in the replay
	Bytes     unit.Bytes // of the block, after rounding
	Requested unit.Bytes
}

// Live returns the blocks that were handed out and not given up right after
// an event, on all devices, by id; -1 is the initial state. It replays the
// tape again up to there.
func (t *Timeline) Live(event int) []LiveBlock {
	r, err := newReplay(t.replay.tape, t.replay.settings, t.replay.capacity, t.replay.edit)
	if err != nil {
		return nil // the first replay began with the same state and did not fail
	}
	r.run(0, min(event+1, r.tape.Len()))
	var list []LiveBlock
	for id, i := range r.indices {
		if i == 0 {
			continue
		}
		d := r.deviceOf(tape.BlockID(id))
		if b := &d.blocks[i]; b.state == live {
			list = append(list, LiveBlock{tape.BlockID(id), d.number, b.addr, b.size, b.requested})
		}
	}
	return list
}

// Segments returns the segments of a device and the blocks in them right
// after an event.
func (t *Timeline) Segments(device, event int) []tape.Segment {
	r, err := newReplay(t.replay.tape, t.replay.settings, t.replay.capacity, t.replay.edit)
	if err != nil || device < 0 || device >= len(r.devices) {
		return nil
	}
	r.run(0, min(event+1, r.tape.Len()))
	list := r.devices[device].segments()
	for i := range list {
		list[i].Stream = r.tape.InternStream(r.devices[device].streams[list[i].Stream])
	}
	return list
}
