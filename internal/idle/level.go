package idle

import (
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/series"
)

// Limits of two levels of work.
const (
	// levelApart is the least difference of memory between two phases, as a
	// share of the higher: caches of an allocator move by less.
	levelApart = 0.03
	// powerApart is the same for power at work.
	powerApart = 0.1
	// levelSeconds is how long a stretch at one level must be: an evaluation
	// has several steps.
	levelSeconds = 1.5
	// mostStretches is how often the level may change: allocations within a
	// step change it in each.
	mostStretches = 16
)

// levels finds two levels of memory in stretches. It returns the samples of the
// level that draws less power at work, with the power of both where known.
func (v *view) levels() (eval mask, its, other float64, ok bool) {
	memory := v.over(func(g *gpu) line { return g.of(series.MemoryUsed) })
	cut, ok := valley(memory.known(v.train))
	if !ok {
		return nil, 0, 0, false
	}
	below := v.room.where(memory, v.train, func(m float64) bool { return m < cut })
	above := v.room.where(memory, v.train, func(m float64) bool { return m >= cut })
	if n := v.stretches(below); n == 0 || n > mostStretches || v.stretches(above) == 0 {
		return nil, 0, 0, false
	}
	power, runs := v.over(powerShare), func(b float64) bool { return b >= quiet }
	low, _ := power.mean(v.room.where(v.busy(), below, runs))
	high, _ := power.mean(v.room.where(v.busy(), above, runs))
	if low <= high {
		return below, low, high, true
	}
	return above, high, low, true
}

// valley is the middle of the widest gap between sorted numbers, where it is
// wide enough to part two levels.
func valley(sorted []float64) (float64, bool) {
	at, widest := 0.0, 0.0
	for i := 1; i < len(sorted); i++ {
		if d := sorted[i] - sorted[i-1]; d > widest {
			at, widest = (sorted[i]+sorted[i-1])/2, d
		}
	}
	return at, len(sorted) > 0 && widest >= levelApart*slices.Max(sorted)
}

// stretches counts the runs of a mask; 0 where one, the ends aside, is too short
// to be a phase.
func (v *view) stretches(m mask) int {
	n, from := 0, -1
	for i := 0; i <= len(m); i++ {
		switch in := i < len(m) && m.has(i); {
		case in && from < 0:
			from = i
		case !in && from >= 0:
			if from > 0 && i < len(m) && v.seconds(span{from, i - 1}) < levelSeconds {
				return 0
			}
			n++
			from = -1
		}
	}
	return n
}

func askLevels(v *view) (State, string) {
	if _, ok := v.over(func(g *gpu) line { return g.of(series.MemoryUsed) }).mean(v.train); !ok {
		return Unknown, ""
	}
	share, _, ok := lostToEvaluation(v)
	return judge(ok && share >= leastLoss && share <= 1-leastLoss,
		fmt.Sprintf("for %s of the time the job works at another level of memory", percent(share)))
}

func askPowerLevels(v *view) (State, string) {
	_, its, other, ok := v.levels()
	if !ok {
		return No, ""
	}
	return judge(its > 0 && other-its >= powerApart*other,
		fmt.Sprintf("there it draws %s of the power limit at work, and %s in the rest of the time", percent(its), percent(other)))
}

// lostToEvaluation is the share of the time at the lower level.
func lostToEvaluation(v *view) (float64, string, bool) {
	eval, _, _, ok := v.levels()
	if !ok {
		return 0, "", false
	}
	return eval.sum() / max(v.train.sum(), 1e-9), "the evaluation took that long", true
}
