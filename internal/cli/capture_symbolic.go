package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/capture"
	"github.com/plimsoll-dev/plimsoll/internal/capture/formula"
	"github.com/plimsoll-dev/plimsoll/internal/report"
)

// isSym reports whether a file name asks for a symbolic tape.
func isSym(name string) bool { return strings.HasSuffix(name, ".sym") }

// checkSymbolic is what --symbolic needs and what it does not go with.
func (o captureOptions) checkSymbolic() error {
	switch {
	case !o.Symbolic && isSym(o.File):
		return WithHint(fmt.Errorf("-o %s asks for a symbolic tape", o.File), "add --symbolic and --vary batch=4,8,12")
	case !o.Symbolic:
		return nil
	case !isSym(o.File):
		return WithHint(errors.New("--symbolic writes a tape and needs a name for it"), "-o run.sym")
	case o.Largest != "":
		return errors.New("--symbolic and --largest cannot be given together")
	case o.Snapshot != "":
		return errors.New("--snapshot keeps one run and cannot be given with --symbolic")
	}
	return nil
}

// symbolic captures at several values and writes the tape that is solved from
// them.
func (o captureOptions) symbolic(ctx context.Context, stdio IO, run runCapture, base capture.Options, cards []capture.Card, line *statusLine) error {
	if len(cards) > 1 {
		return errors.New("--symbolic takes one card")
	}
	variables, err := formula.ParseVariables(o.Vary)
	if err != nil {
		return scriptError(stdio, err)
	}
	if info, err := os.Stat(filepath.Dir(o.File)); err != nil || !info.IsDir() {
		return fmt.Errorf("-o %s: there is no folder %s", o.File, filepath.Dir(o.File)) // before the script runs
	}
	base.Card = cards[0]
	runs := 0
	solved, err := formula.Solve(ctx, run, base, variables, func(t capture.Trial) {
		runs++
		line.prefix = fmt.Sprintf("%d runs, last %s; ", runs, valuesText(t.Values))
	})
	line.clear()
	if err != nil {
		return scriptError(stdio, err)
	}
	err = writeFile(o.File, func(w io.Writer) error {
		_, err := solved.Collection().WriteTo(w)
		return err
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", o.File, err)
	}
	r := symbolicReport(solved, base, o)
	if err := o.render(stdio, r); err != nil {
		return err
	}
	if o.Strict && !solved.Exact() {
		return ErrGaps
	}
	return nil
}

// symbolicDocument is the JSON of --symbolic.
type symbolicDocument struct {
	Schema       string            `json:"schema"` // plimsoll.symbolic/1
	File         string            `json:"file"`
	Command      []string          `json:"command"`
	GPU          string            `json:"gpu"` // that it was captured on
	Varied       []variedDocument  `json:"varied"`
	Events       int               `json:"events"` // on the tape
	Exact        bool              `json:"exact"`  // all checks equal, all sizes solved
	Checks       []checkDocument   `json:"checks"`
	Unsolved     []string          `json:"unsolved"`
	RecordedWith recordedDocument  `json:"recorded_with"`
	Warnings     []capture.Warning `json:"warnings"`
}

type recordedDocument struct {
	Torch string `json:"torch"`
}

type variedDocument struct {
	Name   string  `json:"name"`
	Symbol string  `json:"symbol"`
	Values []int64 `json:"values"` // solved from
}

type checkDocument struct {
	Values    map[string]int64 `json:"values"`
	Events    int              `json:"events"`
	Equal     int              `json:"equal"`
	Allocated float64          `json:"allocated_off"` // as a share of the recorded peak
	Reserved  float64          `json:"reserved_off"`
}

func symbolicData(s *formula.Solved, base capture.Options, o captureOptions) symbolicDocument {
	d := symbolicDocument{
		Schema: "plimsoll.symbolic/1", File: o.File, Command: base.Argv, GPU: base.Card.Name, Varied: []variedDocument{},
		Events: s.Events(), Exact: s.Exact(), Checks: []checkDocument{}, Unsolved: append([]string{}, s.Doubts...),
		RecordedWith: recordedDocument{s.Torch}, Warnings: append([]capture.Warning{}, s.Notes...),
	}
	for _, v := range s.Variables {
		d.Varied = append(d.Varied, variedDocument{v.Name, v.Symbol, v.Values})
	}
	for _, c := range s.Checks {
		values := map[string]int64{}
		for _, v := range s.Variables {
			values[v.Name] = c.Dims[v.Symbol]
		}
		d.Checks = append(d.Checks, checkDocument{values, c.Events, c.Equal, c.Allocated, c.Reserved})
	}
	return d
}

// symbolicReport says how well the tape holds.
func symbolicReport(s *formula.Solved, base capture.Options, o captureOptions) *report.Report {
	r := &report.Report{
		Command: "capture", Subject: strings.Join(base.Argv, " "), Notes: []string{noGPU}, Data: symbolicData(s, base, o),
		Verdict: report.Verdict{
			Answer: report.OK, Word: "solved", Sentence: fmt.Sprintf("%s has %s events with sizes as formulas of %s", o.File, report.Grouped(int64(s.Events())), variedText(s)),
			Method: fmt.Sprintf("captured with PyTorch %s on a virtual GPU, %d runs", s.Torch, len(s.Runs)),
		},
		Sections: []report.Section{tapeChecks(s), tapeDoubts(s), tapeRuns(s)},
		Provenance: []report.Fact{
			{Name: "PyTorch", Value: s.Torch}, {Name: "card", Value: base.Card.Name},
			{Name: "ask it", Value: askExample(s, o.File)},
		},
	}
	if !s.Right() {
		r.Verdict.Answer, r.Verdict.Word = report.Maybe, "solved roughly"
	}
	for _, n := range s.Notes {
		r.Warnings = append(r.Warnings, report.Warning{Code: n.Code, Message: n.Message})
	}
	r.Sections = slices.DeleteFunc(r.Sections, func(s report.Section) bool { return s.Table == nil && s.Text == "" })
	return r
}

// variedText is "batch (B) and seq (S)".
func variedText(s *formula.Solved) string {
	var words []string
	for _, v := range s.Variables {
		word := v.Name
		if v.Symbol != v.Name {
			word += " (" + v.Symbol + ")"
		}
		words = append(words, word)
	}
	return strings.Join(words, " and ")
}

// askExample is a question that the tape answers.
func askExample(s *formula.Solved, file string) string {
	words := []string{"plimsoll estimate", file}
	for _, v := range s.Variables {
		value := strconv.FormatInt(v.Values[len(v.Values)-1], 10)
		if flag, ok := symbolFlags[v.Symbol]; ok {
			words = append(words, "--"+flag, value)
		} else {
			words = append(words, "--set", v.Name+"="+value)
		}
	}
	return strings.Join(append(words, "--gpu h100"), " ")
}

// symbolFlags are the flags of estimate that give a symbol its value; --set gives
// it to all others.
var symbolFlags = map[string]string{"B": "batch", "S": "seq", "size": "image"}

func valueColumns(s *formula.Solved) []report.Column {
	var columns []report.Column
	for _, v := range s.Variables {
		columns = append(columns, report.Column{Name: v.Name, Kind: report.Count})
	}
	return columns
}

func tapeChecks(s *formula.Solved) report.Section {
	t := &report.Table{Columns: append(valueColumns(s),
		report.Column{Name: "events", Kind: report.Count}, report.Column{Name: "equal", Kind: report.Count},
		report.Column{Name: "allocated peak"}, report.Column{Name: "reserved peak"})}
	for _, c := range s.Checks {
		var row []report.Cell
		for _, v := range s.Variables {
			row = append(row, report.CountCell(c.Dims[v.Symbol]))
		}
		t.Rows = append(t.Rows, append(row, report.CountCell(int64(c.Events)), report.CountCell(int64(c.Equal)), offCell(c.Allocated), offCell(c.Reserved)))
	}
	return report.Section{Title: "Checked", Lead: "at values that it was not solved from", Table: t}
}

// offCell is what a peak is off by.
func offCell(share float64) report.Cell {
	if share == 0 {
		return report.TextCell("equal to the byte")
	}
	return report.TextCell(fmt.Sprintf("%+.3f %%", 100*share))
}

func tapeDoubts(s *formula.Solved) report.Section {
	text := s.Doubts
	more := ""
	if len(text) > 12 {
		more = fmt.Sprintf("\nand %d more", len(text)-12)
		text = text[:12]
	}
	return report.Section{Title: "Not solved", Lead: "approximate in the tape, and counted into the interval of an estimate", Text: strings.Join(text, "\n") + more}
}

func tapeRuns(s *formula.Solved) report.Section {
	t := &report.Table{Columns: append(valueColumns(s), report.Column{Name: "allocated", Kind: report.Size}, report.Column{Name: "reserved", Kind: report.Size})}
	for _, trial := range s.Runs {
		var row []report.Cell
		for _, v := range s.Variables {
			n, _ := strconv.ParseInt(trial.Values[v.Name], 10, 64)
			row = append(row, report.CountCell(n))
		}
		p := trial.Capture.Result.Peak
		t.Rows = append(t.Rows, append(row, report.SizeCell(p.Allocated), report.SizeCell(p.Reserved)))
	}
	return report.Section{Title: "Runs", Table: t, Detail: true}
}
