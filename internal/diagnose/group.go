package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/internal/format/oomlog"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Group is diagnoses with the same cause, told once: ranks of one job, or
// one process that tries again.
type Group struct {
	Diagnoses []*Diagnosis // the one that is told first
	Finding   finding.Finding
}

func (r *Result) group() {
	place := map[string]int{}
	for _, d := range r.Diagnoses {
		key := d.Cause.ID + " " + d.Message.Kind.Name
		at, known := place[key]
		if !known {
			at = len(r.Groups)
			place[key] = at
			r.Groups = append(r.Groups, &Group{})
		}
		g := r.Groups[at]
		g.Diagnoses = append(g.Diagnoses, d)
	}
	for _, g := range r.Groups {
		g.Finding = g.Diagnoses[0].finding()
		if note := g.spread(); note != "" {
			g.Finding.Evidence = append(g.Finding.Evidence, finding.Evidence{Fact: note})
		}
	}
}

// finding is what a diagnosis says to programs and to people.
func (d *Diagnosis) finding() finding.Finding {
	s := d.why
	f := finding.Finding{Cause: d.Cause.ID, Verdict: d.by.verdict(s), Confidence: d.Confidence, Evidence: []finding.Evidence{}, Remedies: []finding.Remedy{}}
	f.Verdict += s.wentOn()
	where := fmt.Sprintf("line %d", d.Message.Line)
	if d.Balance != nil {
		f.Evidence = append(f.Evidence, finding.Evidence{Fact: d.Balance.Sum(), Bytes: &d.Balance.Total, Where: where})
		for _, p := range d.Balance.Parts {
			f.Evidence = append(f.Evidence, finding.Evidence{Fact: p.Name, Bytes: pointer(p.Bytes)})
		}
	}
	if s.request > 0 {
		f.Evidence = append(f.Evidence, finding.Evidence{Fact: "asked for" + s.segmentNote(), Bytes: &s.request, Where: where})
	}
	if d.by.facts != nil {
		f.Evidence = append(f.Evidence, d.by.facts(s)...)
	}
	f.Evidence = append(f.Evidence, finding.Evidence{Fact: "decided by: " + d.by.why, Where: where})
	if d.by.remedies != nil {
		f.Remedies = append(f.Remedies, d.by.remedies(s)...)
	}
	return f
}

// Sizes of the segments that PyTorch asks the driver for, which messages print
// instead of the tensor's size (CUDACachingAllocator.cpp, 1.5 to 2.15).
const (
	smallSegment = 2 * unit.MiB
	largeSegment = 20 * unit.MiB
)

func (s *situation) segmentNote() string {
	if s.total == 0 || !strings.HasPrefix(s.m.Kind.Name, "torch_") || s.m.Kind.Name == "torch_cached" {
		return ""
	}
	switch s.request {
	case smallSegment:
		return " (a segment for tensors of up to 1 MiB)"
	case largeSegment:
		return " (a segment for tensors of 1 to 10 MiB)"
	}
	return ""
}

// spread says in how many places and how often a group stands in the log.
func (g *Group) spread() string {
	var ranks []int
	copies := 0
	low, high := unit.Bytes(0), unit.Bytes(0)
	for _, d := range g.Diagnoses {
		copies += d.Message.Count
		for _, r := range d.Message.Ranks {
			if !slices.Contains(ranks, r) {
				ranks = append(ranks, r)
			}
		}
		if b := d.why.request; b > 0 {
			if low == 0 || b < low {
				low = b
			}
			high = max(high, b)
		}
	}
	if copies <= 1 && len(ranks) <= 1 {
		return ""
	}
	var parts []string
	if n := len(g.Diagnoses); n > 1 {
		parts = append(parts, fmt.Sprintf("%d different messages of this kind", n))
	}
	if copies > len(g.Diagnoses) {
		parts = append(parts, fmt.Sprintf("printed %d times", copies))
	}
	if len(ranks) > 1 {
		slices.Sort(ranks)
		parts = append(parts, "ranks "+spans(ranks))
	}
	if high > low {
		parts = append(parts, fmt.Sprintf("requests from %s to %s", fine(low), fine(high)))
	}
	return strings.Join(parts, ", ")
}

// spans writes rising numbers as "0-3, 7".
func spans(n []int) string {
	var out []string
	for i := 0; i < len(n); {
		j := i
		for j+1 < len(n) && n[j+1] == n[j]+1 {
			j++
		}
		if i == j {
			out = append(out, fmt.Sprint(n[i]))
		} else {
			out = append(out, fmt.Sprintf("%d-%d", n[i], n[j]))
		}
		i = j + 1
	}
	return strings.Join(out, ", ")
}

// Spread says how often the group stands in the log, "" for once.
func (g *Group) Spread() string { return g.spread() }

// First is the message that the group is told by.
func (g *Group) First() *oomlog.Message { return g.Diagnoses[0].Message }
