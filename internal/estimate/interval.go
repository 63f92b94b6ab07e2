package estimate

import "github.com/plimsoll-dev/plimsoll/unit"

// An interval is what a run takes of a card: as expected, and from where to
// where it may lie.
type interval struct {
	low, device, high unit.Bytes
	beside            span // context and libraries
	libraries         span
	typical           outcome    // what the expected number is made of
	fails             bool       // there: the run ends out of memory
	room              unit.Bytes // that the allocator had then, 0 for no limit
	verdict           Verdict
}

// on judges a run on a card. The capacity lies in the interval exactly when
// the verdict is that it may not fit. There are three corners: at each, the
// allocator has what the context leaves, and comes to what it takes there, or
// fails and needs what it takes without a limit. What fails has more room to try
// in at the low corner alone, and what does not has less at the high one: the
// other corner is like the middle.
func (r *run) on(t Target, doubts []Doubt) (interval, error) {
	less, more := bounds(doubts)
	libs := libraries(r.recipe)
	v := interval{beside: spanOf(t.Context).plus(libs), libraries: libs}
	typical, err := r.corner(t.Capacity, v.beside.typical)
	if err != nil {
		return v, err
	}
	low, high := typical.beside(v.beside.low-less, t.Capacity), typical.beside(v.beside.high+more, t.Capacity)
	if typical.fails {
		low, err = r.corner(t.Capacity, v.beside.low-less)
	} else {
		high, err = r.corner(t.Capacity, v.beside.high+more)
	}
	if err != nil {
		return v, err
	}
	v.typical, v.device, v.fails = typical.outcome, typical.reserved+v.beside.typical, typical.fails
	if !typical.fails && (r.limitsItself() || typical.reserved != r.free.reserved) {
		v.room = t.Capacity - v.beside.typical
	}
	v.low, v.high = max(low.total, 0), max(high.total, v.device)
	if !low.fails || !r.limitsItself() { // else it is refused more than the card has
		v.low = max(min(low.total, v.device), 0)
	}
	switch {
	case !typical.fails && !high.fails:
		v.verdict = Fits
	case !low.fails || !typical.fails:
		v.verdict = MayNotFit
	default:
		v.verdict = DoesNotFit
	}
	return v, nil
}

// A corner is a run beside a given amount that others take of the card.
type corner struct {
	outcome
	total unit.Bytes // with what stands beside it; more than the card has if it fails
	fails bool
}

func (r *run) corner(capacity, beside unit.Bytes) (corner, error) {
	out, err := r.within(capacity - beside)
	if err != nil {
		return corner{}, err
	}
	c := corner{outcome: out, fails: out.oom}
	if c.fails {
		c.outcome = r.free
	}
	return c.beside(beside, capacity), nil
}

// beside is the same corner beside another amount.
func (c corner) beside(beside, capacity unit.Bytes) corner {
	c.total = c.reserved + beside
	if c.fails {
		c.total = max(c.total, capacity+1)
	}
	return c
}
