package formula

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/capture"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/solve"
	"github.com/plimsoll-dev/plimsoll/internal/whatif"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Solved is a script's symbolic tape and how it was found.
type Solved struct {
	Tape      *symbolic.Tape
	Torch     string
	Variables []Variable
	Runs      []capture.Trial // those that it was solved from, then those that check it
	Checks    []Check
	Doubts    []string // sizes and conditions that could not be solved
	Notes     []capture.Warning
}

// A Check is how the tape agrees with a run that it was not solved from.
type Check struct {
	Dims          symbolic.Dims
	Events, Equal int
	Allocated     float64 // what the peak is off by, as a share of the recorded one
	Reserved      float64
	First         string // the first difference
}

// off is the larger of what the two peaks are off by.
func (c Check) off() float64 {
	if math.Abs(c.Reserved) > math.Abs(c.Allocated) {
		return c.Reserved
	}
	return c.Allocated
}

// Exact reports whether all is equal.
func (c Check) Exact() bool { return c.Equal == c.Events && c.Allocated == 0 && c.Reserved == 0 }

// mostOff is what a peak may be off by at values that a tape was not solved
// from, as a share; beyond it the tape is refused.
const mostOff = 0.05

// endless is the capacity of the card that is recorded on, so that no value is
// too large: the virtual GPU has address space for it.
const endless = 2 * unit.TiB

// Solve captures a script at the values of variables and solves its tape. each
// hears of every run.
func Solve(ctx context.Context, run capture.Runner, o capture.Options, variables []Variable, each func(capture.Trial)) (*Solved, error) {
	for _, v := range variables {
		if err := capture.CheckPlaceholder(o.Argv, v.Name); err != nil {
			return nil, err
		}
	}
	o.Operators, o.Others, o.Card.Capacity = true, nil, endless
	s := &session{run: run, options: o, each: each, device: deviceOf(o.Card), out: &Solved{Variables: variables}}
	if err := s.record(ctx); err != nil {
		return nil, err
	}
	o.Progress(capture.Progress{Doing: "solving"})
	if err := s.solve(); err != nil {
		return nil, err
	}
	return s.out, s.judge()
}

// A session is one solution in the making.
type session struct {
	run     capture.Runner
	options capture.Options
	each    func(capture.Trial)
	device  kernel.Device
	out     *Solved

	solved, checks []recorded
}

// A recorded is a run and its recording.
type recorded struct {
	*solve.Recording
	capture *capture.Capture
	dims    symbolic.Dims
}

func deviceOf(c capture.Card) kernel.Device {
	return kernel.Device{Capability: c.Capability, Multiprocessors: c.Multiprocessors, ThreadsPerMultiprocessor: c.Limits.ThreadsPerMultiprocessor}
}

// record captures the script at all values.
func (s *session) record(ctx context.Context) error {
	for _, d := range solvedAt(s.out.Variables) {
		r, err := s.at(ctx, d)
		if err != nil {
			return err
		}
		s.solved = append(s.solved, r)
	}
	further := s.out.Variables
	if len(further) == 1 && len(further[0].Values) < fewValues {
		v := further[0]
		list, err := s.unasked(ctx, checkedAt(further))
		if err != nil {
			return err
		}
		s.solved = append(s.solved, list...)
		for _, r := range list {
			v.Values = append(slices.Clone(v.Values), r.dims[v.Symbol])
		}
		slices.Sort(v.Values)
		further = []Variable{v}
	}
	var err error
	if s.checks, err = s.unasked(ctx, checkedAt(further)); err != nil {
		return err
	}
	if len(s.checks) == 0 { // what is left is to leave some out
		n := len(s.solved) - 1
		if n <= leastValues {
			return &capture.Error{Msg: "the script runs at the given values alone, and they are too few to leave one out for a check", Hint: "give one value more"}
		}
		s.checks, s.solved = s.solved[n:], s.solved[:n]
	}
	return nil
}

// unasked captures the script at values that nobody named, which it may not take.
func (s *session) unasked(ctx context.Context, points []symbolic.Dims) ([]recorded, error) {
	var list []recorded
	for _, d := range points {
		r, err := s.at(ctx, d)
		if e, ok := errors.AsType[*capture.Error](err); ok {
			s.note("unchecked", fmt.Sprintf("the script does not run at %s, a value of plimsoll's own choice: %s", s.text(d), e.Msg))
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// at captures the script at one combination of values.
func (s *session) at(ctx context.Context, d symbolic.Dims) (recorded, error) {
	values := map[string]string{}
	for _, v := range s.out.Variables {
		values[v.Name] = strconv.FormatInt(d[v.Symbol], 10)
	}
	t, err := capture.Attempt(ctx, s.run, s.options, values)
	if err != nil {
		return recorded{}, err
	}
	if e, ok := errors.AsType[*capture.Error](t.Err); ok {
		failed := *e
		failed.Msg = fmt.Sprintf("at %s: %s", s.text(d), e.Msg)
		return recorded{}, &failed
	}
	if s.each != nil {
		s.each(t)
	}
	res := t.Capture.Result
	if res.OOM != nil {
		return recorded{}, &capture.Error{Msg: fmt.Sprintf("at %s the script ran out of the memory that it may use: %s", s.text(d), res.OOM.Message), Hint: "vary smaller values"}
	}
	var r *solve.Recording
	script, err := scriptOf(t.Capture, d, s.device)
	if err == nil {
		r, err = script.Recording()
	}
	if err != nil {
		return recorded{}, &capture.Error{Msg: fmt.Sprintf("at %s: %v", s.text(d), err), Hint: "plimsoll capture without --symbolic shows what the script does"}
	}
	s.out.Runs = append(s.out.Runs, t)
	s.noteRun(t.Capture)
	return recorded{r, t.Capture, d}, nil
}

// text is "batch 8, seq 512".
func (s *session) text(d symbolic.Dims) string {
	var parts []string
	for _, v := range s.out.Variables {
		parts = append(parts, fmt.Sprintf("%s %d", v.Name, d[v.Symbol]))
	}
	return strings.Join(parts, ", ")
}

func (s *session) note(code, message string) {
	w := capture.Warning{Code: code, Message: message}
	if !slices.Contains(s.out.Notes, w) {
		s.out.Notes = append(s.out.Notes, w)
	}
}

// solve finds the tape and compares it with the runs that were left out.
func (s *session) solve() error {
	var list []*solve.Recording
	for _, r := range s.solved {
		list = append(list, r.Recording)
	}
	found, err := solve.Solve(list)
	if err != nil {
		return &capture.Error{Msg: "the script's recordings have no common tape: " + err.Error(), Hint: "plimsoll capture --vary without --symbolic runs it at each value"}
	}
	s.out.Tape, s.out.Doubts = found.Tape, shortDoubts(found.Doubts)
	s.out.Torch = s.solved[0].capture.Result.RecordedWith.Torch
	for _, r := range s.checks {
		c, err := s.check(r)
		if err != nil {
			return err
		}
		s.out.Checks = append(s.out.Checks, c)
		s.out.Tape.Checked = append(s.out.Tape.Checked, symbolic.Check{Events: c.Events, Equal: c.Equal, Peak: c.off()})
	}
	s.seen()
	s.about()
	s.ceiling(list)
	return nil
}

// ceiling is what libraries may take more than was counted: scratch memory whose
// size the virtual GPU cannot know.
func (s *session) ceiling(list []*solve.Recording) {
	var values []int64
	for _, r := range s.solved {
		var more unit.Bytes
		for _, e := range r.capture.Result.Estimates {
			more += max(e.High-e.Counted, 0)
		}
		values = append(values, int64(more))
	}
	if s.options.CuDNNWorkspace >= 0 || slices.Max(values) == 0 {
		return
	}
	e, off := solve.Formula(list, values)
	for i := range e.Terms { // where it is not exact, it is the most
		e.Terms[i].Num = int64(math.Ceil(float64(e.Terms[i].Num) * (1 + off)))
	}
	s.out.Tape.Ceiling = e
}

// seen widens the ranges of values by those of the checks.
func (s *session) seen() {
	for i := range s.out.Tape.Seen {
		span := &s.out.Tape.Seen[i]
		for _, r := range s.checks {
			span.Step = max(symbolic.GCD(span.Step, r.dims[span.Name]), 1)
			span.Low, span.High = min(span.Low, r.dims[span.Name]), max(span.High, r.dims[span.Name])
		}
	}
}

// check compares the tape with a run: event by event, and the allocator's peaks.
func (s *session) check(r recorded) (Check, error) {
	v, err := solve.Verify(s.out.Tape, r.Recording)
	if err != nil {
		return Check{}, fmt.Errorf("play the tape at %s: %w", s.text(r.dims), err)
	}
	equal := v.Result()
	c := Check{Dims: r.dims, Events: equal.Events, Equal: equal.Equal, First: v.First}
	var w tape.Writer
	if _, err := s.out.Tape.PlayScript(symbolic.Env{Dims: r.dims, Device: s.device}, symbolic.Plan{}, &w); err != nil {
		return c, fmt.Errorf("play the tape at %s: %w", s.text(r.dims), err)
	}
	with := r.capture.Result.RecordedWith
	a, err := whatif.New(with.AllocConf, with.Torch)
	if err != nil {
		return c, nil //nolint:nilerr // PyTorch took what our parser does not; the events tell enough
	}
	out, err := a.Replay(w.Tape(), whatif.Endless)
	if err != nil {
		return c, fmt.Errorf("replay the tape at %s: %w", s.text(r.dims), err)
	}
	p := r.capture.Result.Peak
	c.Allocated, c.Reserved = share(out.Allocated, p.Allocated), share(out.Reserved, p.Reserved)
	return c, nil
}

func share(got, want unit.Bytes) float64 { return float64(got)/float64(max(want, 1)) - 1 }

// judge refuses a tape that is far off where it was checked.
func (s *session) judge() error {
	for _, c := range s.out.Checks {
		if off := math.Abs(c.off()); off > mostOff {
			why := ""
			if c.First != "" {
				why = "; the first difference: " + c.First
			}
			return &capture.Error{
				Msg:  fmt.Sprintf("no formula holds: at %s the peak would be off by %.1f %%, %d of %d events equal%s", s.text(c.Dims), 100*off, c.Equal, c.Events, why),
				Hint: "sizes that depend on data have no formula; plimsoll capture --vary without --symbolic runs the script at each value",
			}
		}
	}
	return nil
}

// Right reports whether both peaks of all checks are equal to the byte.
func (s *Solved) Right() bool {
	return len(s.Checks) > 0 && !slices.ContainsFunc(s.Checks, func(c Check) bool { return c.off() != 0 })
}

// Exact reports whether all sizes are solved and all checks equal.
func (s *Solved) Exact() bool {
	return len(s.Doubts) == 0 && len(s.Checks) > 0 && !slices.ContainsFunc(s.Checks, func(c Check) bool { return !c.Exact() })
}

// Events is how many the tape has, those with conditions among them.
func (s *Solved) Events() int {
	n := 0
	s.Tape.EachOp(func(*symbolic.Op) { n++ })
	return n
}

// Collection is the tape as a file has it.
func (s *Solved) Collection() *symbolic.Collection {
	c := symbolic.NewCollection()
	torch, _, _ := strings.Cut(s.Torch, "+")
	c.Meta = [][2]string{{"torch", torch}}
	for _, v := range s.Variables {
		c.Symbols = append(c.Symbols, symbolic.Symbol{Name: v.Symbol, Meaning: v.Name + " of the command"})
	}
	c.Add(symbolic.Script, s.Tape)
	return c
}

// about says how the tape was captured.
func (s *session) about() {
	t, card := s.out.Tape, s.options.Card
	add := func(word, value string) {
		if value = line(value); value != "" {
			t.About = append(t.About, symbolic.About{Word: word, Value: value})
		}
	}
	add(symbolic.AboutCommand, strings.Join(s.options.Argv, " "))
	add(symbolic.AboutCard, card.Name)
	add(symbolic.AboutDevice, fmt.Sprintf("%d %d %d", s.device.Capability, s.device.Multiprocessors, s.device.ThreadsPerMultiprocessor))
	add(symbolic.AboutAllocConf, s.solved[0].capture.Result.RecordedWith.AllocConf)
	var outside unit.Bytes
	for _, r := range slices.Concat(s.solved, s.checks) {
		outside = max(outside, r.capture.Result.ByCategory.Outside)
	}
	if outside > 0 {
		add(symbolic.AboutOutside, strconv.FormatInt(int64(outside), 10))
	}
	for _, v := range s.out.Variables {
		add(symbolic.AboutVaried, v.Symbol+" "+v.Name)
	}
	for _, n := range s.out.Notes {
		add(symbolic.AboutNote, n.Code+" "+n.Message)
	}
}

// line is a text without line breaks and control characters.
func line(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s))
}
