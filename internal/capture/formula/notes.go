package formula

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/capture"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// inPart is where a doubt of the solver is, with the step and the time in it.
var inPart = regexp.MustCompile(`^script [0-9]+\.[0-9]+\.`)

// shortDoubts are those of the solver, each once for all steps.
func shortDoubts(list []string) []string {
	var short []string
	for _, d := range list {
		if d = inPart.ReplaceAllString(d, ""); !slices.Contains(short, d) {
			short = append(short, d)
		}
	}
	return short
}

// noteRun says what a run does that a symbolic tape does not have.
func (s *session) noteRun(c *capture.Capture) {
	rec := &c.Recordings[0]
	empties := false
	for i := range rec.Tape.Len() {
		empties = empties || rec.Tape.Kind(i) == tape.EmptyCache
	}
	if empties {
		s.note("empty-cache", "the script gives the allocator's cache back; a symbolic tape does not, so that reserved memory may come out larger")
	}
	if rec.Tape.Streams() > 1 {
		s.note("streams", fmt.Sprintf("the script allocates on %d streams, whose caches are apart; a symbolic tape has one", rec.Tape.Streams()))
	}
	if n := len(c.Result.Processes); n > 1 {
		s.note("processes", fmt.Sprintf("the script has %d processes; the tape is that of the fullest card", n))
	}
	for _, op := range c.Result.Operators {
		if !op.Known {
			s.note("data-dependent", fmt.Sprintf("%s at %s:%d makes a tensor whose size depends on values; it is taken as it was here", op.Op, word(op.File), op.Line))
		}
	}
	if c.Result.LowerBound {
		s.note("lower-bound", "sizes that depend on data came out empty: the answer is the least")
	}
}
