// Package catalog finds models by what people call them: built-in names, hub
// ids, configurations in files, and recordings of their own.
//
// It joins what knows architectures with what plays tapes, and hands out an
// estimate.Source for each model. It computes no memory itself.
package catalog

import (
	"context"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
)

// A Query says which model is meant.
type Query struct {
	Name string
	// Config is a config.json itself; Name is then only what it is called.
	Config  []byte
	Assume  string      // family to read an unknown architecture as, "" for none
	Offline bool        // ask nobody on the network
	Task    recipe.Task // "" for the architecture's own
	Torch   string      // whose recordings, "" for the newest
}

// An Entry is one built-in model.
type Entry struct {
	Name       string        `json:"name"`
	Family     string        `json:"family"`
	Parameters int64         `json:"parameters"`
	Tasks      []recipe.Task `json:"tasks"` // the default first
	Hub        string        `json:"hub,omitempty"`
}

// A System is what the catalog may touch of the process.
type System struct {
	Getenv func(name string) string
}

// A Catalog has the models of one system.
type Catalog struct{ system System }

// New returns the catalog of a system.
func New(s System) *Catalog { return &Catalog{s} }

// Find returns the model of a query.
func (c *Catalog) Find(_ context.Context, q Query) (estimate.Source, error) {
	return nil, &estimate.Error{Msg: fmt.Sprintf("model %q is not known", q.Name), Hint: "plimsoll models lists the names; plimsoll capture runs any script"}
}

// List returns every built-in model, in the order that people read it.
func (c *Catalog) List() []Entry { return nil }
