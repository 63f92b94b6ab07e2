package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/capture"
	"github.com/plimsoll-dev/plimsoll/internal/report"
)

// sweep answers --largest and --vary.
func (o captureOptions) sweep(ctx context.Context, stdio IO, run runCapture, base capture.Options, cards []capture.Card, line *statusLine) error {
	if len(cards) > 1 {
		return errors.New("--largest and --vary take one card")
	}
	base.Card = cards[0]
	base.Others = nil
	each := func(t capture.Trial) { line.prefix = valuesText(t.Values) + " " + outcome(t) + "; " }
	var r *report.Report
	var no bool
	if o.Largest != "" {
		found, err := capture.Largest(ctx, run, base, o.Largest, each)
		if err != nil {
			line.clear()
			return scriptError(stdio, err)
		}
		r, no = largestReport(found, base, o), found.Largest == 0
	} else {
		var variables []capture.Variable
		for _, v := range o.Vary {
			variable, err := capture.ParseVariable(v)
			if err != nil {
				return scriptError(stdio, err)
			}
			variables = append(variables, variable)
		}
		trials, err := capture.Vary(ctx, run, base, variables, each)
		if err != nil {
			line.clear()
			return scriptError(stdio, err)
		}
		r = varyReport(trials, variables, base)
		no = !slices.ContainsFunc(trials, capture.Trial.Fits)
	}
	line.clear()
	if err := o.render(stdio, r); err != nil {
		return err
	}
	if no {
		return ErrNo
	}
	return nil
}

// outcome is a trial in two or three words.
func outcome(t capture.Trial) string {
	if t.Err != nil {
		return "fails"
	}
	return capture.Words(t.Capture.Result.Verdict)
}

func valuesText(values map[string]string) string {
	var parts []string
	for name, value := range values {
		parts = append(parts, name+"="+value)
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// sweepDocument is the JSON of --largest and --vary.
type sweepDocument struct {
	Schema   string          `json:"schema"` // plimsoll.sweep/1
	Variable string          `json:"variable,omitempty"`
	Largest  *int            `json:"largest,omitempty"`
	Limit    string          `json:"limit,omitempty"`
	Trials   []trialDocument `json:"trials"`
}

type trialDocument struct {
	Values map[string]string `json:"values"`
	Result *capture.Result   `json:"result,omitempty"`
	Error  string            `json:"error,omitempty"`
}

func trialsDocument(trials []capture.Trial) []trialDocument {
	out := []trialDocument{}
	for _, t := range trials {
		d := trialDocument{Values: t.Values}
		if t.Err != nil {
			d.Error = t.Err.Error()
		} else {
			d.Result = t.Capture.Result
		}
		out = append(out, d)
	}
	return out
}

func largestReport(s *capture.Search, o capture.Options, shown captureOptions) *report.Report {
	r := &report.Report{
		Command: "capture", Subject: strings.Join(o.Argv, " "), Notes: []string{noGPU},
		Data: sweepDocument{Schema: "plimsoll.sweep/1", Variable: s.Variable, Largest: &s.Largest, Limit: s.Limit, Trials: trialsDocument(s.Trials)},
	}
	r.Verdict = report.Verdict{Answer: report.OK, Word: fmt.Sprintf("%s %d", s.Variable, s.Largest), Sentence: fmt.Sprintf("is the largest that fits %s", cardName(capture.GPU{Name: o.Card.Name, Count: o.Card.Count}))}
	if s.Largest == 0 {
		r.Verdict = report.Verdict{Answer: report.No, Word: "does not fit", Sentence: fmt.Sprintf("not even with %s 1 on %s", s.Variable, o.Card.Name)}
	}
	r.Reason = fmt.Sprintf("with %d: %s", s.Largest+1, shortPath(s.Limit))
	if strings.Contains(s.Limit, "does not act") {
		r.Reason = s.Limit
	}
	best := last(s.Trials)
	if best != nil {
		p := best.Result.Peak
		r.Verdict.Gauge = report.Gauge{Low: p.Low, Need: p.Device, High: p.High, Capacity: best.Result.GPU.Capacity}
		r.Verdict.Method = fmt.Sprintf("captured with PyTorch %s on a virtual GPU, %d runs", best.Result.RecordedWith.Torch, len(s.Trials))
		r.Warnings, r.Provenance = warningsOf(best.Result), provenanceOf(best.Result)
	}
	near := s.Trials
	if !shown.Verbose && shown.Format == "text" {
		near = nearEdge(s.Trials)
	}
	table := trialTable(near, []string{s.Variable})
	table.More = len(s.Trials) - len(near)
	r.Sections = []report.Section{{Title: "Runs", Table: table}}
	return r
}

// nearEdge is the three largest runs that fit and the three smallest that do
// not.
func nearEdge(trials []capture.Trial) []capture.Trial {
	first := slices.IndexFunc(trials, func(t capture.Trial) bool { return !t.Fits() })
	if first < 0 {
		first = len(trials)
	}
	return trials[max(0, first-3):min(len(trials), first+3)]
}

// last is the capture of the largest value that fits.
func last(trials []capture.Trial) *capture.Capture {
	for _, t := range slices.Backward(trials) {
		if t.Fits() {
			return t.Capture
		}
	}
	return nil
}

func varyReport(trials []capture.Trial, variables []capture.Variable, o capture.Options) *report.Report {
	fits := 0
	var names []string
	for _, v := range variables {
		names = append(names, v.Name)
	}
	for _, t := range trials {
		if t.Fits() {
			fits++
		}
	}
	r := &report.Report{
		Command: "capture", Subject: strings.Join(o.Argv, " "), Notes: []string{noGPU},
		Verdict:  report.Verdict{Answer: report.OK, Word: fmt.Sprintf("%d of %d fit", fits, len(trials)), Sentence: cardName(capture.GPU{Name: o.Card.Name, Count: o.Card.Count})},
		Sections: []report.Section{{Title: "Runs", Table: trialTable(trials, names)}},
		Data:     sweepDocument{Schema: "plimsoll.sweep/1", Trials: trialsDocument(trials)},
	}
	if fits == 0 {
		r.Verdict.Answer = report.No
	}
	if c := last(trials); c != nil {
		r.Warnings, r.Provenance = warningsOf(c.Result), provenanceOf(c.Result)
	}
	return r
}

func trialTable(trials []capture.Trial, names []string) *report.Table {
	t := &report.Table{}
	for _, name := range names {
		t.Columns = append(t.Columns, report.Column{Name: name})
	}
	t.Columns = append(t.Columns,
		report.Column{Name: "allocated", Kind: report.Size}, report.Column{Name: "reserved", Kind: report.Size, Spare: 1},
		report.Column{Name: "on the device", Kind: report.Size}, report.Column{Name: "verdict"}, report.Column{Name: "", Spare: 2})
	for _, trial := range trials {
		var row []report.Cell
		for _, name := range names {
			row = append(row, report.TextCell(trial.Values[name]))
		}
		if trial.Err != nil {
			cell := report.TextCell("fails")
			cell.Answer = report.No
			t.Rows = append(t.Rows, append(row, report.Cell{}, report.Cell{}, report.Cell{}, cell, report.TextCell(trial.Err.Error())))
			continue
		}
		res := trial.Capture.Result
		note := ""
		if res.OOM != nil && !res.OOM.Caught {
			note = "out of memory" + place(res.OOM.Phase, res.OOM.Step, "", "")
		}
		p := res.Peak
		t.Rows = append(t.Rows, append(row, report.SizeCell(p.Allocated), report.SizeCell(p.Reserved), report.SizeCell(p.Device), verdictCell(res.Verdict), report.TextCell(note)))
	}
	return t
}
