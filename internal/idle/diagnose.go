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
	a := Answer{Findings: []finding.Finding{}, Period: period.Answer{Status: period.TooFew}}
	if len(w.Samples) == 0 {
		a.Verdict = "Nothing was sampled."
		return a
	}
	v := newView(w)
	a.Shares = v.shareOut()
	switch {
	case len(v.gpus) == 0:
		a.Verdict = "No GPU was seen that the job is on."
		return a
	case a.Shares.Busy == nil:
		a.Verdict = "The GPU does not say how busy it is."
		return a
	case v.train.count(len(v.times)) < leastSamples || a.Shares.Seconds < leastSeconds:
		a.Verdict = fmt.Sprintf("Too little was seen to say why: %d samples in %.1f s.", a.Shares.Samples, a.Shares.Seconds)
		return a
	}
	type named struct {
		finding.Finding
		lost float64
	}
	var found []named
	for i := range causes {
		c := &causes[i]
		told, missing := v.weigh(c)
		switch {
		case told == Yes:
			f, lost := v.finding(c)
			found = append(found, named{f, lost})
		case told == Unknown && missing != "":
			a.Unsure = append(a.Unsure, Question{Between: []string{c.ID}, Measure: missing})
		}
	}
	slices.SortStableFunc(found, func(x, y named) int { return cmp.Compare(y.lost, x.lost) })
	for _, f := range found {
		a.Findings = append(a.Findings, f.Finding)
	}
	a.Healthy = len(found) == 0 && *a.Shares.Idle < leastLoss
	a.Verdict = verdict(&a)
	return a
}

func (v *view) shareOut() Shares {
	s := Shares{Samples: len(v.times), Seconds: v.times[len(v.times)-1]}
	if idle, ok := v.idleShare(); ok {
		busy := 1 - idle
		s.Busy, s.Idle = &busy, &idle
	}
	return s
}

// weigh says whether a cause's signals are there. Where exactly one is unknown
// and all others are there, it also says what would decide.
func (v *view) weigh(c *Cause) (State, string) {
	missing := ""
	for _, any := range c.Needs {
		best := No
		for _, id := range any {
			switch t := v.ask(id); {
			case t.state == Yes:
				best = Yes
			case t.state == Unknown && best == No:
				best = Unknown
			}
		}
		switch {
		case best == No:
			return No, ""
		case best == Unknown && missing != "":
			return Unknown, ""
		case best == Unknown:
			missing = signalByID[any[0]].Measure
		}
	}
	for _, id := range c.Excludes {
		if v.ask(id).state == Yes {
			return No, ""
		}
	}
	if missing != "" {
		return Unknown, missing
	}
	return Yes, ""
}

// finding writes a cause that was found as a finding.
func (v *view) finding(c *Cause) (finding.Finding, float64) {
	f := finding.Finding{Cause: c.ID, Confidence: finding.Medium, Evidence: []finding.Evidence{}, Remedies: []finding.Remedy{}}
	yes := 0
	for _, any := range c.Needs {
		for _, id := range any {
			if t := v.ask(id); t.state == Yes {
				yes++
				f.Evidence = append(f.Evidence, finding.Evidence{Fact: t.fact, Where: string(signalByID[id].Side)})
			}
		}
	}
	if yes > 2 {
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
	default:
		return fmt.Sprintf("Not sure: no kernel ran for %s of the time, and no cause has two signs of it.", percent(*a.Shares.Idle))
	}
}

func upper(b byte) byte {
	if b >= 'a' && b <= 'z' {
		return b - 'a' + 'A'
	}
	return b
}
