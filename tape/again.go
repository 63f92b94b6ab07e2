package tape

import "github.com/plimsoll-dev/plimsoll/unit"

// Again writes what another writer wrote, with sizes of its own for the blocks: bytes
// has one for each. The writer must be new, or reset. A planner plays one run at many
// sizes, and most differ in nothing else.
func (w *Writer) Again(t *Tape, bytes []unit.Bytes) {
	own := &w.tape
	own.ops.copy(&t.ops)
	own.refs.copy(&t.refs)
	own.sites.copy(&t.sites)
	own.blocks.addrs.copy(&t.blocks.addrs)
	own.blocks.allocs.copy(&t.blocks.allocs)
	own.blocks.frees.copy(&t.blocks.frees)
	own.blocks.labels.copy(&t.blocks.labels)
	own.windows.regions = append(own.windows.regions, t.windows.regions...)
	for _, l := range t.lanes.lanes {
		own.lanes.intern(l.device, l.stream)
	}
	own.blocks.bytes.copy(&t.blocks.bytes)
	for i, b := range bytes {
		own.blocks.bytes.set(i, own.wide.sizeCell(b))
	}
	own.Marks = append(own.Marks, t.Marks...)
}

// copy makes an empty column hold what another one does.
func (c *column[T]) copy(from *column[T]) {
	for i, chunk := range from.chunks {
		if i < len(c.chunks) {
			c.chunks[i] = append(c.chunks[i][:0], chunk...)
			continue
		}
		room := cap(chunk)
		if i > 0 {
			room = chunkLen
		}
		c.chunks = append(c.chunks, append(make([]T, 0, room), chunk...))
	}
}
