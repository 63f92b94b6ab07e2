package explain_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/explain"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A life is a program that makes one large block a round and lets go of it
// after some events, at one line.
func life(rounds, events int) *tape.Tape {
	var b tape.Builder
	site := b.Tape().InternSite([]tape.Frame{{Name: "main", File: "train.py", Line: 3}})
	other := b.Tape().InternSite([]tape.Frame{{Name: "main", File: "train.py", Line: 4}})
	add := func(e tape.Event) {
		if _, err := b.Add(e); err != nil {
			panic(err)
		}
	}
	const big, small = 1 << 40, 1 << 41
	add(tape.Event{Kind: tape.SegmentAlloc, Addr: big, Bytes: 64 * unit.MiB, Site: site})
	for round := range rounds {
		add(tape.Event{Kind: tape.Alloc, Addr: big, Bytes: 64 * unit.MiB, Site: site})
		if round == 0 {
			add(tape.Event{Kind: tape.SegmentAlloc, Addr: small, Bytes: 2 * unit.MiB, Site: other})
		}
		for range events {
			add(tape.Event{Kind: tape.Alloc, Addr: small, Bytes: 512, Site: other})
			add(tape.Event{Kind: tape.FreeRequested, Addr: small})
			add(tape.Event{Kind: tape.Free, Addr: small})
		}
		add(tape.Event{Kind: tape.FreeRequested, Addr: big})
		add(tape.Event{Kind: tape.Free, Addr: big})
	}
	return b.Tape()
}

// Only what is given up at once can be made part by part.
func TestOnlyBriefBlocksAreMadeInParts(t *testing.T) {
	for _, c := range []struct {
		events int
		parts  bool
	}{{5, true}, {200, false}} {
		e := explain.Explain(explain.Input{Tape: life(3, c.events)})
		if !e.Check.Exact {
			t.Fatalf("%+v", e.Check)
		}
		if got := inParts(e); (got != "") != c.parts {
			t.Errorf("a block of %d events: %q", 3*c.events, got)
		}
	}
}

func inParts(e *explain.Explanation) string {
	for _, c := range e.Counterfactuals {
		if strings.Contains(c.Action, "in 8 parts") {
			return c.Action
		}
	}
	return ""
}

// What is in use at the peak of an optimizer's step, or was left by a forward
// pass for backward, is needed as a whole.
func TestWhatStaysIsNotMadeInParts(t *testing.T) {
	for _, file := range recordings(t) {
		for _, in := range inputs(read(t, file)) {
			e := explain.Explain(in)
			for _, s := range e.Moment.ByPlace {
				lasting := s.Category == tape.OptimizerState || s.Category == tape.Parameter || s.Category == tape.Gradient || s.Category == tape.Activation
				if got := inParts(e); lasting && strings.Contains(got, " of "+s.Place.String()+" in 8 parts") {
					t.Errorf("%s: %s, which are %s", filepath.Base(file), got, s.Category)
				}
			}
		}
	}
}
