package idle

import (
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-dev/plimsoll/series"
)

// Limits of two levels of work.
const (
	// levelApart is the least difference of memory between two phases, as a
	// share of the higher: caches of an allocator move by less.
	levelApart = 0.03
	// powerApart is the same for power at work, and for what changes with it.
	powerApart = 0.1
	// clockApart is the same for clocks, which are set in steps of 15 MHz.
	clockApart = 0.03
	// levelSeconds is how long a stretch at one level must be: an evaluation
	// has several steps.
	levelSeconds = 1.5
	// mostStretches is how often the level may change: allocations within a
	// step change it in each.
	mostStretches = 16
	// powerSettles is how long a change of power takes to be seen: sensors of
	// Ampere and newer show the mean of a second (nvml.h).
	powerSettles = 1.0
	// mostEvaluation is the share of the time from which the lower level is what
	// the job is for, as where it generates text to learn from.
	mostEvaluation = 0.5
	// levelsApart is how many standard deviations lie between the means of two
	// levels at least: fewer, and both are one that varies.
	levelsApart = 4.0
)

// Two levels at which a job works in turn.
type twoLevels struct {
	eval, rest mask    // the samples of the level that draws less power, and of the other
	its, other float64 // power at work, as shares of the limit
	by         string  // what parts them
	ok         bool
}

// levels finds two levels of work in stretches: those of memory, or, since the
// allocator of PyTorch keeps what it has, those of power.
func (v *view) levels() twoLevels {
	if v.levelled == nil {
		l := v.memoryLevels()
		if !l.ok {
			l = v.powerLevels()
		}
		v.levelled = &l
	}
	return *v.levelled
}

func (v *view) memoryLevels() twoLevels {
	memory := v.over(func(g *gpu) line { return g.of(series.MemoryUsed) })
	cut, ok := valley(memory.known(v.train))
	if !ok {
		return twoLevels{}
	}
	below := v.room.where(memory, v.train, func(m float64) bool { return m < cut })
	above := v.room.where(memory, v.train, func(m float64) bool { return m >= cut })
	return v.levelsOf("memory", below, above)
}

// powerLevels finds levels of power at work that are left and come back: what changes
// once is another stage of the job. Where clocks fall with the power they are why.
func (v *view) powerLevels() twoLevels {
	power := v.over(powerShare)
	works := v.room.where(v.busy(), v.train, func(b float64) bool { return b >= kernelsRun })
	cut, ok := middle(power.known(works))
	if !ok || len(v.tenants()) > 0 {
		return twoLevels{}
	}
	level := v.carried(power, works)
	below := v.room.where(level, v.train, func(p float64) bool { return p < cut })
	above := v.room.where(level, v.train, func(p float64) bool { return p >= cut })
	l := v.levelsOf("power", below, above)
	if !l.ok || !returns(l.eval, l.rest) || !distinct(power, v.settled(l.eval), v.settled(l.rest)) {
		return twoLevels{}
	}
	clock := v.over(clockShare)
	low, known := clock.mean(l.eval)
	if high, _ := clock.mean(l.rest); known && low < (1-clockApart)*high {
		return twoLevels{}
	}
	return l
}

// carried is a line of which the last number that m chooses stands until the next: a
// gap between two steps is of the level of those.
func (v *view) carried(l line, m mask) line {
	out, last := v.room.line(len(l)), math.NaN()
	for i, x := range l {
		if m.has(i) && !math.IsNaN(x) {
			last = x
		}
		out[i] = last
	}
	return out
}

// levelsOf are two levels where both come in stretches.
func (v *view) levelsOf(by string, below, above mask) twoLevels {
	if n := v.stretches(below); n == 0 || n > mostStretches || v.stretches(above) == 0 {
		return twoLevels{}
	}
	low, high := v.powerAt(below), v.powerAt(above)
	if low <= high {
		return twoLevels{below, above, low, high, by, true}
	}
	return twoLevels{above, below, high, low, by, true}
}

// powerAt is the power at work in some samples, once the sensor shows it.
func (v *view) powerAt(m mask) float64 {
	power := v.over(powerShare)
	runs := func(b float64) bool { return b >= quiet }
	if p, ok := power.mean(v.room.where(v.busy(), v.settled(m), runs)); ok {
		return p
	}
	p, _ := power.mean(v.room.where(v.busy(), m, runs))
	return p
}

// settled leaves the first moments of each stretch out.
func (v *view) settled(m mask) mask {
	out := v.room.mask(len(m))
	begin := 0
	for i := range m {
		switch {
		case !m.has(i):
			begin = i + 1
		case begin < len(m) && v.times[i]-v.times[begin] >= powerSettles:
			out[i] = m[i]
		}
	}
	return out
}

// returns says whether a level lies between stretches of another.
func returns(inner, outer mask) bool {
	before, inside := false, false
	for i := range inner {
		switch {
		case inner.has(i):
			inside = before
		case outer.has(i) && inside:
			return true
		case outer.has(i):
			before = true
		}
	}
	return false
}

// distinct says whether a line has two levels in two sets of samples, and not one that
// varies.
func distinct(l line, a, b mask) bool {
	ma, da, okA := spread(l, a)
	mb, db, okB := spread(l, b)
	return okA && okB && math.Abs(ma-mb) >= levelsApart*max(da, db) && math.Abs(ma-mb) >= powerApart*max(ma, mb)
}

// spread is the mean of a line and how far it is from it, in the mean.
func spread(l line, m mask) (mean, deviation float64, ok bool) {
	mean, ok = l.mean(m)
	sum, n := 0.0, 0.0
	for i, x := range l {
		if m.has(i) && !math.IsNaN(x) {
			sum += (x - mean) * (x - mean)
			n++
		}
	}
	return mean, math.Sqrt(sum / max(n, 1)), ok && n >= leastSamples/2
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

// middle parts sorted numbers into two whose means lie furthest apart for how many
// they are (Otsu), where both are a part of them that counts.
func middle(sorted []float64) (float64, bool) {
	total := 0.0
	for _, x := range sorted {
		total += x
	}
	n, sum, at, best := float64(len(sorted)), 0.0, 0.0, 0.0
	for i, x := range sorted[:max(len(sorted)-1, 0)] {
		sum += x
		k := float64(i + 1)
		if k < leastLoss*n || n-k < leastLoss*n {
			continue
		}
		d := (total-sum)/(n-k) - sum/k
		if between := k * (n - k) * d * d; between > best {
			at, best = (x+sorted[i+1])/2, between
		}
	}
	return at, best > 0
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
	return judge(ok && v.levels().by == "memory" && share >= leastLoss && share <= 1-leastLoss,
		fmt.Sprintf("for %s of the time the job works at another level of memory", percent(share)))
}

// levelMarks are what may change between training and evaluation beside power, with
// words for two means of it.
var levelMarks = []struct {
	words string
	form  func(float64) string
	of    func(v *view) line
}{
	{"has %s of its multiprocessors at work, and %s", percent, func(v *view) line { return v.over(smActive) }},
	{"has %s of its tensor cores at work, and %s", percent, func(v *view) line { return v.overCounter(series.TensorActive) }},
	{"reads or writes its memory for %s of the time, and %s", percent, func(v *view) line { return v.overCounter(series.MemoryBusy) }},
	{"sends %s/s over NVLink, and %s/s", size, func(v *view) line { return v.overCounter(series.NVLinkSent) }},
	{"has %s processes beside it, and %s", func(n float64) string { return fmt.Sprintf("%.1f", n) }, (*view).crew},
}

func (v *view) overCounter(c series.Counter) line {
	return v.over(func(g *gpu) line { return g.of(c) })
}

// crew is how many workers there are, sample by sample.
func (v *view) crew() line {
	out := v.room.line(len(v.times))
	for i := range out {
		out[i] = 0
		for _, p := range v.workers {
			if p.seen[i] != nil && !helps(p) {
				out[i]++
			}
		}
	}
	return out
}

// askOtherLevels sees something else than power change with it: power alone may change
// for many reasons.
func askOtherLevels(v *view) (State, string) {
	share, _, ok := lostToEvaluation(v)
	l := v.levels()
	if !ok || l.by != "power" || share < leastLoss || share > mostEvaluation {
		return No, ""
	}
	known := false
	for _, mark := range levelMarks {
		at := mark.of(v)
		its, seen := at.mean(l.eval)
		other, _ := at.mean(l.rest)
		known = known || seen
		if seen && distinct(at, v.settled(l.eval), v.settled(l.rest)) {
			return Yes, fmt.Sprintf("for %s of the time the job "+mark.words+" in the rest", percent(share), mark.form(its), mark.form(other))
		}
	}
	if !known {
		return Unknown, ""
	}
	return No, ""
}

func askPowerLevels(v *view) (State, string) {
	l := v.levels()
	if !l.ok {
		return No, ""
	}
	return judge(l.its > 0 && l.other-l.its >= powerApart*l.other,
		fmt.Sprintf("there it draws %s of the power limit at work, and %s in the rest of the time", percent(l.its), percent(l.other)))
}

// lostToEvaluation is the share of the time at the lower level.
func lostToEvaluation(v *view) (float64, string, bool) {
	l := v.levels()
	if !l.ok {
		return 0, "", false
	}
	return l.eval.sum() / max(v.train.sum(), 1e-9), "the evaluation took that long", true
}
