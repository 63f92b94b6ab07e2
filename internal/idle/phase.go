package idle

import (
	"math"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A Phase is a stretch of the window in which a job did one thing.
type Phase struct {
	Name  string  `json:"name"` // "startup", "train", "eval", "save"
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
	out := make(mask, len(v.times))
	first := -1
	for i, b := range v.busy() {
		if !math.IsNaN(b) && b >= quiet {
			first = i
			break
		}
	}
	memory := v.over(func(g *gpu) line { return g.of(series.MemoryUsed) })
	later, ok := line{}, false
	level := 0.0
	if first > 0 {
		later = memory[first:]
		level, ok = later.quantile(nil, 0.5)
	}
	starting := ok
	for i := range out {
		if i >= first || !math.IsNaN(memory[i]) && memory[i] >= filled*level {
			starting = false
		}
		out[i] = !starting
	}
	return out
}
