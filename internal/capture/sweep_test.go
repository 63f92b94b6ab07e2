package capture

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// upTo is a script that fits up to a value, and fails above another one. Its
// memory is what the line to the edge says, times bend in hundredths.
func upTo(fits, fails, bend int, runs map[string]int) Runner {
	return func(_ context.Context, o Options) (*Capture, error) {
		runs[o.Argv[1]]++
		n, err := strconv.Atoi(o.Argv[1])
		if err != nil {
			return nil, err
		}
		if n > fails {
			return nil, &Error{Msg: "the script failed: ValueError: too many"}
		}
		r := &Result{Verdict: Fits, GPU: GPU{Capacity: unit.Bytes(fits) * unit.MiB * 100}}
		r.Peak.Needs = 7*unit.MiB + unit.Bytes(n)*unit.MiB*100*unit.Bytes(bend)/100
		if n > fits {
			r.Verdict = DoesNotFit
			r.OOM = &OOM{Message: "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has more", Phase: "backward", Site: "train.py:7 in main"}
		}
		return &Capture{Result: r}, nil
	}
}

func TestLargestFindsTheEdgeAndRunsEachValueOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		edge := rapid.IntRange(0, 5000).Draw(t, "edge")
		runs := map[string]int{}
		s, err := Largest(t.Context(), upTo(edge, 1<<30, rapid.IntRange(0, 300).Draw(t, "bend"), runs), Options{Argv: []string{"x", "{n}"}}, "n", nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.Largest != edge {
			t.Fatalf("found %d, want %d", s.Largest, edge)
		}
		for value, n := range runs {
			if n != 1 {
				t.Fatalf("%s was run %d times", value, n)
			}
		}
		if len(runs) > 50 {
			t.Fatalf("%d runs", len(runs))
		}
	})
}

func TestLargestIsFastWhereMemoryIsLinear(t *testing.T) {
	runs := map[string]int{}
	if s, err := Largest(t.Context(), upTo(1234, 1<<30, 100, runs), Options{Argv: []string{"x", "{n}"}}, "n", nil); err != nil || s.Largest != 1234 || len(runs) > 8 {
		t.Errorf("%d runs, %+v, %v", len(runs), s, err)
	}
}

func TestLargestSaysWhatStopsTheNextValue(t *testing.T) {
	o := Options{Argv: []string{"x", "{n}"}}
	for _, c := range []struct {
		fits, fails, want int
		limit             string
	}{
		{6, 1 << 30, 6, "CUDA out of memory. Tried to allocate 2.00 GiB in backward at train.py:7 in main"},
		{100, 40, 40, "the script failed: ValueError: too many"},
		{1 << 30, 1 << 30, mostValue, "does not act on the memory"},
		{0, 1 << 30, 0, "CUDA out of memory"},
	} {
		s, err := Largest(t.Context(), upTo(c.fits, c.fails, 100, map[string]int{}), o, "n", nil)
		if err != nil || s.Largest != c.want || !strings.Contains(s.Limit, c.limit) {
			t.Errorf("got %+v, %v, want %+v", s, err, c)
		}
	}
	if _, err := Largest(t.Context(), upTo(9, 0, 100, map[string]int{}), o, "n", nil); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("a script that fails at 1 gives %v", err)
	}
	if _, err := Largest(t.Context(), upTo(9, 9, 100, nil), o, "batch", nil); err == nil || !strings.Contains(err.Error(), "no {batch}") {
		t.Errorf("a command without the placeholder gives %v", err)
	}
}

func TestVaryRunsEveryCombination(t *testing.T) {
	var seen []string
	run := func(_ context.Context, o Options) (*Capture, error) {
		seen = append(seen, strings.Join(o.Argv, " "))
		return &Capture{Result: &Result{Verdict: Fits}}, nil
	}
	batch, err := ParseVariable("batch=1,2")
	if err != nil {
		t.Fatal(err)
	}
	trials, err := Vary(t.Context(), run, Options{Argv: []string{"x", "--b={batch}", "{seq}"}}, []Variable{batch, {"seq", []string{"a", "b"}}}, nil)
	if err != nil || len(trials) != 4 || strings.Join(seen, ";") != "x --b=1 a;x --b=1 b;x --b=2 a;x --b=2 b" {
		t.Errorf("%v, %v", seen, err)
	}
	if _, err := ParseVariable("batch"); err == nil {
		t.Error("a variable without values is accepted")
	}
}

func TestSweepsStopWhenTheirContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	run := func(context.Context, Options) (*Capture, error) { cancel(); return nil, ctx.Err() }
	if _, err := Largest(ctx, run, Options{Argv: []string{"{n}"}}, "n", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
