package cli

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/internal/diagnose"
	"github.com/plimsoll-dev/plimsoll/internal/format/oomlog"
	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// An oomDocument is one message of a log in the JSON of plimsoll explain.
type oomDocument struct {
	Framework  string             `json:"framework"`
	Version    string             `json:"version"` // range that prints such a message
	Kind       string             `json:"kind"`
	Device     bool               `json:"device_memory_oom"`
	Memory     string             `json:"memory"` // that ran out: device, host, none
	Fields     map[string]any     `json:"fields"`
	Derived    map[string]any     `json:"derived"`
	Cause      string             `json:"cause"`
	Confidence finding.Confidence `json:"confidence"`
	Rule       string             `json:"rule"`
	Line       int                `json:"line"`
	Count      int                `json:"count"`
	Ranks      []int              `json:"ranks"`
	Cut        bool               `json:"cut"`
	Message    string             `json:"message"`
}

func oomOf(d *diagnose.Diagnosis) oomDocument {
	m := d.Message
	doc := oomDocument{
		Framework: m.Framework, Version: m.Version, Kind: m.Kind.Name, Device: d.DeviceMemory(), Memory: d.Cause.Memory.String(),
		Fields: map[string]any{}, Derived: map[string]any{}, Cause: d.Cause.ID, Confidence: d.Confidence, Rule: d.Rule,
		Line: m.Line, Count: m.Count, Ranks: append([]int{}, m.Ranks...), Cut: m.Cut, Message: m.Text,
	}
	for name, v := range m.Fields {
		doc.Fields[name] = v
	}
	if len(m.Processes) > 0 {
		doc.Fields["processes"] = m.Processes
	}
	for name, v := range d.Derived {
		doc.Derived[name] = v
	}
	return doc
}

// standardInput is how a log on standard input is named.
const standardInput = "-"

// explainLog explains the messages of a log.
func explainLog(ctx context.Context, stdio IO, path string) (*explanation, error) {
	name := path
	src := stdio.In
	if path == standardInput {
		name = "standard input"
	} else {
		f, _, err := input.Open(path)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		defer f.Close()
		src = f
	}
	src, err := unzipped(src)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	src = oomlog.Decoded(src)
	log, err := oomlog.Scan(ctx, src, name)
	if err != nil && (ctx.Err() != nil || len(log.Messages) == 0) {
		return nil, err
	}
	if len(log.Messages) == 0 {
		if e, err := explainMemory(path); path != standardInput && err == nil {
			return e, nil // counters among other lines
		}
		quoted := ""
		if log.Quoted > 0 {
			quoted = fmt.Sprintf("; line %s has the words of one, in source code or advice", report.Grouped(int64(log.Quoted)))
		}
		return nil, WithHint(
			fmt.Errorf("%s: no message about exhausted memory in %s%s", name, logSize(log), quoted),
			"plimsoll explain takes logs with the error in them, memory snapshots of PyTorch and .tape files")
	}
	r := diagnose.Diagnose(log)
	doc := &explainDocument{Schema: "plimsoll.explain/1", Input: explainInput{path, "log"}, OOM: []oomDocument{}, Findings: []finding.Finding{}}
	for _, d := range r.Diagnoses {
		doc.OOM = append(doc.OOM, oomOf(d))
	}
	for _, g := range r.Groups {
		doc.Findings = append(doc.Findings, g.Finding)
	}
	e := &explanation{document: doc, report: logReport(name, log, r), gaps: err != nil || slices.ContainsFunc(log.Messages, func(m *oomlog.Message) bool { return m.Cut })}
	if err != nil {
		e.report.Warnings = append(e.report.Warnings, report.Warning{Code: "log-unreadable", Message: err.Error(), Consequence: "what stands after that is not explained"})
	}
	e.report.Data = doc
	return e, nil
}

// unzipped reads through gzip where the input is compressed by it.
func unzipped(r io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	if head, _ := b.Peek(2); string(head) == "\x1f\x8b" {
		return gzip.NewReader(b)
	}
	if f, ok := r.(*os.File); ok && b.Buffered() == 0 {
		return f, nil
	}
	return b, nil
}

func logSize(log *oomlog.Log) string {
	noun := "lines"
	if log.Lines == 1 {
		noun = "line"
	}
	return fmt.Sprintf("%s %s, %s", report.Grouped(int64(log.Lines)), noun, unit.Bytes(log.Bytes))
}

// logReport says what a log means.
func logReport(name string, log *oomlog.Log, r *diagnose.Result) *report.Report {
	lead := r.Groups[0]
	d := lead.Diagnoses[0]
	out := &report.Report{
		Command: "explain", Subject: name,
		Verdict:  logVerdict(d, lead.Finding),
		Reason:   logReason(d),
		Remedies: findingRemedies(lead.Finding),
		Provenance: []report.Fact{
			{Name: "read", Value: logSize(log)},
			{Name: "message", Value: fmt.Sprintf("%s, line %s, of %s", d.Message.Kind.Name, report.Grouped(int64(d.Message.Line)), madeBy(d.Message))},
			{Name: "rule", Value: d.Rule + ", confidence " + string(d.Confidence)},
		},
	}
	out.Sections = append(out.Sections, balanceSection(d)...)
	out.Sections = append(out.Sections, messageSections(r)...)
	out.Sections = append(out.Sections, detailSections(d, lead.Finding)...)
	if d.Message.Cut {
		out.Warnings = append(out.Warnings, report.Warning{Code: "message-cut", Message: "the message ends before such a message does", Consequence: "numbers that it would have are not known"})
	}
	if log.Dropped > 0 {
		out.Warnings = append(out.Warnings, report.Warning{Code: "too-many-messages", Message: report.Grouped(int64(log.Dropped)) + " further messages differ from these in their numbers", Consequence: "they are counted, and not explained one by one"})
	}
	return out
}

// madeBy is "pytorch 2.5-2.8".
func madeBy(m *oomlog.Message) string {
	if m.Version == "any" {
		return m.Framework
	}
	return m.Framework + " " + m.Version
}

// openings are how sentences begin that repeat what the verdict's word says.
var openings = []struct{ long, short string }{
	{"host memory, not the GPU: ", "host memory: "}, {"not GPU memory: ", ""}, {"not device memory: ", ""}, {"not memory: ", ""}, {"no memory is short: ", ""},
	{"out of GPU memory in disguise: ", "in disguise: "}, {"most likely out of GPU memory in disguise: ", "in disguise: "},
}

// deviceWords are verdicts about devices that are no GPUs, by kind.
var deviceWords = map[string]string{"jax_tpu_hbm": "out of TPU memory", "jax_tpu_alloc": "out of TPU memory", "torch_npu": "out of NPU memory"}

func logVerdict(d *diagnose.Diagnosis, f finding.Finding) report.Verdict {
	v := report.Verdict{Answer: report.No, Word: "out of GPU memory", Sentence: f.Verdict}
	switch {
	case deviceWords[d.Message.Kind.Name] != "":
		v.Word = deviceWords[d.Message.Kind.Name]
	case d.Cause.Memory == diagnose.Host:
		v.Word = "not GPU memory"
	case d.Cause.Memory == diagnose.Neither:
		v.Answer, v.Word = report.Maybe, "not GPU memory"
	case d.Confidence != finding.High && (d.Cause.ID == "ambiguous_library_alloc" || d.Cause.ID == "disguised_oom"):
		v.Answer, v.Word = report.Maybe, "perhaps out of GPU memory"
	}
	for _, o := range openings {
		if rest, ok := strings.CutPrefix(v.Sentence, o.long); ok {
			v.Sentence = o.short + rest
			break
		}
	}
	return v
}

// logReason is the evidence: the memory of the card as a sum, else what
// decided for the cause.
func logReason(d *diagnose.Diagnosis) string {
	if d.Balance == nil {
		return numbersOf(d.Message) + d.Why()
	}
	reason := d.Balance.Sum()
	if want, ok := d.Message.Get("requested_bytes"); ok {
		reason += "; asked for " + unit.NewColumn(want).AtLeast(2).Format(want)
	}
	return reason
}

// numbersOf are the numbers of a message that does not tell all of the card's
// memory.
func numbersOf(m *oomlog.Message) string {
	live, a := m.Get("allocated_bytes")
	total, b := m.Get("total_bytes")
	want, c := m.Get("requested_bytes")
	if !a || !b || !c {
		return ""
	}
	col := unit.NewColumn(total).AtLeast(2)
	return fmt.Sprintf("%s live tensors + %s asked for, of %s; ", col.Number(live), col.Number(want), col.Format(total))
}

func findingRemedies(f finding.Finding) []report.Remedy {
	var out []report.Remedy
	for _, r := range f.Remedies {
		m := report.Remedy{Action: r.Action, Exactness: report.Exactness(r.Exact)}
		if r.Flag != "" {
			m.Action += ": " + r.Flag
		}
		if r.Saves != nil && *r.Saves > 0 {
			m.Saves = *r.Saves
		}
		out = append(out, m)
	}
	return out
}

// balanceSection shows who holds the card.
func balanceSection(d *diagnose.Diagnosis) []report.Section {
	if d.Balance == nil {
		return nil
	}
	title := "Memory of the GPU"
	if n, there := d.Message.Fields["gpu_index"]; there {
		title = "Memory of GPU " + strconv.FormatInt(n, 10)
	}
	bars := &report.Bars{Total: d.Balance.Total, Of: "all of it"}
	for _, p := range d.Balance.Parts {
		bars.Bars = append(bars.Bars, report.Bar{Label: p.Name, Bytes: max(p.Bytes, 0), Key: p.Key})
	}
	return []report.Section{{Title: title, Bars: bars}}
}

// messageSections lists the messages when there are several.
func messageSections(r *diagnose.Result) []report.Section {
	if len(r.Groups) == 1 && r.Groups[0].Spread() == "" {
		return nil
	}
	table := &report.Table{Columns: []report.Column{
		{Name: "line", Kind: report.Count}, {Name: "cause"}, {Name: "asked", Kind: report.Size}, {Name: "times", Kind: report.Count, Spare: 1},
		{Name: "ranks", Spare: 2}, {Name: "message", Spare: 3},
	}}
	for _, d := range r.Diagnoses {
		m := d.Message
		asked, ranks := report.Cell{}, report.Cell{}
		if want, there := m.Get("requested_bytes"); there {
			asked = report.SizeCell(want)
		}
		if len(m.Ranks) > 0 {
			ranks = report.TextCell(joinInts(m.Ranks))
		}
		table.Rows = append(table.Rows, []report.Cell{
			report.CountCell(int64(m.Line)), report.TextCell(d.Cause.ID), asked, report.CountCell(int64(m.Count)), ranks, report.TextCell(m.Kind.Name),
		})
	}
	sections := []report.Section{{Title: "Messages", Lead: r.Groups[0].Spread(), Table: table}}
	for _, g := range r.Groups[1:] {
		s := report.Section{Title: "Also: " + g.Diagnoses[0].Cause.ID, Lead: g.Finding.Verdict}
		for _, remedy := range g.Finding.Remedies {
			s.Facts = append(s.Facts, report.Fact{Name: "try", Value: strings.TrimSuffix(remedy.Action+": "+remedy.Flag, ": ")})
		}
		sections = append(sections, s)
	}
	return sections
}

// detailSections are what only --verbose shows: numbers and the message.
func detailSections(d *diagnose.Diagnosis, f finding.Finding) []report.Section {
	numbers := report.Section{Title: "Numbers", Detail: true, Lead: "as the message has them, then what follows from them"}
	for _, name := range sortedKeys(d.Message.Fields) {
		numbers.Facts = append(numbers.Facts, report.Fact{Name: name, Value: strconv.FormatInt(d.Message.Fields[name], 10)})
	}
	for _, name := range sortedKeys(d.Derived) {
		value := fmt.Sprint(d.Derived[name])
		if b, ok := d.Derived[name].(unit.Bytes); ok {
			value = strconv.FormatInt(int64(b), 10)
		}
		numbers.Facts = append(numbers.Facts, report.Fact{Name: name, Value: value})
	}
	evidence := report.Section{Title: "Evidence", Detail: true}
	for _, e := range f.Evidence {
		value := e.Fact
		if e.Bytes != nil {
			value += ", " + unit.NewColumn(*e.Bytes).AtLeast(2).Format(*e.Bytes)
		}
		evidence.Facts = append(evidence.Facts, report.Fact{Name: e.Where, Value: value})
	}
	return []report.Section{numbers, evidence, {Title: "The message", Detail: true, Text: d.Message.Text}}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func joinInts(n []int) string {
	var out []string
	for _, v := range n {
		out = append(out, strconv.Itoa(v))
	}
	return strings.Join(out, " ")
}
