package idle

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/internal/idle/period"
	"github.com/plimsoll-dev/plimsoll/series"
)

func smActive(g *gpu) line { return g.of(series.SMActive) }

// Least of what can be judged.
const (
	leastSamples = 8   // of which one may be wrong without a share being off by more than an eighth
	leastSeconds = 4.0 // a stall of a second or two is not all of the window
)

// Diagnose says whether the job of a window uses its GPUs, and if not, why.
func Diagnose(w Window) Answer {
	sc := newScene(w.Samples)
	defer sc.room.leave()
	return sc.diagnose(w)
}

// Each asks about each of some GPUs by itself, which costs less than to diagnose one
// after another.
func Each(samples []series.Sample, devices []string) []Answer {
	sc := newScene(samples)
	defer sc.room.leave()
	out := make([]Answer, len(devices))
	for i, id := range devices {
		out[i] = sc.diagnose(Window{Devices: []string{id}})
	}
	return out
}

// diagnose answers a question about the scene.
func (sc *scene) diagnose(w Window) Answer {
	a := Answer{Findings: []finding.Finding{}, Period: period.Answer{Status: period.TooFew}}
	if len(sc.samples) == 0 {
		a.Verdict = "Nothing was sampled."
		return a
	}
	v := newView(sc, w)
	defer v.room.leave()
	a.Shares = v.shareOut()
	switch {
	case len(v.gpus) == 0:
		a.Verdict = "No GPU was seen that the job is on."
		return a
	case !slices.ContainsFunc(v.gpus, func(g *gpu) bool { return g.answered() > 0 }):
		a.Verdict = v.silence()
		return a
	case a.Shares.Busy == nil:
		a.Verdict = v.withoutBusy()
		return a
	case min(v.train.count(len(v.times)), len(v.busy().known(v.train))) < leastSamples || a.Shares.Seconds < leastSeconds:
		a.Verdict = fmt.Sprintf("Too little was seen to say why: %d samples in %.1f s.", a.Shares.Samples, a.Shares.Seconds)
		return a
	}
	if v.nobody() {
		a.Verdict = "Nobody is on the GPU."
		return a
	}
	if v.starting() {
		a.Verdict, a.Phases = v.startingVerdict(), v.phases()
		return a
	}
	type named struct {
		finding.Finding
		lost float64 // decides the order
	}
	var found []named
	stops := false
	for _, c := range v.candidates() {
		if v.weigh(c).state == Yes {
			f, lost := v.finding(c)
			stops = stops || c.stops
			if c.yields != nil && c.yields(v) {
				lost = 0
			}
			found = append(found, named{f, lost})
		}
	}
	slices.SortStableFunc(found, func(x, y named) int { return cmp.Compare(y.lost, x.lost) })
	for _, f := range found {
		a.Findings = append(a.Findings, f.Finding)
	}
	if v.absent {
		if a.Verdict = verdict(&a); len(found) == 0 {
			a.Verdict = "No process of the job was seen on a GPU."
		}
		return a
	}
	a.Phases, a.Period = v.phases(), v.period()
	if stops {
		a.Period = period.Answer{Status: period.None} // what repeats is that, and no step
	}
	used, silence := *a.Shares.Idle < leastLoss, v.silence()
	a.Healthy = len(found) == 0 && used && silence == ""
	if len(found) == 0 && !used {
		a.Unsure = v.unsure()
	}
	if a.Verdict = verdict(&a); len(found) == 0 && silence != "" {
		a.Verdict = silence
	}
	return a
}

// candidates are the causes that a job can have: one that is on no GPU has none that
// is of its steps.
func (v *view) candidates() []*Cause {
	list := causes
	if v.absent {
		list = causesOfHolding
	}
	out := make([]*Cause, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// withoutBusy is what is known of GPUs that have no counter of busy time, such as MIG
// instances.
func (v *view) withoutBusy() string {
	const says = "The GPU does not say how busy it is"
	if sm, ok := v.over(smActive).mean(v.train); ok {
		return fmt.Sprintf("%s; its multiprocessors had work for %s of the time, in the mean over all of them.", says, percent(sm))
	}
	if p, ok := v.over(powerShare).mean(v.train); ok {
		return fmt.Sprintf("%s; it drew %s of its power limit.", says, percent(p))
	}
	return says + "."
}

// nobody says whether the GPUs are free: nothing runs and nothing is held.
func (v *view) nobody() bool {
	return v.w.Root == 0 && len(v.procs) == 0 && len(v.others) == 0 && v.ask("no-work").state == Yes && v.ask("memory-small").state == Yes
}

// mostlyAnswers is the share of the samples in which a GPU must have answered to be
// called used: the rest of the time may have been an idle tenth, and as much again.
const mostlyAnswers = 1 - 2*leastLoss

// silence says of the GPU that answered least that it did not, "" where all did.
func (v *view) silence() string {
	worst := slices.MinFunc(v.gpus, func(a, b *gpu) int { return cmp.Compare(a.answered(), b.answered()) })
	switch a := worst.answered(); {
	case a == 0:
		return fmt.Sprintf("GPU %d did not answer in any of %d samples; look for XID errors in dmesg.", worst.index, len(v.times))
	case a < mostlyAnswers:
		return fmt.Sprintf("GPU %d did not answer in %s of the samples, so that nothing is said of it; look for XID errors in dmesg.", worst.index, percent(1-a))
	}
	return ""
}

// period is the period of the GPU whose utilisation swings most.
func (v *view) period() period.Answer {
	var best line
	swing := -1.0
	for _, g := range v.gpus {
		b := g.of(series.Busy)
		low, ok := b.quantile(v.train, 0.1)
		high, _ := b.quantile(v.train, 0.9)
		if ok && high-low > swing {
			best, swing = b, high-low
		}
	}
	t, x := v.room.take(len(v.times))[:0], v.room.take(len(v.times))[:0]
	for i := range best {
		if v.train.has(i) {
			t, x = append(t, v.times[i]), append(x, best[i])
		}
	}
	return period.Find(t, x, 0)
}

func (v *view) shareOut() Shares {
	s := Shares{Samples: len(v.times), Seconds: v.times[len(v.times)-1]}
	if idle, ok := v.idleShare(); ok {
		busy := 1 - idle
		s.Busy, s.Idle = &busy, &idle
	}
	return s
}

// A weight is what the signals say of a cause.
type weight struct {
	state   State
	lacking int    // rows of needs that are not there
	lacks   string // the first of them
}

// weigh asks for the signals of a cause. It is Unknown where all that is lacking
// could not be read.
func (v *view) weigh(c *Cause) weight {
	w := weight{state: Yes}
	for _, any := range c.Needs {
		best, which := No, any[0]
		for _, id := range any {
			switch t := v.ask(id); {
			case t.state == Yes:
				best = Yes
			case t.state == Unknown && best == No:
				best, which = Unknown, id
			}
		}
		if best == Yes {
			continue
		}
		if w.lacking++; w.lacking == 1 {
			w.lacks = which
		}
		if best == No || w.state == No {
			w.state = No
		} else {
			w.state = Unknown
		}
	}
	for _, id := range c.Excludes {
		if v.ask(id).state == Yes {
			return weight{state: No, lacking: len(c.Needs)}
		}
	}
	return w
}

// mostUnsure is how many causes a question is about at most.
const mostUnsure = 3

// unsure are the causes that lack one signal, and what would decide: first those
// for which that signal could not be read.
func (v *view) unsure() []Question {
	var out []Question
	for _, state := range []State{Unknown, No} {
		for _, c := range v.candidates() {
			w := v.weigh(c)
			if w.state != state || w.lacking != 1 || len(out) == mostUnsure || len(c.Needs) < 3 && state == No {
				continue
			}
			measure := c.Decide
			if m := signalByID[w.lacks].Measure; state == Unknown && m != "" {
				measure = m
			}
			out = append(out, Question{Cause: c.ID, Measure: measure})
		}
	}
	return out
}

// finding writes a cause that was found as a finding.
func (v *view) finding(c *Cause) (finding.Finding, float64) {
	f := finding.Finding{Cause: c.ID, Confidence: finding.Medium, Evidence: []finding.Evidence{}, Remedies: []finding.Remedy{}}
	witnesses, said := map[string]bool{}, map[string]bool{}
	for _, any := range c.Needs {
		for _, id := range any {
			t, s := v.ask(id), signalByID[id]
			if t.state != Yes {
				continue
			}
			witnesses[s.Counters] = true
			if !said[t.fact] {
				f.Evidence = append(f.Evidence, finding.Evidence{Fact: t.fact, Where: string(s.Side)})
			}
			said[t.fact] = true
		}
	}
	if len(witnesses) > 2 {
		f.Confidence = finding.High
	}
	lost, how, ok := c.lost(v)
	f.Verdict = c.Title
	if ok {
		f.Verdict += fmt.Sprintf(": %s of the time", percent(lost))
	}
	for _, fix := range c.Remedies {
		r := finding.Remedy{Action: fix.Action, Flag: fix.Flag, Exact: fix.Exact}
		if ok {
			gain := lost
			r.Gain, r.Method = &gain, fmt.Sprintf("at most %s of the time: %s", percent(lost), how)
		}
		f.Remedies = append(f.Remedies, r)
	}
	return f, lost
}

// verdict is the answer in a sentence.
func verdict(a *Answer) string {
	switch {
	case len(a.Findings) > 0:
		v := a.Findings[0].Verdict
		return string(upper(v[0])) + v[1:] + "."
	case a.Healthy:
		return fmt.Sprintf("The GPU is used: kernels ran for %s of the time.", percent(*a.Shares.Busy))
	case len(a.Unsure) > 0:
		return fmt.Sprintf("Not sure why no kernel ran for %s of the time; to decide, %s.", percent(*a.Shares.Idle), a.Unsure[0].Measure)
	default:
		return fmt.Sprintf("Not sure why no kernel ran for %s of the time: no cause has two signs of it.", percent(*a.Shares.Idle))
	}
}

func upper(b byte) byte {
	if b >= 'a' && b <= 'z' {
		return b - 'a' + 'A'
	}
	return b
}
