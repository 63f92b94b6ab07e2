package main

import (
	"math"
	"slices"
)

// A summary is the score of some cases.
type summary struct {
	cases, refused                     int
	falseFits, falseNos, unsure        int
	ranOut, ran                        int // of those answered
	wrongParameters, outside           int
	allocated, reserved                spread
	allocatedToTheByte, reservedToByte int
	measured                           int
}

// A spread says how relative errors lie: of their size the median and the 90th
// percentile and the largest, and their mean, which is the bias.
type spread struct{ median, p90, worst, bias float64 }

func spreadOf(errors []float64) spread {
	if len(errors) == 0 {
		return spread{}
	}
	sizes := make([]float64, len(errors))
	var sum float64
	for i, e := range errors {
		sizes[i] = math.Abs(e)
		sum += e
	}
	slices.Sort(sizes)
	return spread{quantile(sizes, 0.5), quantile(sizes, 0.9), sizes[len(sizes)-1], sum / float64(len(errors))}
}

// quantile is the smallest of sorted values that at least the given share does
// not exceed.
func quantile(sorted []float64, share float64) float64 {
	i := int(math.Ceil(share*float64(len(sorted)))) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

func summarize(results []*result) summary {
	s := summary{cases: len(results)}
	var allocated, reserved []float64
	for _, r := range results {
		switch r.outcome {
		case refused:
			s.refused++
			continue
		case unsure:
			s.unsure++
		case falseFit:
			s.falseFits++
		case falseNo:
			s.falseNos++
		}
		if r.truth.Measured.OutOfMemory == "" {
			s.ran++
		} else {
			s.ranOut++
		}
		if !r.parameters {
			s.wrongParameters++
		}
		if r.measurable {
			s.measured++
			if r.outside {
				s.outside++
			}
			allocated, reserved = append(allocated, r.allocated), append(reserved, r.reserved)
			if r.allocated == 0 {
				s.allocatedToTheByte++
			}
			if r.reserved == 0 {
				s.reservedToByte++
			}
		}
	}
	s.allocated, s.reserved = spreadOf(allocated), spreadOf(reserved)
	return s
}

// A bar is a number that must not be passed.
type bar struct {
	what  string
	value func(s summary) float64
	most  float64
	count bool // a plain number, not a share
}

// bars are what an estimate is held to.
var bars = []bar{
	{"allocated peak, median error", func(s summary) float64 { return s.known(s.allocated.median) }, 0.001, false},
	{"allocated peak, 90th percentile", func(s summary) float64 { return s.known(s.allocated.p90) }, 0.01, false},
	{"reserved peak, median error", func(s summary) float64 { return s.known(s.reserved.median) }, 0.005, false},
	{"reserved peak, 90th percentile", func(s summary) float64 { return s.known(s.reserved.p90) }, 0.03, false},
	{"ran out of memory and called fits", func(s summary) float64 { return float64(s.falseFits) }, 0, true},
	{"ran and called does-not-fit", func(s summary) float64 { return share(s.falseNos, s.ran) }, 0.01, false},
	{"called may-not-fit", func(s summary) float64 { return share(s.unsure, s.cases-s.refused) }, 0.05, false},
	{"reserved peak outside of its interval", func(s summary) float64 { return float64(s.outside) }, 0, true},
	{"parameters counted wrong", func(s summary) float64 { return float64(s.wrongParameters) }, 0, true},
	{"not answered", func(s summary) float64 { return float64(s.refused) }, 0, true},
}

// known is a number that measured peaks alone give, and none without them.
func (s summary) known(v float64) float64 {
	if s.measured == 0 {
		return math.NaN()
	}
	return v
}

// missed reports whether a summary passes the bar; a number that is not known
// does.
func (b bar) missed(s summary) bool { return !(b.value(s) <= b.most) }

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// missed reports whether any bar is.
func (s summary) missed() bool {
	return slices.ContainsFunc(bars, func(b bar) bool { return b.missed(s) })
}

// A group is the cases that have something in common.
type group struct {
	name    string
	results []*result
}

// groups sorts the cases by a key, names in order.
func groups(results []*result, key func(*result) string) []group {
	var out []group
	for _, r := range results {
		k := key(r)
		i, found := slices.BinarySearchFunc(out, k, func(g group, k string) int {
			switch {
			case g.name < k:
				return -1
			case g.name > k:
				return 1
			}
			return 0
		})
		if !found {
			out = slices.Insert(out, i, group{name: k})
		}
		out[i].results = append(out[i].results, r)
	}
	return out
}

// cuts are the ways to look at the cases.
var cuts = []struct {
	title string
	key   func(*result) string
}{
	{"By model", func(r *result) string { return r.truth.Model }},
	{"By precision", func(r *result) string { return r.truth.Recipe.Precision }},
	{"By card", func(r *result) string { return r.file.GPU }},
	{"By what is done", func(r *result) string { return r.kind() }},
}

// kind is what sets a case apart from plain training.
func (r *result) kind() string {
	c := r.truth.Recipe
	switch {
	case r.truth.Mode != "":
		return "evaluation"
	case c.LoRA != nil:
		return "LoRA"
	case c.Checkpoint != "" && c.Checkpoint != "none":
		return "checkpointing"
	case c.Accumulate > 1:
		return "accumulation"
	case c.Attention != "":
		return c.Attention + " attention"
	case c.ChannelsLast:
		return "channels last"
	case c.Clip:
		return "clipping"
	}
	return "training with " + c.Optimizer
}
