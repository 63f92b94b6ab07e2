package proc

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/series"
)

// process reads the process pid in depth; not ok if it is gone. One that has not run
// for a nanosecond since it was last read rests and is as it was: nothing of it can
// have changed but what others do to it. That it was woken shows when it has run, and
// that pages were taken from it when it is its turn. What is returned is of use until
// the next call.
func (r *Reader) process(pid int) (p *series.Process, rests, ok bool) {
	ran := r.ran(pid)
	h := r.held[pid]
	slept := h != nil && ran > 0 && ran == h.ran
	if slept {
		rests = (pid+r.tick)%r.refresh() != 0
		if rests || r.sparing && (pid+r.tick)%(wholeTurn*r.refresh()) != 0 && r.glance(h, &rests) {
			h.tick, h.static.tick = r.tick, r.tick
			return &h.last, rests, true
		}
	}
	s, read, ok := r.read(pid)
	if h := r.held[pid]; h != nil && ok {
		h.ran, h.last, h.static = ran, read, s
	}
	if !ok || !slept && !r.circle.launchers[pid] {
		r.stirred = true
	}
	return &read, false, ok
}

// wholeTurn is at which of its turns a process that rests is read as a whole. At the
// others its stat is, which has what others do to it most: take its memory.
const wholeTurn = 4

// glance reads the stat of a process that has not run, and says whether it is as it
// was; not ok where the process must be read as a whole.
func (r *Reader) glance(h *held, same *bool) (ok bool) {
	h.buf = r.proc.buf
	line, err := h.read("stat")
	r.proc.buf = h.buf
	if err != nil {
		return false
	}
	st, ok := parseStat(line)
	if !ok || st.started != h.last.Started {
		return false
	}
	vs := slices.Clone(h.last.Values)
	fromStat(st, r.disk, &vs)
	*same = st.parent == h.last.Parent && st.state == h.last.State && slices.Equal(vs, h.last.Values)
	if !*same {
		h.last.Parent, h.last.State, h.last.Values = st.parent, st.state, vs
	}
	return true
}

// A circle is which processes are read: those around the ones on GPUs.
type circle struct {
	listed int          // listing that it is of
	on     map[int]bool // GPUs
	pids   []int
	// launchers are those of pids that are above the ones on GPUs.
	launchers map[int]bool
}

// around is the processes around those in uses: the ones of the last sample, unless
// the table or who is on a GPU has changed.
func (r *Reader) around(uses map[int][]series.Use) []int {
	c := &r.circle
	same := c.on != nil && c.listed == r.listed && len(c.on) == len(uses)
	for pid := range uses {
		same = same && c.on[pid]
	}
	if !same {
		on := make(map[int]bool, len(uses))
		for pid := range uses {
			on[pid] = true
		}
		*c = circle{listed: r.listed, on: on}
		c.pids, c.launchers = r.table.around(uses, r.roots)
	}
	return c.pids
}

// listEvery is how many samples pass from one list of processes to the next of a
// sparing reader at least.
const listEvery = 5

// list lists the processes, if there may be others than at the last time that are of
// interest: one that was not created is not there, and where none of those on GPUs or
// below them has run, none has got a child. A PID on a GPU that is not known calls for
// a list, too.
func (r *Reader) list(uses map[int][]series.Use) error {
	since := r.tick - r.listed
	due := r.listed == 0 || since >= refreshEvery
	for pid := range uses {
		_, known := r.table.parents[pid]
		due = due || !known && !r.holders.driver[pid]
	}
	if !due && r.sparing && (since < listEvery || r.clock != nil && !r.stirred && len(r.holders.driver) == 0) {
		return nil
	}
	created := newest(&r.root)
	if !due && r.clock != nil && created == r.created && created != "" {
		return nil
	}
	r.created, r.listed, r.stirred = created, r.tick, false
	return r.table.update(&r.proc, r.tick)
}
