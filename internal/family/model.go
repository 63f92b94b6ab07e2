// Package family turns a Hugging Face config.json, or the name of a known
// model, into a Model: its family, its dimensions, the kind of each of its
// layers, and which recorded structure it has.
//
// It knows no operator and no formula for bytes. A family is a row in
// families/, which the recorder in Python reads as well: what a key of
// config.json means, what stands for it when it is absent, and which values
// were recorded. What a row does not allow is an error, never a guess.
//
// It reads no files and no network; package hub does, and hands over bytes.
package family

import (
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// A Model is what an estimate needs to know of an architecture.
type Model struct {
	Name      string              // as the user may write it again, "llama-3.1-8b"
	Source    string              // where its description came from: "builtin", a path, a hub id
	Library   string              // "transformers" or "torchvision"
	Family    string              // name of its row; for torchvision the name of the model
	Structure string              // which of the row's structures it has
	Dims      symbolic.Dims       // by symbol, the counts of layers included
	Kinds     map[string][]string // by stack, the kind of each layer
	Tasks     []recipe.Task       // what its heads can be for
	Task      recipe.Task         // what its head is for
	Class     string              // the class of the library that has this head
	Stored    string              // the class that the config says the checkpoint is of; may be empty
	DType     string              // of the checkpoint, "bfloat16"; empty when not said
	Warnings  []Warning
}

// A Warning is something that was assumed or left out, and what follows.
type Warning struct {
	Code    string // "absent-key", "text-tower-only" ...
	Message string
}

// Options are what the user said beside the config. The zero value is good.
type Options struct {
	Name   string      // of the Model; empty takes what the config calls itself
	Source string      // of the Model
	File   string      // what errors call the input, "config.json" by default
	Assume string      // a family to read an unknown architecture as
	Task   recipe.Task // empty takes the architecture's own
	// OwnHead says that the checkpoint has output weights of its own although
	// the config ties them: Transformers then unties them when it loads.
	OwnHead bool
}

func (o Options) file() string {
	if o.File == "" {
		return "config.json"
	}
	return o.File
}

func (m *Model) warn(code, message string) {
	m.Warnings = append(m.Warnings, Warning{code, message})
}
