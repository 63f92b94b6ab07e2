package tape

import (
	"errors"
	"fmt"
	"math"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Builder makes a tape out of events that name their blocks by address, as
// recordings do, and refuses what cannot have happened. The zero value is
// ready to use.
type Builder struct {
	tape  Tape
	inUse [256]map[uint64]held // by device and address
}

// A held says which block is at an address: its id, and whether it was given
// up and waits for another stream.
type held uint64

const givenUp held = 1 << 32

func (h held) block() BlockID { return BlockID(h) }

// Errors of a Builder, wrapped with the event they are about.
var (
	ErrLive    = errors.New("address is in use")     // an Alloc where a block lives
	ErrNotLive = errors.New("address is not in use") // a free where no block lives
	ErrEvent   = errors.New("impossible event")      // a kind, phase, category or size out of range
	ErrFull    = errors.New("tape is full")          // too many events, blocks or streams
)

// Tape returns the tape made so far. It stays connected to the builder, so
// that sites and streams can be interned before events use them.
func (b *Builder) Tape() *Tape { return &b.tape }

// Initial adds a segment that existed before the first event.
func (b *Builder) Initial(s Segment) error {
	if b.tape.Len() > 0 {
		return fmt.Errorf("initial segment at %#x: %w after the first event", s.Addr, ErrEvent)
	}
	if !b.tape.AddInitial(s) {
		return fmt.Errorf("initial segment at %#x: %w", s.Addr, ErrFull)
	}
	for _, p := range b.tape.Initial[len(b.tape.Initial)-1].Blocks {
		if p.State == Inactive {
			continue
		}
		if _, taken := b.inUse[s.Device][p.Addr]; taken {
			return fmt.Errorf("initial block at %#x: %w", p.Addr, ErrLive)
		}
		if p.State == Active {
			b.put(s.Device, p.Addr, held(p.Block))
		} else {
			b.put(s.Device, p.Addr, held(p.Block)|givenUp)
		}
	}
	return nil
}

// Add appends an event and returns its index. Frees find their block by
// device and address; e.Block is not looked at.
func (b *Builder) Add(e Event) (int, error) {
	if err := b.check(&e); err != nil {
		return 0, fmt.Errorf("event %d, %s at %#x: %w", b.tape.Len(), e.Kind, e.Addr, err)
	}
	switch e.Kind {
	case Alloc:
		e.Block = BlockID(b.tape.Blocks())
		b.put(e.Device, e.Addr, held(e.Block))
	case FreeRequested:
		b.put(e.Device, e.Addr, held(e.Block)|givenUp)
	case Free:
		delete(b.inUse[e.Device], e.Addr)
	}
	return b.tape.Append(e), nil
}

// Mend appends an event of a recording that lacks some frees. A block that is in
// use where another is made is freed first, by no site, and freed is true; a free of
// what is not in use is left out, and left is true.
func (b *Builder) Mend(e Event) (freed, left bool, err error) {
	_, err = b.Add(e)
	switch {
	case errors.Is(err, ErrLive):
		free := e
		free.Kind, free.Site, free.Bytes = Free, 0, 0
		if _, err = b.Add(free); err == nil {
			_, err = b.Add(e)
		}
		return true, false, err
	case errors.Is(err, ErrNotLive):
		return false, true, nil
	}
	return false, false, err
}

// Live returns the block in use at an address of a device, pending frees
// included.
func (b *Builder) Live(device uint8, addr uint64) (BlockID, bool) {
	h, ok := b.inUse[device][addr]
	return h.block(), ok
}

// check refuses what cannot have happened, and says which block an event
// gives up.
func (b *Builder) check(e *Event) error {
	if e.Kind >= kinds || e.Phase >= phases || e.Category >= categories || e.Bytes < 0 || e.Bytes > maxSize {
		return ErrEvent
	}
	if b.tape.Len() == math.MaxUint32 || b.tape.Blocks() == wideFlag {
		return ErrFull
	}
	if _, ok := b.tape.lanes.intern(e.Device, e.Stream); !ok {
		return ErrFull
	}
	if !e.Kind.HasBlock() {
		return nil
	}
	h, taken := b.inUse[e.Device][e.Addr]
	switch {
	case e.Kind == Alloc && taken:
		return ErrLive
	case e.Kind == FreeRequested && (!taken || h&givenUp != 0), e.Kind == Free && !taken:
		return ErrNotLive
	}
	e.Block = h.block()
	return nil
}

// maxSize is the largest size of a block or segment. PyTorch refuses requests
// of 2^60 bytes and more.
const maxSize unit.Bytes = 1 << 60

func (b *Builder) put(device uint8, addr uint64, h held) {
	if b.inUse[device] == nil {
		b.inUse[device] = map[uint64]held{}
	}
	b.inUse[device][addr] = h
}
