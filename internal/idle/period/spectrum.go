package period

import "math"

// A line is a wave that was found.
type line struct {
	f     float64 // Hz
	err   float64 // standard error as a share of f
	power float64 // share of the variance
	parts int     // waves in one repetition
}

// oversampled is how many frequencies are tried per resolution of the window.
const oversampled = 4

// A spectrum is the share of the variance that a wave of each frequency
// explains (Lomb and Scargle, with the mean as a parameter).
type spectrum struct {
	f0, df float64
	power  []float64
}

func (p *spectrum) at(i int) float64 { return p.f0 + float64(i)*p.df }

// newSpectrum computes the spectrum of x at t between two frequencies. The
// phases of all samples turn from one frequency to the next, which takes no sine.
func newSpectrum(t, x []float64, from, to float64) *spectrum {
	n := float64(len(t))
	p := &spectrum{f0: from, df: 1 / (oversampled * (t[len(t)-1] - t[0]))}
	count := int((to-from)/p.df) + 1
	if count < 1 {
		return p
	}
	p.power = make([]float64, count)
	y, m := detrend(t, x), 0.0
	for _, v := range y {
		m += v * v
	}
	yy := m / n
	re, im := make([]float64, len(t)), make([]float64, len(t))
	wr, wi := make([]float64, len(t)), make([]float64, len(t))
	for i := range t {
		im[i], re[i] = math.Sincos(2 * math.Pi * from * (t[i] - t[0]))
		wi[i], wr[i] = math.Sincos(2 * math.Pi * p.df * (t[i] - t[0]))
	}
	for k := range p.power {
		var c, s, yc, ys, cc, cs float64
		for i, v := range y {
			a, b := re[i], im[i]
			c += a
			s += b
			yc += v * a
			ys += v * b
			cc += a * a
			cs += a * b
			re[i], im[i] = a*wr[i]-b*wi[i], a*wi[i]+b*wr[i]
		}
		ss := n - cc
		c, s, yc, ys, cc, ss, cs = c/n, s/n, yc/n, ys/n, cc/n, ss/n, cs/n
		cc, ss, cs = cc-c*c, ss-s*s, cs-c*s
		if d := cc*ss - cs*cs; d > 1e-9 && yy > 0 {
			p.power[k] = (ss*yc*yc + cc*ys*ys - 2*cs*yc*ys) / (yy * d)
		}
	}
	return p
}

// detrend subtracts the straight line through the samples.
func detrend(t, x []float64) []float64 {
	n := float64(len(t))
	mt, mx, tt, tx := 0.0, mean(x), 0.0, 0.0
	for _, v := range t {
		mt += v / n
	}
	for i := range t {
		tt += (t[i] - mt) * (t[i] - mt)
		tx += (t[i] - mt) * (x[i] - mx)
	}
	out := make([]float64, len(x))
	for i := range x {
		out[i] = x[i] - mx - tx/tt*(t[i]-mt)
	}
	return out
}

// peak is the highest frequency between two, by index.
func (p *spectrum) peak(from, to float64) (int, float64) {
	best, most := -1, 0.0
	first := math.Max(0, math.Ceil((from-p.f0)/p.df))
	last := math.Min(float64(len(p.power)-1), math.Floor((to-p.f0)/p.df))
	for i := int(first); i <= int(last); i++ {
		if p.power[i] > most {
			best, most = i, p.power[i]
		}
	}
	return best, most
}
