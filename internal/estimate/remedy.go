package estimate

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// findings estimates every cure that applies, each with that one change. Those
// that suffice come first, and among these the least intrusive. Where none
// does, the last finding is several together.
func (q *question) findings(ctx context.Context, own *attempt, largest int64) ([]Finding, error) {
	f := facts{recipe: q.recipe, model: q.source.Model(), largest: largest, target: q.target}
	tried := make([]*Finding, len(remedies))
	failed := make([]error, len(remedies))
	onAllCores(len(remedies), func(i int) { tried[i], failed[i] = q.finding(ctx, own, f, remedies[i]) })
	if err := errors.Join(failed...); err != nil {
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
	if own.verdict != Fits && (len(found) == 0 || found[0].Verdict != Fits) {
		c, err := q.combined(ctx, own, f)
		if err != nil {
			return nil, err
		}
		if c != nil {
			found = append([]Finding{*c}, found...)
		}
	}
	return found, ctx.Err()
}

var (
	worse     = map[Verdict]int{Fits: 0, MayNotFit: 1, DoesNotFit: 2}
	intrusion = map[Exactness]int{SameNumbers: 0, SameExpectation: 1, ChangesResults: 2}
)

// finding is what some cures do together, nil where one of them does not
// apply, the model cannot do it, or they save nothing.
func (q *question) finding(ctx context.Context, own *attempt, f facts, cures ...remedy) (*Finding, error) {
	out := &Finding{Exactness: SameNumbers}
	for _, m := range cures {
		exactness, why := m.effect(f)
		if intrusion[exactness] > intrusion[out.Exactness] {
			out.Exactness = exactness
		}
		out.Code, out.Why = m.code, why
		var ok bool
		if f.recipe, ok = m.change(f); !ok {
			return nil, nil
		}
	}
	full, err := q.complete(f.recipe)
	if err != nil {
		return nil, unlessRefused(err)
	}
	a, err := q.try(ctx, full)
	if err != nil {
		return nil, unlessRefused(err)
	}
	defer a.release()
	before, after := own.device, a.free.reserved+a.beside.typical // own has room, so that with room the two compare
	if own.needed > 0 {
		if out.Needs, err = a.least(q.target.Capacity); err != nil {
			return nil, err
		}
		before, after = own.needed, out.Needs
	}
	if after >= before {
		return nil, nil
	}
	out.Action, out.Saves, out.Device, out.Verdict = flagsOf(q.recipe, f.recipe), before-after, a.device, a.verdict
	return out, nil
}

// unlessRefused is the error, nil for one that says what the model or its
// recordings cannot do: such a change is left out, and all else is a fault.
func unlessRefused(err error) error {
	if _, refused := errors.AsType[*Error](err); refused {
		return nil
	}
	return err
}

// combined looks for several cures that suffice together: the least intrusive
// first, each that saves something, until the run fits; then those that are
// not needed are taken out again, the most intrusive first.
func (q *question) combined(ctx context.Context, own *attempt, f facts) (*Finding, error) {
	var used []remedy
	var best *Finding
	for _, exactness := range []Exactness{SameNumbers, SameExpectation, ChangesResults} {
		for _, m := range remedies {
			if e, _ := m.effect(f); e != exactness || best != nil && best.Verdict == Fits {
				continue
			}
			found, err := q.finding(ctx, own, f, append(slices.Clone(used), m)...)
			if err != nil {
				return nil, err
			}
			if found != nil && (best == nil || found.Then() < best.Then()) {
				used, best = append(used, m), found
			}
		}
	}
	if best == nil || best.Verdict != Fits {
		return nil, nil
	}
	for i := len(used) - 1; i >= 0 && len(used) > 1; i-- {
		fewer := slices.Delete(slices.Clone(used), i, i+1)
		found, err := q.finding(ctx, own, f, fewer...)
		if err != nil {
			return nil, err
		}
		if found != nil && found.Verdict == Fits {
			used, best = fewer, found
		}
	}
	best.Code, best.Why = "combined", "none suffices by itself; these do together"
	return best, nil
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
