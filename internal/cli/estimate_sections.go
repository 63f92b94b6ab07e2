package cli

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/report/strata"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// estimateSections are the facts behind the verdict, in reading order.
func estimateSections(e *estimate.Estimate, o estimateOptions) []report.Section {
	out := []report.Section{estimatePeak(e)}
	if o.Explain {
		out = append(out, explainSection(e))
	}
	out = append(out, layerSection(e, o)...)
	out = append(out, estimateSteps(e)...)
	out = append(out, variedSection(e)...)
	out = append(out, batchSection(e))
	out = append(out, estimateCards(e)...)
	out = append(out, cureSection(e, o)...)
	out = append(out, formulaSections(e, o)...)
	return append(out, estimatePeaks(e))
}

func estimatePeak(e *estimate.Estimate) report.Section {
	b := &report.Bars{Total: e.Peak.Device, Of: "the device peak"}
	for _, p := range partsOf(e.ByCategory) {
		if p.bytes != 0 {
			b.Bars = append(b.Bars, report.Bar{Label: p.label, Bytes: p.bytes, Key: p.key})
		}
	}
	var lead []string
	if e.GPU.Count > 1 {
		lead = append(lead, fmt.Sprintf("of each of the %d cards", e.GPU.Count))
	}
	if p := e.Peak; p.Needs > 0 && p.Needs.String() != p.Device.String() {
		lead = append(lead, fmt.Sprintf("%s is what it %s; %s is the least that does", p.Device, takes(e), p.Needs))
	}
	return report.Section{Title: "At the peak", Lead: strings.Join(lead, "; "), Bars: b}
}

// takes says under which condition the run takes what its categories sum to.
func takes(e *estimate.Estimate) string {
	if e.Peak.Device > e.GPU.Capacity {
		return "would take with room"
	}
	return "takes here, the cache included"
}

// digits are what differs between the names of like layers.
var digits = regexp.MustCompile(`[0-9]+`)

// A layerGroup is layers whose names differ in their numbers alone, and which
// are alike.
type layerGroup struct {
	estimate.Layer
	pattern, first, last string
	count                int
}

// layerGroups folds like layers, those that keep the most first.
func layerGroups(layers []estimate.Layer) []layerGroup {
	var groups []layerGroup
	for _, l := range layers {
		pattern := digits.ReplaceAllString(l.Name, "*")
		i := slices.IndexFunc(groups, func(g layerGroup) bool {
			return g.pattern == pattern && g.Saved == l.Saved && g.Parameters == l.Parameters && slices.Equal(g.Output, l.Output)
		})
		if i < 0 {
			groups = append(groups, layerGroup{Layer: l, pattern: pattern, first: l.Name, last: l.Name, count: 1})
			continue
		}
		groups[i].count++
		groups[i].last = l.Name
	}
	slices.SortStableFunc(groups, func(a, b layerGroup) int {
		return cmp.Compare(b.Saved*unit.Bytes(b.count), a.Saved*unit.Bytes(a.count))
	})
	return groups
}

// name is "layers.0 to layers.31".
func (g layerGroup) name() string {
	if g.count == 1 {
		return g.first
	}
	return g.first + " to " + g.last
}

func layerSection(e *estimate.Estimate, o estimateOptions) []report.Section {
	if len(e.Layers) == 0 {
		return nil
	}
	t := &report.Table{Columns: []report.Column{
		{Name: "kept", Kind: report.Size}, {Name: "each", Kind: report.Size, Spare: 2}, {Name: "layers", Kind: report.Count},
		{Name: "parameters", Kind: report.Count, Spare: 3}, {Name: "hands on", Spare: 1}, {Name: "layer", Elide: report.CutStart},
	}}
	groups := layerGroups(e.Layers)
	n := rows(len(groups), captureOptions{Output: o.Output, Verbose: o.Verbose})
	for _, g := range groups[:n] {
		shape := make([]string, len(g.Output))
		for i, s := range g.Output {
			shape[i] = strconv.FormatInt(s, 10)
		}
		t.Rows = append(t.Rows, []report.Cell{
			report.SizeCell(g.Saved * unit.Bytes(g.count)), report.SizeCell(g.Saved), report.CountCell(int64(g.count)),
			report.CountCell(g.Parameters * int64(g.count)), report.TextCell(strings.Join(shape, " x ")), report.TextCell(g.name()),
		})
	}
	t.More = len(groups) - n
	lead := "activations that wait for the backward pass when the forward pass is over"
	if e.Mode != recipe.Train {
		lead = "nothing waits for a backward pass"
	}
	return []report.Section{{Title: "Layers", Lead: lead, Table: t, Detail: e.Mode != recipe.Train}}
}

func estimateSteps(e *estimate.Estimate) []report.Section {
	if len(e.Steps) < 2 {
		return nil
	}
	name := "step"
	if e.Mode != recipe.Train {
		name = "pass"
	}
	s := &report.Spark{Name: "allocated", First: name + " 1", Last: fmt.Sprintf("%s %d", name, len(e.Steps))}
	for _, step := range e.Steps {
		s.Values = append(s.Values, step.Allocated)
	}
	return []report.Section{{Title: "Peak of each " + name, Spark: s}}
}

func batchSection(e *estimate.Estimate) report.Section {
	most := "not even one sample fits"
	if e.MaxBatch > 0 {
		most = fmt.Sprintf("%s, with all else as it is", report.Grouped(e.MaxBatch))
	}
	if e.MoreBatch {
		most = "at least " + most
	}
	facts := []report.Fact{{Name: "largest micro-batch", Value: most}, {Name: "between steps", Value: e.Steady.Allocated.String() + " stay allocated"}}
	if !hasBatch(e) {
		facts = facts[1:]
	}
	return report.Section{Title: "Room", Facts: facts}
}

func estimateCards(e *estimate.Estimate) []report.Section {
	if len(e.Cards) == 0 {
		return nil
	}
	t := &report.Table{Columns: []report.Column{
		{Name: "card"}, {Name: "needed", Kind: report.Size}, {Name: "offers", Kind: report.Size}, {Name: "verdict"},
	}}
	for _, c := range e.Cards {
		verdict := report.TextCell(strings.ReplaceAll(string(c.Verdict), "-", " "))
		verdict.Answer = estimateAnswer(c.Verdict)
		t.Rows = append(t.Rows, []report.Cell{report.TextCell(c.GPU), report.SizeCell(c.Device), report.SizeCell(c.Capacity), verdict})
	}
	return []report.Section{{Title: cardsTitle, Lead: "the smallest on which it fits; --gpu judges any other", Table: t}}
}

// cureSection is every cure; the verdict names those that suffice.
func cureSection(e *estimate.Estimate, o estimateOptions) []report.Section {
	if len(e.Findings) == 0 {
		return nil
	}
	t := &report.Table{Columns: []report.Column{
		{Name: "needs then", Kind: report.Size}, {Name: "saves", Kind: report.Size, Spare: 1}, {Name: "verdict"},
		{Name: "results", Spare: 2}, {Name: "change"},
	}}
	for _, f := range e.Findings {
		verdict := report.TextCell(strings.ReplaceAll(string(f.Verdict), "-", " "))
		verdict.Answer = estimateAnswer(f.Verdict)
		t.Rows = append(t.Rows, []report.Cell{
			report.SizeCell(f.Then()), report.SizeCell(f.Saves), verdict, report.TextCell(strings.ReplaceAll(string(f.Exactness), "-", " ")), report.TextCell(f.Action),
		})
	}
	s := report.Section{Title: "What would help", Lead: "each estimated with that one change", Table: t, Detail: e.Verdict == estimate.Fits && !o.Explain}
	if o.Explain {
		for _, f := range e.Findings {
			s.Text += f.Action + ": " + f.Why + "\n"
		}
	}
	return []report.Section{s}
}

func bySavings(list []estimate.Finding) []estimate.Finding {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b estimate.Finding) int { return cmp.Compare(b.Saves, a.Saves) })
	return list
}

// formulaSections show the closed form, category by category, and what its
// letters mean.
func formulaSections(e *estimate.Estimate, o estimateOptions) []report.Section {
	if len(e.Formula) == 0 {
		return nil
	}
	s := report.Section{Title: "Formula", Lead: "bytes, as operators ask for them", Detail: !o.Formula && !o.Explain}
	done := map[string]bool{}
	add := func(key, label string) {
		if f := e.Formula[key]; f != "" {
			s.Facts = append(s.Facts, report.Fact{Name: label, Value: f})
			done[key] = true
		}
	}
	for _, p := range partsOf(e.ByCategory) {
		add(p.key, p.label)
	}
	for _, key := range slices.Sorted(maps.Keys(e.Formula)) {
		if !done[key] {
			add(key, key)
		}
	}
	for _, sym := range e.Symbols {
		value := sym.Meaning
		if !strings.HasSuffix(sym.Name, ")") { // no function
			value = report.Grouped(sym.Value) + ", " + sym.Meaning
		}
		s.Facts = append(s.Facts, report.Fact{Name: sym.Name, Value: value})
	}
	return []report.Section{s}
}

func estimatePeaks(e *estimate.Estimate) report.Section {
	p := e.Peak
	facts := []report.Fact{
		{Name: "requested", Value: p.Requested.String()}, {Name: "allocated", Value: p.Allocated.String()}, {Name: "reserved", Value: p.Reserved.String()},
		{Name: "on the device", Value: fmt.Sprintf("%s, from %s to %s", p.Device, p.Low, p.High)},
		{Name: "CUDA context", Value: fmt.Sprintf("%s; %s", e.ByCategory.Context, orGiven(e.ContextSource))},
	}
	return report.Section{Title: "Peaks", Facts: facts, Detail: true}
}

// playedTimeline is drawn for formats that show it.
func playedTimeline(e *estimate.Estimate, o estimateOptions) []report.Timeline {
	if o.Format != "html" || e.Tape == nil {
		return nil
	}
	options := strata.Options{Module: func(b tape.BlockID) string {
		frames := e.Tape.Site(e.Tape.Block(b).Site)
		if len(frames) == 0 {
			return ""
		}
		return frames[0].Name
	}}
	for _, l := range e.Reserved {
		options.Reserved = append(options.Reserved, strata.Level(l))
	}
	t := strata.Timeline(e.Tape, options)
	t.Name = "cuda:0, " + e.GPU.Name
	t.Context, t.Capacity = e.ByCategory.Context, e.GPU.Capacity
	return []report.Timeline{t}
}
