package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/internal/explain"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// reservedOf is how much a device held at most, as far as is known.
func reservedOf(e *explain.Explanation) unit.Bytes {
	return max(e.Levels.Reserved, e.Moment.Reserved, e.End.Reserved, e.Levels.Requested)
}

// recordingReport is the answer for people.
func recordingReport(f *recordingFile, list []*explain.Explanation, o explainOptions) *report.Report {
	e := leadOf(list)
	r := &report.Report{Command: "explain", Subject: f.name, Warnings: f.warnings}
	r.Verdict = recordingVerdict(e)
	if f.gaps {
		r.Verdict.Sentence += "; " + f.ends()
	}
	r.Reason = recordingReason(e)
	for _, x := range e.Findings {
		for _, m := range x.Remedies {
			r.Remedies = append(r.Remedies, findingRemedy(m, e))
		}
		if len(r.Remedies) > 0 {
			break
		}
	}
	r.Sections = append(r.Sections, recordingSections(e, o)...)
	if len(list) > 1 {
		r.Sections = append(r.Sections, devicesSection(list))
	}
	r.Sections = append(r.Sections, replaySection(e))
	r.Provenance = []report.Fact{{Name: "read from", Value: f.kind}}
	if e.Conf != "" {
		r.Provenance = append(r.Provenance, report.Fact{Name: "recorded under", Value: "PYTORCH_CUDA_ALLOC_CONF=" + e.Conf})
	}
	if len(e.Failures) > 0 {
		r.Notes = append(r.Notes, "What would have come after the end of the recording is not known.")
	}
	if e.Check.Exact {
		r.Notes = append(r.Notes, "Replayed: the requests are as recorded, the allocator is our own, checked against this very recording.")
	}
	r.Warnings = append(r.Warnings, adviceOf(e)...)
	return r
}

// recordingVerdict is the first line: why it ran out, or what holds the
// memory.
func recordingVerdict(e *explain.Explanation) report.Verdict {
	lead := e.Findings[0]
	if len(e.Failures) > 0 {
		return report.Verdict{Answer: report.No, Word: "ran out of memory", Sentence: lead.Verdict + fmt.Sprintf(" (%s)", strings.ReplaceAll(lead.Cause, "_", " "))}
	}
	if slices.Contains([]string{explain.Leak, explain.AccumulatedGraph, explain.UnusedGraph, explain.SummedGraphs}, lead.Cause) {
		return report.Verdict{Answer: report.Maybe, Word: "memory grows", Sentence: lead.Verdict}
	}
	return report.Verdict{Word: momentName(e), Sentence: lead.Verdict}
}

// momentName says which moment is explained.
func momentName(e *explain.Explanation) string {
	switch e.Which {
	case explain.AtFailure:
		return "when it failed"
	case explain.AtPeak:
		return "at the peak"
	}
	return "at the end"
}

// recordingReason is the second line: numbers that add up.
func recordingReason(e *explain.Explanation) string {
	m := e.Moment
	s := m.Split
	if s == nil {
		text := fmt.Sprintf("%s were in use in %s blocks", m.Requested, report.Grouped(int64(m.Blocks)))
		if e.Cut {
			text = "of what could be read, " + text
		}
		if m.Reserved > 0 {
			text += fmt.Sprintf(", of %s held from the driver", m.Reserved)
		}
		return text
	}
	text := fmt.Sprintf("%s, %s were held from the driver: %s in use", momentName(e), s.Reserved, s.Requested)
	if e.Cut {
		text = "of what could be read, " + text
	}
	for _, p := range []struct {
		bytes unit.Bytes
		name  string
	}{
		{s.Rounding, "rounding"}, {s.Pending, "waiting for other streams"}, {s.Holes, "in holes between blocks"},
		{s.WholeFree, "in free segments"}, {s.Private, "free in private pools"},
	} {
		if p.bytes > 0 {
			text += fmt.Sprintf(" + %s %s", p.bytes, p.name)
		}
	}
	if n := streamsOf(s); n > 1 {
		text += fmt.Sprintf("; what is free belongs to %d streams, none of which can use another's", n)
	}
	if n := len(e.Failures); n > 0 {
		f := e.Failures[n-1]
		text += fmt.Sprintf("; the driver had %s free, %s were asked for at %s", f.DriverFree, f.Rounded, f.Place)
		if f.Outside != nil {
			text += fmt.Sprintf(", and %s of the device were taken by others", *f.Outside)
		}
	}
	return text
}

// streamsOf is how many streams have free memory, where that is much.
func streamsOf(s *explain.Split) int {
	if (s.Holes+s.WholeFree)*5 < s.Reserved {
		return 0
	}
	streams := map[uint64]bool{}
	for _, f := range s.Free {
		if f.Bytes >= 2*unit.MiB {
			streams[f.Stream] = true
		}
	}
	return len(streams)
}

func findingRemedy(m finding.Remedy, e *explain.Explanation) report.Remedy {
	r := report.Remedy{Action: m.Action, Exactness: report.Exactness(m.Exact)}
	if m.Saves != nil {
		r.Saves = *m.Saves
	}
	if m.Method == "replay" {
		r.Cost = "replayed"
		if len(e.Failures) > 0 {
			r.Cost = "replayed: then every recorded request is served"
		}
	}
	return r
}

func recordingSections(e *explain.Explanation, o explainOptions) []report.Section {
	out := []report.Section{siteTable(e, o)}
	if b := categoryBars(e.Moment); b != nil {
		out = append(out, report.Section{Title: "By kind", Lead: kindLead(e.Moment), Bars: b})
	}
	if s := e.Moment.Split; s != nil {
		out = append(out, report.Section{Title: "Where the reserved memory is", Bars: splitBars(s)})
		if len(s.Pins) > 0 {
			out = append(out, pinTable(s, o))
		}
	}
	if g := e.Growth; g != nil {
		out = append(out, growthTable(g, o))
	}
	if len(e.Counterfactuals) > 0 {
		out = append(out, counterfactualTable(e, o))
	}
	out = append(out, libraryTable(e.Moment))
	if len(e.Failures) > 1 {
		out = append(out, failureTable(e))
	}
	return out
}

// listed is how many rows a table has in this answer.
func (o explainOptions) listed(n int) int {
	if o.Verbose || o.Format != "text" {
		return min(n, mostSites)
	}
	return min(n, shortRows)
}

func siteTable(e *explain.Explanation, o explainOptions) report.Section {
	m := e.Moment
	t := &report.Table{Columns: []report.Column{
		{Name: "held", Kind: report.Size}, {Name: "blocks", Kind: report.Count, Spare: 2}, {Name: "mostly", Spare: 3},
		{Name: "from", Elide: report.CutMiddle}, {Name: "operator", Spare: 1},
	}}
	n := o.listed(len(m.ByPlace))
	for _, s := range m.ByPlace[:n] {
		t.Rows = append(t.Rows, []report.Cell{
			report.SizeCell(s.Bytes), report.CountCell(int64(s.Blocks)), report.TextCell(categoryName(s.Category.String())), report.TextCell(s.Place.String()), report.TextCell(s.Operator),
		})
	}
	t.More = len(m.ByPlace) - n
	lead := fmt.Sprintf("%s in %s blocks, after event %s of %s", m.Requested, report.Grouped(int64(m.Blocks)), report.Grouped(int64(m.Event)), report.Grouped(int64(e.Events)))
	if e.Which == explain.AtEnd {
		lead = fmt.Sprintf("%s in %s blocks", m.Requested, report.Grouped(int64(m.Blocks)))
	}
	if m.Step > 0 {
		lead += fmt.Sprintf(", in step %d", m.Step)
	}
	return report.Section{Title: "In use " + momentName(e), Lead: lead, Table: t}
}

// kindLead says how the kinds are known.
func kindLead(m *explain.Moment) string {
	lead := "told by stacks and life spans"
	if b := m.ByCategory[tape.Unknown]; b*10 > m.Requested && m.Before > 0 {
		lead += ", which what was there before the recording began mostly lacks"
	}
	return lead
}

func categoryBars(m *explain.Moment) *report.Bars {
	if len(m.ByCategory) == 0 || len(m.ByCategory) == 1 && m.ByCategory[tape.Unknown] > 0 {
		return nil
	}
	b := &report.Bars{Total: m.Requested, Of: "what is in use"}
	for _, c := range tape.Categories() {
		if n := m.ByCategory[c]; n > 0 {
			b.Bars = append(b.Bars, report.Bar{Label: categoryName(c.String()), Bytes: n, Key: c.String()})
		}
	}
	slices.SortStableFunc(b.Bars, func(x, y report.Bar) int { return cmp.Compare(y.Bytes, x.Bytes) })
	return b
}

func splitBars(s *explain.Split) *report.Bars {
	b := &report.Bars{Total: s.Reserved, Of: "the reserved memory"}
	for _, p := range []report.Bar{
		{Label: "in use", Bytes: s.Requested},
		{Label: "rounding", Bytes: s.Rounding, Note: "blocks larger than what was asked for"},
		{Label: "pending", Bytes: s.Pending, Note: "given up, another stream may still use it"},
		{Label: "holes", Bytes: s.Holes, Note: fmt.Sprintf("the largest has %s", s.LargestHole)},
		{Label: "free segments", Bytes: s.WholeFree, Note: "could go back to the driver"},
		{Label: "private pools", Bytes: s.Private, Note: "free, for their own requests only"},
	} {
		if p.Bytes > 0 {
			b.Bars = append(b.Bars, p)
		}
	}
	return b
}

func pinTable(s *explain.Split, o explainOptions) report.Section {
	t := &report.Table{Columns: []report.Column{
		{Name: "kept free", Kind: report.Size}, {Name: "segments", Kind: report.Count}, {Name: "in use there", Kind: report.Size, Spare: 1}, {Name: "kept by blocks from", Elide: report.CutMiddle},
	}}
	n := o.listed(len(s.Pins))
	for _, p := range s.Pins[:n] {
		t.Rows = append(t.Rows, []report.Cell{
			report.SizeCell(p.Free), report.CountCell(int64(p.Segments)), report.SizeCell(p.Held), report.TextCell(p.Place.String()),
		})
	}
	t.More = len(s.Pins) - n
	return report.Section{
		Title: "What keeps holes from going back", Table: t, Detail: s.Holes*10 < s.Reserved,
		Lead: "of all blocks in such a segment these stay the longest",
	}
}

func growthTable(g *explain.Growth, o explainOptions) report.Section {
	t := &report.Table{Columns: []report.Column{
		{Name: "a step", Kind: report.Size}, {Name: "in all", Kind: report.Size}, {Name: "blocks", Kind: report.Count, Spare: 2},
		{Name: "mostly", Spare: 3}, {Name: "from", Elide: report.CutMiddle}, {Name: "operator", Spare: 1},
	}}
	n := o.listed(len(g.Places))
	for _, s := range g.Places[:n] {
		t.Rows = append(t.Rows, []report.Cell{
			report.SizeCell(s.PerStep), report.SizeCell(s.Total), report.CountCell(int64(s.Blocks)), report.TextCell(categoryName(s.Category.String())),
			report.TextCell(s.Place.String()), report.TextCell(s.Operator),
		})
	}
	t.More = len(g.Places) - n
	return report.Section{Title: "What steps leave behind", Lead: fmt.Sprintf("made in steps %d to %d and still in use", g.First, g.Last), Table: t}
}

func counterfactualTable(e *explain.Explanation, o explainOptions) report.Section {
	t := &report.Table{Columns: []report.Column{
		{Name: "change", Elide: report.CutMiddle}, {Name: "reserved", Kind: report.Size}, {Name: "saves", Kind: report.Size, Spare: 2}, {Name: "driver calls", Kind: report.Count, Spare: 1}, {Name: "fails"},
	}}
	row := func(name string, reserved, saves unit.Bytes, calls int64, oom bool) {
		fails, answer := "no", report.OK
		if oom {
			fails, answer = "yes", report.No
		}
		last := report.TextCell(fails)
		last.Answer = answer
		t.Rows = append(t.Rows, []report.Cell{report.TextCell(name), report.SizeCell(reserved), report.SizeCell(saves), report.CountCell(calls), last})
	}
	n := o.listed(len(e.Counterfactuals))
	if !o.Verbose && o.Format == "text" {
		n = min(n, shortChanges)
		if e.Check.Anew != nil {
			n = min(n, shortChanges-1)
		}
	}
	shown := toldCounterfactuals(e, n)
	rows := func(anew bool) {
		for _, c := range shown {
			if c.Anew == anew {
				row(c.Name, c.Reserved, c.Saves, c.DriverCalls, c.OOM)
			}
		}
	}
	lead := "the same requests replayed"
	if e.Check.RoomFrom != "" {
		lead += fmt.Sprintf(" with %s to take from the driver", e.Check.Room)
	}
	lead += "; reserved is the most at any moment"
	if a := e.Check.Anew; a != nil {
		lead += `; settings hold from the start, so what was in use before the recording began is asked for anew: "saves" is counted from the row "none" above it`
		row("none, all asked for anew", a.Reserved, 0, a.DriverCalls, a.OOM)
		rows(true)
	}
	row("none, as recorded", e.Check.Replayed.Reserved, 0, e.Check.DriverCalls, len(e.Failures) > 0)
	rows(false)
	t.More = len(e.Counterfactuals) - len(shown)
	return report.Section{Title: "What would have been", Lead: lead, Table: t}
}

// shortChanges is how many changes a short table has beside the row that they
// are compared with; more rows the renderer would leave out.
const shortChanges = 5

// toldCounterfactuals are the n that tell most, in their order: those that are
// offered as remedies, then those that help, then the rest.
func toldCounterfactuals(e *explain.Explanation, n int) []explain.Counterfactual {
	rank := func(c *explain.Counterfactual) int {
		switch helps := c.Saves > 0; {
		case e.Offers(c):
			return 0
		case len(e.Failures) > 0 && !c.OOM:
			return 1
		case helps:
			return 2
		}
		return 3
	}
	var out []explain.Counterfactual
	for r := range 4 {
		for i := range e.Counterfactuals {
			if c := &e.Counterfactuals[i]; rank(c) == r && len(out) < n {
				out = append(out, *c)
			}
		}
	}
	place := map[string]int{}
	for i, c := range e.Counterfactuals {
		place[c.Name] = i
	}
	slices.SortStableFunc(out, func(a, b explain.Counterfactual) int { return cmp.Compare(place[a.Name], place[b.Name]) })
	return out
}

func libraryTable(m *explain.Moment) report.Section {
	t := &report.Table{Columns: []report.Column{{Name: "held", Kind: report.Size}, {Name: "blocks", Kind: report.Count}, {Name: "by"}}}
	for _, l := range m.ByLibrary {
		t.Rows = append(t.Rows, []report.Cell{report.SizeCell(l.Bytes), report.CountCell(int64(l.Blocks)), report.TextCell(l.Library)})
	}
	return report.Section{Title: "By library", Table: t, Detail: true}
}

func failureTable(e *explain.Explanation) report.Section {
	t := &report.Table{Columns: []report.Column{
		{Name: "event", Kind: report.Count}, {Name: "asked for", Kind: report.Size}, {Name: "in use", Kind: report.Size}, {Name: "driver free", Kind: report.Size}, {Name: "cause"}, {Name: "from", Elide: report.CutMiddle},
	}}
	for i := range e.Failures {
		f := &e.Failures[i]
		t.Rows = append(t.Rows, []report.Cell{
			report.CountCell(int64(f.Event)), report.SizeCell(f.Rounded), report.SizeCell(f.Requested), report.SizeCell(f.DriverFree),
			report.TextCell(strings.ReplaceAll(f.Cause, "_", " ")), report.TextCell(f.Place.String()),
		})
	}
	return report.Section{Title: "Requests that failed", Table: t}
}

func devicesSection(list []*explain.Explanation) report.Section {
	t := &report.Table{Columns: []report.Column{
		{Name: "device", Kind: report.Count}, {Name: "events", Kind: report.Count}, {Name: "in use at most", Kind: report.Size},
		{Name: "reserved at most", Kind: report.Size}, {Name: "failed", Kind: report.Count}, {Name: "most from", Elide: report.CutMiddle},
	}}
	for _, e := range list {
		most := report.Cell{}
		if len(e.Moment.ByPlace) > 0 {
			most = report.TextCell(e.Moment.ByPlace[0].Place.String())
		}
		t.Rows = append(t.Rows, []report.Cell{
			report.CountCell(int64(e.Device)), report.CountCell(int64(e.Events)), report.SizeCell(e.Levels.Requested), report.SizeCell(reservedOf(e)),
			report.CountCell(int64(len(e.Failures))), most,
		})
	}
	return report.Section{Title: "Devices", Table: t}
}

// replaySection says whether the model of the allocator agrees with the
// recording.
func replaySection(e *explain.Explanation) report.Section {
	c := &e.Check
	s := report.Section{Title: "Check of the replay"}
	switch {
	case !c.Done:
		s.Lead = "not replayed, so nothing is told about other settings: " + c.Why
	case c.Exact:
		s.Lead = fmt.Sprintf("exact: %s allocations, %s segment events and the %s blocks at the end are equal, address by address",
			report.Grouped(int64(c.Allocs)), report.Grouped(int64(c.Segments)), report.Grouped(int64(c.Blocks)))
		if c.Replayed != c.Recorded {
			s.Lead += fmt.Sprintf("; with addresses of its own it comes to %s reserved, recorded were %s", c.Replayed.Reserved, c.Recorded.Reserved)
		}
	case c.Why != "":
		s.Lead = "nothing is told about other settings: " + c.Why
	default:
		s.Lead = fmt.Sprintf("%s differences, so nothing is told about other settings; the first: %s", report.Grouped(int64(c.Differences)), strings.Join(c.First, "; "))
	}
	return s
}

// adviceOf says how the next recording could tell more.
func adviceOf(e *explain.Explanation) []report.Warning {
	m := e.Moment
	switch {
	case e.Events == 0:
		return []report.Warning{{
			Code: "record-history", Message: "without events there is no peak, no growth and no cause to tell",
			Consequence: `call torch.cuda.memory._record_memory_history(stacks="python") before the model is made`,
		}}
	case m.Unseen*4 > m.Requested:
		return []report.Warning{{
			Code: "record-earlier", Message: fmt.Sprintf("%s of what is in use were there before the recording began and have no stack", m.Unseen),
			Consequence: "start recording before the model is made, or raise max_entries, to see who made it",
		}}
	case m.Nameless*2 > m.Requested:
		return []report.Warning{{
			Code: "record-stacks", Message: fmt.Sprintf("%s of what is in use have no stack", m.Nameless),
			Consequence: `record with context="all"; what autograd's own threads allocate needs stacks="all"`,
		}}
	}
	return nil
}
