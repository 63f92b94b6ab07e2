package strata

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A cutter makes the timeline in two walks: the first finds the samples and
// the largest layers, the second reads them off.
type cutter struct {
	tape    *tape.Tape
	options Options
	views   []*cut
	peak    struct {
		event int
		bytes unit.Bytes
	}
	oom int
}

// A cut is one view: the layer of every block and the bytes of every layer.
type cut struct {
	name   string
	tagger tagger
	index  map[tag]uint16
	tags   []tag
	of     []uint16 // by block
	now    []unit.Bytes
	most   []unit.Bytes
}

// mostTags bounds the layers told apart while walking; what comes later
// counts as others.
const mostTags = 1<<16 - 1

func newCutter(t *tape.Tape, o Options) *cutter {
	c := &cutter{tape: t, options: o, oom: -1}
	for _, v := range views(t, o) {
		c.views = append(c.views, &cut{
			name: v.name, tagger: v.tagger, index: map[tag]uint16{}, of: make([]uint16, t.Blocks()),
		})
	}
	return c
}

// choose returns the events to sample: in each of equal stretches the ones
// with the most and the least allocated and the most reserved, besides the
// first and the last event and the peak.
func (c *cutter) choose() []int {
	const each = 3
	stretch := 1
	if c.tape.Len() > c.options.Samples {
		stretch = (c.tape.Len()*each + c.options.Samples - 1) / c.options.Samples
	}
	var events []int
	var high, low, held extreme
	end := -1
	flush := func() {
		if end >= 0 {
			events = append(events, high.event, low.event, held.event)
		}
	}
	last := -1
	walk(c.tape, c.options, c.learn, func(i int, w *walker) {
		if i >= end {
			flush()
			end = i - i%stretch + stretch
			high, low, held = extreme{i, w.allocated}, extreme{i, w.allocated}, extreme{i, w.reserved}
		}
		high.raise(i, w.allocated)
		held.raise(i, w.reserved)
		if w.allocated < low.bytes {
			low = extreme{i, w.allocated}
		}
		if last < 0 || w.allocated > c.peak.bytes {
			c.peak.event, c.peak.bytes = i, w.allocated
		}
		if last < 0 {
			events = append(events, i)
		}
		if c.tape.Kind(i) == tape.OOM {
			c.oom = i
			events = append(events, i)
		}
		last = i
	})
	if last < 0 {
		return nil
	}
	flush()
	events = append(events, c.peak.event, last)
	slices.Sort(events)
	return slices.Compact(events)
}

type extreme struct {
	event int
	bytes unit.Bytes
}

func (e *extreme) raise(i int, b unit.Bytes) {
	if b > e.bytes {
		*e = extreme{i, b}
	}
}

// learn gives a new block its layers and follows their sizes.
func (c *cutter) learn(event int, b tape.BlockID, by unit.Bytes) {
	for _, v := range c.views {
		if by > 0 {
			v.of[b] = v.layer(v.tagger.tag(event, b))
		}
		n := v.of[b]
		v.now[n] += by
		v.most[n] = max(v.most[n], v.now[n])
	}
}

func (v *cut) layer(g tag) uint16 {
	n, ok := v.index[g]
	if !ok {
		if len(v.tags) > mostTags {
			return mostTags
		}
		n = uint16(len(v.tags))
		v.index[g] = n
		v.tags = append(v.tags, g)
		v.now = append(v.now, 0)
		v.most = append(v.most, 0)
	}
	return n
}

// collect reads the samples off in a second walk.
func (c *cutter) collect(samples []int) report.Timeline {
	out := report.Timeline{Events: samples}
	places := make([][]int, len(c.views))
	for k, v := range c.views {
		out.Views = append(out.Views, report.View{Name: v.name})
		places[k] = v.places(&out.Views[k], c.options.Layers)
		clear(v.now)
	}
	follow := func(_ int, b tape.BlockID, by unit.Bytes) {
		for _, v := range c.views {
			v.now[v.of[b]] += by
		}
	}
	next, held := 0, false
	walk(c.tape, c.options, follow, func(i int, w *walker) {
		if next == len(samples) || i != samples[next] {
			return
		}
		next++
		held = held || w.reserved != 0
		out.Allocated = append(out.Allocated, w.allocated)
		out.Reserved = append(out.Reserved, w.reserved)
		out.Times = append(out.Times, c.tape.Event(i).Time)
		for k, v := range c.views {
			v.sample(out.Views[k].Layers, places[k])
		}
	})
	if !held {
		out.Reserved = nil
	}
	out.Times = sinceFirst(out.Times)
	for k := range out.Views {
		steadyFirst(out.Views[k].Layers, c.views[k].tagger.ordered())
	}
	out.Views = telling(out.Views)
	return out
}

// telling leaves out the views that put everything into one layer, unless
// all do.
func telling(views []report.View) []report.View {
	var out []report.View
	for _, v := range views {
		if len(v.Layers) > 1 {
			out = append(out, v)
		}
	}
	if out == nil && len(views) > 0 {
		out = views[:1]
	}
	return out
}

// places gives the largest layers a place of their own and the others the
// last one.
func (v *cut) places(view *report.View, bound int) []int {
	order := make([]int, len(v.tags))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(v.most[b], v.most[a]) })
	kept := order
	if len(order) > bound {
		kept = order[:bound-1]
	}
	places := make([]int, len(v.tags))
	for i := range places {
		places[i] = len(kept)
	}
	for at, n := range kept {
		places[n] = at
		g := v.tags[n]
		view.Layers = append(view.Layers, report.Layer{Name: g.name, Note: g.note, Key: g.key})
	}
	if len(kept) < len(order) {
		view.Layers = append(view.Layers, report.Layer{
			Name: fmt.Sprintf("%s others", report.Grouped(int64(len(order)-len(kept)))), Key: "other",
		})
	}
	return places
}

func (v *cut) sample(layers []report.Layer, places []int) {
	for i := range layers {
		layers[i].Bytes = append(layers[i].Bytes, 0)
	}
	for n, at := range places {
		b := layers[at].Bytes
		b[len(b)-1] += v.now[n]
	}
}

// sinceFirst makes times relative to the first; nil when any is unknown.
func sinceFirst(times []int64) []int64 {
	first, last := int64(0), int64(0)
	for i, us := range times {
		if us == 0 {
			return nil
		}
		if i == 0 {
			first = us
		}
		last = max(last, us-first)
		times[i] = last
	}
	if last == 0 {
		return nil
	}
	return times
}

// steadyFirst orders layers so that what lasts lies at the bottom and what
// comes and goes on top of it; a view with an order of its own keeps it.
func steadyFirst(layers []report.Layer, rank func(string) int) {
	slices.SortStableFunc(layers, func(a, b report.Layer) int {
		if c := cmp.Compare(rank(a.Key), rank(b.Key)); c != 0 {
			return c
		}
		return cmp.Compare(steadiness(b), steadiness(a))
	})
}

// steadiness is the mean of a layer over its most, 0..1 times the number of
// samples.
func steadiness(l report.Layer) float64 {
	var sum, most float64
	for _, b := range l.Bytes {
		sum += float64(b)
		most = max(most, float64(b))
	}
	if most == 0 {
		return 0
	}
	return sum / most
}
