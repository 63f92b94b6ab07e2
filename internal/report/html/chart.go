package html

import (
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A chart is the data that the page's script draws. Lists over the samples
// are differences to the value before: most are zero, which keeps the page
// at a third of the size.
type chart struct {
	Timelines []timeline `json:"timelines"`
}

type timeline struct {
	Name      string  `json:"name"`
	Events    []int64 `json:"events"`
	Times     []int64 `json:"times"`
	Allocated []int64 `json:"allocated"`
	Reserved  []int64 `json:"reserved"`
	Context   int64   `json:"context"`
	Capacity  int64   `json:"capacity"`
	Views     []view  `json:"views"`
	Bands     []band  `json:"bands"`
	Marks     []mark  `json:"marks"`
}

type view struct {
	Name   string  `json:"name"`
	Layers []layer `json:"layers"`
}

type layer struct {
	Name  string  `json:"name"`
	Note  string  `json:"note,omitempty"`
	Key   string  `json:"key"`
	Bytes []int64 `json:"bytes"`
}

type band struct {
	Kind string `json:"kind"`
	From int    `json:"from"`
	To   int    `json:"to"`
	Name string `json:"name"`
}

type mark struct {
	Kind  string `json:"kind"`
	Event int    `json:"event"`
	Name  string `json:"name"`
}

// newChart returns nil when there is nothing to draw.
func newChart(list []report.Timeline) *chart {
	c := &chart{}
	for i := range list {
		if len(list[i].Events) > 0 {
			c.Timelines = append(c.Timelines, newTimeline(&list[i]))
		}
	}
	if len(c.Timelines) == 0 {
		return nil
	}
	return c
}

func newTimeline(t *report.Timeline) timeline {
	n := len(t.Events)
	out := timeline{
		Name: report.Printable(t.Name), Context: int64(t.Context), Capacity: int64(t.Capacity),
		Events: deltas(t.Events, n), Times: deltas(t.Times, n),
		Allocated: deltas(t.Allocated, n), Reserved: deltas(t.Reserved, n),
		Views: []view{}, Bands: []band{}, Marks: []mark{},
	}
	for _, v := range t.Views {
		w := view{Name: report.Printable(v.Name), Layers: []layer{}}
		for _, l := range v.Layers {
			w.Layers = append(w.Layers, layer{
				Name: report.Printable(l.Name), Note: report.Printable(l.Note),
				Key: report.Printable(colorKey(l.Key, l.Name)), Bytes: deltas(l.Bytes, n),
			})
		}
		out.Views = append(out.Views, w)
	}
	for _, b := range t.Bands {
		out.Bands = append(out.Bands, band{b.Kind.String(), b.From, b.To, report.Printable(b.Name)})
	}
	for _, m := range t.Marks {
		out.Marks = append(out.Marks, mark{m.Kind.String(), m.Event, report.Printable(m.Name)})
	}
	return out
}

// deltas returns the differences of the first n values; what is missing
// stays at the last one. No values at all give an empty list.
func deltas[T int | int64 | unit.Bytes](values []T, n int) []int64 {
	out := []int64{}
	if len(values) == 0 {
		return out
	}
	var last int64
	for i := range n {
		v := last
		if i < len(values) {
			v = int64(values[i])
		}
		out = append(out, v-last)
		last = v
	}
	return out
}

func colorKey(key, name string) string {
	if key != "" {
		return key
	}
	return name
}
