package tape

import "strconv"

// A Category says what a block holds.
type Category uint8

// The categories. The numbers are written to files: never reuse one.
const (
	Unknown Category = iota
	Parameter
	Buffer
	Gradient
	OptimizerState
	MasterWeight
	Activation
	Input
	Temporary
	Workspace
	Communication
	KVCache
	categories
)

var categoryNames = [categories]string{
	"unknown", "parameter", "buffer", "gradient", "optimizer", "master_weight", "activation", "input",
	"temporary", "workspace", "communication", "kv_cache",
}

// Categories returns every category in the order of its number.
func Categories() []Category {
	all := make([]Category, categories)
	for i := range all {
		all[i] = Category(i)
	}
	return all
}

// String returns the category's name as it stands in JSON fields before
// "_bytes": "master_weight".
func (c Category) String() string { return name(categoryNames[:], int(c), "category") }

// A Phase is a part of a training step.
type Phase uint8

// The phases. The numbers are written to files: never reuse one.
const (
	Idle Phase = iota
	Load
	Forward
	Loss
	Backward
	Step
	Eval
	Save
	phases
)

var phaseNames = [phases]string{"idle", "load", "forward", "loss", "backward", "step", "eval", "save"}

// String returns the phase's name, "backward".
func (p Phase) String() string { return name(phaseNames[:], int(p), "phase") }

// ParsePhase returns the phase called s.
func ParsePhase(s string) (Phase, bool) {
	for i, n := range phaseNames {
		if n == s {
			return Phase(i), true
		}
	}
	return Idle, false
}

// ParseCategory returns the category called s; "optimizer_state" is accepted
// for "optimizer".
func ParseCategory(s string) (Category, bool) {
	if s == "optimizer_state" {
		return OptimizerState, true
	}
	for i, n := range categoryNames {
		if n == s {
			return Category(i), true
		}
	}
	return Unknown, false
}

// A MarkKind says what a mark means.
type MarkKind uint8

// The kinds of marks. The numbers are written to files: never reuse one.
const (
	MarkPhase       MarkKind = iota // a phase begins; Value is the Phase
	MarkStep                        // an optimizer step ended; Value is its number
	MarkModuleEnter                 // Name is the qualified path; Value is 0 forward, 1 backward
	MarkModuleExit                  // as MarkModuleEnter
	MarkNote                        // Name is free text
	MarkPool                        // allocations come from the private pool "1.0" from here on; from the default one where Name is empty
	MarkFraction                    // the allocator's memory is limited to a share of the device's from here on; Value is the share's float64 bits
	markKinds
)

var markNames = [markKinds]string{"phase", "step", "enter", "exit", "note", "pool", "fraction"}

// String returns the mark's kind as a word, "enter".
func (k MarkKind) String() string { return name(markNames[:], int(k), "mark") }

// A Mark stands before event Event of one device; an Event equal to Len()
// stands at the end.
type Mark struct {
	Event  int
	Device uint8
	Kind   MarkKind
	Name   string
	Value  int64
}

// name looks up a word; numbers outside the table get one that says so.
func name(table []string, i int, what string) string {
	if i < len(table) {
		return table[i]
	}
	return what + " " + strconv.Itoa(i)
}
