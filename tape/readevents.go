package tape

import (
	"errors"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// events reads one section of events, which stand there column by column.
func (d *tapeReader) events(c *decoder) error {
	n := c.below(chunkLen + 1)
	ops := c.take(n)
	if c.err != nil {
		return nil
	}
	if d.tape.Len()+n > maxCount {
		return ErrFull
	}
	events := make([]Event, n)
	if err := d.references(c, ops, events); err != nil {
		return err
	}
	for i := range events {
		events[i].Site = SiteID(c.below(d.tape.Sites() + 1))
	}
	var before int64
	for i := range events {
		if c.below(2) == 1 {
			before += c.int()
			events[i].Time = before
		}
	}
	if c.err != nil {
		return nil
	}
	for _, e := range events {
		d.tape.Append(e)
	}
	return nil
}

func (d *tapeReader) references(c *decoder, ops []byte, events []Event) error {
	next := d.tape.Blocks()
	var before uint64
	for i, op := range ops {
		e := &events[i]
		e.Kind, e.Phase, e.Block = Kind(op&kindMask), Phase(op>>kindBits), NoBlock
		if e.Kind >= kinds || e.Phase >= phases {
			return fmt.Errorf("event code %#x", op)
		}
		if e.Kind == Free || e.Kind == FreeRequested {
			e.Block = BlockID(next - 1 - c.below(next))
			if c.err != nil {
				return nil
			}
			if !d.ends(e.Kind, e.Block) {
				return errors.New("block freed twice")
			}
			continue
		}
		if e.Kind == Alloc {
			e.Category = Category(c.byte())
			if e.Category >= categories || next == wideFlag {
				return errors.New("category out of range or too many blocks")
			}
			next++
		}
		lane := c.below(len(d.tape.lanes.lanes))
		size := c.uint()
		e.Addr = before + uint64(c.int())
		if c.err != nil {
			return nil
		}
		before = e.Addr
		if size >= 1<<63 || e.Kind == Alloc && size > uint64(maxSize) {
			return fmt.Errorf("size %d", size)
		}
		e.Bytes = unit.Bytes(size)
		e.Device, e.Stream = d.tape.lanes.at(uint16(lane))
	}
	return nil
}

// ends notes that an event ends a block and reports whether it may: a block
// is given up at most once and freed at most once, in this order.
func (d *tapeReader) ends(k Kind, b BlockID) bool {
	word, bit := int(b)/32, uint(b)%32*2
	for len(d.ended) <= word {
		d.ended = append(d.ended, 0)
	}
	const requested, free = 1, 2
	state := d.ended[word] >> bit & 3
	if state&free != 0 || k == FreeRequested && state != 0 {
		return false
	}
	if k == Free {
		d.ended[word] |= free << bit
	} else {
		d.ended[word] |= requested << bit
	}
	return true
}
