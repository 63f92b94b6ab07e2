package tape

import "github.com/plimsoll-dev/plimsoll/unit"

// A Writer makes the tape of a run that was computed and not recorded: its
// blocks have ids and no addresses, and all of them are on one device. The zero
// value is ready to use.
//
// It trusts its caller as Append does.
type Writer struct {
	Phase Phase  // of the events that follow
	Site  SiteID // of the events that follow
	tape  Tape
}

// Tape returns the tape written so far. It stays connected to the writer.
func (w *Writer) Tape() *Tape { return &w.tape }

// Alloc adds a block and returns its id.
func (w *Writer) Alloc(bytes unit.Bytes, c Category) BlockID {
	id := BlockID(w.tape.Blocks())
	w.tape.Append(Event{Kind: Alloc, Phase: w.Phase, Category: c, Bytes: bytes, Site: w.Site})
	return id
}

// Free gives a block back.
func (w *Writer) Free(b BlockID) {
	w.tape.Append(Event{Kind: Free, Phase: w.Phase, Block: b, Site: w.Site})
}

// Mark puts a note before the next event.
func (w *Writer) Mark(k MarkKind, name string, value int64) {
	w.tape.Marks = append(w.tape.Marks, Mark{Event: w.tape.Len(), Kind: k, Name: name, Value: value})
}
