package cli

import (
	"github.com/plimsoll-dev/plimsoll/internal/alloc"
	"github.com/plimsoll-dev/plimsoll/internal/explain"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A recordingPart is what the JSON of plimsoll explain tells of a recording
// beside the facts of its file.
type recordingPart struct {
	Devices  []recordingDevice  `json:"devices"`
	Warnings []recordingWarning `json:"warnings"`

	lead *explain.Explanation // that the answer is about
}

// A recordingWarning qualifies the numbers.
type recordingWarning struct {
	Code    string `json:"code"`
	Device  int    `json:"device"` // -1 when it is about the whole file
	Message string `json:"message"`
}

// A recordingDevice is one device of a recording.
type recordingDevice struct {
	Device     int                `json:"device"`
	Events     int                `json:"events"`
	Steps      int                `json:"steps"`      // that ended
	StepSource string             `json:"steps_from"` // "" when steps are not known
	Explained  string             `json:"explained"`  // oom, peak or end
	Peak       recordingPeak      `json:"peak"`
	Moment     recordingMoment    `json:"moment"` // that is explained
	End        *recordingSplit    `json:"end,omitempty"`
	Failures   []recordingFailure `json:"failures,omitempty"`
	Growth     *recordingGrowth   `json:"growth,omitempty"`
}

// A recordingPeak is how high the device came.
type recordingPeak struct {
	Requested   unit.Bytes `json:"requested_bytes"`
	RequestedAt int        `json:"requested_at_event"` // -1: before the first
	Reserved    unit.Bytes `json:"reserved_bytes"`
	ReservedAt  int        `json:"reserved_at_event"`
}

// A recordingMoment is what is in use right after an event.
type recordingMoment struct {
	Event      int                   `json:"event"`
	Phase      string                `json:"phase"`
	Step       int                   `json:"step"` // 0 when not known
	Requested  unit.Bytes            `json:"requested_bytes"`
	Blocks     int                   `json:"blocks"`
	Before     unit.Bytes            `json:"before_recording_bytes"`
	NoStack    unit.Bytes            `json:"no_stack_bytes"`
	ByCategory map[string]unit.Bytes `json:"by_category"`
	ByLibrary  []recordingLibrary    `json:"by_library"`
	BySite     []recordingSite       `json:"by_site"`
	Reserved   *recordingSplit       `json:"reserved,omitempty"`
}

type recordingLibrary struct {
	Library string     `json:"library"`
	Bytes   unit.Bytes `json:"bytes"`
	Blocks  int        `json:"blocks"`
}

// A recordingPlace is a call site.
type recordingPlace struct {
	Site     string `json:"site"` // for people
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Function string `json:"function,omitempty"`
	Via      string `json:"via,omitempty"` // line of a library
	Operator string `json:"operator,omitempty"`
}

type recordingSite struct {
	recordingPlace
	Category string     `json:"category"`
	Bytes    unit.Bytes `json:"bytes"`
	Blocks   int        `json:"blocks"`
	Largest  unit.Bytes `json:"largest_block_bytes"`
}

// A recordingSplit tells where the reserved memory is; the first parts add up
// to reserved_bytes.
type recordingSplit struct {
	Reserved    unit.Bytes      `json:"reserved_bytes"`
	Requested   unit.Bytes      `json:"requested_bytes"`
	Rounding    unit.Bytes      `json:"rounding_bytes"`
	Pending     unit.Bytes      `json:"pending_free_bytes"`
	Holes       unit.Bytes      `json:"holes_bytes"`
	WholeFree   unit.Bytes      `json:"whole_free_segments_bytes"`
	Private     unit.Bytes      `json:"private_pools_free_bytes"`
	LargestHole unit.Bytes      `json:"largest_hole_bytes"`
	Pins        []recordingPin  `json:"pins"`
	Free        []recordingFree `json:"free"`
}

type recordingPin struct {
	recordingPlace
	Segments int        `json:"segments"`
	Free     unit.Bytes `json:"free_bytes"`
	Held     unit.Bytes `json:"held_bytes"`
	Addr     uint64     `json:"address"` // of the block that stays the longest in the emptiest segment
	Bytes    unit.Bytes `json:"block_bytes"`
	Segment  unit.Bytes `json:"segment_bytes"`
}

type recordingFree struct {
	Pool    [2]uint64  `json:"pool"`
	Stream  uint64     `json:"stream"`
	Small   bool       `json:"small"`
	Bytes   unit.Bytes `json:"bytes"`
	Largest unit.Bytes `json:"largest_bytes"`
	Pieces  int        `json:"pieces"`
}

type recordingFailure struct {
	recordingPlace
	Event       int         `json:"event"`
	Time        int64       `json:"time_us"`
	Phase       string      `json:"phase"`
	Step        int         `json:"step"`
	Cause       string      `json:"cause"`
	Rounded     unit.Bytes  `json:"request_bytes"`
	Segment     unit.Bytes  `json:"segment_bytes"`
	Stream      uint64      `json:"stream"`
	Requested   unit.Bytes  `json:"requested_bytes"`
	Reserved    unit.Bytes  `json:"reserved_bytes"`
	DriverFree  unit.Bytes  `json:"driver_free_bytes"`
	Outside     *unit.Bytes `json:"outside_bytes,omitempty"`
	LargestFree unit.Bytes  `json:"largest_usable_free_bytes"`
	UsableFree  unit.Bytes  `json:"usable_free_bytes"`
	AllFree     unit.Bytes  `json:"free_bytes"`
	Short       unit.Bytes  `json:"short_bytes"`
}

type recordingGrowth struct {
	First   int             `json:"first_step"`
	Last    int             `json:"last_step"`
	PerStep unit.Bytes      `json:"per_step_bytes"`
	Total   unit.Bytes      `json:"total_bytes"`
	Graph   bool            `json:"keeps_graphs"`
	Sites   []recordingLeft `json:"sites"`
}

type recordingLeft struct {
	recordingPlace
	Category string     `json:"category"`
	PerStep  unit.Bytes `json:"per_step_bytes"`
	Total    unit.Bytes `json:"total_bytes"`
	Blocks   int        `json:"blocks"`
	Steps    int        `json:"steps"`
}

// A replayPart is how the unchanged recording replays.
type replayPart struct {
	Exact   bool           `json:"exact"` // on every device that could be checked, and on one at least
	Devices []replayDevice `json:"devices"`
}

type replayDevice struct {
	Device      int          `json:"device"`
	Checked     bool         `json:"checked"`
	Exact       bool         `json:"exact"`
	Why         string       `json:"why,omitempty"` // it is not checked or no counterfactual is given
	Torch       string       `json:"torch,omitempty"`
	Allocations int          `json:"allocations"`
	Segments    int          `json:"segment_events"`
	Blocks      int          `json:"final_blocks"`
	Flushes     int          `json:"flushes"`
	Differences int          `json:"differences"`
	First       []string     `json:"first_differences,omitempty"`
	Recorded    *replayLevel `json:"recorded,omitempty"`
	Replayed    *replayLevel `json:"replayed,omitempty"`
	Retries     int64        `json:"retries"`
	DriverCalls int64        `json:"driver_calls"`
	Anew        *replayAnew  `json:"anew,omitempty"`
	Room        unit.Bytes   `json:"room_bytes"` // 0: no limit is known
	RoomFrom    string       `json:"room_from,omitempty"`
}

// A replayAnew is the unchanged replay in which what was in use before the
// recording began is asked for too.
type replayAnew struct {
	Reserved    unit.Bytes `json:"reserved_bytes"`
	DriverCalls int64      `json:"driver_calls"`
	OOM         bool       `json:"oom"`
}

type replayLevel struct {
	Requested unit.Bytes `json:"requested_bytes"`
	Allocated unit.Bytes `json:"allocated_bytes"`
	Reserved  unit.Bytes `json:"reserved_bytes"`
}

// A counterfactualPart is what a change would have given.
type counterfactualPart struct {
	Device      int        `json:"device"`
	Kind        string     `json:"kind"`
	Name        string     `json:"name"`
	Action      string     `json:"action"`
	Flag        string     `json:"flag,omitempty"`
	Assumes     string     `json:"assumes,omitempty"`
	Exactness   string     `json:"exactness"`
	Reserved    unit.Bytes `json:"reserved_bytes"`
	Allocated   unit.Bytes `json:"allocated_bytes"`
	Saves       unit.Bytes `json:"saves_bytes"`
	Anew        bool       `json:"anew"` // it is compared with the replay of that name
	DriverCalls int64      `json:"driver_calls"`
	Retries     int64      `json:"retries"`
	OOM         bool       `json:"oom"`
}

// Lists in JSON are cut here; tables of the text are shorter still.
const (
	mostSites = 200
	mostPins  = 50
)

func deviceOf(e *explain.Explanation) recordingDevice {
	d := recordingDevice{
		Device: int(e.Device), Events: e.Events, Steps: e.Steps.Ended, StepSource: e.Steps.Source, Explained: e.Which,
		Peak:   recordingPeak{e.Levels.Requested, e.Levels.RequestedAt, e.Levels.Reserved, e.Levels.ReservedAt},
		Moment: momentOf(e.Moment), End: splitOf(e.End.Split), Growth: growthOf(e.Growth),
	}
	for i := range e.Failures {
		d.Failures = append(d.Failures, failureOf(&e.Failures[i]))
	}
	return d
}

func placeOf(p explain.Place, operator string) recordingPlace {
	return recordingPlace{Site: p.String(), File: p.File, Line: p.Line, Function: p.Function, Via: p.Via, Operator: operator}
}

func momentOf(m *explain.Moment) recordingMoment {
	out := recordingMoment{
		Event: m.Event, Phase: m.Phase.String(), Step: m.Step, Requested: m.Requested, Blocks: m.Blocks, Before: m.Before, NoStack: m.Nameless,
		ByCategory: map[string]unit.Bytes{}, ByLibrary: []recordingLibrary{}, BySite: []recordingSite{}, Reserved: splitOf(m.Split),
	}
	for _, c := range tape.Categories() {
		if b := m.ByCategory[c]; b > 0 {
			out.ByCategory[c.String()+"_bytes"] = b
		}
	}
	for _, l := range m.ByLibrary {
		out.ByLibrary = append(out.ByLibrary, recordingLibrary{l.Library, l.Bytes, l.Blocks})
	}
	for _, s := range m.ByPlace[:min(len(m.ByPlace), mostSites)] {
		out.BySite = append(out.BySite, recordingSite{placeOf(s.Place, s.Operator), s.Category.String(), s.Bytes, s.Blocks, s.Largest})
	}
	return out
}

func splitOf(s *explain.Split) *recordingSplit {
	if s == nil {
		return nil
	}
	out := &recordingSplit{
		Reserved: s.Reserved, Requested: s.Requested, Rounding: s.Rounding, Pending: s.Pending, Holes: s.Holes, WholeFree: s.WholeFree,
		Private: s.Private, LargestHole: s.LargestHole, Pins: []recordingPin{}, Free: []recordingFree{},
	}
	for _, p := range s.Pins[:min(len(s.Pins), mostPins)] {
		out.Pins = append(out.Pins, recordingPin{placeOf(p.Place, ""), p.Segments, p.Free, p.Held, p.Addr, p.Bytes, p.Segment})
	}
	for _, f := range s.Free {
		out.Free = append(out.Free, recordingFree(f))
	}
	return out
}

func failureOf(f *explain.Failure) recordingFailure {
	return recordingFailure{
		recordingPlace: placeOf(f.Place, f.Operator), Event: f.Event, Time: f.Time, Phase: f.Phase.String(), Step: f.Step, Cause: f.Cause,
		Rounded: f.Rounded, Segment: f.Segment, Stream: f.Stream, Requested: f.Requested, Reserved: f.Reserved, DriverFree: f.DriverFree,
		Outside: f.Outside, LargestFree: f.LargestFree, UsableFree: f.UsableFree, AllFree: f.AllFree, Short: f.Short,
	}
}

func growthOf(g *explain.Growth) *recordingGrowth {
	if g == nil {
		return nil
	}
	out := &recordingGrowth{First: g.First, Last: g.Last, PerStep: g.PerStep, Total: g.Total, Graph: g.Graph}
	for _, s := range g.Places {
		out.Sites = append(out.Sites, recordingLeft{placeOf(s.Place, s.Operator), s.Category.String(), s.PerStep, s.Total, s.Blocks, s.Steps})
	}
	return out
}

func replayOf(list []*explain.Explanation) *replayPart {
	out := &replayPart{Devices: []replayDevice{}}
	checked, exact := 0, 0
	for _, e := range list {
		c := &e.Check
		d := replayDevice{
			Device: int(e.Device), Checked: c.Done, Exact: c.Exact, Why: c.Why, Torch: c.Version, Allocations: c.Allocs, Segments: c.Segments,
			Blocks: c.Blocks, Flushes: c.Flushes, Differences: c.Differences, First: c.First, Retries: c.Retries, DriverCalls: c.DriverCalls,
			Room: c.Room, RoomFrom: c.RoomFrom,
		}
		if c.Done {
			checked++
			d.Recorded = levelOf(c.Recorded)
		}
		if c.Exact {
			exact++
			d.Replayed = levelOf(c.Replayed)
			if a := c.Anew; a != nil {
				d.Anew = &replayAnew{a.Reserved, a.DriverCalls, a.OOM}
			}
		}
		out.Devices = append(out.Devices, d)
	}
	out.Exact = checked > 0 && exact == checked
	return out
}

func levelOf(l alloc.Level) *replayLevel { return &replayLevel{l.Requested, l.Allocated, l.Reserved} }

func counterfactualsOf(list []*explain.Explanation) []any {
	var out []any
	for _, e := range list {
		for _, c := range e.Counterfactuals {
			out = append(out, counterfactualPart{
				Device: int(e.Device), Kind: c.Kind, Name: c.Name, Action: c.Action, Flag: c.Flag, Assumes: c.Assumes, Exactness: string(c.Exact),
				Reserved: c.Reserved, Allocated: c.Allocated, Saves: c.Saves, Anew: c.Anew, DriverCalls: c.DriverCalls, Retries: c.Retries, OOM: c.OOM,
			})
		}
	}
	return out
}
