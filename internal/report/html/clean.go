package html

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/report"
)

// clean returns a copy of r in which no string reverses, hides or breaks
// what stands beside it. Escaping for HTML is the template's.
func clean(r *report.Report) *report.Report {
	c := *r
	each(&c.Command, &c.Subject, &c.Reason, &c.Verdict.Word, &c.Verdict.Sentence, &c.Verdict.Method)
	c.Remedies = slices.Clone(r.Remedies)
	for i := range c.Remedies {
		each(&c.Remedies[i].Action, &c.Remedies[i].Cost)
	}
	c.Sections = slices.Clone(r.Sections)
	for i := range c.Sections {
		cleanSection(&c.Sections[i])
	}
	c.Warnings = slices.Clone(r.Warnings)
	for i := range c.Warnings {
		each(&c.Warnings[i].Code, &c.Warnings[i].Message, &c.Warnings[i].Consequence)
	}
	c.Notes = slices.Clone(r.Notes)
	for i := range c.Notes {
		each(&c.Notes[i])
	}
	c.Provenance = cleanFacts(r.Provenance)
	return &c
}

func each(texts ...*string) {
	for _, t := range texts {
		*t = report.Printable(*t)
	}
}

func cleanSection(s *report.Section) {
	each(&s.Title, &s.Lead)
	s.Facts = cleanFacts(s.Facts)
	s.Text = lines(s.Text)
	if s.Bars != nil {
		bars := *s.Bars
		each(&bars.Of)
		bars.Bars = slices.Clone(bars.Bars)
		for i := range bars.Bars {
			each(&bars.Bars[i].Label, &bars.Bars[i].Note, &bars.Bars[i].Key)
		}
		s.Bars = &bars
	}
	if s.Table != nil {
		s.Table = cleanTable(s.Table)
	}
	if s.Spark != nil {
		spark := *s.Spark
		each(&spark.Name, &spark.First, &spark.Last)
		s.Spark = &spark
	}
	if s.Chart != nil {
		s.Chart = cleanChart(s.Chart)
	}
}

func cleanChart(chart *report.Chart) *report.Chart {
	c := *chart
	each(&c.First, &c.Last)
	c.Lines, c.Bands = slices.Clone(c.Lines), slices.Clone(c.Bands)
	for i := range c.Lines {
		each(&c.Lines[i].Name)
	}
	for i := range c.Bands {
		each(&c.Bands[i].Name)
	}
	return &c
}

func cleanTable(t *report.Table) *report.Table {
	c := *t
	c.Columns = slices.Clone(t.Columns)
	for i := range c.Columns {
		each(&c.Columns[i].Name, &c.Columns[i].Of)
	}
	c.Rows = slices.Clone(t.Rows)
	for i := range c.Rows {
		c.Rows[i] = slices.Clone(c.Rows[i])
		for k := range c.Rows[i] {
			each(&c.Rows[i][k].Text)
		}
	}
	return &c
}

func cleanFacts(facts []report.Fact) []report.Fact {
	facts = slices.Clone(facts)
	for i := range facts {
		each(&facts[i].Name, &facts[i].Value)
	}
	return facts
}

// lines cleans text that has line breaks of its own.
func lines(s string) string {
	list := strings.Split(s, "\n")
	for i, l := range list {
		list[i] = report.Printable(strings.ReplaceAll(strings.TrimRight(l, "\r"), "\t", "    "))
	}
	return strings.Join(list, "\n")
}
