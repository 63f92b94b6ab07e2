package explain_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/internal/alloc"
	"github.com/plimsoll-dev/plimsoll/internal/explain"
	"github.com/plimsoll-dev/plimsoll/internal/format/snapshot"
	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

func read(t testing.TB, path string) *snapshot.Snapshot {
	t.Helper()
	f, size, err := input.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := snapshot.Read(f, size, filepath.Base(path), input.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func inputs(s *snapshot.Snapshot) []explain.Input {
	var list []explain.Input
	for i, t := range s.Tapes {
		in := explain.Input{Tape: t, Device: s.Devices[i], Final: s.Final[i], Settings: alloc.FromSnapshot(s.Settings)}
		for _, a := range s.Annotations {
			in.Ranges = append(in.Ranges, explain.Range{Name: a.Name, Begin: a.Begin, Time: a.Time})
		}
		list = append(list, in)
	}
	return list
}

// recordings are every snapshot that this repository and the cases have.
func recordings(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, pattern := range []string{
		"testdata/*.pickle", "../alloc/testdata/recordings/*.pickle", "../format/snapshot/testdata/*.pickle",
		filepath.Join(os.Getenv("PLIMSOLL_CASES"), "snapshots", "*.pickle"),
	} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, files...)
	}
	return list
}

func TestPartsAddUp(t *testing.T) {
	for _, file := range recordings(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			for _, in := range inputs(read(t, file)) {
				e := explain.Explain(in)
				for name, m := range map[string]*explain.Moment{"moment": e.Moment, "peak": e.Peak, "end": e.End} {
					checkMoment(t, name, m)
				}
				if e.End.Split == nil {
					t.Error("the layout at the end was recorded, and is not told")
				}
				if e.Check.Exact && e.Peak.Split == nil {
					t.Error("the recording replays exactly, and the layout at its peak is not told")
				}
			}
		})
	}
}

func checkMoment(t *testing.T, name string, m *explain.Moment) {
	t.Helper()
	var places, libraries, categories unit.Bytes
	for _, s := range m.ByPlace {
		places += s.Bytes
	}
	for _, l := range m.ByLibrary {
		libraries += l.Bytes
	}
	for _, b := range m.ByCategory {
		categories += b
	}
	if places != m.Requested || libraries != m.Requested || categories != m.Requested {
		t.Errorf("%s: %d in use, %d by place, %d by library, %d by category", name, m.Requested, places, libraries, categories)
	}
	s := m.Split
	if s == nil {
		return
	}
	if sum := s.Requested + s.Rounding + s.Pending + s.Holes + s.WholeFree + s.Private; sum != s.Reserved {
		t.Errorf("%s: parts of the reserved memory add up to %d of %d", name, sum, s.Reserved)
	}
	if s.Requested != m.Requested {
		t.Errorf("%s: %d in use, %d in the layout", name, m.Requested, s.Requested)
	}
	var pinned, free unit.Bytes
	for _, p := range s.Pins {
		pinned += p.Free
	}
	for _, f := range s.Free {
		free += f.Bytes
	}
	if pinned != s.Holes || free != s.Holes+s.WholeFree+s.Private {
		t.Errorf("%s: %d in holes, %d pinned; %d free by pool", name, s.Holes, pinned, free)
	}
}

// Each recording of testdata has one known trouble; make.py says which.
func TestKnownTroubles(t *testing.T) {
	for _, c := range []struct {
		file, cause string
		check       func(t *testing.T, e *explain.Explanation)
	}{
		{"steps", explain.HeldMemory, func(t *testing.T, e *explain.Explanation) {
			if e.Growth != nil || e.Steps.Ended != 4 || e.Steps.Source != explain.FromRanges {
				t.Errorf("growth %+v, steps %+v", e.Growth, e.Steps)
			}
			// 256x1024 and 1024x256 weights and their biases, in fp32; AdamW
			// keeps two of each and a step count for each of the four.
			parameters := unit.Bytes(4 * (2*256*1024 + 1024 + 256))
			if got := e.Moment.ByCategory[tape.Parameter]; got != parameters {
				t.Errorf("parameters %d, want %d", got, parameters)
			}
			if got := e.Moment.ByCategory[tape.OptimizerState]; got != 2*parameters {
				t.Errorf("optimizer %d, want %d", got, 2*parameters)
			}
		}},
		{"leak", explain.AccumulatedGraph, func(t *testing.T, e *explain.Explanation) {
			// The linear layers' inputs are kept: x and the 1024x1024 after
			// the activation, and the output for the square.
			if got, want := e.Growth.PerStep, unit.Bytes(4*1024*(256+1024+256)); got < want || got > want+512 {
				t.Errorf("each step leaves %d, want %d", got, want)
			}
			checkPlace(t, e.Growth.Places[0].Place, 35, "train")
		}},
		{"hoard", explain.Leak, func(t *testing.T, e *explain.Explanation) {
			if got, want := e.Growth.PerStep, unit.Bytes(4*1024*256); got != want {
				t.Errorf("each step leaves %d, want %d", got, want)
			}
			checkPlace(t, e.Growth.Places[0].Place, 51, "<lambda>")
		}},
		{"full", explain.DeviceFull, func(t *testing.T, e *explain.Explanation) {
			f := e.Failures[0]
			if f.Rounded != 192*unit.MiB || f.DriverFree != 10*unit.MiB || f.Short == 0 || f.Phase != tape.Backward {
				t.Errorf("%+v", f)
			}
			if want := f.Requested + f.Rounded - 512*unit.MiB; f.Short < want || f.Short-want > unit.MiB {
				t.Errorf("short of %d, want %d", f.Short, want)
			}
			checkWhatIf(t, e, "expandable_segments:True", true)
			checkWhatIf(t, e, "half the batch", false)
		}},
		{"holes", explain.Fragmentation, func(t *testing.T, e *explain.Explanation) {
			f, s := e.Failures[0], e.Moment.Split
			if f.Rounded != 60*unit.MiB || f.AllFree != 110*unit.MiB || f.LargestFree != 9*unit.MiB || s.Holes != 110*unit.MiB {
				t.Errorf("%+v, %+v", f, s)
			}
			checkPlace(t, s.Pins[0].Place, 63, "holes")
			checkPlace(t, f.Place, 65, "holes")
			checkWhatIf(t, e, "expandable_segments:True", false)
			checkWhatIf(t, e, "max_split_size_mb:128", true)
		}},
		{"evaluate", explain.UnusedGraph, func(t *testing.T, e *explain.Explanation) {
			// Of each batch ReLU's output is kept, 1024x1024, and the result,
			// 1024x256; training keeps those of one batch.
			one := unit.Bytes(4 * 1024 * (1024 + 256))
			if u := e.Unused; u.Kept != 6*one || u.Usual != one {
				t.Errorf("%+v, want 6 times %d", u, one)
			}
			checkPlace(t, e.Unused.Place, 95, "<listcomp>")
		}},
		{"validate", explain.UnusedGraph, func(t *testing.T, e *explain.Explanation) {
			// At the peak the sixth has its first layer's output as well as
			// ReLU's, and no result yet.
			p := e.Passes
			if one := 5 * unit.MiB; p.Calls != 6 || p.Kept != 5*one+8*unit.MiB || p.Each != 8*unit.MiB || p.Backward {
				t.Errorf("%+v, want 5 times %s and 8 MiB", p, one)
			}
			checkPlace(t, p.Place, 127, "<listcomp>")
		}},
		{"summed", explain.SummedGraphs, func(t *testing.T, e *explain.Explanation) {
			if p := e.Passes; p.Calls != 8 || p.Kept != (7*5+6)*unit.MiB || !p.Backward {
				t.Errorf("%+v", p)
			}
			checkPlace(t, e.Passes.Place, 133, "<genexpr>")
		}},
		{"detached", explain.Leak, func(t *testing.T, e *explain.Explanation) {
			if g := e.Growth; g.Graph || g.PerStep != unit.MiB {
				t.Errorf("%+v", g)
			}
			if r := e.Findings[0].Remedies[0]; !strings.Contains(r.Action, "detach().cpu()") || r.Saves == nil {
				t.Errorf("%+v", r)
			}
		}},
		{"grown", explain.HeldMemory, func(t *testing.T, e *explain.Explanation) {
			if end := e.End.Requested; end != 80*unit.MiB && end != 0 {
				t.Errorf("%s at the end", end)
			}
		}},
		{"limited", explain.FreeButRefused, func(t *testing.T, e *explain.Explanation) {
			if e.Check.Room != 60*unit.MiB { // of the 64 MiB that are allowed
				t.Errorf("the room is %s", e.Check.Room)
			}
			checkWhatIf(t, e, "expandable_segments:True", true)
		}},
		{"graph", explain.HeldMemory, func(t *testing.T, e *explain.Explanation) {
			if e.Check.Room != 0 || e.Check.Retries != 0 {
				t.Errorf("the cache that a graph empties counts as a lack of room: %+v", e.Check)
			}
		}},
		{"stream", explain.OtherStream, func(t *testing.T, e *explain.Explanation) {
			if f := e.Failures[0]; f.UsableFree != 0 || f.AllFree != 180*unit.MiB || f.Rounded != 120*unit.MiB {
				t.Errorf("%+v", f)
			}
		}},
	} {
		t.Run(c.file, func(t *testing.T) {
			e := explain.Explain(inputs(read(t, "testdata/"+c.file+".pickle"))[0])
			if !e.Check.Exact {
				t.Fatalf("the replay is not exact: %+v", e.Check)
			}
			if e.Check.Replayed != e.Check.Recorded {
				t.Errorf("replayed %v, recorded %v", e.Check.Replayed, e.Check.Recorded)
			}
			if got := e.Findings[0].Cause; got != c.cause {
				t.Errorf("the cause is %s, want %s: %s", got, c.cause, e.Findings[0].Verdict)
			}
			c.check(t, e)
		})
	}
}

func checkPlace(t *testing.T, p explain.Place, line int, function string) {
	t.Helper()
	if !strings.HasSuffix(p.File, "make.py") || p.Line != line || p.Function != function {
		t.Errorf("the place is %s, want line %d in %s", p, line, function)
	}
}

func checkWhatIf(t *testing.T, e *explain.Explanation, name string, fails bool) {
	t.Helper()
	for _, c := range e.Counterfactuals {
		if c.Name == name {
			if c.OOM != fails {
				t.Errorf("with %s a request fails: %t, want %t", name, c.OOM, fails)
			}
			return
		}
	}
	t.Errorf("nothing is told about %s", name)
}

// A recording whose replay differs is explained without counterfactuals.
func TestNoCounterfactualsWithoutAnExactReplay(t *testing.T) {
	in := inputs(read(t, "testdata/holes.pickle"))[0]
	in.Settings.MaxSplit = 8 * unit.MiB // which it was not
	e := explain.Explain(in)
	if e.Check.Exact || e.Check.Differences == 0 || len(e.Counterfactuals) > 0 {
		t.Errorf("%+v with %d counterfactuals", e.Check, len(e.Counterfactuals))
	}
	if e.Moment.Requested != 90*unit.MiB || e.Moment.Reserved != 200*unit.MiB {
		t.Errorf("in use %s of %s", e.Moment.Requested, e.Moment.Reserved)
	}
}

func explained(t *testing.T, name string) *explain.Explanation {
	t.Helper()
	return explain.Explain(inputs(read(t, "testdata/"+name+".pickle"))[0])
}

func TestCompareAddsUp(t *testing.T) {
	a, b := explained(t, "leak"), explained(t, "hoard")
	c := explain.Compare(a, b)
	var was, is unit.Bytes
	for _, d := range c.Places {
		was += d.A
		is += d.B
	}
	if was != a.Moment.Requested || is != b.Moment.Requested {
		t.Errorf("sites add up to %d and %d, in use are %d and %d", was, is, a.Moment.Requested, b.Moment.Requested)
	}
	top := c.Places[0]
	checkPlace(t, top.Place, 35, "train")
	if top.A <= top.B || top.Moved {
		t.Errorf("%+v", top)
	}
	for _, d := range explain.Compare(a, a).Places {
		if d.Change() != 0 {
			t.Errorf("a recording differs from itself: %+v", d)
		}
	}
}

func TestRanksOfOneJob(t *testing.T) {
	a, b, other := explained(t, "leak"), explained(t, "hoard"), explained(t, "holes")
	s, ok := explain.Spreads([]explain.Rank{{Name: "rank0", Explanation: a}, {Name: "rank1", Explanation: b}})
	if !ok || s.Fullest != 0 || s.Least != 1 || s.Same() {
		t.Errorf("%v, %+v", ok, s)
	}
	if _, ok := explain.Spreads([]explain.Rank{{Explanation: a}, {Explanation: other}}); ok {
		t.Error("two programs are taken for ranks of one job")
	}
}

// A long recording is replayed while it is checked, and comes to the same.
func TestLongRecordingsComeToTheSame(t *testing.T) {
	for _, file := range recordings(t) {
		a, b := inputs(read(t, file)), inputs(read(t, file))
		for i := range a {
			short := explain.Explain(a[i])
			reset := explain.SetLongTape(0)
			long := explain.Explain(b[i])
			reset()
			if diff := cmp.Diff(short.Check, long.Check); diff != "" {
				t.Errorf("%s: %s", file, diff)
			}
			of := map[string]explain.Counterfactual{}
			for _, c := range short.Counterfactuals {
				of[c.Name] = c
			}
			for _, c := range long.Counterfactuals {
				if s, ok := of[c.Name]; ok && s != c {
					t.Errorf("%s: %+v, with a long tape %+v", file, s, c)
				}
			}
		}
	}
}

// TestSplitsWithoutEffect replays the settings that are taken to change nothing.
func TestSplitsWithoutEffect(t *testing.T) {
	some := 0
	for _, file := range recordings(t) {
		for _, in := range inputs(read(t, file)) {
			got, want := explain.Explain(in).WithoutSplits()
			if some += len(got); cmp.Diff(want, got) != "" {
				t.Errorf("%s: %s", file, cmp.Diff(want, got))
			}
		}
	}
	if some == 0 {
		t.Error("no recording has such a setting")
	}
}
