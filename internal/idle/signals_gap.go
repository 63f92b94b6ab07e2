package idle

import (
	"fmt"
	"math"
)

// around are the samples from which what happened in a gap is told: the sample after it
// tells what its end did, and what is written just before it is what the gap waits for,
// where samples follow each other fast enough to say so.
func (v *view) around(s span) span {
	from := max(s.from, 1)
	if before := from - 1; before > 0 && v.times[from]-v.times[before] < longGap/2 {
		from = before
	}
	return span{from, min(s.to+1, len(v.times)-1)}
}

// writtenIn is what the training process wrote in a gap.
func (v *view) writtenIn(s span) float64 {
	w, sum := v.written(), 0.0
	near := v.around(s)
	for i := near.from; i <= near.to; i++ {
		if !math.IsNaN(w[i]) {
			sum += w[i] * (v.times[i] - v.times[i-1])
		}
	}
	return sum
}

// gapWrites tells what was written in gaps.
type gapWrites struct {
	large, small, all float64 // idle time of gaps with much, with a little, of all gaps
	most              float64 // what one gap wrote at most
	faster            float64 // how many times faster it wrote in gaps than between
}

// gapWrites is false where writes are unknown, or gaps are everywhere and so is
// whatever is written.
func (v *view) gapWrites() (gapWrites, bool) {
	var out gapWrites
	w := v.written()
	if _, ok := w.mean(v.train); !ok {
		return out, false
	}
	far, near := v.room.mask(len(v.times)), v.room.mask(len(v.times))
	copy(far, v.train)
	for _, s := range v.gaps() {
		about := v.around(s)
		for i := about.from; i <= about.to; i++ {
			near[i], far[i] = v.train[i], 0
		}
		sum, d := v.writtenIn(s), v.seconds(s)
		out.all += d
		out.most = max(out.most, sum)
		switch {
		case sum >= largeWrite:
			out.large += d
		case sum >= someWrite:
			out.small += d
		}
	}
	in, _ := w.mean(near)
	between, _ := w.mean(far)
	out.faster = in / max(between, 1)
	return out, far.count(len(far)) >= v.train.count(len(far))/8
}

// muchFaster is how many times more must be written in gaps than between for the
// two to belong together.
const muchFaster = 4

func askLargeWrites(v *view) (State, string) {
	w, ok := v.gapWrites()
	if !ok {
		return v.unseenWrites()
	}
	idle, _ := v.idleShare()
	return judge(w.all > 0 && idle*w.large >= leastLoss*w.all && w.faster >= muchFaster, w.fact(w.large))
}

func askMostlyLargeWrites(v *view) (State, string) {
	s, fact := askLargeWrites(v)
	w, _ := v.gapWrites()
	if s == Yes && w.large < stalled*w.all {
		return No, ""
	}
	return s, fact
}

// fact tells what was written in a part of the idle time.
func (w *gapWrites) fact(part float64) string {
	return fmt.Sprintf("up to %s are written in a gap, in gaps that make %s of the idle time", size(w.most), percent(part/max(w.all, 1e-9)))
}

// unseenWrites is for windows in which writes cannot be told to be in gaps. Where they
// are known, gaps are everywhere, and to read them once more decides nothing.
func (v *view) unseenWrites() (State, string) {
	if _, ok := v.written().mean(v.train); ok {
		return No, ""
	}
	return Unknown, ""
}

func askSmallWrites(v *view) (State, string) {
	w, ok := v.gapWrites()
	if !ok {
		return v.unseenWrites()
	}
	return judge(w.all > 0 && w.small >= stalled*w.all && w.faster >= muchFaster, w.fact(w.small))
}

// replacedTime is the idle time of gaps in which workers started anew, and all
// idle time.
func (v *view) replacedTime() (replaced, all float64) {
	begins, ends := make([]int, len(v.times)), make([]int, len(v.times))
	for _, p := range v.workers {
		if helps(p) {
			continue
		}
		for i := 1; i < len(p.seen); i++ {
			if p.seen[i] != nil && p.seen[i-1] == nil && v.train.has(i-1) {
				begins[i]++
			}
			if p.seen[i] == nil && p.seen[i-1] != nil && v.train.has(i-1) {
				ends[i]++
			}
		}
	}
	for _, s := range v.gaps() {
		d := v.seconds(s)
		all += d
		b, e := 0, 0
		for i := max(s.from-1, 0); i <= min(s.to+1, len(v.times)-1); i++ {
			b += begins[i]
			e += ends[i]
		}
		if b > 0 && e > 0 {
			replaced += d
		}
	}
	return replaced, all
}

func askReplaced(v *view) (State, string) {
	if len(v.mains) == 0 {
		return Unknown, ""
	}
	idle, _ := v.idleShare()
	r, all := v.replacedTime()
	return judge(all > 0 && idle*r >= leastLoss*all, fmt.Sprintf("workers end and others start in gaps that make %s of the idle time", percent(r/max(all, 1e-9))))
}

func askMostlyReplaced(v *view) (State, string) {
	s, fact := askReplaced(v)
	if r, all := v.replacedTime(); s == Yes && r < stalled*all {
		return No, ""
	}
	return s, fact
}
