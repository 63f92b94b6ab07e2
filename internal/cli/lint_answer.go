package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/plimsoll-dev/plimsoll/internal/lint"
	"github.com/plimsoll-dev/plimsoll/internal/lint/workspace"
)

// A lintAnswer is what `plimsoll lint` found, for its four forms.
type lintAnswer struct {
	Files    int // that were read
	Findings []workspace.Finding
	Passed   []workspace.Problem // files that were passed over, or in part
	Fixed    []workspace.FixedFile
	Known    int // findings of the baseline, which are not shown
	fixes    bool
	unread   bool // nothing could be read
}

// answer collects what is shown.
func (l *linter) answer(ctx context.Context, w *workspace.Workspace, results []workspace.FileResult, fixed *workspace.FixResult) *lintAnswer {
	a := &lintAnswer{Findings: []workspace.Finding{}, Passed: []workspace.Problem{}, unread: true}
	a.Passed = append(a.Passed, w.Tree.Problems...)
	shown := l.filter()
	for _, r := range results {
		if r.Read {
			a.Files++
			a.unread = false
		}
		a.Passed = append(a.Passed, r.Problems...)
		for _, f := range r.Findings {
			if shown(f) {
				a.Findings = append(a.Findings, l.costs.price(ctx, f, r.Setup))
			}
		}
	}
	if fixed != nil {
		a.fixes, a.Fixed = true, fixed.Fixed
		a.Passed = append(a.Passed, fixed.Problems...)
	}
	return a
}

// count is how many findings have a severity.
func (a *lintAnswer) count(s lint.Severity) int {
	n := 0
	for _, f := range a.Findings {
		if f.Severity == s.String() {
			n++
		}
	}
	return n
}

// files is how many files have findings.
func (a *lintAnswer) files() int {
	files := map[string]bool{}
	for _, f := range a.Findings {
		files[f.File] = true
	}
	return len(files)
}

// say prints the answer and returns what the exit status says of it.
func (l *linter) say(a *lintAnswer) error {
	if a.unread && len(a.Passed) > 0 {
		first := a.Passed[0]
		err := fmt.Errorf("nothing could be read: %s", first)
		if more := len(a.Passed) - 1; more > 0 {
			err = fmt.Errorf("nothing could be read: %s, and %d more", first, more)
		}
		return err
	}
	if l.WriteBaseline != "" {
		return l.writeBaseline(a)
	}
	err := l.write(l.stdio, func(w io.Writer) error {
		switch l.Format {
		case "json":
			return writeLintJSON(w, a)
		case "sarif":
			return writeSARIF(w, a, l.all)
		case "github":
			return writeAnnotations(w, a)
		}
		return writeLintText(w, a, l.textStyle())
	})
	if err != nil {
		return err
	}
	return l.status(a)
}

// status is the exit status: a finding says more than a gap.
func (l *linter) status(a *lintAnswer) error {
	if !l.never {
		for s := l.failOn; s <= lint.Error; s++ {
			if a.count(s) > 0 {
				return ErrNo
			}
		}
	}
	if l.Strict && len(a.Passed) > 0 {
		return ErrGaps
	}
	return nil
}

func (l *linter) writeBaseline(a *lintAnswer) error {
	base, err := filepath.Abs(l.config.Dir())
	if err != nil {
		return err
	}
	if l.Baseline != "" {
		return errors.New("--write-baseline writes all findings; --baseline hides some of them")
	}
	if err := workspace.WriteBaseline(l.WriteBaseline, a.Findings, base); err != nil {
		return err
	}
	fmt.Fprintf(l.stdio.Err, "plimsoll: %s written to %s; plimsoll lint --baseline %s shows only new ones\n", plural(len(a.Findings), "finding"), l.WriteBaseline, l.WriteBaseline)
	return nil
}
