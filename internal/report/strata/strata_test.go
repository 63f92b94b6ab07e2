package strata

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// randomTape draws a tape of two devices with modules, steps, lines and
// frees that may come in two parts.
func randomTape(t *rapid.T) *tape.Tape {
	out := &tape.Tape{}
	if rapid.Bool().Draw(t, "initial") {
		out.AddInitial(tape.Segment{Addr: 4096, Bytes: 4096, Blocks: []tape.SegmentBlock{
			{Addr: 4096, Bytes: 1024, Requested: 1000, State: tape.Active},
			{Addr: 5120, Bytes: 1024, Requested: 900, State: tape.PendingFree},
			{Addr: 6144, Bytes: 2048},
		}})
	}
	var live, pending []tape.BlockID
	for i := range rapid.IntRange(0, 400).Draw(t, "events") {
		if rapid.IntRange(0, 9).Draw(t, "marked") == 0 {
			kind := tape.MarkKind(rapid.IntRange(0, 4).Draw(t, "mark"))
			out.Marks = append(out.Marks, tape.Mark{
				Event: out.Len(), Kind: kind, Device: uint8(rapid.IntRange(0, 1).Draw(t, "device")),
				Name: fmt.Sprintf("a.%d.b", rapid.IntRange(0, 9).Draw(t, "module")), Value: int64(i % 8),
			})
		}
		switch n := rapid.IntRange(0, 9).Draw(t, "kind"); {
		case n < 5 || len(live) == 0:
			live = append(live, tape.BlockID(out.Blocks()))
			out.Append(tape.Event{
				Kind: tape.Alloc, Bytes: unit.Bytes(rapid.IntRange(0, 1<<20).Draw(t, "bytes")), Addr: uint64(i) << 21,
				Device: uint8(rapid.IntRange(0, 1).Draw(t, "device")), Category: tape.Category(n),
				Site: out.InternSite([]tape.Frame{{Name: "f", File: "train.py", Line: rapid.IntRange(0, 60).Draw(t, "line")}}),
			})
		case n < 7:
			at := rapid.IntRange(0, len(live)-1).Draw(t, "block")
			out.Append(tape.Event{Kind: tape.FreeRequested, Block: live[at]})
			pending = append(pending, live[at])
			live = append(live[:at], live[at+1:]...)
		case n < 8 && len(pending) > 0:
			out.Append(tape.Event{Kind: tape.Free, Block: pending[0]})
			pending = pending[1:]
		case n < 9:
			out.Append(tape.Event{Kind: tape.SegmentAlloc, Bytes: 2 * unit.MiB})
		default:
			at := rapid.IntRange(0, len(live)-1).Draw(t, "block")
			out.Append(tape.Event{Kind: tape.Free, Block: live[at]})
			live = append(live[:at], live[at+1:]...)
		}
	}
	return out
}

// allocatedAt is what is live after an event, counted the slow way.
func allocatedAt(t *tape.Tape, device uint8, event int) unit.Bytes {
	var sum unit.Bytes
	for _, s := range t.Initial {
		for _, p := range s.Blocks {
			if s.Device == device && p.State == tape.Active {
				if f := t.Block(p.Block).Free; f < 0 || f > event {
					sum += max(p.Requested, 1).RoundUp(512)
				}
			}
		}
	}
	for i := range t.Blocks() {
		b := t.Block(tape.BlockID(i))
		if b.Device == device && b.Alloc >= 0 && b.Alloc <= event && (b.Free < 0 || b.Free > event) {
			sum += max(b.Bytes, 1).RoundUp(512)
		}
	}
	return sum
}

func TestTimelineKeepsThePeakAndTheSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tp := randomTape(t)
		o := Options{
			Device:  uint8(rapid.IntRange(0, 1).Draw(t, "device")),
			Samples: rapid.IntRange(3, 100).Draw(t, "samples"), Layers: rapid.IntRange(1, 20).Draw(t, "layers"),
		}
		line := Timeline(tp, o)
		// Peak, first, last event, and the last stretch may add to the samples.
		if len(line.Events) > o.Samples+6 {
			t.Fatalf("%d samples, want at most %d", len(line.Events), o.Samples+6)
		}
		var peak unit.Bytes
		for i := range tp.Len() {
			if e := tp.Event(i); e.Device == o.Device {
				peak = max(peak, allocatedAt(tp, o.Device, i))
			}
		}
		var drawn unit.Bytes
		for i, e := range line.Events {
			if i > 0 && e <= line.Events[i-1] {
				t.Fatalf("events do not increase: %v", line.Events)
			}
			if want := allocatedAt(tp, o.Device, e); line.Allocated[i] != want {
				t.Fatalf("event %d: %d allocated, want %d", e, line.Allocated[i], want)
			}
			drawn = max(drawn, line.Allocated[i])
			for _, v := range line.Views {
				checkView(t, v, i, line.Allocated[i], o.Layers)
			}
		}
		if drawn != peak {
			t.Fatalf("the highest sample is %d, the peak %d", drawn, peak)
		}
	})
}

func checkView(t *rapid.T, v report.View, sample int, allocated unit.Bytes, layers int) {
	if len(v.Layers) > layers {
		t.Fatalf("%s has %d layers, want at most %d", v.Name, len(v.Layers), layers)
	}
	var sum unit.Bytes
	for _, l := range v.Layers {
		if l.Bytes[sample] < 0 {
			t.Fatalf("%s, %s: %d bytes", v.Name, l.Name, l.Bytes[sample])
		}
		sum += l.Bytes[sample]
	}
	if sum != allocated {
		t.Fatalf("%s: the layers are %d, allocated %d", v.Name, sum, allocated)
	}
}

func TestBandsFollowTheMarks(t *testing.T) {
	tp := &tape.Tape{}
	for range 12 {
		tp.Append(tape.Event{Kind: tape.Alloc, Bytes: 512})
	}
	tp.Marks = []tape.Mark{
		{Event: 0, Kind: tape.MarkPhase, Value: int64(tape.Forward)},
		{Event: 1, Kind: tape.MarkModuleEnter, Name: "net.0"},
		{Event: 2, Kind: tape.MarkModuleEnter, Name: "net.0.conv", Device: 1}, // another device
		{Event: 3, Kind: tape.MarkModuleExit, Name: "net.0"},
		{Event: 5, Kind: tape.MarkModuleEnter, Name: "emb", Value: 1}, // has no exit
		{Event: 4, Kind: tape.MarkPhase, Value: int64(tape.Backward)},
		{Event: 6, Kind: tape.MarkStep, Value: 1},
		{Event: 6, Kind: tape.MarkPhase, Value: int64(tape.Idle)},
		{Event: 8, Kind: tape.MarkStep, Value: 2},
		{Event: 9, Kind: tape.MarkPhase, Value: int64(tape.Eval)},
	}
	want := []report.Band{
		{Kind: report.StepBand, From: 0, To: 6, Name: "step 1"},
		{Kind: report.StepBand, From: 6, To: 8, Name: "step 2"},
		{Kind: report.PhaseBand, From: 0, To: 4, Name: "forward"},
		{Kind: report.PhaseBand, From: 4, To: 6, Name: "backward"},
		{Kind: report.PhaseBand, From: 9, To: 12, Name: "eval"},
		{Kind: report.ModuleBand, From: 1, To: 3, Name: "net.0"},
		{Kind: report.ModuleBand, From: 5, To: 6, Name: "emb"},
	}
	if diff := cmp.Diff(want, Timeline(tp, Options{}).Bands); diff != "" {
		t.Errorf("bands (-want +got):\n%s", diff)
	}
}

func TestModulesComeFromTheCallerWhenGiven(t *testing.T) {
	tp := &tape.Tape{}
	for range 4 {
		tp.Append(tape.Event{Kind: tape.Alloc, Bytes: 512})
	}
	line := Timeline(tp, Options{Module: func(b tape.BlockID) string { return []string{"", "head"}[b%2] }})
	var names []string
	for _, l := range line.Views[0].Layers {
		names = append(names, l.Name)
	}
	if diff := cmp.Diff([]string{"outside of modules", "head"}, names); diff != "" {
		t.Errorf("layers (-want +got):\n%s", diff)
	}
}

func TestManyModulesAreJoinedOnTheBands(t *testing.T) {
	tp := &tape.Tape{}
	for i := range 3 * mostBands {
		name := fmt.Sprintf("layers.%d.part%d", i*10/(3*mostBands), i%3)
		tp.Marks = append(tp.Marks, tape.Mark{Event: i, Kind: tape.MarkModuleEnter, Name: name})
		tp.Append(tape.Event{Kind: tape.Alloc, Bytes: 512})
		tp.Marks = append(tp.Marks, tape.Mark{Event: i + 1, Kind: tape.MarkModuleExit, Name: name})
	}
	bands := Timeline(tp, Options{}).Bands
	if len(bands) == 0 || len(bands) > mostBands {
		t.Fatalf("%d bands", len(bands))
	}
	if got := bands[0].Name; got != "layers" && got != "layers.0" {
		t.Errorf("the first band is %q", got)
	}
}

func TestReservedComesFromTheCallerWhenGiven(t *testing.T) {
	tp := &tape.Tape{}
	tp.Append(tape.Event{Kind: tape.SegmentAlloc, Bytes: 2 * unit.MiB})
	for range 3 {
		tp.Append(tape.Event{Kind: tape.Alloc, Bytes: 512})
	}
	line := Timeline(tp, Options{Reserved: []Level{{0, 20 * unit.MiB}, {2, 22 * unit.MiB}}})
	want := []unit.Bytes{20 * unit.MiB, 20 * unit.MiB, 22 * unit.MiB, 22 * unit.MiB}
	if diff := cmp.Diff(want, line.Reserved); diff != "" {
		t.Errorf("reserved (-want +got):\n%s", diff)
	}
}

func TestUserFrame(t *testing.T) {
	const torch = "/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py"
	for _, c := range []struct {
		name  string
		files []string
		want  int
	}{
		{"the innermost line of the user", []string{torch, "/home/ada/model.py", "/home/ada/train.py"}, 1},
		{"the innermost line when all are installed", []string{torch, "/usr/lib/python3/dist-packages/x.py"}, 0},
		{"none without frames", nil, -1},
		{"Windows paths", []string{`C:\venv\lib\site-packages\torch\x.py`, `C:\ada\train.py`}, 1},
		{"code without a file", []string{"<string>", "train.py"}, 1},
	} {
		var frames []tape.Frame
		for _, f := range c.files {
			frames = append(frames, tape.Frame{File: f})
		}
		if got := userFrame(frames); got != c.want {
			t.Errorf("%s: frame %d, want %d", c.name, got, c.want)
		}
	}
}

func TestModulesAreCutWhereTheyCanBeToldApart(t *testing.T) {
	tp := &tape.Tape{}
	for i := range 100 {
		for _, part := range []string{"attn.q", "attn.k", "mlp"} {
			tp.Marks = append(tp.Marks, tape.Mark{Kind: tape.MarkModuleEnter, Name: fmt.Sprintf("model.layers.%d.%s", i, part)})
		}
	}
	for _, c := range []struct{ most, want int }{{1000, 5}, {300, 5}, {299, 4}, {200, 4}, {199, 3}, {99, 2}, {0, 1}} {
		if got := depthFor(tp, 0, c.most); got != c.want {
			t.Errorf("at most %d: depth %d, want %d", c.most, got, c.want)
		}
	}
}

func BenchmarkTimeline(b *testing.B) {
	tp := &tape.Tape{}
	for i := range 1_000_000 {
		switch {
		case i%2 == 0:
			site := tp.InternSite([]tape.Frame{{Name: "f", File: "train.py", Line: i % 500}})
			tp.Append(tape.Event{Kind: tape.Alloc, Bytes: unit.Bytes(i), Category: tape.Category(i % 12), Site: site})
		case i%4 == 3:
			tp.Append(tape.Event{Kind: tape.Free, Block: tape.BlockID(i / 2)})
		default:
			tp.Append(tape.Event{Kind: tape.SegmentAlloc, Bytes: 1})
		}
	}
	for b.Loop() {
		Timeline(tp, Options{})
	}
	b.ReportMetric(float64(tp.Len())*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
