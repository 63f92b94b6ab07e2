package cli

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/explain"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A comparisonDocument is the JSON of plimsoll explain --compare.
type comparisonDocument struct {
	Schema     string               `json:"schema"` // plimsoll.comparison/1
	A          comparisonSide       `json:"a"`
	B          comparisonSide       `json:"b"`
	Sites      []comparisonSite     `json:"sites"` // the largest difference first
	Categories []comparisonCategory `json:"categories"`
}

// A comparisonSide is one of the two recordings.
type comparisonSide struct {
	File      string     `json:"file"`
	Device    int        `json:"device"`
	Explained string     `json:"explained"` // oom, peak or end
	Requested unit.Bytes `json:"requested_bytes"`
	Reserved  unit.Bytes `json:"reserved_peak_bytes"`
	Events    int        `json:"events"`
	Steps     int        `json:"steps"`
	Failures  int        `json:"failures"`
}

type comparisonSite struct {
	recordingPlace
	Was     string     `json:"was,omitempty"` // in A, where the line moved
	A       unit.Bytes `json:"a_bytes"`
	B       unit.Bytes `json:"b_bytes"`
	Change  unit.Bytes `json:"change_bytes"`
	ABlocks int        `json:"a_blocks"`
	BBlocks int        `json:"b_blocks"`
}

type comparisonCategory struct {
	Category string     `json:"category"`
	A        unit.Bytes `json:"a_bytes"`
	B        unit.Bytes `json:"b_bytes"`
}

// compareRecordings tells two recordings apart by call site.
func compareRecordings(ctx context.Context, _ IO, o explainOptions, a, b string) (any, *report.Report, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(collectAt))
	var sides []*explain.Explanation
	var warnings []report.Warning
	var ends []string
	for _, path := range []string{a, b} {
		f, err := readRecording(path)
		if err != nil {
			return nil, nil, err
		}
		for i := range f.inputs {
			f.inputs[i].Plain = true
		}
		list, err := f.explain(ctx)
		if err != nil {
			return nil, nil, err
		}
		sides = append(sides, leadOf(list))
		if f.gaps {
			ends = append(ends, path+": "+f.ends())
		}
		for _, w := range f.warnings {
			if !slices.Contains(warnings, w) {
				warnings = append(warnings, w)
			}
		}
	}
	c := explain.Compare(sides[0], sides[1])
	doc := &comparisonDocument{
		Schema: "plimsoll.comparison/1", A: sideOf(a, c.A), B: sideOf(b, c.B), Sites: []comparisonSite{}, Categories: []comparisonCategory{},
	}
	for _, d := range c.Places {
		site := comparisonSite{
			recordingPlace: placeOf(d.Place, ""), A: d.A, B: d.B, Change: d.Change(), ABlocks: d.ABlocks, BBlocks: d.BBlocks,
		}
		if d.Moved {
			site.Was = d.Was.String()
		}
		doc.Sites = append(doc.Sites, site)
	}
	for _, d := range c.Categories {
		doc.Categories = append(doc.Categories, comparisonCategory{d.Category.String(), d.A, d.B})
	}
	r := comparisonReport(c, a, b, warnings, o)
	if len(ends) > 0 {
		// What was not read looks like a difference.
		r.Verdict.Word = "not comparable"
		r.Verdict.Sentence = strings.Join(ends, "; ") + ", so what is missing there counts as a difference: " + r.Verdict.Sentence
		r.Reason = "as far as they could be read, " + r.Reason
	}
	return doc, r, nil
}

func sideOf(file string, e *explain.Explanation) comparisonSide {
	return comparisonSide{file, int(e.Device), e.Which, e.Moment.Requested, reservedOf(e), e.Events, e.Steps.Ended, len(e.Failures)}
}

// signed writes a change with its sign.
func signed(b unit.Bytes) string {
	if b < 0 {
		return "-" + (-b).String()
	}
	return "+" + b.String()
}

func comparisonReport(c *explain.Comparison, a, b string, warnings []report.Warning, o explainOptions) *report.Report {
	change := c.B.Moment.Requested - c.A.Moment.Requested
	r := &report.Report{Command: "explain", Subject: a + " and " + b, Warnings: warnings}
	r.Verdict = report.Verdict{Word: "differ by " + signed(change), Sentence: fmt.Sprintf("%s in use %s in the second, %s %s in the first", c.B.Moment.Requested, momentName(c.B), c.A.Moment.Requested, momentName(c.A))}
	if change == 0 {
		r.Verdict.Word = "equal in sum"
	}
	if len(c.Places) > 0 && c.Places[0].Change() != 0 {
		d := c.Places[0]
		r.Reason = fmt.Sprintf("the largest difference is %s at %s: %s in %d blocks, before %s in %d", signed(d.Change()), d.Place, d.B, d.BBlocks, d.A, d.ABlocks)
	} else {
		r.Reason = "every call site holds the same"
	}
	r.Sections = []report.Section{differenceTable(c.Places, o), categoryTable(c), sidesTable(c, a, b)}
	return r
}

func differenceTable(list []explain.Difference, o explainOptions) report.Section {
	t := &report.Table{Columns: []report.Column{
		{Name: "change", Kind: report.Size}, {Name: "first", Kind: report.Size}, {Name: "second", Kind: report.Size},
		{Name: "blocks", Kind: report.Count, Spare: 2}, {Name: "mostly", Spare: 3}, {Name: "from", Elide: report.CutMiddle},
	}}
	differ := 0
	for _, d := range list {
		if d.Change() != 0 {
			differ++
		}
	}
	n := o.listed(differ)
	for _, d := range list[:n] {
		from := d.Place.String()
		if d.Moved {
			from += fmt.Sprintf(" (was line %d)", d.Was.Line)
		}
		t.Rows = append(t.Rows, []report.Cell{
			report.SizeCell(d.Change()), report.SizeCell(d.A), report.SizeCell(d.B), report.CountCell(int64(d.BBlocks - d.ABlocks)),
			report.TextCell(categoryName(d.Category.String())), report.TextCell(from),
		})
	}
	t.More = differ - n
	return report.Section{Title: "Call sites that differ", Lead: fmt.Sprintf("%d of %d do", differ, len(list)), Table: t}
}

func categoryTable(c *explain.Comparison) report.Section {
	t := &report.Table{Columns: []report.Column{
		{Name: "kind"}, {Name: "first", Kind: report.Size}, {Name: "second", Kind: report.Size}, {Name: "change", Kind: report.Size},
	}}
	for _, d := range c.Categories {
		t.Rows = append(t.Rows, []report.Cell{
			report.TextCell(categoryName(d.Category.String())), report.SizeCell(d.A), report.SizeCell(d.B), report.SizeCell(d.B - d.A),
		})
	}
	return report.Section{Title: "By kind", Table: t}
}

func sidesTable(c *explain.Comparison, a, b string) report.Section {
	t := &report.Table{Columns: []report.Column{
		{Name: "file", Elide: report.CutStart}, {Name: "in use at most", Kind: report.Size}, {Name: "reserved at most", Kind: report.Size},
		{Name: "events", Kind: report.Count}, {Name: "steps", Kind: report.Count}, {Name: "failed", Kind: report.Count},
	}}
	for i, e := range []*explain.Explanation{c.A, c.B} {
		t.Rows = append(t.Rows, []report.Cell{
			report.TextCell([]string{a, b}[i]), report.SizeCell(e.Levels.Requested), report.SizeCell(reservedOf(e)),
			report.CountCell(int64(e.Events)), report.CountCell(int64(e.Steps.Ended)), report.CountCell(int64(len(e.Failures))),
		})
	}
	return report.Section{Title: "The recordings", Table: t}
}

// A ranksPart is what the recordings of one job say together.
type ranksPart struct {
	Fullest string           `json:"fullest"` // file
	Least   string           `json:"least"`
	Failed  []string         `json:"failed"` // files in which a request failed
	Sites   []comparisonSite `json:"sites"`  // from the emptiest (a) to the fullest (b)
}

// spreadOf takes explanations for ranks of one job if they are; nil if not.
func spreadOf(list []*explanation) *explain.Spread {
	var ranks []explain.Rank
	for _, e := range list {
		part, ok := e.document.Recording.(*recordingPart)
		if !ok || part.lead == nil {
			return nil
		}
		ranks = append(ranks, explain.Rank{Name: e.document.Input.File, Explanation: part.lead})
	}
	s, ok := explain.Spreads(ranks)
	if !ok {
		return nil
	}
	return s
}

func ranksOf(s *explain.Spread) *ranksPart {
	out := &ranksPart{Fullest: s.Ranks[s.Fullest].Name, Least: s.Ranks[s.Least].Name, Failed: []string{}, Sites: []comparisonSite{}}
	for _, i := range s.Failed {
		out.Failed = append(out.Failed, s.Ranks[i].Name)
	}
	for _, d := range s.Sites {
		if d.Change() != 0 {
			out.Sites = append(out.Sites, comparisonSite{
				recordingPlace: placeOf(d.Place, ""), A: d.A, B: d.B, Change: d.Change(), ABlocks: d.ABlocks, BBlocks: d.BBlocks,
			})
		}
	}
	return out
}

// ranksSections tell how the ranks of one job differ.
func ranksSections(s *explain.Spread) []report.Section {
	t := &report.Table{Columns: []report.Column{
		{Name: "file", Elide: report.CutStart}, {Name: "in use at most", Kind: report.Size}, {Name: "reserved at most", Kind: report.Size},
		{Name: "steps", Kind: report.Count, Spare: 1}, {Name: "failed", Kind: report.Count},
	}}
	for _, r := range s.Ranks {
		t.Rows = append(t.Rows, []report.Cell{
			report.TextCell(r.Name), report.SizeCell(r.Levels.Requested), report.SizeCell(reservedOf(r.Explanation)),
			report.CountCell(int64(r.Steps.Ended)), report.CountCell(int64(len(r.Failures))),
		})
	}
	lead := "their call sites say that they are of one job; all take about the same"
	if !s.Same() {
		lead = fmt.Sprintf("their call sites say that they are of one job; the fullest takes %s more than the emptiest",
			s.Ranks[s.Fullest].Levels.Requested-s.Ranks[s.Least].Levels.Requested)
	}
	out := []report.Section{{Title: "Ranks", Lead: lead, Table: t}}
	if !s.Same() {
		d := differenceTable(s.Sites, explainOptions{Output: Output{Format: "text"}})
		d.Title, d.Lead = "What the fullest holds beside the emptiest", "first is the emptiest, second the fullest, each at the moment that is explained"
		out = append(out, d)
	}
	return out
}
