package main

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// An outcome is what came of one script.
type outcome struct {
	answer  document
	failure string   // why there is no answer
	changed []string // files outside the capture's own folder that are not as they were
	seconds float64
	cpu     float64 // of all its processes
}

// document is what is read of a capture's answer.
type document struct {
	Verdict string `json:"verdict"`
	Peak    struct {
		Allocated unit.Bytes `json:"allocated_bytes"`
		Reserved  unit.Bytes `json:"reserved_bytes"`
		Device    unit.Bytes `json:"device_bytes"`
	} `json:"peak"`
	LowerBound bool `json:"lower_bound"`
	Steps      []struct {
		Step int `json:"step"`
	} `json:"steps"`
	Processes []struct {
		Rank int `json:"rank"`
	} `json:"processes"`
	Replay struct {
		Equal bool   `json:"equal"`
		Error string `json:"error"`
		Diffs []struct {
			What     string `json:"what"`
			PyTorch  int64  `json:"pytorch_bytes"`
			Replayed int64  `json:"replayed_bytes"`
		} `json:"differences"`
	} `json:"replay"`
	Writes []struct {
		Action string `json:"action"`
		What   string `json:"what"`
		Path   string `json:"path"`
		Count  int    `json:"count"`
	} `json:"writes"`
	Warnings []struct {
		Code string `json:"code"`
	} `json:"warnings"`
	End string `json:"end"`
}

// steps is how many different steps the answer has.
func (d document) steps() int {
	seen := map[int]bool{}
	for _, s := range d.Steps {
		seen[s.Step] = true
	}
	return len(seen)
}

// problems are the ways in which the outcome is not what was expected.
func (o outcome) problems(s script) []string {
	if o.failure != "" {
		return []string{o.failure}
	}
	var out []string
	if n := o.answer.steps(); n < s.least() {
		out = append(out, fmt.Sprintf("%d steps of %d, ended by %s", n, s.least(), o.answer.End))
	}
	if !o.answer.Replay.Equal {
		why := o.answer.Replay.Error
		for _, d := range o.answer.Replay.Diffs {
			why += fmt.Sprintf(" %s %d, PyTorch's %d;", d.What, d.Replayed, d.PyTorch)
		}
		out = append(out, "the replay differs from PyTorch's own peaks: "+why)
	}
	if len(o.changed) > 0 {
		out = append(out, fmt.Sprintf("%d files are not as before: %s", len(o.changed), strings.Join(o.changed[:min(4, len(o.changed))], ", ")))
	}
	return out
}

// good says that all is as expected, or fails as it is known to.
func (o outcome) good(s script) bool {
	return len(o.problems(s)) == 0 || s.limit != "" && strings.Contains(o.failure, s.fails)
}

const columns = "%-44s %-12s %9s %9s %9s %5s %6s %6s"

func heading() string {
	return fmt.Sprintf(columns, "script", "verdict", "allocated", "reserved", "device", "steps", "s", "cpu s")
}

// line is the script's row, and lines below it for what there is to say.
func (o outcome) line(s script) string {
	if o.failure != "" {
		row := fmt.Sprintf(columns, s.name, "FAILED", "", "", "", "", seconds(o.seconds), seconds(o.cpu))
		if o.good(s) {
			return row + "\n    known limit: " + s.limit
		}
		return row + "\n    " + o.failure
	}
	a := o.answer
	verdict := a.Verdict
	if a.LowerBound {
		verdict += " (>=)"
	}
	out := fmt.Sprintf(columns, s.name, verdict, a.Peak.Allocated, a.Peak.Reserved, a.Peak.Device, fmt.Sprint(a.steps()), seconds(o.seconds), seconds(o.cpu))
	if n := len(a.Processes); n > 1 {
		out += fmt.Sprintf("\n    %d processes", n)
	}
	var codes []string
	for _, w := range a.Warnings {
		codes = append(codes, w.Code)
	}
	if len(codes) > 0 {
		out += "\n    warnings: " + strings.Join(codes, ", ")
	}
	for _, w := range a.Writes {
		out += fmt.Sprintf("\n    %s: %s %s", w.Action, w.What, w.Path)
		if w.Count > 1 {
			out += fmt.Sprintf(" (%d times)", w.Count)
		}
	}
	for _, p := range o.problems(s) {
		out += "\n    PROBLEM: " + p
	}
	return out
}

func seconds(s float64) string { return fmt.Sprintf("%.1f", s) }
