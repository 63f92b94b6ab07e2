package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/alloc"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A moment is what was there when the most was allocated, and which segments
// when the most was reserved.
type moment struct {
	blocks   []block
	segments []unit.Bytes
}

// A block is a live allocation.
type block struct {
	bytes    unit.Bytes // as asked for
	rounding unit.Bytes // that the allocator added
	kind     string     // its category, as its side calls it
	origin   string     // the event and the line that made it, or the tensor's shape
}

// helper is the folder of what runs beside the script, whose frames say nothing.
const helper = "/_plimsoll/"

// readTape replays a capture up to its peak.
func readTape(path string) (moment, error) {
	f, err := os.Open(path)
	if err != nil {
		return moment{}, err
	}
	defer f.Close()
	t, err := tape.Read(bufio.NewReader(f))
	if err != nil {
		return moment{}, err
	}
	line, err := alloc.Replay(t, alloc.Settings{}, 0)
	if err != nil {
		return moment{}, err
	}
	var m moment
	if len(line.Devices) == 0 {
		return m, fmt.Errorf("%s: no device has events", path)
	}
	for _, l := range line.Live(line.Devices[0].PeakAllocatedEvent) {
		made := t.Block(l.Block)
		origin := fmt.Sprintf("event %d", made.Alloc)
		for _, f := range t.Site(made.Site) {
			if !strings.Contains(f.File, helper) {
				origin += fmt.Sprintf(", %s:%d %s", f.File, f.Line, f.Name)
				break
			}
		}
		m.blocks = append(m.blocks, block{l.Requested, l.Bytes - l.Requested, made.Category.String(), origin})
	}
	m.segments = fullest(t)
	return m, nil
}

// fullest is the segments that were there when they were the most.
func fullest(t *tape.Tape) []unit.Bytes {
	live, sum, most := map[uint64]unit.Bytes{}, unit.Bytes(0), unit.Bytes(0)
	var out []unit.Bytes
	for i := range t.Len() {
		switch e := t.Event(i); e.Kind {
		case tape.SegmentAlloc:
			live[e.Addr] = e.Bytes
			if sum += e.Bytes; sum > most {
				most, out = sum, out[:0]
				for _, bytes := range live {
					out = append(out, bytes)
				}
			}
		case tape.SegmentFree:
			sum -= live[e.Addr]
			delete(live, e.Addr)
		}
	}
	return out
}

// readWatch reads what watch.py wrote.
func readWatch(path string) (moment, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return moment{}, err
	}
	var w struct {
		Blocks   [][3]json.RawMessage `json:"blocks"`
		Segments []unit.Bytes         `json:"segments"`
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return moment{}, err
	}
	m := moment{segments: w.Segments}
	for _, fields := range w.Blocks {
		var b block
		var shape []int
		for i, into := range []any{&b.bytes, &b.kind, &shape} {
			if err := json.Unmarshal(fields[i], into); err != nil {
				return moment{}, err
			}
		}
		b.origin = fmt.Sprint("shape ", shape)
		m.blocks = append(m.blocks, b)
	}
	return m, nil
}

// only pairs blocks of equal size and returns those of a that b has no equal
// of, largest first.
func only(a, b []block) []block {
	left := map[unit.Bytes]int{}
	for _, x := range b {
		left[x.bytes]++
	}
	var out []block
	for _, x := range a {
		if left[x.bytes] > 0 {
			left[x.bytes]--
			continue
		}
		out = append(out, x)
	}
	slices.SortStableFunc(out, func(x, y block) int { return cmp.Compare(y.bytes, x.bytes) })
	return out
}
