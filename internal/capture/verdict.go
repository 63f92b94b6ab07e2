package capture

import (
	"github.com/plimsoll-dev/plimsoll/internal/whatif"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A target is a card that a verdict is about.
type target struct {
	name     string
	capacity unit.Bytes
	// beside is what each process takes beside the allocator.
	beside span
	// more is how much more than counted the libraries' scratch memory may be.
	more unit.Bytes
}

// verdictOn judges the recordings on a card. Each process brings a context;
// the cache of the allocator is given back when memory is short, so it is the
// replay under the card's capacity that decides, not the reserved peak.
func verdictOn(on target, recordings []Recording, a whatif.Allocator) Verdict {
	v := Verdict{GPU: on.name, Capacity: on.capacity, Verdict: Fits, Method: "replay"}
	for _, group := range byDevice(recordings) {
		var device, needs unit.Bytes
		for _, r := range group {
			device += r.deviceBytes() + on.beside.typical
			needs += r.needs + on.beside.typical
		}
		if len(group) > 1 {
			needs = device // processes do not give way to each other
		}
		v.Device, v.Needs = max(v.Device, device), max(v.Needs, needs)
		v.Verdict = worse(v.Verdict, deviceVerdict(on, group, a))
	}
	return v
}

// deviceVerdict judges the processes of one device.
func deviceVerdict(on target, group []Recording, a whatif.Allocator) string {
	room := func(beside, more unit.Bytes) unit.Bytes {
		return on.capacity - unit.Bytes(len(group))*(beside+more)
	}
	fits := func(room unit.Bytes) bool {
		if len(group) == 1 {
			outside := group[0].deviceBytes() - group[0].used.ReservedPeak
			return fitsIn(group[0], room-outside, a)
		}
		var sum unit.Bytes
		for _, r := range group {
			sum += r.deviceBytes()
		}
		return sum <= room
	}
	switch {
	case fits(room(on.beside.high, on.more)):
		return Fits
	case fits(room(on.beside.low, 0)):
		return MayNotFit
	}
	return DoesNotFit
}

// fitsIn reports whether the allocator can serve the recording with room
// bytes from the driver.
func fitsIn(r Recording, room unit.Bytes, a whatif.Allocator) bool {
	switch {
	case room < r.used.AllocatedPeak:
		return false
	case room >= r.used.ReservedPeak:
		return true // what was reserved was enough
	}
	again, err := a.Replay(r.Tape, room)
	return err == nil && !again.OOM
}

// byDevice groups recordings by the card they were made on.
func byDevice(recordings []Recording) [][]Recording {
	var groups [][]Recording
	index := map[int]int{}
	for _, r := range recordings {
		n, ok := index[r.Device]
		if !ok {
			n = len(groups)
			index[r.Device] = n
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], r)
	}
	return groups
}

var severity = map[string]int{Fits: 0, MayNotFit: 1, DoesNotFit: 2}

// worse is the worse of two verdicts.
func worse(a, b string) string {
	if severity[b] > severity[a] {
		return b
	}
	return a
}
