package alloc

import "github.com/plimsoll-dev/plimsoll/tape"

// pass replays block b, which is given back right after event i, as what a product
// of matrices works in. Where a free block serves it, all is afterwards as it was
// before, and only counters tell of it; where none does it is false.
func (r *replay) pass(i int, b tape.BlockID) bool {
	bytes, number, stream := r.tape.Request(b)
	d := r.devices[number]
	if bytes <= 0 || bytes >= hugeRequest || stream != 0 || r.edit.Bytes != nil || r.indices[b] != 0 ||
		!d.simple || d.clocked || d.awaited|len(d.deferred)|len(d.redirects) != 0 {
		return false
	}
	s, size, pool := d.usual(bytes, 0)
	if s == nil {
		return false
	}
	n := d.atLeast(s, size)
	if n == 0 || d.blocks[n].extent != 0 {
		return false
	}
	whole := &d.blocks[n]
	rest := whole.size - size
	passing := block{size: size, requested: bytes}
	if !d.parts(rest, pool) {
		passing.size, rest = whole.size, 0
	}
	split := whole.split()
	switch { // as cut does
	case rest == 0 && split:
		d.change(inactiveSplitBytes, pool, -passing.size)
		d.change(inactiveSplit, pool, -1)
	case rest > 0 && split:
		d.change(inactiveSplitBytes, pool, -passing.size)
	case rest > 0:
		d.raise(inactiveSplitBytes, pool, rest)
		d.raise(inactiveSplit, pool, 1)
	}
	d.handed(&passing, pool)
	if r.watches != nil {
		r.watches[number].look(d, i)
	}
	d.givenUp(&passing, pool)
	d.inactive(&passing, pool)
	switch { // as freeBlock does
	case rest == 0 && split:
		d.change(inactiveSplit, pool, 1)
		d.change(inactiveSplitBytes, pool, passing.size)
	case rest > 0 && split:
		d.change(inactiveSplitBytes, pool, passing.size)
	case rest > 0:
		d.change(inactiveSplit, pool, -1)
		d.change(inactiveSplitBytes, pool, -rest)
	}
	return true
}
