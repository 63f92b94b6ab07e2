package period

import "math"

// Limits of what repeats as a whole.
const (
	// mostParts is how many waves may lie in one repetition: steps that are accumulated
	// before one of the optimizer, and the optimizer's own.
	mostParts = 20
	// leastWhole is how often a repetition of several waves must be seen: as often its
	// lines lie apart by the width of one.
	leastWhole = 8
	// surely, maybe and hardly are by how many standard deviations of noise the lines of a
	// repetition stand out: it is there, it may be, and it may be though it is seen too
	// seldom. Of waves without one a tenth reach hardly, a hundredth maybe.
	surely, maybe, hardly = 9.0, 5.0, 3.5
	// rival is the part of that to which another repetition may stand out.
	rival = 0.7
	// stands is by how much a line must stand out of noise for itself, as one of fifty of
	// noise does; as many as several in one place are not noise.
	stands, several = 4, 4
)

// whole looks for the repetition that a wave is a part of, and gives how many waves lie in
// it. Steps that are accumulated, with the optimizer's own behind them, show most at a
// frequency that is a multiple of the whole's and of nothing else; the whole shows in
// further lines, at other multiples. False where it may be there and is not sure.
func (s *sampling) whole(sp *spectrum, l line) (parts int, ok bool) {
	for parts = 1; ; {
		next, clear := s.slower(sp, l, parts)
		switch {
		case next == 0 || clear < maybe && s.seen(l, next) >= leastWhole:
			return parts, true
		case s.seen(l, next) < leastWhole:
			return 0, false
		}
		width := math.Max(s.refresh, 0.1/l.f)
		lines := s.comb(sp, l.f, next, parts).lines
		before, now := s.apart(float64(parts)/l.f, width), s.apart(float64(next)/l.f, width)
		switch {
		case now > unlike*before:
			return parts, true
		case clear < surely && lines < several || s.image(l):
			return 0, false
		case next == 2*parts && now > alike*before:
			return 0, false // a line or two that chance has put there
		case next > 2*parts && lines < 2:
			return 0, false
		}
		parts = next
	}
}

// Samples that lie one repetition apart differ less than those that lie one wave apart,
// if there is one: alike is by how much at least where two waves are one, and unlike is
// the most that waves of different lengths add to.
const alike, unlike = 0.8, 1.2

// seen is how many repetitions of some waves were seen.
func (s *sampling) seen(l line, parts int) float64 { return s.length() * l.f / float64(parts) }

// slower looks for the repetition of more parts whose lines stand out most: by how much,
// and 0 where none does. Where two stand out alike it may be either and is not sure.
func (s *sampling) slower(sp *spectrum, l line, parts int) (next int, clear float64) {
	var all [mostParts + 1]float64
	seldom := 0
	for k := 2 * parts; k <= mostParts && s.seen(l, k) >= leastWhole/2; k += parts {
		all[k] = s.comb(sp, l.f, k, parts).clear()
		if next == 0 || all[k] > all[next] {
			next = k
		}
		if s.seen(l, k) < leastWhole && all[k] >= hardly {
			seldom = k
		}
	}
	if next == 0 || all[next] < maybe {
		return seldom, all[seldom]
	}
	best := all[next]
	for k := 2 * parts; k < next; k += parts {
		if next%k == 0 && s.comb(sp, l.f, next, k).clear() < maybe {
			next = k // several of these are one as well
		}
	}
	for k, c := range all {
		if k > 0 && k%next != 0 && next%k != 0 && c > rival*best {
			return next, maybe
		}
	}
	return next, best
}

// A comb is the lines of a repetition, beside the noise around them.
type comb struct {
	power, noise, spread float64
	lines                int // that stand out for themselves
}

// clear is by how many standard deviations the lines stand out of noise.
func (c comb) clear() float64 {
	if c.spread == 0 {
		return 0
	}
	return (c.power - c.noise) / c.spread
}

// comb gathers the lines of a repetition of some parts that are not those of one of
// fewer. Noise is what lies between them: steps whose lengths differ make more of it
// near their own lines.
func (s *sampling) comb(sp *spectrum, f float64, parts, fewer int) comb {
	var c comb
	cell, apart := 1/s.length(), f/float64(parts)
	at := func(f float64) float64 {
		_, p := sp.peak(f-cell/2, f+cell/2)
		return p
	}
	for i := 1; i < 2*parts; i++ {
		f := float64(i) * apart
		if i*fewer%parts == 0 || f+apart/2 > sp.at(len(sp.power)-1) {
			continue
		}
		noise := (at(f-apart/2) + at(f+apart/2)) / 2
		if apart >= leastCycles*cell {
			noise = (2*noise + at(f-apart/4) + at(f+apart/4)) / 4
		}
		p := at(f)
		c.power += p
		c.noise += noise
		c.spread = math.Hypot(c.spread, noise)
		if p > stands*noise {
			c.lines++
		}
	}
	return c
}

// apart is how much samples differ that lie a time apart, give or take a width: 0 not at
// all, 1 as much as any two.
func (s *sampling) apart(lag, width float64) float64 {
	sum, weights, from := 0.0, 0.0, 0
	for i, t := range s.t {
		for from < len(s.t) && s.t[from] <= t+lag-width {
			from++
		}
		for k := from; k < len(s.t) && s.t[k] < t+lag+width; k++ {
			w := 1 - math.Abs(s.t[k]-t-lag)/width
			sum += w * (s.x[k] - s.x[i]) * (s.x[k] - s.x[i])
			weights += w
		}
	}
	return sum / (2 * variance(s.x) * weights)
}

// astray says whether neighbours agree best at another time than a period: at the vertex
// of a parabola. One wave over all of the samples may go through steps of another length
// if after some of them there is a pause. A regular grid has no neighbours at other times.
func (s *sampling) astray(period float64) bool {
	width, around := math.Max(s.refresh, 0.1*period), math.Max(0.15, 0.5*s.refresh/period)
	if s.regular || float64(len(s.t))*2*width/s.mean < leastPairs {
		return false
	}
	less, at, more := s.apart(period*(1-around), width), s.apart(period, width), s.apart(period*(1+around), width)
	return math.Abs(around*(less-more)/(2*(less+more-2*at))) > mostAstray
}

const (
	// mostAstray is how far from a period, as a share of it, neighbours may agree best: of
	// waves that have one all but one of a hundred lie nearer, by leastPairs of samples.
	mostAstray = 0.02
	leastPairs = 150
)
