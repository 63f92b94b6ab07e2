package main

import (
	"fmt"
	"io"
	"math"

	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// checks are how tapes agreed with recordings that they were not solved from, as the
// tapes themselves say it.
type checks struct {
	tapes, unchecked     int // unchecked ones say nothing
	done, equal          int // equal event by event
	peaks                int // that are right to the byte
	worst                float64
	events, equalInPlace int
}

func (c *checks) add(t *symbolic.Tape) {
	c.tapes++
	if len(t.Checked) == 0 {
		c.unchecked++
	}
	for _, one := range t.Checked {
		c.done++
		c.events, c.equalInPlace = c.events+one.Events, c.equalInPlace+one.Equal
		if one.Events == one.Equal {
			c.equal++
		}
		if one.Peak == 0 {
			c.peaks++
		}
		if math.Abs(one.Peak) > math.Abs(c.worst) {
			c.worst = one.Peak
		}
	}
}

// checksOf counts the checks of all embedded tapes of a version.
func checksOf(torch string) (checks, error) {
	var c checks
	for _, family := range recordings.Families(torch) {
		file, err := recordings.Open(torch, family)
		if err != nil {
			return c, err
		}
		for _, key := range file.Keys() {
			t, err := file.Tape(key)
			if err != nil {
				return c, fmt.Errorf("%s: %s: %w", family, key, err)
			}
			c.add(t)
		}
	}
	return c, nil
}

// writeChecks says what the recorder found when it checked its tapes.
func writeChecks(w io.Writer) error {
	fmt.Fprint(w, "\n## What the recorder checked\n\n"+
		"Each tape that an estimate is played from says how it agreed with recordings that it\n"+
		"was not solved from: of more layers, of other dimensions, and one of another card.\n\n"+
		"| PyTorch | tapes | checks | equal event by event | events equal | peak to the byte | worst peak | tapes without checks |\n|---|---|---|---|---|---|---|---|\n")
	for _, torch := range recordings.Versions() {
		c, err := checksOf(torch)
		if err != nil {
			return fmt.Errorf("recordings of PyTorch %s: %w", torch, err)
		}
		fmt.Fprintf(w, "| %s | %d | %d | %d | %.3f %% | %d | %s | %d |\n",
			torch, c.tapes, c.done, c.equal, 100*share(c.equalInPlace, c.events), c.peaks, signed(c.worst), c.unchecked)
	}
	return nil
}
