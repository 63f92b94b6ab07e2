package cli

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/capture"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/report/strata"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// shortRows is how many rows of a table the short answer has.
const shortRows = 8

// sectionsOf are the facts behind the verdict, in reading order.
func sectionsOf(c *capture.Capture, o captureOptions) []report.Section {
	res := c.Result
	var out []report.Section
	if res.OOM != nil {
		out = append(out, report.Section{Title: "PyTorch's own message", Text: res.OOM.Message, Detail: res.OOM.Caught})
	}
	switch {
	case c.Unlimited != nil:
		out = append(out, peakSections(c.Unlimited.Result, "What it would take, on a card without a limit", o)...)
		before := report.Section{Title: "At the largest moment before it ran out", Bars: bars(res.ByCategory, res.Peak), Detail: true}
		out = append(out, before)
	case res.OOM != nil && !res.OOM.Caught:
		out = append(out, peakSections(res, "At the largest moment before it ran out", o)...)
	default:
		out = append(out, peakSections(res, "At the peak", o)...)
	}
	out = append(out, processSection(res)...)
	out = append(out, cardSection(res, o)...)
	out = append(out, writeSection(res)...)
	unknown, known := byKnown(res.Operators)
	out = append(out, operatorSection("Operators that depend on values", unknown, false)...)
	out = append(out, operatorSection("Operators that depend on values, which were computed", known, true)...)
	out = append(out, operatorSection("Waits for the GPU", res.Syncs, true)...)
	out = append(out, phaseSection(res), allocatorSection(res))
	return append(append(out, estimateSection(res)...), informSection(res)...)
}

// peakSections are what was live at a peak, by category, line and module.
func peakSections(res *capture.Result, title string, o captureOptions) []report.Section {
	if res.Peak.Reserved == 0 {
		return nil
	}
	lead := devicesLead(res)
	out := []report.Section{{Title: title, Lead: lead, Bars: bars(res.ByCategory, res.Peak)}, siteSection(res, o), moduleSection(res, o)}
	return append(out, stepSection(res)...)
}

// devicesLead says which of several devices is meant.
func devicesLead(res *capture.Result) string {
	n := 0
	for _, p := range res.Processes {
		n += len(p.Devices)
	}
	if n < 2 {
		return ""
	}
	if len(res.Processes) > 1 {
		return fmt.Sprintf("of device %d in rank %d, the fullest", res.Peak.Index, res.Processes[res.Peak.Process].Rank)
	}
	return fmt.Sprintf("of device %d, the fullest", res.Peak.Index)
}

func rows(n int, o captureOptions) int {
	if o.Verbose || o.Format != "text" {
		return n
	}
	return min(n, shortRows)
}

func siteSection(res *capture.Result, o captureOptions) report.Section {
	t := &report.Table{Columns: []report.Column{
		{Name: "held", Kind: report.Size}, {Name: "blocks", Kind: report.Count, Spare: 2}, {Name: "mostly", Spare: 3},
		{Name: "line", Elide: report.CutStart}, {Name: "code", Spare: 1},
	}}
	n := rows(len(res.Sites), o)
	for _, s := range res.Sites[:n] {
		line := s.Function
		if s.File != "" {
			line = lineName(s.File, s.Line) + " " + s.Function
		}
		t.Rows = append(t.Rows, []report.Cell{
			report.SizeCell(s.Bytes), report.CountCell(int64(s.Blocks)), report.TextCell(categoryName(s.Category)), report.TextCell(line), report.TextCell(s.Code),
		})
	}
	t.More = len(res.Sites) - n
	return report.Section{Title: "Lines that hold it", Table: t}
}

func moduleSection(res *capture.Result, o captureOptions) report.Section {
	t := &report.Table{Columns: []report.Column{
		{Name: "held", Kind: report.Size}, {Name: "blocks", Kind: report.Count, Spare: 2}, {Name: "mostly", Spare: 3},
		{Name: "modules", Kind: report.Count, Spare: 1}, {Name: "module", Elide: report.CutStart},
	}}
	n := rows(len(res.Modules), o)
	for _, m := range res.Modules[:n] {
		t.Rows = append(t.Rows, []report.Cell{
			report.SizeCell(m.Bytes), report.CountCell(int64(m.Blocks)), report.TextCell(categoryName(m.Category)), report.CountCell(int64(m.Count)), report.TextCell(m.Name),
		})
	}
	t.More = len(res.Modules) - n
	return report.Section{Title: "Modules that hold it", Table: t}
}

// categoryName is a category's name for people.
func categoryName(c string) string {
	switch c {
	case "unknown":
		return "not named"
	case "optimizer":
		return "optimizer state"
	case "kv_cache":
		return "KV cache"
	case "master_weight":
		return "master weights"
	}
	return c
}

func stepSection(res *capture.Result) []report.Section {
	if len(res.Steps) == 0 {
		return nil
	}
	s := &report.Spark{Name: "allocated", First: fmt.Sprintf("step %d", res.Steps[0].Step), Last: fmt.Sprintf("step %d", res.Steps[len(res.Steps)-1].Step)}
	for _, step := range res.Steps {
		s.Values = append(s.Values, step.Allocated)
	}
	return []report.Section{{Title: "Peak of each step", Spark: s}}
}

func processSection(res *capture.Result) []report.Section {
	t := &report.Table{Columns: []report.Column{
		{Name: "rank", Kind: report.Count}, {Name: "device", Kind: report.Count}, {Name: "allocated", Kind: report.Size},
		{Name: "reserved", Kind: report.Size}, {Name: "on the device", Kind: report.Size}, {Name: "verdict"},
	}}
	for _, p := range res.Processes {
		for _, d := range p.Devices {
			t.Rows = append(t.Rows, []report.Cell{
				report.CountCell(int64(p.Rank)), report.CountCell(int64(d.Index)), report.SizeCell(d.Allocated), report.SizeCell(d.Reserved), report.SizeCell(d.Device), verdictCell(d.Verdict),
			})
		}
	}
	if len(t.Rows) < 2 {
		return nil
	}
	return []report.Section{{Title: "Devices", Table: t}}
}

var cardColumns = []report.Column{
	{Name: "card"}, {Name: "least needed", Kind: report.Size}, {Name: "offers", Kind: report.Size}, {Name: "verdict"}, {Name: "by", Spare: 1},
}

func cardRow(v capture.Verdict) []report.Cell {
	by := "the recording"
	if v.Method == "capture" {
		by = "running it"
	}
	return []report.Cell{report.TextCell(v.GPU), report.SizeCell(v.Needs), report.SizeCell(v.Capacity), verdictCell(v.Verdict), report.TextCell(by)}
}

func verdictCell(verdict string) report.Cell {
	c := report.TextCell(capture.Words(verdict))
	c.Answer = answerOf(verdict)
	return c
}

// cardSection compares cards when the user named none, or when the one named
// is too small.
func cardSection(res *capture.Result, o captureOptions) []report.Section {
	if len(res.Verdicts) < 2 {
		return nil
	}
	t := &report.Table{Columns: cardColumns}
	shown := res.Verdicts
	if !o.Verbose && o.Format == "text" && o.GPU != "" {
		shown = boundary(shown)
	}
	for _, v := range shown {
		t.Rows = append(t.Rows, cardRow(v))
	}
	return []report.Section{{
		Title:  cardsTitle,
		Lead:   "judged by the recording; what PyTorch allocates differs a little from card to card, --gpu runs the script as one of them",
		Table:  t,
		Detail: o.GPU != "" && res.Verdict == capture.Fits,
	}}
}

// boundary is the card that was run on, the two largest cards that are too
// small, and the three smallest that do, by size.
func boundary(verdicts []capture.Verdict) []capture.Verdict {
	others := slices.Clone(verdicts[1:])
	slices.SortStableFunc(others, func(a, b capture.Verdict) int { return cmp.Compare(a.Capacity, b.Capacity) })
	first := slices.IndexFunc(others, func(v capture.Verdict) bool { return v.Verdict == capture.Fits })
	if first < 0 {
		first = len(others)
	}
	return append(verdicts[:1:1], others[max(0, first-2):min(len(others), first+3)]...)
}

func writeSection(res *capture.Result) []report.Section {
	if len(res.Writes) == 0 {
		return nil
	}
	t := &report.Table{Columns: []report.Column{{Name: "what"}, {Name: "where", Elide: report.CutStart}, {Name: "times", Kind: report.Count}, {Name: "done with it", Spare: 1}}}
	n := min(len(res.Writes), 10)
	for _, w := range res.Writes[:n] {
		t.Rows = append(t.Rows, []report.Cell{report.TextCell(w.What), report.TextCell(shortPath(w.Path)), report.CountCell(int64(w.Count)), report.TextCell(w.Action)})
	}
	t.More = len(res.Writes) - n
	return []report.Section{{Title: "Kept from leaving the run", Lead: "--allow-writes lets it through", Table: t}}
}

func operatorSection(title string, ops []capture.Operator, detail bool) []report.Section {
	if len(ops) == 0 {
		return nil
	}
	t := &report.Table{Columns: []report.Column{{Name: "operator"}, {Name: "line", Elide: report.CutStart}, {Name: "times", Kind: report.Count}}}
	n := min(len(ops), 10)
	for _, op := range ops[:n] {
		t.Rows = append(t.Rows, []report.Cell{report.TextCell(op.Op), report.TextCell(lineName(op.File, op.Line)), report.CountCell(int64(op.Count))})
	}
	t.More = len(ops) - n
	return []report.Section{{Title: title, Table: t, Detail: detail}}
}

// estimateSection is the scratch memory that only the libraries know.
func estimateSection(res *capture.Result) []report.Section {
	if len(res.Estimates) == 0 {
		return nil
	}
	t := &report.Table{Columns: []report.Column{{Name: "call"}, {Name: "counted", Kind: report.Size}, {Name: "least", Kind: report.Size}, {Name: "most", Kind: report.Size}}}
	for _, e := range res.Estimates {
		t.Rows = append(t.Rows, []report.Cell{report.TextCell(strings.ReplaceAll(e.Name, "_", " ")), report.SizeCell(e.Counted), report.SizeCell(e.Low), report.SizeCell(e.High)})
	}
	return []report.Section{{Title: "Scratch memory of libraries", Lead: "of the largest call of each kind; --cudnn-workspace sets that of cuDNN's plans", Table: t, Detail: true}}
}

// informSection is what was done otherwise than on a real card.
func informSection(res *capture.Result) []report.Section {
	text := ""
	for _, w := range res.Warnings {
		if informs[w.Code] {
			text += w.Message + "\n"
		}
	}
	if text == "" {
		return nil
	}
	return []report.Section{{Title: "Done otherwise", Text: text, Detail: true}}
}

func phaseSection(res *capture.Result) report.Section {
	b := &report.Bars{Total: 0}
	for _, p := range res.Phases {
		b.Bars = append(b.Bars, report.Bar{Label: p.Phase, Bytes: p.Requested})
	}
	return report.Section{Title: "Most requested in each phase", Bars: b, Detail: true}
}

func allocatorSection(res *capture.Result) report.Section {
	p := res.Peak
	w := res.RecordedWith
	facts := []report.Fact{
		{Name: "requested", Value: p.Requested.String()}, {Name: "allocated", Value: p.Allocated.String()}, {Name: "reserved", Value: p.Reserved.String()},
		{Name: "on the device", Value: fmt.Sprintf("%s, from %s to %s", p.Device, p.Low, p.High)},
		{Name: "least that does", Value: fmt.Sprintf("%s; the allocator gives back its cache when memory is short", p.Needs)},
		{Name: "CUDA context", Value: fmt.Sprintf("%s; %s", w.Context, orGiven(w.ContextSource))},
	}
	return report.Section{Title: "Peaks", Facts: facts, Detail: true}
}

func orGiven(source string) string {
	if source == "" {
		return "as given"
	}
	return source
}

// timelines are drawn for formats that show them.
func timelines(c *capture.Capture, o captureOptions) []report.Timeline {
	const most = 8
	if o.Format != "html" {
		return nil
	}
	var out []report.Timeline
	for _, r := range c.Recordings[:min(len(c.Recordings), most)] {
		t := strata.Timeline(r.Tape, strata.Options{Device: uint8(r.Device), UserFrame: r.Frame})
		t.Name = fmt.Sprintf("cuda:%d, %s", r.Device, c.Result.GPU.Name)
		if len(c.Result.Processes) > 1 {
			t.Name = fmt.Sprintf("rank %d, %s", c.Result.Processes[r.Process].Rank, t.Name)
		}
		t.Context, t.Capacity = c.Result.RecordedWith.Context, c.Result.GPU.Capacity
		out = append(out, t)
	}
	return out
}

// workingDir is left out of the paths that people read.
func workingDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

// remediesFor is what one could do about a run that does not fit.
func remediesFor(c *capture.Capture) []report.Remedy {
	res := c.Result
	if res.Verdict == capture.Fits {
		return nil
	}
	var out []report.Remedy
	if need, ok := c.Expandable(); ok && need <= res.GPU.Capacity {
		out = append(out, report.Remedy{Action: "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", Need: need, Exactness: report.SameNumbers})
	}
	if argv, name, ok := capture.BatchPlaceholder(res.Command); ok {
		out = append(out, report.Remedy{Action: fmt.Sprintf("the largest that fits: plimsoll capture --gpu %q --largest %s -- %s", res.GPU.Name, name, argv)})
	}
	whole := res
	if c.Unlimited != nil {
		whole = c.Unlimited.Result
	}
	out = append(out, byLargest(whole.ByCategory)...)
	for _, v := range res.Verdicts[min(1, len(res.Verdicts)):] {
		if v.Verdict == capture.Fits {
			out = append(out, report.Remedy{Action: "a larger card, such as " + v.GPU, Need: v.Needs})
			break
		}
	}
	return out
}

// byLargest is what is usually done about the category that holds the most.
func byLargest(c capture.Categories) []report.Remedy {
	holds := func(what string, b unit.Bytes) string { return fmt.Sprintf("%s hold %s", what, b) }
	largest := max(c.Parameter, c.Gradient, c.Optimizer, c.Activation)
	switch {
	case largest <= 0:
		return nil
	case largest == c.Activation:
		return []report.Remedy{{Action: "activation checkpointing", Exactness: report.SameNumbers, Cost: "one more forward pass; " + holds("activations", largest)}}
	case largest == c.Optimizer:
		return []report.Remedy{{Action: "an optimizer with 8-bit state, or its state sharded over ranks", Exactness: report.ChangesResults, Cost: holds("its states", largest)}}
	case largest == c.Gradient:
		return []report.Remedy{{Action: "LoRA or another adapter, so that most parameters need no gradient", Exactness: report.ChangesResults, Cost: holds("gradients", largest)}}
	}
	return []report.Remedy{{Action: "weights in bfloat16, or sharded over ranks", Exactness: report.ChangesResults, Cost: holds("parameters", largest)}}
}
