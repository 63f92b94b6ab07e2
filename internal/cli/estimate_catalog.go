package cli

import (
	"context"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
)

// A catalog finds models by what people call them.
type catalog interface {
	// Find reads a model by its name, hub id, file or directory.
	Find(ctx context.Context, q modelQuery) (estimate.Source, error)
	// List is every built-in model, in the order that people read it.
	List() []modelEntry
}

// A modelQuery says which model is meant.
type modelQuery struct {
	Name    string
	Assume  string // family to read an unknown architecture as, "" for none
	Offline bool
	Task    recipe.Task // "" for the architecture's own
	Torch   string      // whose recordings, "" for the newest
}

// A modelEntry is one built-in model; it is an element of `plimsoll models
// --format json`, which schema/models.schema.json describes.
type modelEntry struct {
	Name       string        `json:"name"`
	Family     string        `json:"family"`
	Parameters int64         `json:"parameters"`
	Tasks      []recipe.Task `json:"tasks"` // the default first
	Hub        string        `json:"hub,omitempty"`
}

// newCatalog is the catalog of the commands. Tests put a model before it that
// needs no recordings.
var newCatalog = func(IO) catalog { return nothing{} }

// nothing is a catalog without models.
type nothing struct{}

// Find refuses every name.
func (nothing) Find(_ context.Context, q modelQuery) (estimate.Source, error) {
	return nil, &estimate.Error{Msg: "model " + q.Name + " is not known", Hint: "plimsoll models lists the names; plimsoll capture runs any script"}
}

// List is empty.
func (nothing) List() []modelEntry { return nil }
