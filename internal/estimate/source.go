package estimate

import (
	"errors"

	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Source is a model whose tapes can be played. It may be asked by several
// goroutines at once.
type Source interface {
	// Model says what is known of the model whatever the recipe.
	Model() Model
	// Complete fills in what a recipe leaves open (the task, the length of a
	// sequence, the optimizer) and refuses what the model cannot do.
	Complete(r recipe.Recipe) (recipe.Recipe, error)
	// Play writes the events of the whole run: the model being built, then
	// three optimizer steps, or as many evaluation passes, or a prefill and
	// what it takes to decode. Detail changes no event.
	Play(r recipe.Recipe, d kernel.Device, w *tape.Writer, detail Detail) (*Played, error)
	// Formula gives the closed form of every category that is not empty right
	// after an event of what Play writes, by the category's name, and of their
	// sum as "peak", with what the symbols mean.
	Formula(r recipe.Recipe, d kernel.Device, event int) (map[string]string, []Symbol, error)
}

// Detail says how much of a run is wanted beside its events.
type Detail uint8

// The details.
const (
	Events Detail = iota // sizes, phases and categories alone
	Sites                // also the module and operator of each event, and marks of modules
)

// A Model is what is known of a model before it is trained.
type Model struct {
	Name      string `json:"name"`
	Source    string `json:"source"` // "builtin", "file", "cache", "hub" or "recording"
	Family    string `json:"family"`
	Parameter int64  `json:"parameters"`
	Trainable int64  `json:"trainable_parameters"` // under the recipe: adapters freeze the rest

	RecordedWith RecordedWith `json:"-"`
	// Dropout and BatchNorm are what makes the parts of a split batch differ
	// from the whole.
	Dropout   bool `json:"-"`
	BatchNorm bool `json:"-"`
	// LoRATargets are the layers that an adapter usually goes on.
	LoRATargets []string `json:"-"`
	// Script is there for a script that was captured: what it does is its own.
	Script *Script `json:"-"`
}

// A Script is a user's script, captured at several values of what was varied.
type Script struct {
	Command string   `json:"command"` // with placeholders
	Card    string   `json:"card"`    // that it was captured on
	Varied  []Varied `json:"varied"`
}

// A Varied is something that a script was captured at several values of.
type Varied struct {
	Name   string `json:"name"`
	Symbol string `json:"symbol"` // in formulas
	Value  int64  `json:"value"`  // that the answer is about
	Low    int64  `json:"low"`    // captured
	High   int64  `json:"high"`
}

// RecordedWith names the versions that the tapes were recorded with.
type RecordedWith struct {
	Torch        string `json:"torch"`
	Transformers string `json:"transformers,omitempty"`
	TorchVision  string `json:"torchvision,omitempty"`
}

// Played is what there is to say about the events that Play wrote.
type Played struct {
	Parameters, Trainable int64
	// Layers are the blocks of the model in the order of the forward pass.
	Layers []LayerSpan
	// StepEnds are the numbers of events written when each step, or pass, was
	// over.
	StepEnds []int
	// Exact says that every size is what the recordings show at other
	// dimensions, too.
	Exact  bool
	Doubts []Doubt
	Varied []Varied // of a script, with the values of this play
}

// A LayerSpan is one layer of the model, with what its forward pass keeps for
// the backward pass or, where First < Last, the blocks that it allocates.
type LayerSpan struct {
	Name        string
	First, Last tape.BlockID // First <= block < Last
	Saved       unit.Bytes
	Parameters  int64
	Output      []int64 // shape of what it hands on
}

// A Doubt is something that the tape does not know: how much less and how much
// more than was played it may be.
type Doubt struct {
	Code    string // kebab-case
	Message string
	Less    unit.Bytes
	More    unit.Bytes
}

// CuDNNWorkspace is the code of the doubt about cuDNN's scratch memory, which
// the tapes count as nothing.
const CuDNNWorkspace = "cudnn-workspace"

// A Symbol is a letter of a formula.
type Symbol struct {
	Name    string `json:"name"`
	Value   int64  `json:"value"`
	Meaning string `json:"meaning"`
}

// An Error is a request that cannot be answered, with what to try instead.
type Error struct{ Msg, Hint string }

func (e *Error) Error() string { return e.Msg }

// HintOf is what an error says to try, "" where it says nothing.
func HintOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Hint
	}
	return ""
}
