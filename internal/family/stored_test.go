package family

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

func TestCompareStored(t *testing.T) {
	m := &Model{Task: recipe.CausalLM, Dims: symbolic.Dims{"V": 1000, "h": 10}}
	if w := m.CompareStored(5, 5); w != nil {
		t.Errorf("equal: %v", w)
	}
	for _, tc := range []struct {
		name            string
		stored, counted int64
		want            string
	}{
		{"an output table of its own", 30000, 20000, "10000 more than the model has: as many as a second table"},
		{"a head that is not stored", 20000, 20100, "100 fewer than the model has: no more than a head"},
		{"a head that is not loaded", 20100, 20000, "100 more than the model has: no more than a head"},
		{"another model", 90000, 20000, "is the config of this checkpoint?"},
	} {
		if w := m.CompareStored(tc.stored, tc.counted); w == nil || !strings.Contains(w.Message, tc.want) {
			t.Errorf("%s: %v", tc.name, w)
		}
	}
}
