package estimate

import (
	"cmp"
	"context"
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/recipe"
)

// A remedy is a change of a recipe that takes less memory.
type remedy struct {
	code      string
	exactness Exactness
	why       string
	// change returns the changed recipe and the flags that say it, "" where it
	// does not apply.
	change func(f facts) (r recipe.Recipe, flags string)
	// judge is how exact the remedy is for a model where that depends on it.
	judge func(m Model) (Exactness, string)
}

// facts are what a remedy may look at.
type facts struct {
	recipe  recipe.Recipe
	model   Model
	largest int64 // micro-batch that fits, 0 for none
	target  Target
}

// remedies estimates every cure that applies, each with that one change. Those
// that suffice come first, and among these the least intrusive.
func (q *question) remedies(ctx context.Context, own *attempt, largest int64) ([]Finding, error) {
	f := facts{recipe: q.recipe, model: q.source.Model(), largest: largest, target: q.target}
	found := []Finding{}
	for _, m := range remedies {
		r, flags := m.change(f)
		if flags == "" {
			continue
		}
		full, err := q.source.Complete(r)
		if err != nil {
			continue // this model cannot do it
		}
		a, err := q.try(ctx, full)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || a.device >= own.device {
			continue
		}
		exactness, why := m.exactness, m.why
		if m.judge != nil {
			exactness, why = m.judge(f.model)
		}
		found = append(found, Finding{
			Code: m.code, Action: flags, Saves: own.device - a.device, Device: a.device, Verdict: a.verdict, Exactness: exactness, Why: why,
		})
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(worse[a.Verdict], worse[b.Verdict]), cmp.Compare(intrusion[a.Exactness], intrusion[b.Exactness]))
	})
	return found, nil
}

var (
	worse     = map[Verdict]int{Fits: 0, MayNotFit: 1, DoesNotFit: 2}
	intrusion = map[Exactness]int{SameNumbers: 0, SameExpectation: 1, ChangesResults: 2}
)
