// Package corpus is the reports that every renderer is tested with: one for
// each kind of answer, and the ones that break careless renderers.
//
// It is for tests. The numbers are made up; what a real run says is tested
// where it is computed.
package corpus

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/report/strata"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// An Entry is a report with a name that serves as a file name.
type Entry struct {
	Name   string
	Report *report.Report
}

// All returns the corpus. The reports are new on every call.
func All() []Entry {
	return []Entry{
		{"fits", Fits()},
		{"does-not-fit", DoesNotFit()},
		{"oom", OOM()},
		{"lower-bound", LowerBound()},
		{"many-cards", ManyCards()},
		{"many-devices", ManyDevices()},
		{"huge", Huge()},
		{"hostile", Hostile()},
		{"empty", &report.Report{Command: "capture", Data: map[string]any{"schema": "plimsoll.capture/1"}}},
	}
}

// document is a small stand-in for a command's document.
func document(verdict string, need unit.Bytes) map[string]any {
	return map[string]any{
		"schema": "plimsoll.capture/1", "verdict": verdict, "peak": map[string]any{"device_bytes": need},
	}
}

const noGPU = "No GPU was used: sizes are exact, the numbers the script computed are not real."

func provenance() []report.Fact {
	return []report.Fact{
		{Name: "PyTorch", Value: "2.15.0"}, {Name: "CUDA", Value: "13.2"}, {Name: "Python", Value: "3.11.9"},
		{Name: "GPU", Value: "NVIDIA H100 80GB HBM3, 132 multiprocessors"}, {Name: "Plimsoll", Value: "0.1.0"},
	}
}

// trainingTimeline is the made-up run on a device of the given capacity.
func trainingTimeline(t *tape.Tape, name string, capacity unit.Bytes) report.Timeline {
	line := strata.Timeline(t, strata.Options{BlockSize: func(b tape.BlockID) unit.Bytes { return t.Block(b).Bytes }})
	line.Name, line.Context, line.Capacity = name, 520*unit.MiB, capacity
	return line
}

// peakBars are the categories at the highest sample of a timeline.
func peakBars(line report.Timeline) *report.Bars {
	at := peakOf(line)
	bars := &report.Bars{Of: "the device peak"}
	for _, l := range line.Views[0].Layers {
		bars.Bars = append(bars.Bars, report.Bar{Label: l.Name, Bytes: l.Bytes[at], Key: l.Key})
	}
	bars.Bars = append(bars.Bars,
		report.Bar{Label: "cached", Bytes: line.Reserved[at] - line.Allocated[at], Key: "cached", Note: "reserved, not allocated"},
		report.Bar{Label: "context", Bytes: line.Context, Key: "context", Note: "CUDA context, 480 to 560 MiB"})
	for _, b := range bars.Bars {
		bars.Total += b.Bytes
	}
	return bars
}

// lines is the table of source lines, the largest first.
func lines(line report.Timeline) *report.Table {
	t := &report.Table{Columns: []report.Column{
		{Name: "line", Elide: report.CutStart}, {Name: "function", Spare: 1},
		{Name: "live", Kind: report.Size}, {Name: "blocks", Kind: report.Count, Spare: 2}, {Name: "", Kind: report.Share, Of: "of peak"},
	}, More: 3}
	at := peakOf(line)
	layers := slices.Clone(line.Views[2].Layers)
	slices.SortStableFunc(layers, func(a, b report.Layer) int { return cmp.Compare(b.Bytes[at], a.Bytes[at]) })
	for i, l := range layers {
		if l.Bytes[at] == 0 {
			break
		}
		place, function, _ := strings.Cut(l.Name, " ")
		t.Rows = append(t.Rows, []report.Cell{
			report.TextCell(path.Join(path.Dir(l.Note), place)), report.TextCell(function), report.SizeCell(l.Bytes[at]),
			report.CountCell(int64(12 * (i + 1))), report.ShareCell(float64(l.Bytes[at]) / float64(line.Allocated[at])),
		})
	}
	return t
}

func peakOf(line report.Timeline) int {
	at := 0
	for i, a := range line.Allocated {
		if a > line.Allocated[at] {
			at = i
		}
	}
	return at
}

func steps(values ...unit.Bytes) *report.Spark {
	return &report.Spark{Name: "allocated peak", Values: values, First: "step 1", Last: "step 3"}
}
