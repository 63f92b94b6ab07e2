package cli

import (
	"github.com/plimsoll-dev/plimsoll/internal/report"
)

// An explainSet is the document of several files.
type explainSet struct {
	Schema       string             `json:"schema"` // plimsoll.explanations/1
	Explanations []*explainDocument `json:"explanations"`
	Ranks        *ranksPart         `json:"ranks,omitempty"` // when they are recordings of one job
}

// togetherReport tells several files one by one, and first what they say
// together: ranks of one job mostly fail in one way, and one of them first.
func togetherReport(list []*explanation) *report.Report {
	set := explainSet{Schema: "plimsoll.explanations/1"}
	table := &report.Table{Columns: []report.Column{
		{Name: "file", Elide: report.CutStart}, {Name: "kind", Spare: 2}, {Name: "cause"}, {Name: "confidence", Spare: 1},
	}}
	lead := list[0]
	for _, e := range list {
		set.Explanations = append(set.Explanations, e.document)
		if e.report.Verdict.Answer > lead.report.Verdict.Answer {
			lead = e
		}
		cause, sure := report.Cell{}, report.Cell{}
		if f := e.document.Findings; len(f) > 0 {
			cause, sure = report.TextCell(f[0].Cause), report.TextCell(string(f[0].Confidence))
		}
		table.Rows = append(table.Rows, []report.Cell{report.TextCell(e.document.Input.File), report.TextCell(e.document.Input.Kind), cause, sure})
	}
	out := *lead.report
	out.Sections = []report.Section{{Title: "Files", Lead: "what stands above is about " + lead.document.Input.File, Table: table}}
	if spread := spreadOf(list); spread != nil {
		set.Ranks = ranksOf(spread)
		out.Sections = append(out.Sections, ranksSections(spread)...)
	}
	out.Data = set
	out.Sections = append(out.Sections, lead.report.Sections...)
	for _, e := range list {
		if e == lead {
			continue
		}
		v := e.report.Verdict
		s := report.Section{Title: e.document.Input.File, Lead: v.Word + ": " + v.Sentence}
		if e.report.Reason != "" {
			s.Facts = append(s.Facts, report.Fact{Name: "why", Value: e.report.Reason})
		}
		if len(e.report.Remedies) > 0 {
			s.Facts = append(s.Facts, report.Fact{Name: "try", Value: e.report.Remedies[0].Action})
		}
		out.Sections = append(out.Sections, s)
		out.Timelines = append(out.Timelines, e.report.Timelines...)
		out.Warnings = append(out.Warnings, e.report.Warnings...)
	}
	return &out
}
