package idle

import (
	"math"
	"sync"
)

// A room is where lines and masks are made. A question makes hundreds that are of no
// use after its answer, and it is asked of every GPU again and again, so their memory
// is used again. The zero room is empty.
type room struct {
	slabs    [][]float64
	at, used int // slabs that are full, and how much of the next is used
}

// slabNumbers is how many numbers are made room for at once: 64 KiB.
const slabNumbers = 8192

// take returns room for n numbers, with whatever they were.
func (r *room) take(n int) []float64 {
	if n > slabNumbers {
		return make([]float64, n)
	}
	if r.used+n > slabNumbers {
		r.at, r.used = r.at+1, 0
	}
	if r.at == len(r.slabs) {
		r.slabs = append(r.slabs, make([]float64, slabNumbers))
	}
	from := r.used
	r.used += n
	return r.slabs[r.at][from:r.used:r.used]
}

// line is a line of n samples, of which no number is known.
func (r *room) line(n int) line {
	l := line(r.take(n))
	for i := range l {
		l[i] = math.NaN()
	}
	return l
}

// mask is a mask of n samples, which chooses none.
func (r *room) mask(n int) mask {
	m := mask(r.take(n))
	clear(m)
	return m
}

// where chooses of the samples of in those whose number is known and that yes holds
// for.
func (r *room) where(l line, in mask, yes func(float64) bool) mask {
	out := r.mask(len(l))
	for i, v := range l {
		if !math.IsNaN(v) && yes(v) {
			out[i] = in.weight(i)
		}
	}
	return out
}

// ratio divides lines number by number.
func (r *room) ratio(a, b line) line {
	out := r.line(len(a))
	for i := range a {
		if b[i] > 0 {
			out[i] = a[i] / b[i]
		}
	}
	return out
}

// rooms are those that nobody uses, until the garbage collector takes them.
var rooms = sync.Pool{New: func() any { return new(room) }}

func newRoom() *room { return rooms.Get().(*room) }

// leave gives the room to the next. Nothing that was made in it may be used again.
func (r *room) leave() {
	r.at, r.used = 0, 0
	rooms.Put(r)
}
