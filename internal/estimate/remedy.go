package estimate

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

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
	tried := make([]*Finding, len(remedies))
	onAllCores(len(remedies), func(i int) { tried[i] = q.remedy(ctx, remedies[i], f, own) })
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found := []Finding{}
	for _, t := range tried {
		if t != nil {
			found = append(found, *t)
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(worse[a.Verdict], worse[b.Verdict]), cmp.Compare(intrusion[a.Exactness], intrusion[b.Exactness]))
	})
	return found, nil
}

// remedy is what one cure does, nil where it does not apply, the model cannot
// do it, or it saves nothing.
func (q *question) remedy(ctx context.Context, m remedy, f facts, own *attempt) *Finding {
	r, flags := m.change(f)
	if flags == "" {
		return nil
	}
	full, err := q.source.Complete(r)
	if err != nil {
		return nil
	}
	a, err := q.try(ctx, full)
	if err != nil {
		return nil
	}
	a.release()
	if a.device >= own.device {
		return nil
	}
	exactness, why := m.exactness, m.why
	if m.judge != nil {
		exactness, why = m.judge(f.model)
	}
	return &Finding{
		Code: m.code, Action: flags, Saves: own.device - a.device, Device: a.device, Verdict: a.verdict, Exactness: exactness, Why: why,
	}
}

// onAllCores calls f with 0 to n-1, as many at once as there are cores, and
// returns when all are done.
func onAllCores(n int, f func(i int)) {
	var wg sync.WaitGroup
	var next atomic.Int64
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				f(int(i))
			}
		})
	}
	wg.Wait()
}

var (
	worse     = map[Verdict]int{Fits: 0, MayNotFit: 1, DoesNotFit: 2}
	intrusion = map[Exactness]int{SameNumbers: 0, SameExpectation: 1, ChangesResults: 2}
)
