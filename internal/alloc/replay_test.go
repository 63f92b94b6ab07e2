package alloc

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// TestReplayHasPyTorchsPeaks makes tapes of the runs of PyTorch's own
// allocator that consist of allocations, frees and emptied caches, and
// compares the peaks, the retries and the driver calls of their replay.
func TestReplayHasPyTorchsPeaks(t *testing.T) {
	files, err := filepath.Glob("testdata/real/*.json")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var r realRun
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(r.Ops, func(op []any) bool { return !slices.Contains([]any{"a", "f", "e"}, op[0]) }) {
			continue
		}
		seen++
		t.Run(strings.TrimSuffix(filepath.Base(f), ".json"), func(t *testing.T) { comparePeaks(t, &r) })
	}
	if seen < 15 {
		t.Errorf("only %d runs", seen)
	}
}

func comparePeaks(t *testing.T, r *realRun) {
	v, err := ParseVersion(r.Version)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseSettings(r.Config, v)
	if err != nil {
		t.Fatal(err)
	}
	tl, err := Replay(realTape(r), s, r.Capacity)
	if err != nil {
		t.Fatal(err)
	}
	if (tl.OOM != nil) != (len(r.OOM) > 0) {
		t.Fatalf("out of memory: %v, PyTorch had %v", tl.OOM, r.OOM)
	}
	d := tl.Devices[0]
	last := r.Stats[len(r.Ops)-1]
	compared := 0
	for name, got := range map[string]int64{
		"allocated_bytes.all.peak": int64(d.Peak.Allocated), "reserved_bytes.all.peak": int64(d.Peak.Reserved), "requested_bytes.all.peak": int64(d.Peak.Requested),
		"allocated_bytes.all.current": int64(d.Final.Allocated), "reserved_bytes.all.current": int64(d.Final.Reserved),
		"num_alloc_retries": d.Retries, "num_ooms": d.Stats["num_ooms"], "num_device_alloc": d.DriverAllocs, "num_device_free": d.DriverFrees,
		"num_oom_rejections": d.Stats["num_oom_rejections"],
	} {
		n := slices.Index(r.Names, name)
		if n < 0 || last[n] == nil {
			continue // the version does not count it, or it never changed
		}
		compared++
		if got != *last[n] {
			t.Errorf("%s is %d, PyTorch's is %d", name, got, *last[n])
		}
	}
	if compared < 5 {
		t.Errorf("only %d numbers compared", compared)
	}
}

// realTape makes a tape of a run; requests that failed are OOM events.
func realTape(r *realRun) *tape.Tape {
	tp := &tape.Tape{}
	blocks := map[int]tape.BlockID{}
	for i, op := range r.Ops {
		switch op[0] {
		case "e":
			tp.Append(tape.Event{Kind: tape.EmptyCache, Block: tape.NoBlock})
		case "f":
			if b, ok := blocks[number(op[1])]; ok {
				tp.Append(tape.Event{Kind: tape.FreeRequested, Block: b})
				tp.Append(tape.Event{Kind: tape.Free, Block: b})
			}
		case "a":
			e := tape.Event{Kind: tape.Alloc, Bytes: unit.Bytes(op[2].(float64)), Stream: tp.InternStream(r.Handles[number(op[3])])}
			if _, failed := r.OOM[i]; failed {
				e.Kind = tape.OOM
				tp.Append(e)
				continue
			}
			blocks[number(op[1])] = tp.Event(tp.Append(e)).Block
		}
	}
	return tp
}

func allocs(sizes ...unit.Bytes) *tape.Tape {
	tp := &tape.Tape{}
	for _, n := range sizes {
		tp.Append(tape.Event{Kind: tape.Alloc, Bytes: n})
	}
	return tp
}

func TestReplayStopsAtTheFirstFailure(t *testing.T) {
	tl, err := Replay(allocs(30*unit.MiB, 100*unit.MiB, 10*unit.MiB), Settings{}, 64*unit.MiB)
	if err != nil {
		t.Fatal(err)
	}
	o := tl.OOM
	if o == nil || o.Event != 1 || o.Block != 1 || o.Recorded || o.Err.Segment != 100*unit.MiB || o.Err.Free != 34*unit.MiB {
		t.Fatalf("failure %+v", o)
	}
	if d := tl.Devices[0]; d.Peak.Allocated != 30*unit.MiB || d.Final.Reserved != 30*unit.MiB || d.Retries != 1 {
		t.Errorf("device %+v", d)
	}
	if got := len(tl.Live(2)); got != 1 {
		t.Errorf("%d blocks live at the end, want 1", got)
	}
}

func TestReplayGoesOnAfterARecordedFailure(t *testing.T) {
	tp := allocs(30 * unit.MiB)
	tp.Append(tape.Event{Kind: tape.OOM, Bytes: 100 * unit.MiB, Block: tape.NoBlock})
	tp.Append(tape.Event{Kind: tape.Alloc, Bytes: 20 * unit.MiB})
	small, err := Replay(tp, Settings{}, 64*unit.MiB)
	if err != nil {
		t.Fatal(err)
	}
	if o := small.OOM; o == nil || o.Event != 1 || !o.Recorded || small.Devices[0].Final.Allocated != 50*unit.MiB {
		t.Errorf("failure %+v, then %+v", o, small.Devices[0].Final)
	}
	large, err := Replay(tp, Settings{}, unit.GiB)
	if err != nil {
		t.Fatal(err)
	}
	if d := large.Devices[0]; large.OOM != nil || d.Peak.Allocated != 130*unit.MiB || d.Final.Allocated != 50*unit.MiB {
		t.Errorf("with room: %+v, %+v", large.OOM, d)
	}
}

func TestReplayBeginsWithTheInitialState(t *testing.T) {
	const base = 0x7f0000000000
	tp := &tape.Tape{}
	for _, s := range []tape.Segment{
		{Addr: base, Bytes: 20 * unit.MiB, Blocks: []tape.SegmentBlock{
			{Addr: base, Bytes: 8 * unit.MiB, Requested: 8*unit.MiB - 3, State: tape.Active},
			{Addr: base + 8<<20, Bytes: 12 * unit.MiB},
		}},
		{Addr: base + 64<<20, Bytes: 40 * unit.MiB, Blocks: []tape.SegmentBlock{{Addr: base + 64<<20, Bytes: 40 * unit.MiB}}},
	} {
		if !tp.AddInitial(s) {
			t.Fatal("refused")
		}
	}
	tp.Append(tape.Event{Kind: tape.Alloc, Bytes: 11 * unit.MiB}) // into the first segment
	tp.Append(tape.Event{Kind: tape.Free, Block: 0})
	for _, c := range []struct {
		name     string
		capacity unit.Bytes
		fits     bool
		reserved unit.Bytes
	}{
		{"with room nothing is got", 100 * unit.MiB, true, 60 * unit.MiB},
		{"cached segments go when the device is too small for them", 30 * unit.MiB, true, 20 * unit.MiB},
		{"what is in use does not fit", 10 * unit.MiB, false, 20 * unit.MiB},
	} {
		t.Run(c.name, func(t *testing.T) {
			tl, err := Replay(tp, Settings{}, c.capacity)
			if err != nil {
				t.Fatal(err)
			}
			d := tl.Devices[0]
			if (tl.OOM == nil) != c.fits || d.Final.Reserved != c.reserved {
				t.Errorf("failure %v, reserved %d, want %d", tl.OOM, d.Final.Reserved, c.reserved)
			}
			if !c.fits && tl.OOM.Event != -1 {
				t.Errorf("failure at event %d, want -1", tl.OOM.Event)
			}
			if c.fits && (d.Peak.Allocated != 20*unit.MiB || d.Final.Allocated != 12*unit.MiB) {
				// 11 MiB leave 1 MiB, which is not split off
				t.Errorf("levels %+v, %+v", d.Peak, d.Final)
			}
		})
	}
}

func TestReplayOnSeveralDevices(t *testing.T) {
	tp := &tape.Tape{}
	for i := range 6 {
		tp.Append(tape.Event{Kind: tape.Alloc, Bytes: unit.Bytes(i+1) * 16 * unit.MiB, Device: uint8(i % 3)})
	}
	tp.Append(tape.Event{Kind: tape.Free, Block: 4})
	tl, err := Replay(tp, Settings{}, 128*unit.MiB)
	if err != nil {
		t.Fatal(err)
	}
	if o := tl.OOM; o == nil || o.Device != 2 || o.Event != 5 || o.Err.Device != 2 {
		t.Fatalf("failure %+v", o)
	}
	for i, want := range []unit.Bytes{80 * unit.MiB, 112 * unit.MiB, 48 * unit.MiB} {
		if got := tl.Devices[i].Peak.Allocated; got != want {
			t.Errorf("device %d: peak %d, want %d", i, got, want)
		}
	}
}

func TestCudaMallocAsyncIsRefused(t *testing.T) {
	s, err := ParseSettings("backend:cudaMallocAsync,max_split_size_mb:40", Version{})
	if err != nil || len(s.Warnings) != 1 {
		t.Fatal(err, s.Warnings)
	}
	if _, err := Replay(allocs(1), s, 0); !errors.Is(err, ErrBackend) {
		t.Errorf("Replay: %v", err)
	}
	if _, err := New(s, 0); !errors.Is(err, ErrBackend) {
		t.Errorf("New: %v", err)
	}
}

func TestHostileInitialStateIsAnError(t *testing.T) {
	for name, s := range map[string]tape.Segment{
		"a gap":                {Addr: 512, Bytes: 1024, Blocks: []tape.SegmentBlock{{Addr: 1024, Bytes: 512}}},
		"too short":            {Addr: 512, Bytes: 1024, Blocks: []tape.SegmentBlock{{Addr: 512, Bytes: 512}}},
		"no blocks":            {Addr: 512, Bytes: 1024},
		"a negative block":     {Addr: 512, Bytes: 1024, Blocks: []tape.SegmentBlock{{Addr: 512, Bytes: -512}, {Addr: 0, Bytes: 1536}}},
		"over the last byte":   {Addr: 1<<64 - 512, Bytes: 1024, Blocks: []tape.SegmentBlock{{Addr: 1<<64 - 512, Bytes: 1024}}},
		"larger than anything": {Addr: 512, Bytes: 1<<63 - 1, Blocks: []tape.SegmentBlock{{Addr: 512, Bytes: 1<<63 - 1}}},
	} {
		tp := &tape.Tape{}
		tp.AddInitial(s)
		if _, err := Replay(tp, Settings{}, 0); !errors.Is(err, ErrInitial) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Verify(tp, Settings{}, nil); !errors.Is(err, ErrInitial) {
			t.Errorf("%s: verify: %v", name, err)
		}
	}
}

func TestPeaksAreWhereTheyAreFirstReached(t *testing.T) {
	tp := allocs(30*unit.MiB, 512)
	tp.Append(tape.Event{Kind: tape.Free, Block: 0})
	tp.Append(tape.Event{Kind: tape.Alloc, Bytes: 30 * unit.MiB})
	tl, err := Replay(tp, Settings{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	d := tl.Devices[0]
	want := Level{30*unit.MiB + 512, 30*unit.MiB + 512, 32 * unit.MiB}
	if d.PeakAllocatedEvent != 1 || d.PeakReservedEvent != 1 || d.AtAllocated != want || d.AtReserved != want || d.DriverCalls() != 2 {
		t.Errorf("%+v", d)
	}
}
