package idle

import "github.com/plimsoll-dev/plimsoll/finding"

// A State is what a signal says of a window.
type State uint8

// The states.
const (
	Unknown State = iota // what it reads is not there
	No
	Yes
)

// orNo is Unknown or No, for signals that ask more than another.
func (s State) orNo() State {
	if s == Unknown {
		return Unknown
	}
	return No
}

// A Side is where a signal is seen.
type Side string

// The sides.
const (
	OfDevice Side = "device"
	OfHost   Side = "host"
)

// A Signal is one thing that samples can show. Two signals of different counters
// are taken as independent of each other.
type Signal struct {
	ID       string
	Side     Side
	Counters string // what it reads, in words; signals of the same are one witness
	Words    string // what it means when it is there, without a number
	Measure  string // what to do where it is unknown and would decide, "" for nothing
	ask      func(*view) (State, string)
}

// told is a signal's answer about one window.
type told struct {
	state State
	fact  string // a sentence with measured numbers; "" unless yes
}

// judge says yes or no, with the fact that goes with yes.
func judge(yes bool, fact string) (State, string) {
	if yes {
		return Yes, fact
	}
	return No, ""
}

// Signals returns all signals.
func Signals() []Signal { return signals }

var signals = append(append([]Signal{}, deviceSignals...), hostSignals...)

var signalByID = func() map[string]*Signal {
	out := map[string]*Signal{}
	for i := range signals {
		out[signals[i].ID] = &signals[i]
	}
	return out
}()

// ask asks a signal once.
func (v *view) ask(id string) told {
	if t, ok := v.asked[id]; ok {
		return t
	}
	state, fact := signalByID[id].ask(v)
	t := told{state, fact}
	v.asked[id] = t
	return t
}

// A Cause is a row of the catalogue.
type Cause struct {
	ID    string // stays
	Title string // what it is, without a capital and a full stop
	// Needs are the signals that must be there: of each row at least one.
	Needs [][]string
	// Excludes are signals that another cause explains; none may be there.
	Excludes []string
	// Else is what else would look like this.
	Else string
	// Decide is the measurement that tells this cause from the rest.
	Decide   string
	Remedies []Fix
	// yields says that the cause is named after others whatever it costs; nil
	// for never.
	yields func(*view) bool
	// stops says that the cause stops the training every so many steps.
	stops bool
	// lost is the share of the time that the cause can have cost at most, and
	// how that share is known.
	lost func(*view) (float64, string, bool)
}

// A Fix is a remedy of a cause; what it gives back is measured in the window.
type Fix struct {
	Action string
	Flag   string
	Exact  finding.Exactness
}
