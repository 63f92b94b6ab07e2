package samples

import (
	"encoding/binary"
	"slices"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A cell is one number of one thing in one sample.
type cell struct {
	v      int64
	status series.Status
}

// A thing is an entry of a shape: a device, a process, a use.
type thing struct {
	kind     int   // place in the schema's kinds
	previous int   // place in the shape before, -1 for a new thing
	id       ident // tells it from others of the sample; writers only
	from     int   // place of its first cell in a row
}

// An ident tells things of one sample apart.
type ident struct {
	kind    int
	a, b, c int64
}

// A stream is what a segment has had of one host so far.
type stream struct {
	things []thing
	last   []cell // by thing; v of a cell that is not OK is the last that was
	still  bool   // each thing is the one at its place before; readers only
}

// Limits of one frame. A cell takes 16 bytes in memory.
const (
	mostCells   = 2 << 20
	mostThings  = 1 << 17
	mostRows    = 1024
	mostStreams = 4096
	mostString  = 64 << 10
	mostTexts   = 1 << 20
)

// base is the row before the first of a group with the given things: what s had
// of each of them last, zeros for new ones.
func (s *stream) base(sch *schema, things []thing, width int) []cell {
	row := make([]cell, width)
	for _, t := range things {
		if t.previous < 0 {
			continue
		}
		n := sch.kinds[t.kind].width()
		from := s.things[t.previous].from
		copy(row[t.from:t.from+n], s.last[from:from+n])
	}
	return row
}

// appendGroup writes rows of s, which all have the given things, and moves s on.
func (s *stream) appendGroup(b []byte, sch *schema, things []thing, rows [][]cell) []byte {
	b = binary.AppendUvarint(b, uint64(len(rows)))
	if sameShape(s.things, things) {
		b = append(b, 0)
	} else {
		b = binary.AppendUvarint(b, uint64(len(things)))
		for _, t := range things {
			b = binary.AppendUvarint(b, uint64(t.kind))
			b = binary.AppendUvarint(b, uint64(t.previous+1))
		}
	}
	row := s.base(sch, things, len(rows[0]))
	e := newEncoder()
	for _, t := range things {
		l := &sch.kinds[t.kind]
		for j := range l.width() {
			at := t.from + j
			if j >= len(l.fields) {
				packStatuses(e, l.statuses[j-len(l.fields)], rows, at, &row[at])
			}
			packNumbers(e, l.numbers[j], rows, at, &row[at], j < len(l.fields))
		}
	}
	packed := e.end()
	b = binary.AppendUvarint(b, uint64(len(packed)))
	b = append(b, packed...)
	s.things, s.last = things, row
	return b
}

// sameShape reports whether each thing is the one at its place before.
func sameShape(before, now []thing) bool {
	if len(before) != len(now) {
		return false
	}
	for i, t := range now {
		if t.previous != i || before[i].kind != t.kind {
			return false
		}
	}
	return true
}

// packStatuses packs the statuses of a column: whether one differs from the last
// of the group before, and if so each.
func packStatuses(e *encoder, m *model, rows [][]cell, at int, last *cell) {
	for _, r := range rows {
		if r[at].status == last.status {
			continue
		}
		e.bit(&m.same, 1)
		for _, r := range rows {
			e.number(m, int64(r[at].status))
			last.status = r[at].status
		}
		return
	}
	e.bit(&m.same, 0)
}

// packNumbers packs the numbers of a column that are there, as differences: whether
// one differs from the last of the group before, and if so each. A column without
// any is left out.
func packNumbers(e *encoder, m *model, rows [][]cell, at int, last *cell, always bool) {
	some, same := false, true
	for _, r := range rows {
		if always || r[at].status == series.OK {
			some, same = true, same && r[at].v == last.v
		}
	}
	switch {
	case !some:
		return
	case same:
		e.bit(&m.same, 0)
		return
	}
	e.bit(&m.same, 1)
	stride := strideOf(rows, at, last.v, always)
	e.number(m.stride, int64(stride))
	for _, r := range rows {
		if always || r[at].status == series.OK {
			e.number(m, (r[at].v-last.v)/strides[stride])
			last.v = r[at].v
		}
	}
}

// strides are what all differences of a column may be multiples of: pages, ticks
// of a hundredth of a second, whole percents, steps of clocks. They are part of the
// format.
var strides = [...]int64{1, 10, 100, 150, 512, 1000, 4096, 1 << 16, 1 << 20}

// strideOf is the place of the longest stride of a column's differences.
func strideOf(rows [][]cell, at int, last int64, always bool) int {
	for i := len(strides) - 1; i > 0; i-- {
		fits, before := true, last
		for _, r := range rows {
			if always || r[at].status == series.OK {
				fits, before = fits && (r[at].v-before)%strides[i] == 0, r[at].v
			}
		}
		if fits {
			return i
		}
	}
	return 0
}

// A group is what appendGroup wrote, read again.
type group struct {
	things []thing
	width  int
	cells  []cell // row after row
}

func (g *group) rows() int { return len(g.cells) / g.width }

// readGroup reads a group and moves s on. room is how many cells may be made.
func (s *stream) readGroup(d *decoder, sch *schema, room int) group {
	rows := int(min(d.uvarint(), mostRows+1))
	things := s.readShape(d, sch)
	g := group{things: things}
	for _, t := range things {
		g.width += sch.kinds[t.kind].width()
	}
	if rows == 0 || rows > mostRows || g.width == 0 || g.width > room/rows {
		d.fail("a group of %d samples with %d numbers each is none that there can be", rows, g.width)
	}
	if d.bad != nil {
		return group{}
	}
	row := s.base(sch, things, g.width)
	u := newUnpacker(d.bytes(d.count(mostRaw, "bytes of numbers")))
	if d.bad != nil {
		return group{}
	}
	g.cells = make([]cell, rows*g.width)
	ok := okCode(sch.statuses)
	for _, t := range things {
		l := &sch.kinds[t.kind]
		for j := range l.width() {
			at := t.from + j
			if j >= len(l.fields) {
				g.readStatuses(u, l.statuses[j-len(l.fields)], at, &row[at])
			}
			g.readNumbers(u, l.numbers[j], at, &row[at], j < len(l.fields), ok)
		}
	}
	if u.broken() {
		d.fail("a group has fewer numbers than it says")
	}
	s.things, s.last = things, row
	return g
}

// okCode is the number that stands for series.OK in a file, 255 for none.
func okCode(statuses []series.Status) series.Status {
	for i, st := range statuses {
		if st == series.OK {
			return series.Status(i)
		}
	}
	return 255
}

// readShape reads the things of a group; they are those of the group before where
// none are listed.
func (s *stream) readShape(d *decoder, sch *schema) []thing {
	n := d.count(mostThings, "things in a sample")
	if n == 0 {
		if !s.still {
			s.things, s.still = slices.Clone(s.things), true
			for i := range s.things {
				s.things[i].previous = i
			}
		}
		return s.things
	}
	things, from := make([]thing, 0, n), 0
	s.still = false
	for range n {
		kind, previous := d.uvarint(), d.uvarint()
		if kind >= uint64(len(sch.kinds)) || previous > uint64(len(s.things)) {
			d.fail("a thing of kind %d is none that there can be", kind)
			return nil
		}
		t := thing{kind: int(kind), previous: int(previous) - 1, from: from}
		if t.previous >= 0 && s.things[t.previous].kind != t.kind {
			d.fail("a thing changes its kind")
			return nil
		}
		things = append(things, t)
		from += sch.kinds[kind].width()
	}
	return things
}

// readStatuses fills the statuses of a column.
func (g *group) readStatuses(u *unpacker, m *model, at int, last *cell) {
	same := u.bit(&m.same) == 0
	for i := at; i < len(g.cells); i += g.width {
		if !same {
			last.status = series.Status(u.number(m))
		}
		g.cells[i].status = last.status
	}
}

// readNumbers fills the numbers of a column. Statuses are still the file's own
// numbers here.
func (g *group) readNumbers(u *unpacker, m *model, at int, last *cell, always bool, ok series.Status) {
	some := always
	for i := at; i < len(g.cells) && !some; i += g.width {
		some = g.cells[i].status == ok
	}
	if !some {
		return
	}
	same := u.bit(&m.same) == 0
	stride := int64(1)
	if !same {
		stride = strides[uint64(u.number(m.stride))%uint64(len(strides))]
	}
	for i := at; i < len(g.cells); i += g.width {
		if !always && g.cells[i].status != ok {
			continue
		}
		if !same {
			last.v += u.number(m) * stride
		}
		g.cells[i].v = last.v
	}
}
