// Package period finds how long a training step takes from samples of a GPU's
// utilisation, which show the step as a wave.
//
// It stays silent rather than give a number that may be an alias: what the
// sampling cannot tell is not claimed.
package period

// A Status says what came of looking for a period.
type Status string

// The statuses.
const (
	Known   Status = "known"    // Seconds is the period
	None    Status = "none"     // nothing repeats, or it repeats too irregularly
	TooFast Status = "too-fast" // something changes faster than the sampling can see
	TooFew  Status = "too-few"  // the window is too short, or too little of it was read
)

// An Answer is the period, or why there is none.
type Answer struct {
	Status  Status  `json:"status"`
	Seconds float64 `json:"seconds,omitempty"` // only where Known
	// Cycles is how often it was seen.
	Cycles float64 `json:"cycles,omitempty"`
	// Fastest is the shortest period that this sampling could have shown.
	Fastest float64 `json:"fastest_seconds,omitempty"`
}
