package symbolic

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// The scopes of parts.
const (
	Load       = "load"       // the model is built
	First      = "first"      // the first micro-batch, or pass, of the process
	Steady     = "steady"     // a micro-batch that finds no gradients
	Accumulate = "accumulate" // a micro-batch that adds to gradients
	Zero       = "zero"       // the gradients are dropped
	Decode     = "decode"     // a token is made from the ones before, whose keys and values were kept
)

// Before is the scope that refs of Decode call the run before it, which is First
// or that of another token.
const Before = "before"

// The dimensions of generation. Decode was recorded where Cached, the keys that
// the new token sees, are the tokens of the prompt and made more.
const (
	Prompt = "S"
	Cached = "Y"
	made   = 2
)

// A Tape is what a family's models do to memory when they are used in one way.
type Tape struct {
	Title   string // what was recorded, for people
	Parts   []Part // a scope's parts are together and in the order of time
	Params  []Param
	Symbols []Symbol // the dimensions that expressions use
	Seen    []Span   // where recordings were made
	Checked []Check  // how it agrees with recordings that it was not solved from
	About   []About  // a script's: how it was captured

	// Ceiling is what cuDNN's scratch memory of a convolution is taken to stay
	// below: the largest convolution's input, filter and output once more.
	Ceiling Expr
}

// An About is a fact of a script's capture; script.go has the words.
type About struct{ Word, Value string }

// A Check is a comparison with a recording, event by event.
type Check struct {
	Events int     // of the recording
	Equal  int     // of them in the same place with the same size
	Peak   float64 // what the played peak is off by, as a share of the recorded one
}

// Exact reports whether nothing was off.
func (c Check) Exact() bool { return c.Equal == c.Events && c.Peak == 0 }

// A Symbol is a dimension and what it means.
type Symbol struct{ Name, Meaning string }

// A Span is the range of values of a dimension that recordings had.
type Span struct {
	Name      string
	Low, High int64
	Step      int64 // all of them are multiples of it, at least 1
}

// A Part is a stretch of a run, or one layer's stretch of it.
type Part struct {
	Scope, Name string
	Stack       string // its layers play it one after the other; empty for a part that is played once
	Down        bool   // from the last layer to the first
	Level       int    // how closely classes of layers are told apart
	Classes     []Class
	Slots       int // an allocation's slot is below it
}

// A Class is what layers of one kind and place do in a part. A part without a
// stack has one class.
type Class struct {
	Key string // as Position gives it
	Ops []Op
}

// EachOp calls f for each event of all classes.
func (t *Tape) EachOp(f func(op *Op)) {
	t.eachClass(func(_ *Part, c *Class) {
		for i := range c.Ops {
			f(&c.Ops[i])
		}
	})
}

func (t *Tape) eachClass(f func(p *Part, c *Class)) {
	for i := range t.Parts {
		for c := range t.Parts[i].Classes {
			f(&t.Parts[i], &t.Parts[i].Classes[c])
		}
	}
}

// An Op is one event.
type Op struct {
	Free     bool
	When     Guard // whether it happens
	Slot     int   // of an allocation: its number in the part
	Bytes    Expr
	Category tape.Category
	Label    string  // the operator
	Error    float64 // largest relative error of Bytes in recordings, 0 when exact
	Ref      Ref     // what a free gives back
}

// A Ref names blocks of a run: those in a slot of a part.
type Ref struct {
	Scope string // empty for the own one
	Part  string
	Slot  int
	Which Which
	At    int // for Near the distance in layers, for Nth and Last the layer counted from that end, for Every how many of the last are left
}

// Which of a stack's layers a Ref means.
type Which uint8

// The ways to say which layers are meant.
const (
	Near    Which = iota // At layers further on; 0 is the own layer, or a part without layers
	Every                // all but the last At
	Nth                  // At counted from the first
	NthLast              // At counted from the last
)

// A Param is a parameter, or one of each layer of a stack.
type Param struct {
	Name      string // "model.layers.{}.mlp.up_proj.weight"
	Stack     string // of a layer's parameter, empty otherwise
	Class     string // the layers that have it, empty for all
	Level     int
	Shape     []Expr
	DType     string
	Trainable bool
	Home      Ref // its block
	Grad      Ref // its gradient's block; Part is empty without one
}

// KindLevel is the level at which only the kind of a layer counts; HighestLevel
// tells layers apart most closely.
const (
	KindLevel    = -1
	HighestLevel = 4
)

// Position returns the key of layer i of a stack whose layers have the given
// kinds. At KindLevel it is the kind; at level 0 it also tells the first and the
// last layer apart, at level 1 the neighbours' kinds too, at level 2 also the
// second and the last but one, at level 3 the first and the last of each kind, at
// level 4 the kinds of those that are two layers away.
func Position(kinds []string, i, level int) string {
	if level == KindLevel {
		return kinds[i]
	}
	var b strings.Builder
	b.WriteString(kinds[i])
	n := len(kinds)
	switch {
	case n == 1:
		b.WriteString(":only")
	case i == 0:
		b.WriteString(":first")
	case i == n-1:
		b.WriteString(":last")
	case level >= 2 && i == 1:
		b.WriteString(":second")
	case level >= 2 && i == n-2:
		b.WriteString(":beforelast")
	}
	if level >= 1 {
		if i > 0 && kinds[i-1] != kinds[i] {
			b.WriteString(":after-" + kinds[i-1])
		}
		if i < n-1 && kinds[i+1] != kinds[i] {
			b.WriteString(":before-" + kinds[i+1])
		}
	}
	if level >= 4 {
		if i > 1 && kinds[i-2] != kinds[i] {
			b.WriteString(":two-after-" + kinds[i-2])
		}
		if i < n-2 && kinds[i+2] != kinds[i] {
			b.WriteString(":two-before-" + kinds[i+2])
		}
	}
	if level >= 3 && i > 0 && i < n-1 {
		if !slices.Contains(kinds[:i], kinds[i]) {
			b.WriteString(Eldest)
		}
		if !slices.Contains(kinds[i+1:], kinds[i]) {
			b.WriteString(Youngest)
		}
	}
	return b.String()
}

// Elsewhere is a key without the words that say how far from an end of the stack
// the layer is: one that is alike but for that.
func Elsewhere(key string) string {
	return strings.NewReplacer(":second", "", ":beforelast", "").Replace(key)
}

// What keys of level 3 end with: the first and the last layer of a kind, if they
// are not the stack's.
const (
	Eldest   = ":eldest"
	Youngest = ":youngest"
)
