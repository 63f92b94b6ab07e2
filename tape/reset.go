package tape

// Reset begins a new tape in the memory of the one written so far, which must
// not be used any more. A planner that plays thousands of runs writes all of
// them into a few writers.
func (w *Writer) Reset() {
	old := &w.tape
	fresh := Tape{Marks: old.Marks[:0], bases: old.bases[:0]}
	fresh.ops.chunks = old.ops.again()
	fresh.refs.chunks = old.refs.again()
	fresh.sites.chunks = old.sites.again()
	fresh.times.chunks = old.times.again()
	fresh.blocks.bytes.chunks = old.blocks.bytes.again()
	fresh.blocks.addrs.chunks = old.blocks.addrs.again()
	fresh.blocks.allocs.chunks = old.blocks.allocs.again()
	fresh.blocks.frees.chunks = old.blocks.frees.again()
	fresh.blocks.labels.chunks = old.blocks.labels.again()
	*w = Writer{tape: fresh}
}

// again is the first chunk, emptied: it is the one that had to grow.
func (c *column[T]) again() [][]T {
	if len(c.chunks) == 0 {
		return nil
	}
	c.chunks[0] = c.chunks[0][:0]
	return c.chunks[:1]
}
