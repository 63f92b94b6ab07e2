package explain

import (
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// mostBrief is how many events the life of a block lasts that one operator
// makes and the next few use. Attention scores, the longest of these in
// eager programs, take some twenty.
const mostBrief = 64

// A briefness is what is known of how long the blocks of a place last.
type briefness uint8

const (
	neverSeen briefness = iota
	allBrief
	someLast
)

// lasting are the kinds of blocks that are needed as a whole, however short
// the recording saw them live.
var lasting = map[tape.Category]bool{
	tape.Parameter: true, tape.Buffer: true, tape.Gradient: true, tape.OptimizerState: true, tape.MasterWeight: true, tape.KVCache: true,
}

// brief tells whether all blocks of a place, from some size on, are given up
// soon after they are made, in the phase and step that made them. Only these
// can be made part by part: what stays to the end, or over steps, is needed
// as a whole.
func (r *Recording) brief(place Place, from unit.Bytes) briefness {
	number, known := r.places.index[place]
	out := neverSeen
	for i := 0; known && i < r.Tape.Blocks(); i++ {
		b := r.Tape.Block(tape.BlockID(i))
		if b.Device != r.Device || b.Bytes < from || r.places.ofBlock(b) != number {
			continue
		}
		if out = allBrief; b.Alloc < 0 || lasting[b.Category] || !r.soon(b) {
			return someLast
		}
	}
	return out
}

// soon reports whether a block ends soon after it began. One that the
// recording does not see end is as old as the recording says.
func (r *Recording) soon(b tape.Block) bool {
	end := b.Free
	if end < 0 {
		end = r.Tape.Len() - 1
	}
	return end-b.Alloc <= mostBrief && r.stepAt(b.Alloc) == r.stepAt(end) && r.Tape.PhaseOf(b.Alloc) == r.Tape.PhaseOf(end)
}

// inParts reports whether what a failed request was for can be made part by
// part: what came from its place before was brief, or nothing did and its
// phase makes none of what stays.
func (r *Recording) inParts(f *Failure) bool {
	switch r.brief(f.Place, f.Rounded/2) {
	case allBrief:
		return true
	case neverSeen:
		return f.Phase == tape.Forward || f.Phase == tape.Loss || f.Phase == tape.Eval
	}
	return false
}
