package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
)

// Where adapters on all linear layers are not recorded, that is what is said, not that one
// of the names which the row has for them is no layer's.
func TestRefusalOfAllLinear(t *testing.T) {
	s := find(t, Query{Name: "mixtral-8x7b"}).without(func(w recordings.Way) bool { return slices.Contains(w.LoRA, "w1") })
	err := s.refuse(s.variantOf(adapted("full", allLinear), usualDevice))
	if err == nil || !strings.HasPrefix(err.Error(), "--lora targets q_proj+") || !strings.HasSuffix(err.Error(), "is not recorded for mixtral") || !strings.Contains(estimate.HintOf(err), "recorded are q_proj+v_proj") {
		t.Errorf("%v, %s", err, estimate.HintOf(err))
	}
}

// What another structure of the family has is not said to be nowhere.
func TestRefusalOfAStructure(t *testing.T) {
	s := find(t, Query{Name: "mixtral-8x7b"}).without(func(w recordings.Way) bool { return len(w.LoRA) > 0 })
	for _, c := range []struct {
		more recordings.Way
		want string
	}{{recordings.Way{}, "no recording of mixtral has any; "}, {recordings.Way{Structure: "another", LoRA: []string{"q_proj"}}, "no recording of its structure, " + s.structure() + ", has any; "}} {
		s.ways = append(s.ways, c.more)
		err := s.refuse(s.variantOf(adapted("full", "q_proj"), usualDevice))
		if hint := estimate.HintOf(err); !strings.HasPrefix(hint, c.want) {
			t.Errorf("%v, %s, want %s", err, hint, c.want)
		}
	}
}
