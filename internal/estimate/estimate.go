package estimate

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Options say how much of the answer is wanted. The zero value gives all that
// costs no more than a few plays: no formula.
type Options struct {
	// Formula asks for the closed form.
	Formula bool
	// Tape asks for what was played, and Reserved for the reserved bytes over
	// all its events.
	Tape, Reserved bool
	// Remedies asks for cures where the run fits, too.
	Remedies bool
	// Bare leaves out what takes more plays: cures, the largest micro-batch,
	// and what made the peak.
	Bare bool
	// ZeroWorkspaces says that cuDNN takes no scratch memory, as on the
	// virtual GPU that recordings are made on.
	ZeroWorkspaces bool
}

// On estimates a recipe on a card.
func On(ctx context.Context, s Source, r recipe.Recipe, t Target, o Options) (*Estimate, error) {
	q, err := newQuestion(s, r, t, o)
	if err != nil {
		return nil, err
	}
	played, err := q.try(ctx, q.recipe)
	if err != nil {
		return nil, err
	}
	defer played.release()
	return q.answer(ctx, played)
}

// answer is all that is asked, given the attempt at the recipe itself.
func (q *question) answer(ctx context.Context, own *attempt) (*Estimate, error) {
	e := q.describe(own)
	var err error
	if q.options.Formula {
		if e.Formula, e.Symbols, err = q.source.Formula(q.recipe, q.target.Device, e.Peak.Event); err != nil {
			return nil, fmt.Errorf("formula of %s: %w", e.Model.Name, err)
		}
	}
	if q.options.Reserved {
		if e.Reserved, err = own.levels(own.room); err != nil {
			return nil, err
		}
	}
	if q.options.Bare {
		return e, nil
	}
	var located error
	var wg sync.WaitGroup
	wg.Go(func() { located = q.locate(e) })
	e.MaxBatch, e.MoreBatch, err = q.largest(ctx, own)
	wg.Wait()
	if err := errors.Join(err, located); err != nil {
		return nil, err
	}
	if own.pressed() {
		if own.needed, err = own.least(q.target.Capacity); err != nil {
			return nil, err
		}
		e.Peak.Needs = own.needed
	}
	if e.Verdict != Fits || q.options.Remedies {
		e.Findings, err = q.findings(ctx, own, e.MaxBatch)
	}
	return e, err
}

// locate plays the run once more with its sites, to say what made the peak.
func (q *question) locate(e *Estimate) error {
	w := new(tape.Writer)
	if _, err := q.source.Play(q.recipe, q.target.Device, w, Sites); err != nil {
		return err
	}
	if t := w.Tape(); e.Peak.Event >= 0 && e.Peak.Event < t.Len() {
		e.Peak.Site = siteName(t.Site(t.Event(e.Peak.Event).Site))
	}
	if q.options.Tape {
		e.Tape = w.Tape()
	}
	return nil
}

// A question is a recipe on a card, and what is asked about it.
type question struct {
	source  Source
	recipe  recipe.Recipe
	target  Target
	options Options
}

func newQuestion(s Source, r recipe.Recipe, t Target, o Options) (*question, error) {
	if t.Count > 1 && (r.Shard != "" || r.Mode == "" || r.Mode == recipe.Train) { // else each works for itself
		r.World = int64(t.Count)
	}
	q := &question{s, r, t, o}
	var err error
	q.recipe, err = q.complete(r)
	return q, err
}

// complete fills in what a recipe leaves open.
func (q *question) complete(r recipe.Recipe) (recipe.Recipe, error) {
	full, err := q.source.Complete(r)
	if err == nil && full.Unpadded && full.Seq == 0 {
		err = &Error{Msg: q.source.Model().Name + " reads images, which are never padded", Hint: "leave out --unpadded"}
	}
	return full, err
}

// An attempt is a run and what it takes of the card.
type attempt struct {
	*run
	interval
	doubts []Doubt
	needed unit.Bytes // the least capacity that does, where that was looked for; else 0
}

// pressed reports whether the run does not surely fit without giving back what
// is only cached. What it takes with room is then not what it needs.
func (a *attempt) pressed() bool {
	return a.verdict != Fits || a.typical.reserved != a.free.reserved
}

// least is the smallest capacity that does, beside what usually stands there.
// On the given one it has been tried: where it fails there, more is needed. 0
// says that no capacity does.
func (a *attempt) least(capacity unit.Bytes) (unit.Bytes, error) {
	room, err := a.needs()
	if err != nil || room == 0 {
		return 0, err
	}
	least := room + a.beside.typical
	if a.fails {
		return max(least, capacity+1), nil
	}
	return min(least, capacity), nil
}

// try plays a recipe that is complete, and judges it.
func (q *question) try(ctx context.Context, r recipe.Recipe) (*attempt, error) {
	played, err := q.perform(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := played.settle(); err != nil {
		return nil, err
	}
	return q.judge(played)
}

// perform plays a recipe that is complete.
func (q *question) perform(ctx context.Context, r recipe.Recipe) (*run, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	settings, err := settingsOf(r)
	if err != nil {
		return nil, err
	}
	return perform(q.source, r, q.target.Device, settings)
}

// judge says what a run that was played takes of the card.
func (q *question) judge(played *run) (*attempt, error) {
	a := &attempt{run: played, doubts: q.doubts(played.played)}
	var err error
	a.interval, err = played.on(q.target, a.doubts)
	return a, err
}

func (q *question) doubts(p *Played) []Doubt {
	var out []Doubt
	for _, d := range p.Doubts {
		if d.Code != CuDNNWorkspace || !q.options.ZeroWorkspaces {
			out = append(out, d)
		}
	}
	return out
}

// describe is the answer without what takes more plays.
func (q *question) describe(a *attempt) *Estimate {
	t, r := q.target, q.recipe
	e := &Estimate{
		Schema: Schema, Method: "config", Model: q.source.Model(), Mode: r.Mode, Task: r.Task, Recipe: r,
		GPU:     GPU{Name: t.Name, Count: t.Count, Capacity: t.Capacity, Note: t.Note},
		Verdict: a.verdict, Exact: a.played.Exact, Steady: Steady{a.typical.steady},
		Formula: map[string]string{}, Symbols: []Symbol{}, Steps: []Step{}, Findings: []Finding{}, Cards: []CardVerdict{}, Warnings: []Warning{},
		Events: a.tape.Len(), Beside: a.beside.typical, Libraries: a.libraries.typical, ContextSource: t.Context.Source.Title,
	}
	if s := e.Model.Script; s != nil {
		e.Method = "capture"
		e.Script = &Script{s.Command, s.Card, a.played.Varied}
	}
	e.RecordedWith = e.Model.RecordedWith
	e.Model.Parameter, e.Model.Trainable = a.played.Parameters, a.played.Trainable
	now := at(a.tape, a.typical.event)
	e.Peak = Peak{
		Requested: now.requested, Allocated: a.typical.allocated, Reserved: a.typical.reserved,
		Device: a.device, Low: a.low, High: a.high, Event: a.typical.event,
	}
	e.Peak.Phase, e.Peak.Step = a.place(a.typical.event)
	e.ByCategory = now.categories(a.typical, a.interval)
	for i, l := range a.typical.steps {
		e.Steps = append(e.Steps, Step{i + 1, l.Allocated, l.Reserved})
	}
	e.Layers = a.layers()
	for _, d := range a.doubts {
		e.Warnings = append(e.Warnings, Warning{d.Code, d.Message})
	}
	e.Warnings = append(e.Warnings, cardWarnings(r, t)...)
	return e
}
