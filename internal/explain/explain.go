package explain

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/internal/alloc"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Which moment is explained.
const (
	AtFailure = "oom"  // the last request that failed
	AtPeak    = "peak" // when most was in use
	AtEnd     = "end"  // there are no events, or none with a block
)

// An Explanation is the answer about one device of one recording.
type Explanation struct {
	Device uint8
	Events int
	Cut    bool   // the recording ends early: what was in use is known in part
	Conf   string // settings that it ran under, "" when there are none or they are not known
	Steps  StepInfo
	Levels *Levels
	Which  string  // moment that is explained
	Moment *Moment // the state there
	Peak   *Moment // when most was in use; the same as Moment where that is explained
	End    *Moment // at the end, with the layout that was recorded
	// Failures are the requests that failed, in order.
	Failures []Failure
	Growth   *Growth
	Unused   *Unused
	Passes   *Passes
	Check    Check
	// Counterfactuals are grouped by kind, the best first.
	Counterfactuals []Counterfactual
	Findings        []finding.Finding

	recording *Recording
	offered   map[string]bool // names of counterfactuals that are remedies
}

// Explain answers. The tape of the input gets phases, marks of steps and
// categories as far as they can be told.
func Explain(in Input) *Explanation {
	r := New(in)
	e := &Explanation{Device: in.Device, Events: in.Tape.Len(), Cut: in.Cut, Conf: r.Conf(), Steps: r.Steps, recording: r}
	e.Levels = r.levels()
	e.choose()
	ahead := e.ahead()
	layouts, compared := e.check()
	early := ahead()
	e.moments(layouts)
	e.Growth = r.growth(e.event())
	e.Unused = r.unused(e.event())
	e.Passes = r.passes(e.event())
	if e.Check.Exact && !in.Plain {
		e.replay(compared, early)
	}
	e.Findings = e.findings()
	return e
}

// choose says which moment is explained.
func (e *Explanation) choose() {
	switch l := e.Levels; {
	case len(l.Failures) > 0:
		e.Which = AtFailure
	case l.EndOfUse >= 0:
		e.Which = AtPeak
	default:
		e.Which = AtEnd
	}
}

// event is the moment that is explained.
func (e *Explanation) event() int {
	switch e.Which {
	case AtFailure:
		return e.Levels.Failures[len(e.Levels.Failures)-1]
	case AtPeak:
		return e.Levels.RequestedAt
	}
	return e.Events - 1
}

// versions are the allocators that are tried when a recording does not name
// its PyTorch; between them its rules changed.
var versions = []alloc.Version{alloc.Newest, {Major: 2, Minor: 8}, {Major: 2, Minor: 6}, {Major: 2, Minor: 4}, {Major: 2, Minor: 1}}

// check compares the recording with the model of the allocator and returns
// the layouts of the moments, by event, as far as they are certain.
func (e *Explanation) check() (map[int][]tape.Segment, *alloc.Comparison) {
	r, c := e.recording, &e.Check
	switch {
	case e.Levels.EndOfUse < 0:
		c.Why = "the recording has no events to replay"
		return nil, nil
	case r.Cut:
		c.Why = "the recording ends early, so that what was in use before its first event is not known in full"
		return nil, nil
	case !e.Levels.Segments:
		c.Why = "the recording does not say what was got from the driver"
		return nil, nil
	}
	at := append([]int{e.event(), e.Levels.RequestedAt}, e.Levels.Failures...)
	slices.Sort(at)
	at = slices.Compact(at)
	tried := versions
	if r.Settings.Version != (alloc.Version{}) {
		tried = []alloc.Version{r.Settings.Version}
	}
	var best *alloc.Comparison
	for _, v := range tried {
		s := r.Settings
		s.Version = v
		got, err := alloc.VerifyAt(r.Tape, s, r.Final, at)
		if err != nil {
			c.Why = err.Error()
			return nil, nil
		}
		if best == nil || got.Total < best.Total {
			best, c.Version = got, v.String()
			r.Settings.Version = v
		}
		if best.Equal() {
			break
		}
	}
	best = e.tryRanges(best, at)
	c.take(best, int(r.Device))
	layouts := map[int][]tape.Segment{}
	if best.Equal() {
		for _, m := range best.Moments {
			layouts[m.Event] = m.Segments
		}
	}
	return layouts, best
}

// take notes what was compared.
func (c *Check) take(got *alloc.Comparison, device int) {
	c.Done, c.Exact = true, got.Equal()
	c.Allocs, c.Blocks, c.Flushes = got.Allocs, got.Blocks, got.Flushes
	c.Segments = got.SegmentAllocs + got.SegmentFrees + got.Maps + got.Unmaps
	c.Differences = got.Total
	for _, d := range got.Differences[:min(len(got.Differences), 3)] {
		c.First = append(c.First, d.String())
	}
	c.Recorded = got.Devices[device].Peak
	c.Retries = got.Devices[device].Retries
}

// moments fills in what was in use.
func (e *Explanation) moments(layouts map[int][]tape.Segment) {
	r := e.recording
	moment := func(event int) *Moment {
		m := r.at(event)
		if layout, ok := layouts[event]; ok {
			m.Split = r.split(layout)
			m.Reserved = m.Split.Reserved
		} else if e.Levels.Segments {
			m.Reserved = r.reservedAt(event)
		}
		if m.Split == nil && event >= e.Levels.EndOfUse && r.Final != nil && !r.Cut {
			m.Split = r.split(r.Final)
			m.Reserved = m.Split.Reserved
		}
		return m
	}
	e.Peak = moment(e.Levels.RequestedAt)
	e.End = moment(e.Events - 1)
	if r.Final != nil {
		e.End.Split = r.split(r.Final)
		e.End.Reserved = e.End.Split.Reserved
	}
	for _, event := range e.Levels.Failures {
		e.Failures = append(e.Failures, r.failure(event, e.Levels.failedAt[event], moment(event)))
	}
	switch e.Which {
	case AtFailure:
		e.Moment = moment(e.event())
	case AtPeak:
		e.Moment = e.Peak
	default:
		e.Moment = e.End
	}
}

// early are replays that were made while the recording was checked, for the
// settings and the room that they assumed.
type early struct {
	done    map[string]outcome
	version alloc.Version
	reserve *alloc.Reserve
	room    unit.Bytes
}

// ahead begins to replay a long recording while it is checked, as if the
// check found nothing to add. It returns what ends that and gives the results.
func (e *Explanation) ahead() func() *early {
	r := e.recording
	if r.Plain || r.Cut || !e.Levels.Segments || e.Levels.EndOfUse < 0 || r.Tape.Len() < longTape {
		return func() *early { return nil }
	}
	s := r.Settings
	if s.Version == (alloc.Version{}) {
		s.Version = versions[0]
	}
	x := &early{version: s.Version, reserve: s.Reserve}
	p := &player{r: r, s: s, largest: e.Levels.largest}
	x.room, _ = e.roomIf(0)
	p.room = x.room
	changes := []change{{}}
	if len(r.Tape.Initial) > 0 {
		changes = append(changes, change{anew: true})
	}
	changes = append(changes, p.settingChanges()...)
	var stop atomic.Bool
	var wait sync.WaitGroup
	wait.Go(func() { x.done = p.ahead(changes, &stop) })
	return func() *early {
		stop.Store(true)
		wait.Wait()
		return x
	}
}

// replay checks the unchanged replay and then changes it.
func (e *Explanation) replay(compared *alloc.Comparison, x *early) {
	r := e.recording
	p := &player{r: r, s: r.Settings, largest: e.Levels.largest, base: alloc.Edit{Marks: compared.Marks, Cuts: compared.Emptied}}
	p.room, e.Check.RoomFrom = e.room()
	e.Check.Room = p.room
	if x != nil && x.room == p.room && x.version == p.s.Version && x.reserve == p.s.Reserve && len(p.base.Marks)+len(p.base.Cuts) == 0 {
		p.done = x.done
	}
	same, failed, err := p.play(change{})
	if err == nil && failed && len(e.Failures) == 0 && e.Check.Retries > 0 {
		// With so little room a request would have failed, and none did: the
		// cache was given back by calls, not to make room.
		p.base.Cuts = alloc.Join(p.base.Cuts, compared.Retried)
		p.room, e.Check.RoomFrom = e.roomIf(0)
		e.Check.Room, e.Check.Retries, p.done = p.room, 0, nil
		same, failed, err = p.play(change{})
	}
	if err != nil {
		e.Check.Exact, e.Check.Why = false, err.Error()
		return
	}
	e.Check.Replayed, e.Check.DriverCalls = same.Peak, same.DriverCalls()
	if failed != (len(e.Failures) > 0) {
		// The room that was worked out, or a tie that fell otherwise, changes
		// the outcome: then nothing can be told about other outcomes.
		e.Check.Exact = false
		e.Check.Why = fmt.Sprintf("replayed unchanged at its own addresses in %s the outcome is another (a request fails: %t, recorded: %t)", p.room, failed, !failed)
		return
	}
	anew := same.Peak.Reserved
	if len(r.Tape.Initial) > 0 {
		if d, oom, err := p.play(change{anew: true}); err == nil {
			anew = d.Peak.Reserved
			e.Check.Anew = &Baseline{d.Peak.Reserved, d.DriverCalls(), oom}
		}
	}
	list := p.settingChanges()
	list = append(list, p.callChanges(e.Levels)...)
	list = append(list, p.causeChanges(e.Moment, e.Growth, e.Failures)...)
	all := p.all(list, same.Peak.Reserved, anew)
	for _, kind := range []string{SettingChange, CallChange, CauseRemoved} {
		of := slices.DeleteFunc(slices.Clone(all), func(c Counterfactual) bool { return c.Kind != kind })
		if kind != CauseRemoved {
			of = bestOf(of, group)
		}
		slices.SortStableFunc(of, better)
		e.Counterfactuals = append(e.Counterfactuals, of...)
	}
}

// room is what the allocator could get from the driver while it was recorded.
func (e *Explanation) room() (room unit.Bytes, from string) { return e.roomIf(e.Check.Retries) }

// roomIf is that room when the cache was given back so many times.
func (e *Explanation) roomIf(retries int64) (room unit.Bytes, from string) {
	r := e.recording
	if n := len(e.Levels.Failures); n > 0 {
		last := e.Levels.Failures[n-1]
		failed := r.Tape.Event(last)
		reserved, free := e.Levels.failedAt[last], unit.Bytes(failed.Addr)
		if segment := alloc.SegmentSize(r.Settings, failed.Bytes); free >= segment {
			// A limit refused: it lies between what was held and that with
			// the request.
			if e.Levels.Reserved < reserved+segment {
				reserved = max(reserved, e.Levels.Reserved)
			}
			return reserved, fmt.Sprintf("%s reserved when the request was refused although the driver had %s free", reserved, free)
		}
		return reserved + free, fmt.Sprintf("%s reserved and %s free by the driver when the request failed", reserved, free)
	}
	if retries > 0 {
		return e.Levels.Reserved, fmt.Sprintf("the reserved peak, since the cache was given back %d times to make room", retries)
	}
	if r.Capacity > 0 {
		return r.Capacity - r.Context, "the device's memory without the context"
	}
	return 0, ""
}
