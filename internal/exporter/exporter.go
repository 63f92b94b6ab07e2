// Package exporter serves samples to Prometheus: the newest one, with its age. A
// scrape reads memory only and never asks a driver.
//
// What is not known has no series; it is never 0. Metrics of a GPU that does not
// answer are left out, and plimsoll_gpu_sample_status says why. How many series
// there are is bounded, see docs/exporter.md.
//
// It takes no samples: who does hands them to Observe.
package exporter

import (
	"sync"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/watch"
	"github.com/plimsoll-dev/plimsoll/series"
)

// Options say what is served. The zero value serves all but processes and dcgm's
// names.
type Options struct {
	Version string // of this program
	Source  string // of the samples, "nvml"
	// Processes is how many processes are shown at most: those that hold most
	// memory.
	Processes int
	// DCGM adds the metrics of dcgm-exporter that mean the same.
	DCGM bool
	// Fresh is how old a sample may be before its values are left out; 0 means
	// half a minute.
	Fresh time.Duration
	Now   func() time.Time
}

// An Exporter holds the newest sample and what was counted of those before.
type Exporter struct {
	o Options

	mu       sync.RWMutex // of all below
	sample   *series.Sample
	at       time.Time // when it came
	count    float64
	window   watch.Window
	judged   map[string]watch.Judgement
	judgedAt time.Duration
	lost     map[string]float64
}

// New returns an Exporter that has no sample yet.
func New(o Options) *Exporter {
	if o.Fresh <= 0 {
		o.Fresh = 30 * time.Second
	}
	return &Exporter{o: o, lost: map[string]float64{}}
}

// judgeEvery is how often the causes are looked for.
const judgeEvery = 5 * time.Second

// longestStep is the longest time between two samples that is counted as lost: over
// a longer one, such as a suspended machine, nothing is known.
const longestStep = time.Minute

// Observe takes the next sample. It must not be called at the same time as itself.
func (e *Exporter) Observe(s series.Sample) {
	e.window.Add(s)
	judged, judgedAt := e.judged, e.judgedAt
	if judged == nil || s.Since-judgedAt >= judgeEvery || s.Since < judgedAt {
		judged, judgedAt = e.window.Freeze().Judge(ids(&s)), s.Since
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.sample != nil {
		e.countLost(s.Since-e.sample.Since, &s, judged)
	}
	e.sample, e.at, e.judged, e.judgedAt = &s, e.o.Now(), judged, judgedAt
	e.count++
}

func ids(s *series.Sample) []string {
	var list []string
	for i := range s.Devices {
		list = append(list, s.Devices[i].ID)
	}
	return list
}

// notNamed stands for a cause where none was named.
const notNamed = "not-named"

// countLost adds the time in which held GPUs ran no kernel.
func (e *Exporter) countLost(step time.Duration, s *series.Sample, judged map[string]watch.Judgement) {
	if step <= 0 || step > longestStep {
		return
	}
	holders := holdersOf(s)
	for i := range s.Devices {
		d := &s.Devices[i]
		busy, ok := d.Values.Get(series.Busy).Get()
		if !ok || d.Status != series.OK || holders[d.ID] == 0 {
			continue
		}
		cause := notNamed
		if f := judged[d.ID].Idle.Findings; len(f) > 0 {
			cause = f[0].Cause
		}
		e.lost[cause] += step.Seconds() * (1 - min(busy, 1))
	}
}

// holdersOf counts the processes of each device.
func holdersOf(s *series.Sample) map[string]int {
	n := map[string]int{}
	for i := range s.Processes {
		for j := range s.Processes[i].Uses {
			n[s.Processes[i].Uses[j].Device]++
		}
	}
	return n
}

// Ready reports whether a scrape would have fresh values of some GPU, and if not
// why not.
func (e *Exporter) Ready() (bool, string) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	switch {
	case e.sample == nil:
		return false, "no sample has been taken yet"
	case !e.fresh():
		return false, "the last sample is older than " + e.o.Fresh.String()
	}
	for i := range e.sample.Devices {
		if e.sample.Devices[i].Status == series.OK {
			return true, "ok"
		}
	}
	if len(e.sample.Problems) > 0 {
		return false, "no GPU answers: " + e.sample.Problems[0].What
	}
	return false, "no GPU answers"
}

// fresh reports whether the sample is young enough; e.mu is held.
func (e *Exporter) fresh() bool { return e.o.Now().Sub(e.at) <= e.o.Fresh }
