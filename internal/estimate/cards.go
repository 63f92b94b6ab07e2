package estimate

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/plimsoll-dev/plimsoll/internal/gpu"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
)

// shownCards is how many cards that do are listed, and classes the share by
// which their capacities differ at least.
const (
	shownCards = 4
	classes    = 1.08
)

// Smallest estimates a recipe on the smallest of the given cards on which it
// fits for certain, or on the largest where it fits on none, and lists the
// cards around it. Cards that the recipe's PyTorch does not run on are left
// out.
func Smallest(ctx context.Context, s Source, r recipe.Recipe, cards []gpu.Card, o Options) (*Estimate, error) {
	f := finder{source: s, recipe: r, options: o, tried: map[int]*judged{}, runs: map[kernel.Device]func() (*run, error){}}
	for _, c := range cards {
		if c.Capability >= oldestCapability(r) {
			f.targets = append(f.targets, TargetOf(c, 1))
		}
	}
	if len(f.targets) == 0 {
		return nil, &Error{Msg: "there is no card that this PyTorch runs on"}
	}
	slices.SortStableFunc(f.targets, func(a, b Target) int { return cmp.Compare(a.Capacity, b.Capacity) })
	first, err := f.first(ctx)
	if err != nil {
		return nil, err
	}
	chosen := min(first, len(f.targets)-1)
	j, err := f.try(ctx, chosen)
	if err != nil {
		return nil, err
	}
	j.question.target.Note = "no card was named, and this is the smallest on which it fits"
	if first == len(f.targets) {
		j.question.target.Note = "no card was named, and it fits on none; this is the largest"
	}
	var list []CardVerdict
	var around error
	var wg sync.WaitGroup
	wg.Go(func() { list, around = f.around(ctx, first) })
	e, err := j.question.answer(ctx, j.attempt)
	wg.Wait()
	if err := errors.Join(err, around); err != nil {
		return nil, err
	}
	e.Cards = list
	return e, nil
}

// A finder looks for the smallest card that does, among cards that rise in
// capacity.
type finder struct {
	source  Source
	recipe  recipe.Recipe
	options Options
	targets []Target
	tried   map[int]*judged
	// runs are by what kernels see of a card: cards that differ in memory alone
	// share one.
	runs map[kernel.Device]func() (*run, error)
}

// A judged card is what a run takes of it.
type judged struct {
	question *question
	attempt  *attempt
	err      error
}

// try judges some cards at once and returns the first. Only that one must be
// answered: a source may know no recording for some kind of card.
func (f *finder) try(ctx context.Context, cards ...int) (*judged, error) {
	var open []int
	for _, i := range cards {
		if f.tried[i] == nil {
			f.tried[i] = &judged{}
			open = append(open, i)
			f.prepare(f.targets[i].Device)
		}
	}
	onAllCores(len(open), func(n int) {
		j, t := f.tried[open[n]], f.targets[open[n]]
		var played *run
		if j.question, j.err = newQuestion(f.source, f.recipe, t, f.options); j.err != nil || ctx.Err() != nil {
			return
		}
		if played, j.err = f.runs[t.Device](); j.err == nil {
			j.attempt, j.err = j.question.judge(played)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return f.tried[cards[0]], f.tried[cards[0]].err
}

// prepare makes a kind of card known, whose run is played when it is wanted.
func (f *finder) prepare(d kernel.Device) {
	if f.runs[d] != nil {
		return
	}
	f.runs[d] = sync.OnceValues(func() (*run, error) {
		full, err := f.source.Complete(f.recipe)
		if err != nil {
			return nil, err
		}
		settings, err := settingsOf(full)
		if err != nil {
			return nil, err
		}
		return play(f.source, full, d, settings)
	})
}

// fits reports whether a run surely fits; a card without an answer does not.
func (j *judged) fits() bool { return j.err == nil && j.attempt.verdict == Fits }

// first is the first card that does, len(targets) when none does. What a card
// is beside its memory changes little, so that one play in the middle says
// nearly where to look.
func (f *finder) first(ctx context.Context) (int, error) {
	j, err := f.try(ctx, len(f.targets)/2)
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(f.targets, func(t Target) bool { return t.Capacity >= j.attempt.free.reserved+t.Context.High })
	if i < 0 {
		i = len(f.targets) - 1
	}
	fits := func(i int) bool {
		j, _ := f.try(ctx, i)
		return j != nil && j.fits()
	}
	_, _ = f.try(ctx, i, max(i-1, 0)) // most often these two are all
	for i < len(f.targets) && !fits(i) {
		i++
	}
	for i > 0 && fits(i-1) {
		i--
	}
	return i, ctx.Err()
}

// around lists the largest card that is too small and the smallest that do, of
// each class of capacities the first.
func (f *finder) around(ctx context.Context, first int) ([]CardVerdict, error) {
	var shown []int
	for i := max(first-1, 0); i < len(f.targets) && len(shown) <= shownCards; i++ {
		if n := len(shown) - 1; i > first && float64(f.targets[i].Capacity) < classes*float64(f.targets[shown[n]].Capacity) {
			continue
		}
		shown = append(shown, i)
	}
	_, _ = f.try(ctx, shown...)
	list := []CardVerdict{}
	for _, i := range shown {
		if j := f.tried[i]; j != nil && j.err == nil && j.attempt != nil {
			list = append(list, CardVerdict{f.targets[i].Name, f.targets[i].Capacity, j.attempt.device, j.attempt.verdict})
		}
	}
	return list, ctx.Err()
}
