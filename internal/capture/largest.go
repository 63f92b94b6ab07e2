package capture

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Search is the outcome of looking for the largest value that fits.
type Search struct {
	Variable string
	Largest  int     // 0 when not even 1 fits
	Trials   []Trial // in rising order of the value
	// Limit says what stops the next value.
	Limit string
}

// mostValue ends the search: a value that fits at any size does not act on
// the memory.
const mostValue = 1 << 20

// Largest finds the largest whole number that fits in place of {name}. Memory
// is close to linear in most such numbers, so it goes to where the line
// through the last two runs meets the capacity, and doubles or halves the
// interval where that does not help. Each value is run once.
func Largest(ctx context.Context, run Runner, o Options, name string, each func(Trial)) (*Search, error) {
	if err := CheckPlaceholder(o.Argv, name); err != nil {
		return nil, err
	}
	e := edge{tried: map[int]Trial{}, high: mostValue + 1}
	for e.high-e.low > 1 {
		n := e.next()
		t, err := Attempt(ctx, run, o, map[string]string{name: strconv.Itoa(n)})
		if err != nil {
			return nil, err
		}
		if n == 1 && t.Err != nil {
			return nil, t.Err
		}
		e.learn(n, t)
		if each != nil {
			each(t)
		}
	}
	s := &Search{Variable: name, Largest: e.low}
	for _, n := range slices.Sorted(maps.Keys(e.tried)) {
		s.Trials = append(s.Trials, e.tried[n])
	}
	if t, ok := e.tried[e.high]; ok {
		s.Limit = limitOf(t)
	} else {
		s.Limit = fmt.Sprintf("%s does not act on the memory: even %d fits", name, mostValue)
	}
	return s, nil
}

// An edge is what is known of where a command stops fitting: low fits, high
// does not.
type edge struct {
	low, high int
	tried     map[int]Trial
	// sure asks for a step that halves the interval, or doubles the value,
	// because the last guess did not do as much.
	sure bool
}

// next is the value to try: below high, above low, and not tried.
func (e *edge) next() int {
	n := e.low + (e.high-e.low)/2
	if len(e.tried) == 0 || e.high > mostValue {
		n = max(1, 2*e.low)
	}
	if g, ok := e.guess(); ok && !e.sure {
		n = g
	}
	return min(max(n, e.low+1), e.high-1)
}

// guess is the value at which the line through the two largest runs that fit
// meets the capacity.
func (e *edge) guess() (int, bool) {
	var fit []int
	for n, t := range e.tried {
		if t.Fits() {
			fit = append(fit, n)
		}
	}
	if len(fit) < 2 {
		return 0, false
	}
	slices.Sort(fit)
	a, b := fit[len(fit)-2], fit[len(fit)-1]
	ra, rb := e.tried[a].Capture.Result, e.tried[b].Capture.Result
	slope := float64(rb.Peak.Needs-ra.Peak.Needs) / float64(b-a)
	if slope <= 0 {
		return 0, false
	}
	spare := rb.Peak.High - rb.Peak.Device // that a verdict must leave
	more := float64(rb.GPU.Capacity-spare-rb.Peak.Needs) / slope
	return b + int(min(max(more, 0), mostValue)), true
}

func (e *edge) learn(n int, t Trial) {
	e.tried[n] = t
	before := e.high - e.low
	defer func() { e.sure = !e.sure && 2*(e.high-e.low) > before }()
	if t.Fits() {
		e.low = n
	} else {
		e.high = n
	}
}

// limitOf says in one sentence why a trial does not fit.
func limitOf(t Trial) string {
	if t.Err != nil {
		return t.Err.Error()
	}
	r := t.Capture.Result
	switch {
	case r.OOM != nil && !r.OOM.Caught:
		return firstWords(r.OOM.Message) + where(r.OOM.Phase, r.OOM.Site)
	case r.Verdict == MayNotFit:
		return "it fits beside a usual CUDA context, but not beside the largest known"
	}
	return fmt.Sprintf("needs %s of %s", r.Peak.Device, r.GPU.Capacity)
}

// asked finds the part of PyTorch's message that says what was asked for; its
// wording is that of 1.0 to 2.15.
var asked = regexp.MustCompile(`^.*?Tried to allocate [\d.]+ \w+`)

func firstWords(message string) string {
	if m := asked.FindString(message); m != "" {
		return m
	}
	first, _, _ := strings.Cut(message, "\n")
	return first
}

func where(phase, site string) string {
	out := ""
	if phase != "" {
		out += " in " + phase
	}
	if site != "" {
		out += " at " + site
	}
	return out
}
