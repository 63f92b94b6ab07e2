package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/catalog"
	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// mostScript is the largest tape of a script that is read. One of a thousand
// layers is far below it.
const mostScript = 64 << 20

// ownToScripts are the flags about what a script decides by itself, with the word
// for it.
var ownToScripts = []struct{ flag, what string }{
	{"optimizer", "the optimizer"}, {"dtype", "the type of the weights"}, {"amp", "mixed precision"}, {"accumulate", "accumulation"},
	{"clip-grad-norm", "the clipping of gradients"}, {"checkpoint", "checkpointing"}, {"attention", "the attention"},
	{"channels-last", "the layout of images"}, {"unpadded", "the padding"}, {"lora", "the adapter"}, {"shard", "how cards share the work"},
	{"torch", "the version of PyTorch"}, {"mode", "what is done"}, {"task", "the head"}, {"assume", "the architecture"},
}

// source is what an estimate is about: a tape of a script, or a known model.
func (o estimateOptions) source(ctx context.Context, known modelFinder, r *recipe.Recipe, t *estimate.Target) (estimate.Source, error) {
	if !isSym(o.Model) {
		if len(o.Set) > 0 {
			return nil, WithHint(errors.New("--set is about what a script was captured at several values of"), "plimsoll estimate run.sym --set width=64")
		}
		return known.Find(ctx, catalog.Query{Name: o.Model, Assume: o.Assume, Offline: o.Offline, Task: r.Task, Torch: r.Torch})
	}
	for _, own := range ownToScripts {
		if o.isGiven(own.flag) {
			return nil, WithHint(fmt.Errorf("--%s: %s holds what the script did, and %s is the script's own", own.flag, o.Model, own.what), "change it in the script and capture again")
		}
	}
	if t != nil && t.Count > 1 {
		return nil, WithHint(fmt.Errorf("--gpu names %d cards, and %s is the tape of one", t.Count, o.Model), "name one card, as --gpu h100")
	}
	if !o.isGiven("batch") {
		r.Batch = 0 // the largest captured
	}
	values, err := parseSet(o.Set)
	if err != nil {
		return nil, err
	}
	data, err := input.ReadFile(o.Model, mostScript)
	if err != nil {
		return nil, fmt.Errorf("read the tape of a script: %w", err)
	}
	c, err := symbolic.ParseCollection(string(data))
	if err != nil {
		return nil, WithHint(fmt.Errorf("read %s: %w", o.Model, err), "plimsoll capture --symbolic makes such files")
	}
	return catalog.Script(o.Model, c, values)
}

// parseSet reads "width=64+depth=3".
func parseSet(texts []string) (map[string]int64, error) {
	values := map[string]int64{}
	for _, text := range texts {
		for one := range strings.SplitSeq(text, "+") {
			name, value, ok := strings.Cut(one, "=")
			n, err := strconv.ParseInt(value, 10, 64)
			if !ok || name == "" || err != nil || n < 1 || n > mostSet {
				return nil, WithHint(fmt.Errorf("--set %q is not NAME=NUMBER", one), "--set width=64, with a number from 1 to 1073741824")
			}
			if _, twice := values[name]; twice {
				return nil, fmt.Errorf("--set names %s twice", name)
			}
			values[name] = n
		}
	}
	return values, nil
}

// mostSet is the largest value of something that was varied.
const mostSet = 1 << 30

// scriptSubject is "run.sym: python train.py --batch-size 64".
func scriptSubject(e *estimate.Estimate) string {
	var pairs []string
	for _, v := range e.Script.Varied {
		pairs = append(pairs, "{"+v.Name+"}", strconv.FormatInt(v.Value, 10))
	}
	return e.Model.Name + ": " + strings.NewReplacer(pairs...).Replace(e.Script.Command)
}

// variedSection says what the tape knows of.
func variedSection(e *estimate.Estimate) []report.Section {
	if e.Script == nil {
		return nil
	}
	t := &report.Table{Columns: []report.Column{
		{Name: "varied"}, {Name: "in formulas", Spare: 1}, {Name: "here", Kind: report.Count}, {Name: "captured from", Kind: report.Count}, {Name: "to", Kind: report.Count},
	}}
	for _, v := range e.Script.Varied {
		t.Rows = append(t.Rows, []report.Cell{report.TextCell(v.Name), report.TextCell(v.Symbol), report.CountCell(v.Value), report.CountCell(v.Low), report.CountCell(v.High)})
	}
	return []report.Section{{Title: "What was varied", Lead: "all else is as the script has it", Table: t}}
}

// hasBatch reports whether the micro-batch may be chosen.
func hasBatch(e *estimate.Estimate) bool {
	return e.Script == nil || slices.ContainsFunc(e.Script.Varied, func(v estimate.Varied) bool { return v.Symbol == "B" })
}
