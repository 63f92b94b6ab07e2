package tape

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// ErrInitial is returned by WriteTo for a tape whose Initial was filled by
// hand: its blocks have no ids that a reader could give them again.
var ErrInitial = errors.New("tape: initial segments were not added by AddInitial")

// WriteTo writes the tape in the format of docs/tape-format.md and returns
// the number of bytes written. The same tape always gives the same bytes.
func (t *Tape) WriteTo(w io.Writer) (int64, error) {
	e := &encoder{t: t, out: sectionWriter{w: w}}
	n, err := w.Write(append([]byte(magic), version))
	e.out.n = int64(n)
	if err != nil {
		return e.out.n, err
	}
	if !t.initialIsNumbered() {
		return e.out.n, ErrInitial
	}
	e.meta()
	e.tables()
	e.initial()
	for first := 0; first < t.Len() && e.err == nil; first += chunkLen {
		e.events(first, min(first+chunkLen, t.Len()))
	}
	e.marks()
	e.uint(uint64(t.Len()), uint64(t.Blocks()), uint64(len(t.Marks)))
	e.flush(tagEnd)
	if e.err != nil {
		return e.out.n, fmt.Errorf("write tape: %w", e.err)
	}
	return e.out.n, nil
}

// initialIsNumbered reports whether the blocks of Initial have the ids
// 0, 1, 2 ... and no other block is without an Alloc event.
func (t *Tape) initialIsNumbered() bool {
	next := 0
	for _, s := range t.Initial {
		for _, b := range s.Blocks {
			if b.State == Inactive {
				continue
			}
			if int(b.Block) != next || next >= t.Blocks() || t.blocks.allocs.at(next) != noEvent {
				return false
			}
			next++
		}
	}
	return next == t.Blocks() || t.blocks.allocs.at(next) != noEvent
}

// An encoder collects the content of one section at a time.
type encoder struct {
	t       *Tape
	out     sectionWriter
	buf     []byte
	strings map[string]uint64
	err     error
}

func (e *encoder) uint(vs ...uint64) {
	for _, v := range vs {
		e.buf = binary.AppendUvarint(e.buf, v)
	}
}

func (e *encoder) int(v int64) { e.buf = binary.AppendVarint(e.buf, v) }

func (e *encoder) text(s string) {
	e.uint(uint64(len(s)))
	e.buf = append(e.buf, s...)
}

// flush writes the content as a section, if there is any.
func (e *encoder) flush(tag byte) {
	if e.err == nil && len(e.buf) > 0 {
		e.err = e.out.write(tag, e.buf)
	}
	e.buf = e.buf[:0]
}

// full flushes when the section is long enough.
func (e *encoder) full(tag byte) {
	if len(e.buf) >= fullSection {
		e.flush(tag)
	}
}

func (e *encoder) meta() {
	for _, k := range slices.Sorted(maps.Keys(e.t.Meta)) {
		e.text(k)
		e.text(e.t.Meta[k])
		e.full(tagMeta)
	}
	e.flush(tagMeta)
}

// tables writes everything that events refer to by number.
func (e *encoder) tables() {
	e.strings = map[string]uint64{}
	for _, f := range e.t.frames.frames {
		e.string(f.Name)
		e.string(f.File)
	}
	for _, m := range e.t.Marks {
		e.string(m.Name)
	}
	e.flush(tagStrings)
	for _, f := range e.t.frames.frames {
		e.uint(e.strings[f.Name], e.strings[f.File])
		e.int(int64(f.Line))
		e.full(tagFrames)
	}
	e.flush(tagFrames)
	for s := 1; s <= e.t.Sites(); s++ {
		stack := e.t.names.at(SiteID(s))
		e.uint(uint64(len(stack)))
		for _, n := range stack {
			e.uint(uint64(n))
		}
		e.full(tagStacks)
	}
	e.flush(tagStacks)
	e.uint(e.t.streams.handles...)
	e.flush(tagStreams)
	for _, l := range e.t.lanes.lanes {
		e.buf = append(e.buf, l.device)
		e.uint(uint64(l.stream))
	}
	e.flush(tagLanes)
}

// string puts s into the table of strings once.
func (e *encoder) string(s string) {
	if _, ok := e.strings[s]; ok {
		return
	}
	e.strings[s] = uint64(len(e.strings))
	e.text(s)
	e.full(tagStrings)
}

// Bits of a segment's flags.
const (
	flagSmall      = 1
	flagExpandable = 2
)

func (e *encoder) initial() {
	for _, s := range e.t.Initial {
		var flags byte
		if s.Small {
			flags |= flagSmall
		}
		if s.Expandable {
			flags |= flagExpandable
		}
		e.buf = append(e.buf, flags, s.Device)
		e.uint(s.Addr, uint64(s.Bytes), uint64(s.Stream), s.Pool[0], s.Pool[1], uint64(s.Site), uint64(len(s.Blocks)))
		end := s.Addr
		for _, b := range s.Blocks {
			e.buf = append(e.buf, byte(b.State))
			e.int(int64(b.Addr - end))
			e.uint(uint64(b.Bytes), uint64(b.Requested), uint64(b.Site))
			if b.State != Inactive {
				e.buf = append(e.buf, byte(e.t.blocks.category(int(b.Block))))
			}
			end = b.Addr + uint64(b.Bytes)
		}
		e.full(tagInitial)
	}
	e.flush(tagInitial)
}

// events writes events first to last-1 as columns.
func (e *encoder) events(first, last int) {
	t := e.t
	e.uint(uint64(last - first))
	for i := first; i < last; i++ {
		e.buf = append(e.buf, t.ops.at(i))
	}
	e.references(first, last)
	for i := first; i < last; i++ {
		e.uint(uint64(t.sites.at(i)))
	}
	var before int64
	for i := first; i < last; i++ {
		us := t.time(i)
		if us == 0 {
			e.uint(0)
			continue
		}
		e.uint(1)
		e.int(us - before)
		before = us
	}
	e.flush(tagEvents)
}

// references writes what each event is about: a free names its block by how
// many blocks began since, everything else describes itself.
func (e *encoder) references(first, last int) {
	t := e.t
	next := t.blocksBefore(first)
	var before uint64
	for i := first; i < last; i++ {
		kind, ref := Kind(t.ops.at(i)&kindMask), int(t.refs.at(i))
		if kind == Free || kind == FreeRequested {
			e.uint(uint64(next - 1 - ref))
			continue
		}
		ev := t.Event(i)
		lane := t.lane(ev)
		if kind == Alloc {
			e.buf = append(e.buf, uint8(ev.Category))
			next++
		}
		e.uint(uint64(lane), uint64(ev.Bytes))
		e.int(int64(ev.Addr - before))
		before = ev.Addr
	}
}

// blocksBefore returns the number of blocks that existed before event i.
func (t *Tape) blocksBefore(i int) int {
	lo, hi := 0, t.Blocks()
	for lo < hi {
		mid := (lo + hi) / 2
		if a := t.blocks.allocs.at(mid); a == noEvent || int(a) < i {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

func (e *encoder) marks() {
	marks := slices.Clone(e.t.Marks)
	slices.SortStableFunc(marks, func(a, b Mark) int { return a.Event - b.Event })
	before := 0
	for _, m := range marks {
		e.uint(uint64(m.Event - before))
		e.buf = append(e.buf, m.Device, byte(m.Kind))
		e.uint(e.strings[m.Name])
		e.int(m.Value)
		before = m.Event
		if len(e.buf) >= fullSection {
			e.flush(tagMarks)
		}
	}
	e.flush(tagMarks)
}
