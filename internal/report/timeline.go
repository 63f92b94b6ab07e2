package report

import "github.com/plimsoll-dev/plimsoll/unit"

// A Timeline is one device's memory over its allocation events, sampled at
// some thousand moments. Whoever makes it keeps the moments of the maxima
// (internal/strata does), so the peak on the chart is the peak.
//
// Slices named after a sample have one entry for each of Events.
type Timeline struct {
	Name string // "cuda:0, NVIDIA H100 80GB HBM3"

	// Events are the samples' event indices on the tape, increasing.
	Events []int
	// Times are microseconds since the first event; nil when not recorded.
	Times []int64

	// Allocated and Reserved are bytes at each sample, as PyTorch counts
	// them: live blocks after rounding, and segments held from the driver.
	Allocated, Reserved []unit.Bytes
	// Views cut the allocated bytes in different ways: by category, by
	// module, by source line. Each view's layers add up to at most
	// Allocated; renderers show the difference as rounding.
	Views []View

	// Context is what the process holds outside the allocator, in bytes. It
	// lies under all layers, since capacity is compared with the sum.
	Context unit.Bytes
	// Capacity is what CUDA reports as the device's total; 0 shows no line.
	Capacity unit.Bytes

	// Bands are what happened when: steps, phases, modules.
	Bands []Band
	// Marks are single moments: the peak, an out-of-memory error.
	Marks []Mark
}

// A View is one way to cut the memory into layers.
type View struct {
	Name   string // "by category"
	Layers []Layer
}

// A Layer is the bytes of one part over the samples.
type Layer struct {
	// Name is what the layer holds: a category, a module's path, or
	// "train.py:41 forward".
	Name string
	// Note says more where the name is short: the line's text, the full
	// path of the file; it may be empty.
	Note string
	// Key is a stable colour name as in Bar; empty takes the name.
	Key string
	// Bytes has one entry for each sample.
	Bytes []unit.Bytes
}

// A BandKind orders the rows of bands under the chart.
type BandKind uint8

// The kinds of bands.
const (
	StepBand BandKind = iota
	PhaseBand
	ModuleBand
)

// String returns the kind in lower case.
func (k BandKind) String() string {
	return [...]string{"step", "phase", "module"}[min(k, ModuleBand)]
}

// A Band covers the events From <= e < To.
type Band struct {
	Kind     BandKind
	From, To int
	Name     string // "step 2", "backward"
}

// A MarkKind says what a mark is.
type MarkKind uint8

// The kinds of marks.
const (
	PeakMark MarkKind = iota
	OOMMark
	NoteMark
)

// String returns the kind in lower case.
func (k MarkKind) String() string {
	return [...]string{"peak", "oom", "note"}[min(k, NoteMark)]
}

// A Mark is one moment worth pointing at.
type Mark struct {
	Kind  MarkKind
	Event int
	Name  string // "peak allocated 41.3 GiB"
}
