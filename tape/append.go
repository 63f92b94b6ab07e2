package tape

// Append adds an event and returns its index.
//
// An Alloc starts a new block, whose id is the next one whatever e.Block
// says; the block takes the event's bytes, address, stream, device and
// category. A Free or FreeRequested must name a block below Blocks(). Append
// trusts its caller; input that may be wrong goes through a Builder.
func (t *Tape) Append(e Event) (index int) {
	index = t.Len()
	var ref uint32
	switch {
	case e.Kind == Alloc:
		ref = uint32(t.appendBlock(e.Bytes, e.Addr, t.lane(e), e.Category, uint32(index)))
	case e.Kind.HasBlock():
		ref = uint32(e.Block)
		if t.blocks.frees.at(int(ref)) == noEvent {
			t.blocks.frees.set(int(ref), uint32(index))
		}
	default:
		ref = t.asides.append(t.wide.sizeCell(e.Bytes), t.windows.cell(e.Addr, &t.wide), t.lane(e))
	}
	t.ops.append(uint8(e.Kind) | uint8(e.Phase)<<kindBits)
	t.refs.append(ref)
	t.sites.append(uint32(e.Site))
	t.appendTime(e.Time)
	return index
}

// lane is the event's device and stream; when all lanes are taken it is the
// first one, which a Builder refuses before.
func (t *Tape) lane(e Event) uint16 {
	n, _ := t.lanes.intern(e.Device, e.Stream)
	return n
}
