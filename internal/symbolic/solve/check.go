package solve

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// A Check says how a tape agrees with a recording that it was not solved from.
type Check struct {
	Dims          symbolic.Dims
	Events, Equal int // of the recording; in the same place with the same size
	Played        int
	Peak, Want    int64  // highest sum of blocks, in units of 512 bytes rounded up
	First         string // the first difference, for people
}

// OK reports whether everything is equal.
func (c *Check) OK() bool { return c.Equal == c.Events && c.Played == c.Events && c.Peak == c.Want }

// Result is what a tape keeps of the check. Events that were played and are not
// in the recording count against those that are equal.
func (c *Check) Result() symbolic.Check {
	more := max(c.Played-c.Events, 0)
	return symbolic.Check{Events: c.Events, Equal: max(c.Equal-more, 0), Peak: float64(c.Peak)/float64(max(c.Want, 1)) - 1}
}

// micros are the steps that the recorder runs.
var micros = []int{1, 1, 2}

// Verify plays a tape at the dimensions of a recording and compares event by
// event; the order of frees between two allocations makes no difference.
func Verify(t *symbolic.Tape, r *Recording) (*Check, error) {
	c := &Check{Dims: r.Job.Dims}
	var w tape.Writer
	plan := symbolic.Plan{Train: r.Job.Mode == "train", Micros: micros, Sites: true}
	if !plan.Train {
		plan.Micros = []int{1, 1}
	}
	if r.Job.Mode == "infer" {
		plan.Micros, plan.Decode = []int{1}, 3
	}
	env := symbolic.Env{Dims: r.Job.Dims, Device: r.Job.Device, Kinds: r.Kinds}
	var err error
	if r.isScript() {
		_, err = t.PlayScript(env, plan, &w)
	} else {
		_, err = t.Play(env, plan, &w, nil)
	}
	if err != nil {
		return nil, err
	}
	got := runsOf(w.Tape())
	want := r.runs()
	c.Played, c.Events = w.Tape().Len(), r.end()
	for g, w := 0, 0; g < len(got) && w < len(want); g, w = g+1, w+1 {
		if got[g].bytes != want[w].bytes {
			if c.First == "" {
				c.First = fmt.Sprintf("allocation %d: %d bytes recorded, %d played, %s; before it %s", w, want[w].bytes, got[g].bytes, got[g].what, got[max(g-1, 0)].what)
			}
			more, less := resume(got[g:], want[w:])
			g, w = g+more, w+less
		}
		if got[g].bytes == want[w].bytes {
			c.Equal++
		}
		if got[g].freed == want[w].freed {
			c.Equal += want[w].frees
		} else if c.First == "" {
			c.First = fmt.Sprintf("after allocation %d, %s: %d frees of %d bytes recorded, %d of %d played", w, got[g].what, want[w].frees, want[w].freed, got[g].frees, got[g].freed)
		}
	}
	c.Peak, c.Want = peakOf(got), peakOf(want)
	return c, nil
}

// within is how far resume looks.
const within = 48

// resume says how many allocations of each side to pass over until both agree
// again for a few, so that one too many does not make all that follow differ.
// Where they do not, sizes differ and the places are the same.
func resume(got, want []stretch) (more, less int) {
	for skip := 1; skip <= within; skip++ {
		if agree(got, want, skip, 0) {
			return skip, 0
		}
		if agree(got, want, 0, skip) {
			return 0, skip
		}
	}
	return 0, 0
}

// agree reports whether four allocations are equal from the given places on.
func agree(got, want []stretch, g, w int) bool {
	const few = 4
	if g+few > len(got) || w+few > len(want) {
		return false
	}
	for k := range few {
		if got[g+k].bytes != want[w+k].bytes {
			return false
		}
	}
	return true
}

// A stretch is an allocation and the frees that follow it.
type stretch struct {
	bytes int64
	frees int
	freed int64
	what  string
}

func runsOf(t *tape.Tape) []stretch {
	var list []stretch
	for i := range t.Len() {
		e := t.Event(i)
		if e.Kind == tape.Alloc {
			what := ""
			if f := t.Site(e.Site); len(f) > 0 {
				what = f[0].Name + " " + f[0].File
			}
			list = append(list, stretch{bytes: int64(e.Bytes), what: fmt.Sprint(e.Phase, " ", what)})
			continue
		}
		if len(list) > 0 {
			last := &list[len(list)-1]
			last.frees++
			last.freed += rounded(int64(t.Block(e.Block).Bytes))
		}
	}
	return list
}

func (r *Recording) runs() []stretch {
	var list []stretch
	var bytes []int64
	for _, e := range r.events[:r.end()] {
		if !e.free {
			list = append(list, stretch{bytes: e.bytes})
			bytes = append(bytes, e.bytes)
			continue
		}
		last := &list[len(list)-1]
		last.frees++
		last.freed += rounded(bytes[e.alloc])
	}
	return list
}

// end is where the last step ends; what follows is the end of the process.
func (r *Recording) end() int {
	for _, m := range r.marks {
		if m.scope == "end" {
			return m.at
		}
	}
	return len(r.events)
}

func rounded(b int64) int64 { return max((b+511)/512*512, 512) }

func peakOf(list []stretch) int64 {
	var now, top int64
	for _, s := range list {
		now += rounded(s.bytes)
		top = max(top, now)
		now -= s.freed
	}
	return top
}
