package idle

import (
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-dev/plimsoll/series"
)

// Ranks of one job that train in step show the same utilisation, since kernels
// that wait for others count as busy. Power and SM activity tell who waits.

// apart is how far a GPU must be from the others, as a share of what they have,
// to be the odd one; theirs may differ by half of that.
const apart = 0.2

// odd is the index of the one GPU whose number at work is apart from the others,
// with its number and theirs; -1 without one.
func (v *view) odd(of func(*gpu) line) (who int, its, theirs float64, known bool) {
	if len(v.peers) < 2 {
		return -1, 0, 0, false
	}
	x := make([]float64, len(v.peers))
	for i, g := range v.peers {
		m, ok := of(g).mean(g.working())
		if !ok {
			// One that never works is as odd as can be; another signal says so.
			if m, ok = of(g).mean(v.train); !ok {
				return -1, 0, 0, false
			}
		}
		x[i] = m
	}
	for i := range x {
		others := slices.Delete(slices.Clone(x), i, i+1)
		slices.Sort(others)
		mid := others[len(others)/2]
		spread := others[len(others)-1] - others[0]
		far := math.Abs(x[i] - mid)
		if far < apart*mid || spread > far/2 {
			continue
		}
		if len(x) == 2 {
			// Either could be the odd one: the slower one keeps the other
			// waiting, and is the one that idles more.
			i = v.idler()
			mid = x[1-i]
		}
		return i, x[i], mid, true
	}
	return -1, 0, 0, true
}

// idler is the GPU of two that idles more; of two that are equal the one that
// draws less power.
func (v *view) idler() int {
	a, _ := v.peers[0].of(series.Busy).mean(v.train)
	b, _ := v.peers[1].of(series.Busy).mean(v.train)
	if math.Abs(a-b) < 0.05 {
		a, _ = powerShare(v.peers[0]).mean(v.train)
		b, _ = powerShare(v.peers[1]).mean(v.train)
	}
	if a <= b {
		return 0
	}
	return 1
}

func askOdd(words string, of func(*gpu) line) func(*view) (State, string) {
	return func(v *view) (State, string) {
		who, its, theirs, known := v.odd(of)
		if !known {
			if len(v.peers) < 2 {
				return No, ""
			}
			return Unknown, ""
		}
		if who < 0 {
			return No, ""
		}
		return Yes, fmt.Sprintf("GPU %d "+words, v.peers[who].index, percent(its), percent(theirs))
	}
}

// busyShares are the busy shares of the GPUs, false where one is unknown or
// there is only one.
func (v *view) busyShares() ([]float64, bool) {
	out := make([]float64, len(v.peers))
	for i, g := range v.peers {
		b, ok := g.of(series.Busy).mean(v.train)
		if !ok {
			return nil, false
		}
		out[i] = b
	}
	return out, len(out) > 1
}

func askOddBusy(v *view) (State, string) {
	x, ok := v.busyShares()
	if !ok {
		return No, ""
	}
	low := slices.Index(x, slices.Min(x))
	rest := slices.Delete(slices.Clone(x), low, low+1)
	least := slices.Min(rest)
	return judge(least-x[low] >= leastLoss && least >= 1-2*leastLoss, fmt.Sprintf("kernels run for %s of the time on GPU %d and for %s or more on the others", percent(x[low]), v.peers[low].index, percent(least)))
}

func askOthersBusy(v *view) (State, string) {
	x, ok := v.busyShares()
	if !ok {
		return No, ""
	}
	slices.Sort(x)
	return judge(x[1] >= 1-leastLoss, fmt.Sprintf("kernels run for %s of the time or more on all GPUs but one", percent(x[1])))
}

// askRanks sees a job of several ranks.
func askRanks(v *view) (State, string) {
	world := 0
	for _, p := range v.ranks {
		world = max(world, p.last.WorldSize)
	}
	if len(v.ranks) == 0 && len(v.peers) < 2 {
		return Unknown, ""
	}
	return judge(len(v.peers) > 1 || world > 1, fmt.Sprintf("%d GPUs of this host are in the job, WORLD_SIZE is %s", len(v.peers), countOr(world, "not set")))
}

func countOr(n int, none string) string {
	if n == 0 {
		return none
	}
	return fmt.Sprint(n)
}
