package idle

import (
	"math"

	"github.com/plimsoll-dev/plimsoll/series"
)

// Levels of a GPU's use. Where they come from is said with each.
const (
	// leastLoss is the idle share from which a cause is looked for. The
	// profiler's advice starts at 5 % of a step for loading and 10 % for
	// communication; samples of a whole GPU cannot tell 5 % from the noise of
	// a dozen samples.
	leastLoss = 0.10
	// kernelsRun is the utilisation above which a sample shows work: below,
	// it may be the edge of a kernel that the driver's period cut.
	kernelsRun = 0.5
	// quiet is the utilisation below which a sample shows none. Displays and
	// monitors themselves cause a per cent or two.
	quiet = 0.1
	// waveHeight is how far utilisation must swing for idle and busy samples
	// to be told apart: the least that period detection asks for, and half as
	// much again since single samples are compared here.
	waveHeight = 0.3
)

// busy is the mean utilisation of the GPUs, sample by sample.
func (v *view) busy() line {
	if v.busyLine == nil {
		v.busyLine = v.over(func(g *gpu) line { return g.of(series.Busy) })
		if len(v.busyLine.known(nil)) == 0 {
			v.busyLine = v.emptyLine()
		}
	}
	return v.busyLine
}

// noWarp is the SM activity that counts as none: the driver's numbers are rounded.
const noWarp = 0.005

// emptyLine is the utilisation of GPUs that do not count it, such as MIG instances,
// where their multiprocessors had no work in any sample: without a warp there is no
// kernel. With work in some of them, how long kernels ran is not known.
func (v *view) emptyLine() line {
	sm := v.over(smActive)
	if most, ok := sm.quantile(nil, 1); !ok || most > noWarp {
		return v.room.line(len(sm))
	}
	out := v.room.line(len(sm))
	for i, x := range sm {
		if !math.IsNaN(x) {
			out[i] = 0
		}
	}
	return out
}

// over is the mean of a line over the GPUs. It must not be changed.
func (v *view) over(of func(*gpu) line) line {
	if len(v.gpus) == 1 {
		return of(v.gpus[0])
	}
	out, n := v.room.line(len(v.times)), make([]int, len(v.times))
	for _, g := range v.gpus {
		for i, x := range of(g) {
			if math.IsNaN(x) {
				continue
			}
			if n[i]++; n[i] == 1 {
				out[i] = 0
			}
			out[i] += x
		}
	}
	for i := range out {
		if n[i] > 0 {
			out[i] /= float64(n[i])
		}
	}
	return out
}

// ratio is one counter divided by another.
func (g *gpu) ratio(a, b series.Counter) line {
	key := [2]series.Counter{a, b}
	l, ok := g.ratios[key]
	if !ok {
		l = g.room.ratio(g.of(a), g.of(b))
		g.ratios[key] = l
	}
	return l
}

// idleShare is the share of the time in which no kernel ran.
func (v *view) idleShare() (float64, bool) {
	b, ok := v.busy().mean(v.train)
	return 1 - b, ok
}

// low and high choose samples of gaps and of work. Where utilisation does not
// swing, the gaps are shorter than the samples and both are nil: all samples.
func (v *view) low() mask {
	v.cutAtSwing()
	return v.lowMask
}

func (v *view) high() mask {
	v.cutAtSwing()
	return v.highMask
}

// swing is the level between gaps and work, where there is one.
func (v *view) swing() (float64, bool) {
	v.cutAtSwing()
	return v.cut, v.swings
}

// cutAtSwing finds the level between gaps and work, once.
func (v *view) cutAtSwing() {
	if v.isCut {
		return
	}
	v.isCut, v.lowMask, v.highMask = true, v.train, v.train
	low, ok := v.busy().quantile(v.train, 0.1)
	high, _ := v.busy().quantile(v.train, 0.9)
	if !ok || high-low < waveHeight {
		return
	}
	v.cut, v.swings = (low+high)/2, true
	v.lowMask = v.room.where(v.busy(), v.train, func(b float64) bool { return b < v.cut })
	v.highMask = v.room.where(v.busy(), v.train, func(b float64) bool { return b >= v.cut })
}

// working chooses the samples in which a kernel ran most of the time.
func (g *gpu) working() mask {
	if g.works == nil {
		g.works = g.v.room.where(g.of(series.Busy), g.v.train, func(b float64) bool { return b >= kernelsRun })
	}
	return g.works
}

// A span is a run of samples, from one index to another, both included.
type span struct{ from, to int }

// seconds is how long a span lasted: from the sample before it, as far as it
// describes what was since then.
func (v *view) seconds(s span) float64 {
	if s.from == 0 {
		return v.times[s.to] - v.times[s.from]
	}
	return v.times[s.to] - v.times[s.from-1]
}

// gaps are the runs of samples in which the GPUs idled.
func (v *view) gaps() []span {
	cut, ok := v.swing()
	if !ok {
		return nil
	}
	var out []span
	open := false
	for i, b := range v.busy() {
		switch in := !math.IsNaN(b) && b < cut && v.train.has(i); {
		case in && open:
			out[len(out)-1].to = i
		case in:
			out = append(out, span{i, i})
			open = true
		case !math.IsNaN(b):
			open = false
		}
	}
	return out
}
