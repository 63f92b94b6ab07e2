// Package idle says why a GPU idles, from samples of the GPU, of the processes
// on it and of the host.
//
// A cause is named only where two signals that do not depend on each other
// agree: one of the device and one of the host, or two different counters of
// the device. With less it says "not sure" and which measurement would decide. A
// job that uses its GPU well has no cause.
//
// Every number in its sentences is measured in the window. It reads no files and
// has no clock.
package idle

import (
	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/internal/idle/period"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A Window is a stretch of samples and whom the question is about. With Samples
// alone it is about whoever holds most memory.
type Window struct {
	Samples []series.Sample // oldest first
	// Devices are the IDs of the GPUs that the answer is of, such as the one
	// that a row of a screen shows: other GPUs of the job are what they are
	// compared with. Without any they are those that the job is on, and Given.
	Devices []string
	// Given are the IDs of the GPUs that the job was given, where that is known.
	Given []string
	// Root is the PID at the top of the job's processes, 0 where unknown.
	Root int
}

// An Answer says whether a job uses its GPUs, and if not, why.
type Answer struct {
	Verdict string `json:"verdict"` // one sentence
	// Healthy says that the GPUs are used and nothing is named. A window that
	// is too short to tell is not healthy and has no findings either.
	Healthy  bool              `json:"healthy"`
	Findings []finding.Finding `json:"findings"` // the one that costs most first
	Unsure   []Question        `json:"unsure,omitempty"`
	Shares   Shares            `json:"shares"`
	Phases   []Phase           `json:"phases,omitempty"`
	Period   period.Answer     `json:"period"` // of the training step
}

// A Question is a cause that could be it and has too few signals, and the
// measurement that would decide.
type Question struct {
	Cause   string `json:"cause"`
	Measure string `json:"measure"` // in the imperative
}

// Shares are how the time of the window was spent, as the mean over its GPUs
// and without the start of the job.
type Shares struct {
	Seconds float64 `json:"seconds"` // length of the window
	Samples int     `json:"samples"`
	// Busy and Idle are shares of the time in which some kernel, or none, ran;
	// nil where no sample says so.
	Busy *float64 `json:"busy_ratio"`
	Idle *float64 `json:"idle_ratio"`
}
