package alloc_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/alloc"
	"github.com/plimsoll-dev/plimsoll/internal/format/snapshot"
	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A replay with what Verify found out, flushes and pools, comes to the
// levels that the recording went through.
func TestReplayOfARecordingComesToItsLevels(t *testing.T) {
	files, err := filepath.Glob("testdata/recordings/*.pickle")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings (%v)", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			f, size, err := input.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			name := strings.TrimSuffix(file, ".pickle")
			capacity, err := unit.Parse(name[strings.LastIndexByte(name, '-')+1:])
			if err != nil {
				t.Fatal(err)
			}
			s, err := snapshot.Read(f, size, file, input.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			for i, tp := range s.Tapes {
				settings := alloc.FromSnapshot(s.Settings)
				if settings.Version, err = alloc.ParseVersion(filepath.Base(file)); err != nil {
					t.Fatal(err)
				}
				c, err := alloc.Verify(tp, settings, s.Final[i])
				if err != nil {
					t.Fatal(err)
				}
				r, err := alloc.ReplayEdited(tp, settings, capacity, alloc.Edit{Marks: c.Marks, Cuts: c.Emptied})
				if err != nil {
					t.Fatal(err)
				}
				d := s.Devices[i]
				got, want := r.Devices[d].Peak, c.Devices[d].Peak
				t.Logf("replayed %v, recorded %v, %d flushes, %d changes of pool", got, want, len(c.Emptied), len(c.Marks))
				if got != want {
					t.Errorf("replayed %v, recorded %v", got, want)
				}
			}
		})
	}
}

func TestEditsOfAReplay(t *testing.T) {
	tp := &tape.Tape{}
	tp.AddInitial(tape.Segment{Addr: 1 << 30, Bytes: 40 * unit.MiB, Blocks: []tape.SegmentBlock{
		{Addr: 1 << 30, Bytes: 20 * unit.MiB, Requested: 20 * unit.MiB, State: tape.Active, Block: tape.NoBlock},
		{Addr: 1<<30 + 20<<20, Bytes: 20 * unit.MiB, Block: tape.NoBlock},
	}})
	add := func(n unit.Bytes) tape.BlockID {
		id := tape.BlockID(tp.Blocks())
		tp.Append(tape.Event{Kind: tape.Alloc, Bytes: n})
		return id
	}
	b := add(60 * unit.MiB)
	add(80 * unit.MiB)
	peak := func(e alloc.Edit) alloc.Level {
		t.Helper()
		r, err := alloc.ReplayEdited(tp, alloc.Settings{}, 0, e)
		if err != nil {
			t.Fatal(err)
		}
		return r.Devices[0].Peak
	}
	for _, c := range []struct {
		name string
		edit alloc.Edit
		want alloc.Level
	}{
		{"none", alloc.Edit{}, alloc.Level{Requested: 160 * unit.MiB, Allocated: 160 * unit.MiB, Reserved: 180 * unit.MiB}},
		{"the initial state anew, without what was cached", alloc.Edit{Anew: true}, alloc.Level{Requested: 160 * unit.MiB, Allocated: 160 * unit.MiB, Reserved: 160 * unit.MiB}},
		{"half of a block", alloc.Edit{Bytes: func(id tape.BlockID, n unit.Bytes) unit.Bytes {
			if id == b {
				return n / 2
			}
			return n
		}}, alloc.Level{Requested: 130 * unit.MiB, Allocated: 130 * unit.MiB, Reserved: 150 * unit.MiB}},
		{"a block freed early stays cached", alloc.Edit{Cuts: []alloc.Cut{{Event: 1, Free: []tape.BlockID{b}}}},
			alloc.Level{Requested: 100 * unit.MiB, Allocated: 100 * unit.MiB, Reserved: 180 * unit.MiB}},
		{"and goes when the cache is emptied", alloc.Edit{Cuts: []alloc.Cut{{Event: 1, Free: []tape.BlockID{b}, EmptyCache: true}}},
			alloc.Level{Requested: 100 * unit.MiB, Allocated: 100 * unit.MiB, Reserved: 120 * unit.MiB}},
	} {
		if got := peak(c.edit); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Some platforms have addresses with the top bit set.
func TestReplayAboveHighAddresses(t *testing.T) {
	tp := &tape.Tape{}
	tp.AddInitial(tape.Segment{Addr: 0xff << 56, Bytes: 20 * unit.MiB, Blocks: []tape.SegmentBlock{
		{Addr: 0xff << 56, Bytes: 20 * unit.MiB, Requested: 20 * unit.MiB, State: tape.Active, Block: tape.NoBlock},
	}})
	tp.Append(tape.Event{Kind: tape.Alloc, Bytes: 60 * unit.MiB})
	r, err := alloc.Replay(tp, alloc.Settings{}, 0)
	if err != nil || r.OOM != nil || r.Devices[0].Peak.Reserved != 80*unit.MiB {
		t.Errorf("%+v, %v", r, err)
	}
}
