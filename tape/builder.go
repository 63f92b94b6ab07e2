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
	tape    Tape
	live    map[place]BlockID // in use
	pending map[place]BlockID // given up, not yet free
}

// A place is an address of one device.
type place struct {
	device uint8
	addr   uint64
}

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
		at := place{s.Device, p.Addr}
		if p.State == Inactive {
			continue
		}
		if b.taken(at) {
			return fmt.Errorf("initial block at %#x: %w", p.Addr, ErrLive)
		}
		if p.State == Active {
			put(&b.live, at, p.Block)
		} else {
			put(&b.pending, at, p.Block)
		}
	}
	return nil
}

// Add appends an event and returns its index. Frees find their block by
// device and address; e.Block is not looked at.
func (b *Builder) Add(e Event) (int, error) {
	if err := b.check(e); err != nil {
		return 0, fmt.Errorf("event %d, %s at %#x: %w", b.tape.Len(), e.Kind, e.Addr, err)
	}
	at := place{e.Device, e.Addr}
	switch e.Kind {
	case Alloc:
		e.Block = BlockID(b.tape.Blocks())
		put(&b.live, at, e.Block)
	case FreeRequested:
		e.Block = b.live[at]
		delete(b.live, at)
		put(&b.pending, at, e.Block)
	case Free:
		id, ok := b.pending[at]
		if !ok {
			id = b.live[at]
			delete(b.live, at)
		}
		e.Block = id
		delete(b.pending, at)
	}
	return b.tape.Append(e), nil
}

// Live returns the block in use at an address of a device, pending frees
// included.
func (b *Builder) Live(device uint8, addr uint64) (BlockID, bool) {
	at := place{device, addr}
	if id, ok := b.live[at]; ok {
		return id, true
	}
	id, ok := b.pending[at]
	return id, ok
}

func (b *Builder) check(e Event) error {
	if e.Kind >= kinds || e.Phase >= phases || e.Category >= categories || e.Bytes < 0 || e.Bytes > maxSize {
		return ErrEvent
	}
	if b.tape.Len() == math.MaxUint32 || b.tape.Blocks() == wideFlag {
		return ErrFull
	}
	if _, ok := b.tape.lanes.intern(e.Device, e.Stream); !ok {
		return ErrFull
	}
	at := place{e.Device, e.Addr}
	switch e.Kind {
	case Alloc:
		if b.taken(at) {
			return ErrLive
		}
	case FreeRequested:
		if _, ok := b.live[at]; !ok {
			return ErrNotLive
		}
	case Free:
		if !b.taken(at) {
			return ErrNotLive
		}
	}
	return nil
}

// maxSize is the largest size of a block or segment. PyTorch refuses requests
// of 2^60 bytes and more.
const maxSize unit.Bytes = 1 << 60

func (b *Builder) taken(at place) bool {
	if _, ok := b.live[at]; ok {
		return true
	}
	_, ok := b.pending[at]
	return ok
}

func put(m *map[place]BlockID, at place, id BlockID) {
	if *m == nil {
		*m = map[place]BlockID{}
	}
	(*m)[at] = id
}
