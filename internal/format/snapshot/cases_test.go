package snapshot

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// facts is what CPython's own unpickler finds in a file; the names are those
// of expected.json.
type facts struct {
	Segments     int                       `json:"segments"`
	Blocks       int                       `json:"blocks"`
	Reserved     unit.Bytes                `json:"reserved_bytes"`
	Allocated    unit.Bytes                `json:"allocated_bytes"`
	Active       unit.Bytes                `json:"active_bytes"`
	PartlyUsed   unit.Bytes                `json:"inactive_bytes_in_partly_used_segments"`
	WholeFree    unit.Bytes                `json:"whole_free_segments_bytes"`
	LargestFree  unit.Bytes                `json:"largest_free_block_bytes"`
	Devices      map[string]map[string]int `json:"devices_with_events"`
	Peaks        map[string]peak           `json:"trace_peak"`
	SettingsKeys []string                  `json:"allocator_settings_keys"`
}

type peak struct {
	Rise unit.Bytes `json:"peak_rise_above_first_event_bytes"`
	At   int        `json:"at_event"`
	Net  unit.Bytes `json:"net_change_bytes"`
}

func TestPublicRecordings(t *testing.T) {
	dir := os.Getenv("PLIMSOLL_CASES")
	if dir == "" {
		t.Skip("PLIMSOLL_CASES is not set")
	}
	text, err := os.ReadFile(filepath.Join(dir, "snapshots", "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]facts
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	for name, w := range want {
		t.Run(name, func(t *testing.T) {
			got := factsOf(readFile(t, filepath.Join(dir, "snapshots", name)))
			if w.Devices == nil {
				w.Devices, w.Peaks = map[string]map[string]int{}, map[string]peak{}
			}
			if diff := cmp.Diff(got, w); diff != "" {
				t.Errorf("-got +want\n%s", diff)
			}
		})
	}
}

func readFile(t testing.TB, path string) *Snapshot {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Read(bytes.NewReader(data), int64(len(data)), filepath.Base(path), input.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// actionNames are the names in files of the kinds on tapes.
var actionNames = map[tape.Kind]string{
	tape.Alloc: "alloc", tape.FreeRequested: "free_requested", tape.Free: "free_completed",
	tape.SegmentAlloc: "segment_alloc", tape.SegmentFree: "segment_free", tape.SegmentMap: "segment_map",
	tape.SegmentUnmap: "segment_unmap", tape.OOM: "oom", tape.Snapshot: "snapshot",
}

func factsOf(s *Snapshot) facts {
	out := facts{Devices: map[string]map[string]int{}, Peaks: map[string]peak{}}
	for i, tp := range s.Tapes {
		for _, seg := range s.Final[i] {
			out.addSegment(seg)
		}
		if tp.Len() == 0 {
			continue
		}
		device := strconv.Itoa(int(s.Devices[i]))
		out.Devices[device] = map[string]int{}
		var now unit.Bytes
		p := peak{}
		for n := range tp.Len() {
			e := tp.Event(n)
			out.Devices[device][actionNames[e.Kind]]++
			switch e.Kind {
			case tape.Alloc:
				now += e.Bytes
			case tape.Free:
				now -= e.Bytes
			}
			if now > p.Rise {
				p.Rise, p.At = now, n
			}
		}
		p.Net = now
		out.Peaks[device] = p
	}
	if s.Settings != nil {
		out.SettingsKeys = slices.Sorted(maps.Keys(s.Settings))
	}
	return out
}

func (f *facts) addSegment(s tape.Segment) {
	f.Segments++
	f.Blocks += len(s.Blocks)
	f.Reserved += s.Bytes
	var free unit.Bytes
	for _, b := range s.Blocks {
		switch b.State {
		case tape.Active:
			f.Allocated += b.Bytes
			f.Active += b.Bytes
		case tape.PendingFree:
			f.Active += b.Bytes
		default:
			free += b.Bytes
			f.LargestFree = max(f.LargestFree, b.Bytes)
		}
	}
	if free == s.Bytes {
		f.WholeFree += free
	} else {
		f.PartlyUsed += free
	}
}
