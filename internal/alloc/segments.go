package alloc

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// Segments returns the segments of a device and the blocks in them, sorted
// by address, as torch.cuda.memory_snapshot shows them: one entry for each
// classic segment and each run of mapped pages. Streams are not interned:
// handles tells their meaning, by StreamID. Blocks have the ids that a replay
// gave them, else NoBlock.
func (m *Simulator) Segments(device int) (segments []tape.Segment, handles []uint64) {
	d, err := m.device(device)
	if err != nil {
		return nil, nil
	}
	return d.segments(), slices.Clone(d.streams)
}

func (d *device) segments() []tape.Segment {
	var list []tape.Segment
	for i := 1; i < len(d.blocks); i++ {
		b := &d.blocks[i]
		if b.state == vacant || b.unmapped || b.prev != 0 && !d.blocks[b.prev].unmapped {
			continue
		}
		list = append(list, d.segmentAt(uint32(i)))
	}
	slices.SortFunc(list, func(a, b tape.Segment) int {
		if a.Addr < b.Addr {
			return -1
		}
		return 1
	})
	return list
}

// segmentAt collects the blocks from block i on up to the end of the segment
// or the next hole.
func (d *device) segmentAt(i uint32) tape.Segment {
	b := &d.blocks[i]
	s := d.shelves[b.shelf]
	out := tape.Segment{
		Addr: b.addr, Device: uint8(d.number), Stream: tape.StreamID(d.streamOf[s.stream]),
		Small: s.small, Expandable: b.extent != 0,
	}
	if s.pool.private != nil {
		out.Pool = s.pool.private.id
	}
	for ; i != 0 && !d.blocks[i].unmapped; i = d.blocks[i].next {
		b := &d.blocks[i]
		piece := tape.SegmentBlock{Addr: b.addr, Bytes: b.size, Block: tape.NoBlock}
		if b.state != free {
			piece.State, piece.Requested = tape.Active, b.requested
			if b.state == pending {
				piece.State = tape.PendingFree
			}
			if b.owner != 0 {
				piece.Block = tape.BlockID(b.owner - 1)
			}
		}
		out.Bytes += b.size
		out.Blocks = append(out.Blocks, piece)
	}
	return out
}
