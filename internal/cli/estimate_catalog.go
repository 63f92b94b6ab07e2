package cli

import (
	"context"
	"net/http"

	"github.com/plimsoll-dev/plimsoll/internal/catalog"
	"github.com/plimsoll-dev/plimsoll/internal/estimate"
)

// A modelFinder is a catalog.Catalog, or a test's.
type modelFinder interface {
	Find(ctx context.Context, q catalog.Query) (estimate.Source, error)
	List() []catalog.Entry
}

// newCatalog is the catalog of the commands. Tests put a model before it that
// needs no recordings.
var newCatalog = func(stdio IO) modelFinder {
	return catalog.New(catalog.System{Getenv: stdio.Getenv, HTTP: &http.Client{}})
}
