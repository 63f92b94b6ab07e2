package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/internal/diagnose"
	"github.com/plimsoll-dev/plimsoll/internal/format/memstats"
	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A memoryDocument is one dump of PyTorch's counters in the JSON of plimsoll
// explain.
type memoryDocument struct {
	Source string           `json:"source"` // memory_stats or memory_summary
	Device int              `json:"device"` // -1 when the text does not say
	Unit   unit.Bytes       `json:"unit_bytes"`
	Values map[string]int64 `json:"values"`
}

// explainMemory explains the texts of torch.cuda.memory_stats and
// memory_summary. The last dump is the one that counts.
func explainMemory(path string) (*explanation, error) {
	f, _, err := input.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer f.Close()
	return explainCounters(f, path)
}

func explainCounters(src io.Reader, path string) (*explanation, error) {
	list, err := memstats.Read(src, path)
	if err != nil && (!errors.Is(err, input.ErrTruncated) || len(list) == 0) {
		return nil, WithHint(err, "explain reads what torch.cuda.memory_stats() and memory_summary() print")
	}
	doc := &explainDocument{Schema: "plimsoll.explain/1", Input: explainInput{path, "memory_stats"}, OOM: []oomDocument{}, Findings: []finding.Finding{}}
	var last *diagnose.Counters
	for _, s := range list {
		doc.MemoryStats = append(doc.MemoryStats, memoryDocument{string(s.Source), s.Device, s.Unit, s.Values})
		last = diagnose.OfStats(s)
	}
	doc.Findings = append(doc.Findings, last.Finding)
	e := &explanation{document: doc, report: memoryReport(path, list, last), gaps: err != nil}
	if err != nil {
		e.report.Warnings = append(e.report.Warnings, report.Warning{Code: "text-cut", Message: err.Error(), Consequence: "counters after that are not known"})
	}
	e.report.Data = doc
	return e, nil
}

// answers of findings about counters.
var counterAnswers = map[string]report.Verdict{
	"fragmentation": {Answer: report.No, Word: "out of GPU memory"}, "device_full": {Answer: report.No, Word: "out of GPU memory"},
	"memory_was_short": {Answer: report.Maybe, Word: "memory was short"},
}

func memoryReport(path string, list []*memstats.Stats, c *diagnose.Counters) *report.Report {
	v, told := counterAnswers[c.Finding.Cause]
	if !told {
		v = report.Verdict{Answer: report.OK, Word: "no shortage"}
	}
	v.Sentence = c.Finding.Verdict
	r := &report.Report{
		Command: "explain", Subject: path, Verdict: v, Remedies: findingRemedies(c.Finding),
		Provenance: []report.Fact{{Name: "read", Value: fmt.Sprintf("%s, %d of it", c.Stats.Source, len(list))}},
		Notes:      []string{"Counters tell how much there was, not who asked for it: a memory snapshot or the log of the crash tells that."},
	}
	if c.Stats.Device >= 0 {
		r.Provenance = append(r.Provenance, report.Fact{Name: "device", Value: fmt.Sprint(c.Stats.Device)})
	}
	if c.Parts != nil {
		r.Reason = "reserved now: " + c.Parts.Sum()
		bars := &report.Bars{Total: c.Parts.Total, Of: "what is reserved now"}
		for _, p := range c.Parts.Parts {
			bars.Bars = append(bars.Bars, report.Bar{Label: p.Name, Bytes: p.Bytes, Key: p.Key})
		}
		r.Sections = append(r.Sections, report.Section{Title: "Reserved now", Bars: bars})
	}
	facts := report.Section{Title: "Counters"}
	for _, e := range c.Finding.Evidence[min(len(c.Finding.Evidence), 1):] {
		value := e.Fact
		if e.Bytes != nil {
			value += ": " + unit.NewColumn(*e.Bytes).AtLeast(2).Format(*e.Bytes)
		}
		facts.Facts = append(facts.Facts, report.Fact{Name: "", Value: value})
	}
	if len(list) > 1 {
		facts.Lead = fmt.Sprintf("of the last of %d dumps", len(list))
	}
	r.Sections = append(r.Sections, facts, report.Section{Title: "All counters", Detail: true, Facts: counterFacts(c.Stats)})
	return r
}

func counterFacts(s *memstats.Stats) []report.Fact {
	var out []report.Fact
	for _, name := range sortedKeys(s.Values) {
		out = append(out, report.Fact{Name: name, Value: report.Grouped(s.Values[name])})
	}
	return out
}
