package snapshot

import (
	"maps"
	"slices"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Facts is what a file says as it stands, before anything is worked out:
// counts and sums that another reader can check. The sums are over all
// devices.
type Facts struct {
	Segments  int        `json:"segments"`
	Blocks    int        `json:"blocks"`
	Reserved  unit.Bytes `json:"reserved_bytes"`
	Allocated unit.Bytes `json:"allocated_bytes"` // blocks that are handed out
	Active    unit.Bytes `json:"active_bytes"`    // and those that wait for another stream
	// PartlyUsed is what lies free in segments of which some part is in use.
	PartlyUsed  unit.Bytes `json:"inactive_bytes_in_partly_used_segments"`
	WholeFree   unit.Bytes `json:"whole_free_segments_bytes"`
	LargestFree unit.Bytes `json:"largest_free_block_bytes"`

	// Events counts the events of each device by action, Peaks tells how the
	// bytes in use rose and fell over them; both are nil for a bare list of
	// segments, which has no place for events.
	Events map[string]map[string]int `json:"devices_with_events,omitzero"`
	Peaks  map[string]TracePeak      `json:"trace_peak,omitzero"`
	// SettingsKeys are the names of the allocator's settings, sorted; nil
	// when the file has none.
	SettingsKeys []string `json:"allocator_settings_keys,omitzero"`
}

// A TracePeak is how requested bytes moved over the events of a device,
// counted from the first event. A block counts until its free completes.
type TracePeak struct {
	Rise unit.Bytes `json:"peak_rise_above_first_event_bytes"`
	At   int        `json:"at_event"` // the first event that reached it
	Net  unit.Bytes `json:"net_change_bytes"`
}

// addSegment counts a segment with its blocks as the file lists them.
func (f *Facts) addSegment(s *segment) {
	f.Segments++
	f.Blocks += len(s.blocks)
	f.Reserved += unit.Bytes(s.size)
	var free unit.Bytes
	used := false
	for _, b := range s.blocks {
		size := unit.Bytes(b.size)
		switch b.state {
		case tape.Active:
			f.Allocated += size
			f.Active += size
			used = true
		case tape.PendingFree:
			f.Active += size
			used = true
		default:
			free += size
			f.LargestFree = max(f.LargestFree, size)
		}
	}
	if used {
		f.PartlyUsed += free
	} else {
		f.WholeFree += free
	}
}

// finishFacts completes what was counted while the file was read.
func (r *recording) finishFacts() Facts {
	f := r.facts
	if r.sawTraces || !r.bareList {
		f.Events, f.Peaks = map[string]map[string]int{}, map[string]TracePeak{}
	}
	for i, t := range r.traces {
		if t.count == 0 {
			continue
		}
		device := strconv.Itoa(i)
		f.Events[device] = t.counts()
		f.Peaks[device] = t.peak
	}
	if r.settings != nil {
		f.SettingsKeys = slices.Sorted(maps.Keys(r.settings))
	}
	return f
}

// counts are the events of a trace by the name of their action.
func (t *trace) counts() map[string]int {
	out := map[string]int{}
	for name, kind := range actions {
		if n := t.kinds[kind]; n > 0 && kind != tape.Other {
			out[name] = n
		}
	}
	maps.Copy(out, t.others)
	return out
}

// maxOthers bounds how many names of unknown actions are told apart.
const maxOthers = 100

// note counts an event that is about to be added.
func (t *trace) note(action string, e *event) {
	t.kinds[e.kind]++
	p := &t.peak
	switch e.kind {
	case tape.Alloc:
		if p.Net += unit.Bytes(e.size); p.Net > p.Rise {
			p.Rise, p.At = p.Net, t.count
		}
	case tape.Free:
		p.Net -= unit.Bytes(e.size)
	case tape.Other:
		if t.others == nil {
			t.others = map[string]int{}
		}
		if t.others[action] > 0 || len(t.others) < maxOthers {
			t.others[action]++
		}
	}
}
