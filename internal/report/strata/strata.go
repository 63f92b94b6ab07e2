// Package strata cuts a tape into the layers of a report's timeline.
//
// A chart of some thousand samples cannot show every event, so the samples
// are chosen where memory was highest and lowest: the peak of the chart is
// the peak of the tape. Of the many lines and modules the largest keep a
// layer of their own.
//
// It makes pictures, not answers: peaks that a verdict rests on come from the
// replay of the allocator.
package strata

import (
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Options say what to cut. The zero value cuts device 0 by category, module
// and line.
type Options struct {
	Device uint8
	// Samples bounds the number of samples, 0 for 1,500.
	Samples int
	// Layers bounds the layers of a view, 0 for 40.
	Layers int
	// BlockSize gives the size of a block in the allocator in bytes; nil
	// rounds the request up to 512, which leaves out what the allocator
	// does not split off.
	BlockSize func(tape.BlockID) unit.Bytes
	// Reserved is how the reserved bytes changed, in order of events; nil
	// takes the tape's own segment events.
	Reserved []Level
	// UserFrame picks the frame of a stack that the user wrote; nil takes
	// the innermost one outside of Python's and PyTorch's own files.
	UserFrame func([]tape.Frame) int
	// Module gives the path of a block's module, "" for none; nil takes the
	// module that the tape's marks say was running.
	Module func(tape.BlockID) string
}

// A Level is the bytes from an event on.
type Level struct {
	Event int
	Bytes unit.Bytes
}

// The bounds of the zero Options, and of the bands of one kind.
const (
	defaultSamples = 1500
	defaultLayers  = 40
	mostBands      = 2000
)

func (o Options) withDefaults() Options {
	if o.Samples <= 0 {
		o.Samples = defaultSamples
	}
	if o.Layers <= 0 {
		o.Layers = defaultLayers
	}
	if o.UserFrame == nil {
		o.UserFrame = userFrame
	}
	return o
}

// Timeline returns the memory of one device over the tape. Name, Context,
// Capacity and the texts of Marks are the caller's to fill in; the peak is
// marked. A device without events gives an empty timeline.
func Timeline(t *tape.Tape, o Options) report.Timeline {
	o = o.withDefaults()
	c := newCutter(t, o)
	samples := c.choose()
	if len(samples) == 0 {
		return report.Timeline{}
	}
	out := c.collect(samples)
	out.Bands = bands(t, o)
	peak := "peak allocated "
	if o.BlockSize == nil {
		peak = "peak of live blocks " // what is not split off is missing
	}
	out.Marks = []report.Mark{{Kind: report.PeakMark, Event: c.peak.event, Name: peak + c.peak.bytes.String()}}
	if c.oom >= 0 {
		out.Marks = append(out.Marks, report.Mark{Kind: report.OOMMark, Event: c.oom, Name: "out of memory"})
	}
	return out
}
