package explain

import (
	"cmp"
	"slices"
	"sort"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Growth is what steps leave behind: made in one of them and still in use
// at the moment that is explained, at least one whole step later.
type Growth struct {
	First, Last int        // steps that were looked at, from 1
	PerStep     unit.Bytes // the middle of them
	Total       unit.Bytes // of all these steps
	Places      []GrowthShare
	// Graph reports that most of it was kept by forward passes for backward:
	// something keeps the graphs of past steps.
	Graph bool
}

// A GrowthShare is what one place leaves behind.
type GrowthShare struct {
	Place    Place
	Operator string
	Category tape.Category
	PerStep  unit.Bytes // the middle of the steps
	Total    unit.Bytes
	Blocks   int
	Steps    int // in which it left something

	number int32
	bySome []unit.Bytes // by step
	site   tape.SiteID
	kinds  [16]unit.Bytes
	graph  unit.Bytes // activations of forward passes
	large  unit.Bytes
}

const (
	leastSteps = 2  // of evidence
	mostSteps  = 32 // that are looked at, the last ones
)

// growth looks for what every step leaves behind at a moment. The first step
// sets up (optimizer states, buffers) and the last ones still hold their
// gradients, so both are left out.
func (r *Recording) growth(moment int) *Growth {
	first, last := 2, r.stepAt(moment)-2
	first = max(first, last-mostSteps+1)
	if last-first+1 < leastSteps {
		return nil
	}
	shares := map[int32]*GrowthShare{}
	for i := range r.Tape.Blocks() {
		b := r.Tape.Block(tape.BlockID(i))
		if b.Device != r.Device || b.Alloc < 0 || b.Alloc > moment || b.Free >= 0 && b.Free <= moment {
			continue
		}
		step := sort.SearchInts(r.ends, b.Alloc+1) + 1
		if step < first || step > last {
			continue
		}
		n := r.places.number(b.Site)
		s := shares[n]
		if s == nil {
			s = &GrowthShare{Place: r.places.places[n], number: n, bySome: make([]unit.Bytes, last-first+1)}
			shares[n] = s
		}
		s.bySome[step-first] += b.Bytes
		s.Blocks++
		s.Total += b.Bytes
		s.kinds[b.Category] += b.Bytes
		if b.Category == tape.Activation && b.Phase == tape.Forward {
			s.graph += b.Bytes
		}
		if b.Bytes > s.large {
			s.large, s.site = b.Bytes, b.Site
		}
	}
	g := &Growth{First: first, Last: last}
	perStep := make([]unit.Bytes, last-first+1)
	var graphs unit.Bytes
	for _, s := range shares {
		for _, b := range s.bySome {
			if b > 0 {
				s.Steps++
			}
		}
		if s.Steps < leastSteps || s.Steps*5 < len(s.bySome)*4 {
			continue
		}
		s.finish(r)
		for i, b := range s.bySome {
			perStep[i] += b
		}
		g.Total += s.Total
		graphs += s.graph
		g.Places = append(g.Places, *s)
	}
	if len(g.Places) == 0 {
		return nil
	}
	// A graph keeps several blocks of a step; one alone is a result that somebody keeps.
	g.PerStep, g.Graph = middle(perStep), graphs*2 > g.Total && g.blocks() >= 2*len(perStep)
	slices.SortFunc(g.Places, func(a, b GrowthShare) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Place.String(), b.Place.String()))
	})
	return g
}

// blocks is how many blocks all places left behind.
func (g *Growth) blocks() (n int) {
	for i := range g.Places {
		n += g.Places[i].Blocks
	}
	return n
}

func (s *GrowthShare) finish(r *Recording) {
	s.PerStep = middle(s.bySome)
	s.Operator = operatorOf(r.Tape.Site(s.site))
	for c, b := range s.kinds {
		if b > s.kinds[s.Category] {
			s.Category = tape.Category(c)
		}
	}
}

func middle(list []unit.Bytes) unit.Bytes {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
