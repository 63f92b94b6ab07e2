package report

import "github.com/plimsoll-dev/plimsoll/unit"

// An Answer is how a verdict counts: it decides colour and symbol, never the
// wording.
type Answer uint8

// The answers. The zero value is for reports that only inform.
const (
	Neutral Answer = iota
	OK
	Maybe
	No
)

// String returns the word that renderers use where a class or key is needed.
func (a Answer) String() string {
	switch a {
	case OK:
		return "ok"
	case Maybe:
		return "maybe"
	case No:
		return "no"
	default:
		return "neutral"
	}
}

// A Verdict is the first thing a reader sees.
type Verdict struct {
	Answer Answer
	// Word is the answer in two or three words, "does not fit".
	Word string
	// Sentence gives the numbers, "needs 46.2 GiB, A100-40GB offers
	// 39.4 GiB".
	Sentence string
	// Method is where the number comes from, "captured with PyTorch 2.15.0".
	Method string
	// Gauge compares need and capacity; the zero value shows no gauge.
	Gauge Gauge
}

// A Gauge is a need against a capacity, in bytes.
type Gauge struct {
	Low, Need, High unit.Bytes // Low <= Need <= High; equal when exact
	Capacity        unit.Bytes // 0 when there is nothing to compare with
}

// Exactness says what a remedy does to the numbers a training run computes.
type Exactness string

// The kinds of exactness.
const (
	SameNumbers     Exactness = "same-numbers"
	SameExpectation Exactness = "same-expectation"
	ChangesResults  Exactness = "changes-results"
)

// A Remedy is something the reader can do, with its effect where known.
type Remedy struct {
	// Action is the change itself, preferably a flag or a line of code.
	Action string
	// Need is the bytes needed afterwards, 0 when not known.
	Need unit.Bytes
	// Saves is the bytes saved, 0 when not known.
	Saves unit.Bytes
	// Exactness is empty when the remedy does not touch the computation.
	Exactness Exactness
	// Cost is what it costs in words, "about 6 % slower".
	Cost string
}
