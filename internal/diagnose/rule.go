package diagnose

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/finding"
)

// A rule decides for a cause. The first rule that holds for a message is the
// one that counts.
type rule struct {
	id    string
	cause string
	kinds []string // that it is about, nil for all
	// when holds it; nil always. why is the same in words.
	when func(*situation) bool
	why  string

	confidence finding.Confidence
	// verdict is the first sentence, facts are further numbers, remedies what
	// to do, the best first.
	verdict  func(*situation) string
	facts    func(*situation) []finding.Evidence
	remedies func(*situation) []finding.Remedy
}

func (r *rule) decides(s *situation) bool {
	return (r.kinds == nil || slices.Contains(r.kinds, s.m.Kind.Name)) && (r.when == nil || r.when(s))
}

// rules is every rule, in the order in which they are asked.
var rules = func() (out []rule) {
	for _, list := range [][]rule{torchRules, libraryRules, tensorflowRules, jaxRules, arenaRules, servingRules, hostRules, behaviourRules, lastRules} {
		out = append(out, list...)
	}
	return out
}()

// A RuleDoc is a rule as the documentation lists it.
type RuleDoc struct {
	ID, Cause, Why string
	Kinds          []string
	Confidence     finding.Confidence
}

// Rules returns the rules in the order in which they are asked.
func Rules() []RuleDoc {
	var out []RuleDoc
	for _, r := range rules {
		out = append(out, RuleDoc{r.id, r.cause, r.why, r.kinds, r.confidence})
	}
	return out
}
