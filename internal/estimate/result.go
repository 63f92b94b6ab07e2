package estimate

import (
	"cmp"

	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Schema names the document that an Estimate is in JSON.
const Schema = "plimsoll.estimate/1"

// A Verdict says whether a run fits a card.
type Verdict string

// The verdicts, from best to worst.
const (
	Fits       Verdict = "fits"
	MayNotFit  Verdict = "may-not-fit" // the capacity lies inside the interval
	DoesNotFit Verdict = "does-not-fit"
)

// An Estimate is the answer about one model, one recipe and one kind of card.
// Fields that end in _bytes are bytes of one card.
type Estimate struct {
	Schema       string            `json:"schema"`
	Method       string            `json:"method"` // "config": from a configuration and recorded tapes; "capture": from captures of a script
	Model        Model             `json:"model"`
	Mode         recipe.Mode       `json:"mode"`
	Task         recipe.Task       `json:"task"`
	Recipe       recipe.Recipe     `json:"recipe"`
	GPU          GPU               `json:"gpu"`
	Peak         Peak              `json:"peak"`
	ByCategory   Categories        `json:"by_category"`
	Steps        []Step            `json:"steps"`
	Steady       Steady            `json:"steady"`
	Formula      map[string]string `json:"formula"` // by category, and "peak"
	Symbols      []Symbol          `json:"symbols"`
	Verdict      Verdict           `json:"verdict"`
	MaxBatch     int64             `json:"max_micro_batch"`                    // largest micro-batch that fits, 0 when none does
	MoreBatch    bool              `json:"max_micro_batch_at_least,omitempty"` // the search ended before it met one that does not fit
	Layers       []Layer           `json:"layers"`
	RecordedWith RecordedWith      `json:"recorded_with"`
	Exact        bool              `json:"exact"` // every size is as recorded, none is approximate
	Findings     []Finding         `json:"findings"`
	Cards        []CardVerdict     `json:"cards"` // where no card was named: the smallest that do
	Warnings     []Warning         `json:"warnings"`
	Script       *Script           `json:"script,omitempty"` // whose captures the answer is from

	Events    int        `json:"-"` // on the tape
	Beside    unit.Bytes `json:"-"` // what the context and libraries take beside PyTorch's allocator
	Libraries unit.Bytes `json:"-"` // of that, the libraries
	Tape      *tape.Tape `json:"-"` // what was played, where it was asked for
	// Reserved is how the reserved bytes rise and fall; empty unless asked for.
	Reserved []Level `json:"-"`
	// ContextSource says where the context's size comes from.
	ContextSource string `json:"-"`
}

// A GPU is the card that the answer is about.
type GPU struct {
	Name     string     `json:"name"`
	Count    int        `json:"count"`
	Capacity unit.Bytes `json:"capacity_bytes"`
	Note     string     `json:"note,omitempty"` // which variant a family name took, or why this card
}

// A Peak is the largest moment of the run.
type Peak struct {
	Requested unit.Bytes `json:"requested_bytes"` // what operators asked for, of what lived at the moment
	Allocated unit.Bytes `json:"allocated_bytes"`
	Reserved  unit.Bytes `json:"reserved_bytes"`
	Device    unit.Bytes `json:"device_bytes"` // reserved, context and libraries
	Phase     string     `json:"phase"`
	Step      int        `json:"step"` // from 1; 0 while the model is built
	Site      string     `json:"site"` // the module and the operator that made the peak
	Event     int        `json:"event"`
	Low       unit.Bytes `json:"low_bytes"`
	High      unit.Bytes `json:"high_bytes"`
	// Needs is the smallest capacity that does, beside a usual context: what
	// is only cached is given back when memory is short. It is looked for
	// where the run does not surely fit without giving back, and else 0.
	Needs unit.Bytes `json:"needs_bytes,omitempty"`
}

// Categories is what the device held at the peak; its fields sum to
// Peak.Device exactly.
type Categories struct {
	Parameter     unit.Bytes `json:"parameter_bytes"`
	Gradient      unit.Bytes `json:"gradient_bytes"`
	Optimizer     unit.Bytes `json:"optimizer_bytes"`
	Activation    unit.Bytes `json:"activation_bytes"`
	Input         unit.Bytes `json:"input_bytes"`
	Buffer        unit.Bytes `json:"buffer_bytes"`
	Temporary     unit.Bytes `json:"temporary_bytes"`
	Workspace     unit.Bytes `json:"workspace_bytes"`
	Communication unit.Bytes `json:"communication_bytes"` // with NCCL's own buffers
	KVCache       unit.Bytes `json:"kv_cache_bytes"`
	MasterWeight  unit.Bytes `json:"master_weight_bytes"`
	Unknown       unit.Bytes `json:"unknown_bytes"`
	Rounding      unit.Bytes `json:"rounding_bytes"` // allocated - requested
	Cached        unit.Bytes `json:"cached_bytes"`   // reserved - allocated
	Context       unit.Bytes `json:"context_bytes"`
}

// Sum is the device's bytes.
func (c Categories) Sum() unit.Bytes {
	return c.Parameter + c.Gradient + c.Optimizer + c.Activation + c.Input + c.Buffer + c.Temporary + c.Workspace +
		c.Communication + c.KVCache + c.MasterWeight + c.Unknown + c.Rounding + c.Cached + c.Context
}

// A Step is the peak of one optimizer step or pass.
type Step struct {
	Step      int        `json:"step"`
	Allocated unit.Bytes `json:"allocated_bytes"`
	Reserved  unit.Bytes `json:"reserved_bytes"`
}

// A Level is the bytes from an event on.
type Level struct {
	Event int
	Bytes unit.Bytes
}

// Steady is what stays between steps.
type Steady struct {
	Allocated unit.Bytes `json:"allocated_bytes"`
}

// A Layer is one layer of the model.
type Layer struct {
	Name       string     `json:"name"`
	Parameters int64      `json:"parameters"`
	Saved      unit.Bytes `json:"saved_bytes"` // activations that wait for the backward pass
	Output     []int64    `json:"output_shape"`
}

// A CardVerdict is the same run on another card.
type CardVerdict struct {
	GPU      string     `json:"gpu"`
	Capacity unit.Bytes `json:"capacity_bytes"`
	Device   unit.Bytes `json:"device_bytes"`
	Verdict  Verdict    `json:"verdict"`
}

// A Finding is a cure and what it does, estimated with that one change.
type Finding struct {
	Code   string     `json:"code"`   // kebab-case, "checkpoint-full"
	Action string     `json:"action"` // the flags to add
	Saves  unit.Bytes `json:"saves_bytes"`
	Device unit.Bytes `json:"device_bytes"` // the device peak with it
	// Needs is the smallest capacity that does with it. It is there where
	// Peak.Needs is, and Saves is then the difference of the two.
	Needs     unit.Bytes `json:"needs_bytes,omitempty"`
	Verdict   Verdict    `json:"verdict"` // with it
	Exactness Exactness  `json:"exactness"`
	Why       string     `json:"why"`
}

// Then is what the card must offer with the cure, in the measure that Saves
// counts in.
func (f Finding) Then() unit.Bytes { return cmp.Or(f.Needs, f.Device) }

// Exactness says what a cure does to the numbers that a training run computes.
type Exactness string

// The kinds of exactness, from least to most intrusive.
const (
	SameNumbers     Exactness = "same-numbers"
	SameExpectation Exactness = "same-expectation"
	ChangesResults  Exactness = "changes-results"
)

// A Warning qualifies the answer: what is not known and what follows from it.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// HasGaps reports whether the answer rests on something that is not known.
func (e *Estimate) HasGaps() bool { return e.Verdict == MayNotFit || !e.Exact }
