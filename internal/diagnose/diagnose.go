// Package diagnose says what the messages in a log mean: the cause, the rule
// that decides for it, the numbers behind it and what to change.
//
// Causes and rules are tables; the first rule that holds decides, so that what
// excludes a cause stands before it. Sizes in messages are printed with two
// decimals: differences below a tie decide nothing.
//
// It reads no files and formats sentences, not pages.
package diagnose

import (
	"cmp"
	"slices"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/internal/format/oomlog"
)

// A Diagnosis is what one message means.
type Diagnosis struct {
	Message    *oomlog.Message
	Derived    Derived
	Cause      *Cause
	Rule       string // id of the rule that decided
	Confidence finding.Confidence
	// Balance are the parts that the memory of the card is made of, nil when
	// the message does not tell them.
	Balance *Balance

	why *situation
	by  *rule
}

// DeviceMemory reports whether the memory of a GPU ran out.
func (d *Diagnosis) DeviceMemory() bool { return d.Cause.Memory == Device }

// Why is what decided for the cause, in words.
func (d *Diagnosis) Why() string { return d.by.why }

// A Result is what a log means.
type Result struct {
	// Diagnoses are the messages, the one that explains the others first.
	Diagnoses []*Diagnosis
	// Groups are diagnoses of the same cause: ranks, retries.
	Groups []*Group
}

// Diagnose explains every message of a log.
func Diagnose(log *oomlog.Log) *Result {
	r := &Result{}
	for _, m := range log.Messages {
		r.Diagnoses = append(r.Diagnoses, diagnose(m, log))
	}
	slices.SortStableFunc(r.Diagnoses, func(a, b *Diagnosis) int { return cmp.Compare(a.class(), b.class()) })
	r.group()
	return r
}

func diagnose(m *oomlog.Message, log *oomlog.Log) *Diagnosis {
	s := newSituation(m, log)
	d := &Diagnosis{Message: m, Derived: s.derived, Balance: s.balance(), why: s}
	for i := range rules {
		if r := &rules[i]; r.decides(s) {
			d.Cause, d.Rule, d.Confidence, d.by = causes[r.cause], r.id, r.confidence, r
			if m.Cut && d.Confidence == finding.High {
				d.Confidence = finding.Medium
			}
			return d
		}
	}
	panic("diagnose: no rule for " + m.Kind.Name) // the last rule holds for all; found by any test
}

// consequences are kinds that follow from something else when there is
// anything else: a launcher ends the ranks that are left.
var consequences = []string{"torchrun_sigkill", "torchrun_sigbus", "worker_exited", "nccl_oom", "ggml_pinned", "tf_library_handle", "bad_alloc", "shell_killed"}

// class orders diagnoses by what explains what.
func (d *Diagnosis) class() int {
	switch {
	case d.Cause.Memory == Neither && d.Cause.ID != "disguised_not_oom":
		return 3 // no shortage at all
	case slices.Contains(consequences, d.Message.Kind.Name):
		return 2
	case d.Cause.ID == "ambiguous_library_alloc" || d.Cause.ID == "disguised_oom":
		return 1
	}
	return 0
}
