package cli

import (
	"context"

	"github.com/plimsoll-dev/plimsoll/internal/catalog"
	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/estimate/toy"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
)

// withToy is a catalog that has the toy, so that tests of the command need no
// recordings.
type withToy struct{ modelFinder }

// Find knows the toy.
func (c withToy) Find(ctx context.Context, q catalog.Query) (estimate.Source, error) {
	switch q.Name {
	case "toy":
		return toy.New(), nil
	case "toy-unsure":
		m := toy.New()
		m.Doubts = []estimate.Doubt{{Code: "approximate", Message: "one size is known to 3 % only", Less: 1 << 28, More: 1 << 30}}
		return m, nil
	}
	return c.modelFinder.Find(ctx, q)
}

// List lists it first.
func (c withToy) List() []catalog.Entry {
	return append([]catalog.Entry{{Name: "toy", Family: "toy", Parameters: 90704896, Tasks: []recipe.Task{recipe.CausalLM}}}, c.modelFinder.List()...)
}

// The scripts run this binary as plimsoll, so that the toy is there for them,
// too.
var _ = func() bool {
	known := newCatalog
	newCatalog = func(stdio IO) modelFinder { return withToy{known(stdio)} }
	return true
}()
