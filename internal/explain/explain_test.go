package explain_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/alloc"
	"github.com/plimsoll-dev/plimsoll/internal/explain"
	"github.com/plimsoll-dev/plimsoll/internal/format/snapshot"
	"github.com/plimsoll-dev/plimsoll/internal/input"
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

func TestDump(t *testing.T) {
	files, _ := filepath.Glob(os.Getenv("DUMP"))
	for _, f := range files {
		for _, in := range inputs(read(t, f)) {
			e := explain.Explain(in)
			t.Logf("%s device %d: %s at %d, steps %+v, check %+v", f, e.Device, e.Which, e.Moment.Event, e.Steps, e.Check)
			m := e.Moment
			t.Logf("requested %s in %d blocks, before %s nameless %s phase %s categories %v", m.Requested, m.Blocks, m.Before, m.Nameless, m.Phase, m.ByCategory)
			for i, s := range m.ByPlace {
				if i < 8 {
					t.Logf("   %s %d %s | %s | %s", s.Bytes, s.Blocks, s.Category, s.Place, s.Operator)
				}
			}
			t.Logf("libs %v", m.ByLibrary)
			if m.Split != nil {
				s := m.Split
				t.Logf("split reserved %s requested %s rounding %s pending %s holes %s whole %s private %s; %v", s.Reserved, s.Requested, s.Rounding, s.Pending, s.Holes, s.WholeFree, s.Private, s.Free)
				for i, p := range s.Pins {
					if i < 3 {
						t.Logf("   pin %s free in %d segs held %s by %s", p.Free, p.Segments, p.Held, p.Place)
					}
				}
			}
			for _, c := range e.Counterfactuals {
				t.Logf("   %s | %s: reserved %s saves %s oom %t calls %d retries %d (%s)", c.Kind, c.Name, c.Reserved, c.Saves, c.OOM, c.DriverCalls, c.Retries, c.Assumes)
			}
			if e.Growth != nil {
				t.Logf("growth %+v", *e.Growth)
			}
			for _, f := range e.Findings {
				t.Logf("FINDING %s %s: %s", f.Cause, f.Confidence, f.Verdict)
				for _, r := range f.Remedies {
					t.Logf("      %+v", r)
				}
			}
		}
	}
}
