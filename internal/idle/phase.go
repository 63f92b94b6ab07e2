package idle

import (
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A Phase is a stretch of the window in which a job did one thing.
type Phase struct {
	Name  string  `json:"name"` // "startup", "train", "eval", "save" or "end"
	From  float64 `json:"from_seconds"`
	Until float64 `json:"until_seconds"`
}

// filled is the share of its later memory below which a job is still starting:
// weights and activations of the first step are at least the half of what the
// job ever holds.
const filled = 0.5

// afterStart chooses the samples after the start of a job: while it starts no
// kernel has run, and its memory is still growing or its process is not there.
func (v *view) afterStart() mask {
	out := v.room.mask(len(v.times))
	first := -1
	for i, b := range v.busy() {
		if !math.IsNaN(b) && b >= quiet {
			first = i
			break
		}
	}
	memory := v.over(func(g *gpu) line { return g.of(series.MemoryUsed) })
	level, starting := 0.0, false
	if first > 0 {
		level, starting = memory[first:].quantile(nil, 0.5)
	}
	for i := range out {
		if i >= first || !math.IsNaN(memory[i]) && memory[i] >= filled*level {
			starting = false
		}
		if !starting {
			out[i] = v.lasts(i)
		}
	}
	return out
}

// beforeEnd leaves the samples after the end of the job out: none of its processes
// that were on the GPUs is there, nobody else is, and nothing is held.
func (v *view) beforeEnd(m mask) mask {
	last := -1
	for _, p := range slices.Concat(v.mains, v.others) {
		for i := len(p.seen) - 1; i > last; i-- {
			if p.seen[i] != nil {
				last = i
			}
		}
	}
	if last < 0 || last == len(m)-1 {
		return m
	}
	memory := v.over(func(g *gpu) line { return g.of(series.MemoryUsed) })
	if held, ok := memory[last+1:].quantile(nil, 0.5); ok && held >= smallMemory {
		return m
	}
	clear(m[last+1:])
	return m
}

// starting says that no kernel has run yet and the memory still grows, or the host
// still reads into it what the job begins with.
func (v *view) starting() bool {
	if v.absent || v.ask("no-work").state != Yes || v.ask("compilers").state == Yes {
		return false
	}
	was, is, ok := v.grown()
	return ok && is-was >= levelApart*is
}

// grown is the memory two thirds into the window and at its end.
func (v *view) grown() (was, is float64, ok bool) {
	memory := v.over(func(g *gpu) line { return g.of(series.MemoryUsed) })
	n := len(memory)
	was, ok = memory[n/3:2*n/3].quantile(nil, 1)
	is, known := memory[n-max(n/8, 1):].quantile(nil, 0.5)
	return was, is, ok && known
}

func (v *view) startingVerdict() string {
	was, is, _ := v.grown()
	return fmt.Sprintf("No kernel has run yet and the memory of the GPU still grows, from %s to %s: the job is starting.", size(was), size(is))
}

const (
	// longSilence is how many times the usual interval a sample stands for at
	// most: nothing is known of the time in which none was taken.
	longSilence = 3
	// around is how many samples on each side say how often samples are taken:
	// single intervals are random and would only add noise.
	around = 4
)

// lasts is the time that a sample stands for.
func (v *view) lasts(i int) float64 {
	from, to := max(i-around, 0), min(i+around, len(v.times)-1)
	if from == to {
		return v.interval
	}
	return min((v.times[to]-v.times[from])/float64(to-from), longSilence*v.interval)
}

// phases cuts the window where its level changes: the start, stretches at the
// lower of two levels, gaps in which much is written, and training between.
func (v *view) phases() []Phase {
	name := make([]string, len(v.times))
	starting := v.starting()
	for i := range name {
		switch {
		case v.train.has(i) && !starting:
			name[i] = "train"
		case i > 0 && name[i-1] != "startup":
			name[i] = "end"
		default:
			name[i] = "startup"
		}
	}
	levels := v.ask("level-shift").state == Yes || v.ask("other-shift").state == Yes
	if levels && v.ask("power-shift").state == Yes {
		eval := v.levels().eval
		for i := range eval {
			if eval.has(i) {
				name[i] = "eval"
			}
		}
	}
	if v.ask("stalls").state == Yes && v.ask("large-writes").state == Yes {
		for _, s := range v.gaps() {
			if v.writtenIn(s) >= largeWrite {
				for i := s.from; i <= s.to; i++ {
					name[i] = "save"
				}
			}
		}
	}
	var out []Phase
	for i, n := range name {
		from := v.times[max(i-1, 0)]
		if len(out) > 0 && out[len(out)-1].Name == n {
			out[len(out)-1].Until = v.times[i]
			continue
		}
		out = append(out, Phase{Name: n, From: from, Until: v.times[i]})
	}
	return out
}
