package tape

import "github.com/plimsoll-dev/plimsoll/unit"

// A Writer makes the tape of a run that was computed and not recorded: its
// blocks have ids and no addresses, and all of them are on one device. The zero
// value is ready to use.
//
// It trusts its caller as Append does.
type Writer struct {
	Phase  Phase    // of the events that follow
	Site   SiteID   // of the events that follow
	Stream StreamID // of the blocks that follow; one that Tape has interned
	tape   Tape
}

// Tape returns the tape written so far. It stays connected to the writer.
func (w *Writer) Tape() *Tape { return &w.tape }

// Alloc adds a block and returns its id.
func (w *Writer) Alloc(bytes unit.Bytes, c Category) BlockID {
	t := &w.tape
	id := t.blocks.append(t.wide.sizeCell(bytes), t.windows.cell(0, &t.wide), t.lane(Event{Stream: w.Stream}), c, uint32(t.ops.len()))
	w.append(Alloc, id)
	return id
}

// Free gives a block back.
func (w *Writer) Free(b BlockID) {
	if frees := &w.tape.blocks.frees; frees.at(int(b)) == noEvent {
		frees.set(int(b), uint32(w.tape.ops.len()))
	}
	w.append(Free, b)
}

// append is Append for an event without a time, whose block is known.
func (w *Writer) append(k Kind, b BlockID) {
	w.tape.ops.append(uint8(k) | uint8(w.Phase)<<kindBits)
	w.tape.refs.append(uint32(b))
	w.tape.sites.append(uint32(w.Site))
}

// Mark puts a note before the next event.
func (w *Writer) Mark(k MarkKind, name string, value int64) {
	w.tape.Marks = append(w.tape.Marks, Mark{Event: w.tape.Len(), Kind: k, Name: name, Value: value})
}
