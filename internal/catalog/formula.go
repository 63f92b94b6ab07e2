package catalog

import (
	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
)

// Formula gives the closed forms.
func (s *source) Formula(r recipe.Recipe, d kernel.Device) (map[string]string, []estimate.Symbol, error) {
	return map[string]string{"peak": "?"}, nil, nil
}
