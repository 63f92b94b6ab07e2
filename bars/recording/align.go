package main

import (
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A one is an event that only one side has.
type one struct {
	captured bool
	step     step
}

// window bounds how far an inserted run of events is looked for.
const window = 64

// align walks both from their ends, and returns how many events are equal and
// those that are on one side only.
func align(r, c []step) (equal int, only []one) {
	i, j := len(r)-1, len(c)-1
	for i >= 0 && j >= 0 {
		if same(r[i], c[j]) {
			equal++
			i--
			j--
			continue
		}
		skipR, skipC := resync(r[:i+1], c[:j+1])
		for range skipR {
			only = append(only, one{false, r[i]})
			i--
		}
		for range skipC {
			only = append(only, one{true, c[j]})
			j--
		}
	}
	for ; i >= 0; i-- {
		only = append(only, one{false, r[i]})
	}
	return equal, only
}

// resync returns the fewest events to pass over on each side, from the end,
// before both agree for a while.
func resync(r, c []step) (skipR, skipC int) {
	const agree = 8
	for total := 1; total <= 2*window; total++ {
		for skipR = max(0, total-window); skipR <= min(total, window); skipR++ {
			skipC = total - skipR
			if skipR < len(r) && skipC < len(c) && tail(r[:len(r)-skipR], c[:len(c)-skipC], agree) {
				return skipR, skipC
			}
		}
	}
	return 1, 1
}

// ending cuts the capture where the recording ended: at the last place where
// the recording's final events stand.
func ending(r, c []step) []step {
	const agree = 48
	for j := len(c); j > 0; j-- {
		if tail(r, c[:j], agree) {
			return c[:j]
		}
	}
	return c
}

func tail(r, c []step, n int) bool {
	n = min(n, len(r), len(c))
	for k := 1; k <= n; k++ {
		if !same(r[len(r)-k], c[len(c)-k]) {
			return false
		}
	}
	return n > 0
}

// first is the event of the capture at which the recording began.
func first(c []step, equal int, only []one) int {
	n := equal
	for _, o := range only {
		if o.captured {
			n++
		}
	}
	if n == 0 || n > len(c) {
		return 0
	}
	return c[len(c)-n].event
}

// rise is how far the requested bytes go, in the events from until to, above
// where they began.
func rise(t *tape.Tape, from, to int) unit.Bytes {
	var now, peak unit.Bytes
	for i := from; i < to; i++ {
		switch e := t.Event(i); e.Kind {
		case tape.Alloc:
			now += e.Bytes
		case tape.Free:
			now -= e.Bytes
		}
		peak = max(peak, now)
	}
	return peak
}
