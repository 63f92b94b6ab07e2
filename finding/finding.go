// Package finding holds what Plimsoll concludes: a cause, the evidence for it,
// and what to do about it.
//
// A Finding is a value for programs and for people alike. Its numbers are
// bytes or shares; who shows it formats them. Whatever was not known is left
// out, never 0.
package finding

import "github.com/plimsoll-dev/plimsoll/unit"

// A Confidence says how sure a finding is.
type Confidence string

// The confidences, from the weakest.
const (
	Low    Confidence = "low"    // one signal, and others would explain it too
	Medium Confidence = "medium" // the evidence fits, and something that would decide is missing
	High   Confidence = "high"   // the numbers leave no other cause
)

// A Finding is one cause with its evidence and its remedies.
type Finding struct {
	Cause      string     `json:"cause"` // kebab or snake case id that stays, "fragmentation"
	Verdict    string     `json:"verdict"`
	Confidence Confidence `json:"confidence"`
	Evidence   []Evidence `json:"evidence"`
	Remedies   []Remedy   `json:"remedies"`
}

// Evidence is one fact behind a finding.
type Evidence struct {
	Fact  string      `json:"fact"`            // a sentence
	Bytes *unit.Bytes `json:"bytes,omitempty"` // the amount that the sentence is about
	Where string      `json:"where,omitempty"` // place in the input: line, event, call site
}

// An Exactness says what a remedy does to the results of a training.
type Exactness string

// What remedies do to results.
const (
	SameNumbers     Exactness = "same-numbers"
	SameExpectation Exactness = "same-expectation" // as accumulation with batch norm
	ChangesResults  Exactness = "changes-results"
)

// A Remedy is something to do, with its effect where it is known.
type Remedy struct {
	Action string      `json:"action"`         // a sentence in the imperative
	Flag   string      `json:"flag,omitempty"` // setting or code to type
	Saves  *unit.Bytes `json:"saves_bytes,omitempty"`
	// Gain is the share of the time, 0 to 1, that it gives back at most.
	Gain   *float64  `json:"gain_ratio,omitempty"`
	Method string    `json:"method,omitempty"` // how the effect is known: "replay", "arithmetic"
	Exact  Exactness `json:"exactness,omitempty"`
}
