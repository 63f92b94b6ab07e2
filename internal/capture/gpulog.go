package capture

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// A gpuLog is what the virtual GPU noted while the script ran.
type gpuLog struct {
	warnings   []Warning
	estimates  []Estimate
	lowerBound bool
}

// readGPULog reads the virtual GPU's log: lines of "refused", a library and a
// symbol; "unknown" and a symbol; or "note" and a text, each with a process
// number at the end. A log that is not there has nothing to say.
func readGPULog(path string) gpuLog {
	var l gpuLog
	data, err := os.ReadFile(path)
	if err != nil {
		return l
	}
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		switch {
		case len(f) >= 3 && f[0] == "refused":
			l.warn("refused-call", fmt.Sprintf("%s of %s is not imitated; the script was given an error", f[2], f[1]))
		case len(f) >= 2 && f[0] == "unknown":
			l.warn("unknown-call", f[1]+" is not known to the virtual GPU; the script was told that it does not exist")
		case len(f) >= 2 && f[0] == "note":
			l.note(f[1])
		}
	}
	slices.SortFunc(l.estimates, func(a, b Estimate) int {
		return cmp.Or(cmp.Compare(b.High-b.Counted, a.High-a.Counted), cmp.Compare(a.Name, b.Name))
	})
	return l
}

func (l *gpuLog) note(text string) {
	var e Estimate
	if n, err := fmt.Sscanf(text, "estimate %s %d %d %d", &e.Name, &e.Counted, &e.Low, &e.High); n == 4 && err == nil {
		l.estimate(e)
		return
	}
	if what, ok := strings.CutPrefix(text, "lower-bound "); ok {
		l.lowerBound = true
		l.warn("lower-bound", what)
		return
	}
	l.warn("virtual-gpu", text)
}

// estimate keeps the widest of what different processes and calls noted.
func (l *gpuLog) estimate(e Estimate) {
	for i := range l.estimates {
		if old := &l.estimates[i]; old.Name == e.Name {
			if e.High-e.Low > old.High-old.Low {
				*old = e
			}
			return
		}
	}
	l.estimates = append(l.estimates, e)
}

func (l *gpuLog) warn(code, message string) {
	if w := (Warning{code, message}); !slices.Contains(l.warnings, w) {
		l.warnings = append(l.warnings, w)
	}
}

// cuDNNPlans are the estimates that --cudnn-workspace answers.
var cuDNNPlans = []string{"cudnn_convolution", "cudnn_attention", "cudnn_other_plan"}

// spread is how much less and more than counted the estimates allow. Different
// calls may run at different times, so the sum is the outer bound.
func spread(estimates []Estimate, o Options) (less, more unit.Bytes) {
	for _, e := range estimates {
		if o.CuDNNWorkspace >= 0 && slices.Contains(cuDNNPlans, e.Name) {
			continue
		}
		less += max(e.Counted-e.Low, 0)
		more += max(e.High-e.Counted, 0)
	}
	return less, more
}
