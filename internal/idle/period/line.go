package period

import "math"

// line looks for the wave that explains most of the samples, and for what it is a part
// of.
func (s *sampling) line() (line, Status) {
	lowest := leastCycles / s.length()
	sp := newSpectrum(s.t, s.x, lowest, 1/s.fastest())
	i, most := sp.peak(0, math.Inf(1))
	if i < 0 || most < s.leastPeak(len(sp.power)) {
		return line{}, s.unknown()
	}
	found := line{f: sp.at(i), power: most}
	l := s.refine(sp, found)
	if s.folded(1/l.f, quantile(s.x, 0.9)-quantile(s.x, 0.1)) {
		return line{}, TooFast
	}
	if l.err > mostError {
		l.f = found.f // steps of several kinds may still follow each other evenly as a whole
	}
	parts, ok := s.whole(sp, l)
	switch {
	case !ok || l.f/float64(parts) < lowest:
		return line{}, s.unknown()
	case parts > 1:
		l = s.follow(s.follow(found, parts), parts)
	case s.seen(l, mostParts) < leastWhole && s.astray(1/l.f):
		return line{}, None // the whole may be longer than can be told
	}
	if l.err > mostError || !s.inHalves(l.f) {
		return line{}, s.unknown()
	}
	l.f /= float64(parts) // it is known as well as the wave itself
	half := 0.5 / s.length()
	if _, p := sp.peak(l.f-half, l.f+half); p < most/2 {
		l.parts = parts
	} else {
		l.parts = 1 // short gaps show as much in twice their frequency
	}
	if s.regular && s.aliased(1/l.f) {
		return line{}, TooFast
	}
	return l, Known
}

// unknown is what is said where no period is.
func (s *sampling) unknown() Status {
	if s.jumps() {
		return TooFast
	}
	return None
}

// byChance is the power that noise alone reaches in any of some independent
// frequencies with a probability.
func (s *sampling) byChance(probability float64, independent int) float64 {
	n := float64(len(s.x))
	return 1 - math.Pow(probability/math.Max(1, float64(independent)), 2/(n-3))
}

// leastPeak is the power from which a wave is one: never less than what the reference
// asks for.
func (s *sampling) leastPeak(count int) float64 {
	return math.Max(leastPower, s.byChance(chance, count/oversampled))
}

// refine finds the middle of the line that the peak belongs to, and how far the
// mean period may be from it.
func (s *sampling) refine(sp *spectrum, l line) line {
	if 1/l.f < perPeriod*s.mean {
		l = s.centre(sp, l)
	}
	return s.follow(s.follow(l, 1), 1)
}

// reach is how far around a peak its line is looked at: beyond, the wave would
// be too irregular to have a period.
const reach = 0.15

// centre takes the centre of mass of the line. Cycles that differ in length widen
// a line: by the share j of its length, to 2 pi j^2 f (a phase that drifts
// at random gives a Lorentzian of that width).
func (s *sampling) centre(sp *spectrum, l line) line {
	from, to := l.f*(1-reach), l.f*(1+reach)
	cell := 1 / s.length()
	back := background(sp, l.f)
	sum, moment, peak := 0.0, 0.0, 0.0
	smooth := smoothed(sp, cell)
	for i, p := range smooth {
		f := sp.at(i)
		if f < from || f > to {
			continue
		}
		peak = math.Max(peak, p-back)
	}
	// The line ends where it falls under a fifth of its height.
	top, _ := (&spectrum{f0: sp.f0, df: sp.df, power: smooth}).peak(from, to)
	lo, hi := top, top
	for lo > 0 && sp.at(lo-1) >= from && smooth[lo-1]-back > 0.2*peak {
		lo--
	}
	for hi < len(smooth)-1 && sp.at(hi+1) <= to && smooth[hi+1]-back > 0.2*peak {
		hi++
	}
	for i := lo; i <= hi; i++ {
		e := math.Max(0, sp.power[i]-back)
		sum += e
		moment += e * sp.at(i)
	}
	if sum <= 0 || peak <= 0 {
		l.err = 1
		return l
	}
	l.f = moment / sum
	width := sum * sp.df / peak
	extra := math.Sqrt(math.Max(0, width*width-4*cell*cell))
	l.err = math.Sqrt(width*cell)/l.f*boolTo(extra > 0) + 0.3*cell/l.f
	return l
}

func boolTo(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// smoothed is the running mean over a width.
func smoothed(sp *spectrum, width float64) []float64 {
	k := int(width/sp.df/2 + 0.5)
	out := make([]float64, len(sp.power))
	for i := range out {
		lo, hi := max(0, i-k), min(len(out)-1, i+k)
		out[i] = mean(sp.power[lo : hi+1])
	}
	return out
}

// background is the middle power around a line.
func background(sp *spectrum, f float64) float64 {
	var around []float64
	for i, p := range sp.power {
		if r := sp.at(i) / f; r > 0.6 && r < 1.6 && (r < 1-reach || r > 1+reach) {
			around = append(around, p)
		}
	}
	if len(around) == 0 {
		return 0
	}
	return quantile(around, 0.5)
}

// follow follows the phase of a wave from block to block: how fast it turns
// corrects the frequency, and its unrest is how much cycles differ. A block is a
// repetition of some waves, or as many as give enough samples for a phase. Blocks in
// which the wave pauses, for an evaluation say, jump; those are left out.
func (s *sampling) follow(l line, parts int) line {
	whole := float64(parts)
	cycles := whole * math.Ceil(perBlock*s.mean*l.f/whole)
	block := cycles / l.f
	var turns []float64 // from one block to the next
	last, had := 0.0, false
	for k := 0; s.t[0]+float64(k+1)*block <= s.t[len(s.t)-1]; k++ {
		from := s.t[0] + float64(k)*block
		ph, ok := s.phase(l.f, from, from+block)
		if ok && had {
			turns = append(turns, wrap(ph-last))
		}
		last, had = ph, ok
	}
	l.err = 1 // nothing is known
	if len(turns) < leastCycles-1 {
		return l
	}
	middle := quantile(turns, 0.5)
	off := make([]float64, len(turns))
	for i, d := range turns {
		off[i] = math.Abs(wrap(d - middle))
	}
	limit := 3 * 1.5 * quantile(off, 0.5) // 1.5 MAD are a standard deviation
	sum, unrest, n := 0.0, 0.0, 0.0
	for _, d := range turns {
		if e := wrap(d - middle); math.Abs(e) <= limit {
			sum += e
			unrest += e * e
			n++
		}
	}
	if n < mostJumps*float64(len(turns)) {
		return l
	}
	unrest = math.Sqrt(unrest / n)
	l.f += (middle + sum/n) / block
	if unrest <= lostPhase && unrest/math.Sqrt(cycles) <= mostJitter {
		l.err = unrest / cycles / math.Sqrt(n)
	}
	return l
}

const (
	perBlock   = 6    // samples that tell a phase
	mostJitter = 0.09 // of a cycle's length; with 15 % a period is barely defined (reference)
	mostJumps  = 0.7  // share of blocks that must follow each other
	lostPhase  = 0.2  // turns: with more unrest a phase may slip by a whole turn
)

// wrap brings a phase, in turns, to between -1/2 and 1/2.
func wrap(p float64) float64 { return p - math.Round(p) }

// phase is the phase of the wave in a part of the samples, in turns; false where
// too few samples are there.
func (s *sampling) phase(f, from, to float64) (float64, bool) {
	var c, q, n, sc, ss float64
	var sum float64
	for i, t := range s.t {
		if t < from || t > to {
			continue
		}
		sin, cos := math.Sincos(2 * math.Pi * f * (t - s.t[0]))
		c += s.x[i] * cos
		q += s.x[i] * sin
		sc += cos
		ss += sin
		sum += s.x[i]
		n++
	}
	if n < perPeriod/2 {
		return 0, false
	}
	c, q = c-sum*sc/n, q-sum*ss/n
	return math.Atan2(-q, c) / (2 * math.Pi), true
}

// inHalves says whether both halves of the window show the wave.
func (s *sampling) inHalves(f float64) bool {
	mid := len(s.t) / 2
	for _, h := range [][2]int{{0, mid}, {mid, len(s.t)}} {
		t, x := s.t[h[0]:h[1]], s.x[h[0]:h[1]]
		width := math.Max(0.05*f, 1.5/(t[len(t)-1]-t[0]))
		sp := newSpectrum(t, x, math.Max(0.3*f, 2/(t[len(t)-1]-t[0])), 2*f)
		_, near := sp.peak(f-width, f+width)
		_, any := sp.peak(0, math.Inf(1))
		if near < 0.5*leastPower || near < 0.7*any {
			return false
		}
	}
	return true
}
