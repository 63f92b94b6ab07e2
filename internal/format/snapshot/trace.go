package snapshot

import (
	"slices"
	"sync"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// An event is one entry of a trace as the file has it.
type event struct {
	kind   tape.Kind
	addr   uint64 // for an OOM the bytes that the driver had free
	size   uint64
	stream uint64 // handle
	pool   [2]uint64
	time   int64
	stack  uint32
}

// A trace holds the events of one device until the state before them is
// known: 24 bytes an event, in chunks that are let go of one by one while
// the tape grows.
type trace struct {
	values
	chunks   []*chunk
	count    int
	contexts []Context

	// The ledger of the events is made beside the reading of a long file:
	// noted chunks are in it, or will be when wait is done.
	ledger *ledger
	noted  int
	wait   sync.WaitGroup

	// What Facts tells of the events.
	kinds  [16]int // by tape.Kind
	others map[string]int
	peak   TracePeak

	streamNumbers map[uint64]uint16
}

// Values are what records refer to. They are only added to.
type values struct {
	wide    []uint64 // values of records that do not fit 31 bits
	streams []uint64 // handles; stream 0 is handle 0
	pools   [][2]uint64
}

const (
	chunkLen = 1 << 13
	// notedTogether is how many chunks are put into the ledger at a time
	// while the file is still being read.
	notedTogether = 16
)

type chunk struct {
	base    int64 // of the times
	records []record
}

// A record is an event in 24 bytes. Size and time have wideBit set when they
// are indices into trace.wide.
type record struct {
	addr   uint64
	size   uint32
	time   uint32 // 0 when unknown, else microseconds after the chunk's base
	stack  uint32
	stream uint16
	kind   tape.Kind
	pool   uint8
}

const (
	wideBit  = 1 << 31
	timeBias = 1 << 30 // clocks of different threads may lag behind the base
)

// add appends an event.
func (t *trace) add(e event) {
	last := len(t.chunks) - 1
	if last < 0 || len(t.chunks[last].records) == chunkLen {
		if last+1-t.noted == notedTogether {
			t.keepLedger()
		}
		t.chunks = append(t.chunks, &chunk{base: e.time})
		last++
	}
	c := t.chunks[last]
	if c.base == 0 {
		c.base = e.time
	}
	c.records = append(c.records, record{
		addr:   e.addr,
		size:   t.narrow(e.size),
		time:   t.offset(e.time, c.base),
		stack:  e.stack,
		stream: t.stream(e.stream),
		kind:   e.kind,
		pool:   t.pool(e.pool),
	})
	t.count++
}

// keepLedger puts the chunks that are full into the ledger, beside what comes
// next.
func (t *trace) keepLedger() {
	t.wait.Wait()
	if t.ledger == nil {
		t.ledger = newLedger()
	}
	v, chunks := t.values, slices.Clone(t.chunks[t.noted:])
	t.noted = len(t.chunks)
	t.wait.Go(func() { t.ledger.take(v, chunks) })
}

// finishLedger returns the ledger of all events. A trace may be nil.
func (t *trace) finishLedger() *ledger {
	if t == nil {
		return newLedger()
	}
	t.keepLedger()
	t.wait.Wait()
	return t.ledger
}

// noCompile is how PyTorch writes that nothing was compiled.
const noCompile = "N/A"

// context notes what the next event was done in, when it differs from what
// the last one was.
func (t *trace) context(compile, metadata string) {
	if compile == noCompile {
		compile = ""
	}
	if n := len(t.contexts); n > 0 && t.contexts[n-1].Compile == compile && t.contexts[n-1].Metadata == metadata {
		return
	}
	if len(t.contexts) == 0 && compile == "" && metadata == "" {
		return
	}
	t.contexts = append(t.contexts, Context{Event: t.count, Compile: compile, Metadata: metadata})
}

// each calls f with the events of chunks in order.
func (v *values) each(chunks []*chunk, f func(e event)) {
	for _, c := range chunks {
		for _, r := range c.records {
			f(v.event(r, c.base))
		}
	}
}

// drain calls f with every event in order and lets go of those that were
// passed. It stops at the first error.
func (t *trace) drain(f func(e event) error) error {
	for i, c := range t.chunks {
		for _, r := range c.records {
			if err := f(t.event(r, c.base)); err != nil {
				return err
			}
		}
		t.chunks[i] = nil
	}
	return nil
}

func (v *values) event(r record, base int64) event {
	e := event{kind: r.kind, addr: r.addr, size: v.value(r.size), stack: r.stack}
	switch {
	case r.time == 0:
	case r.time&wideBit != 0:
		e.time = int64(v.value(r.time))
	default:
		e.time = base + int64(r.time) - timeBias
	}
	if r.stream > 0 {
		e.stream = v.streams[r.stream-1]
	}
	if r.pool > 0 {
		e.pool = v.pools[r.pool-1]
	}
	return e
}

func (t *trace) narrow(v uint64) uint32 {
	if v < wideBit {
		return uint32(v)
	}
	return t.widen(v)
}

// widen gives a value a place in the wide table. Values that come again soon,
// the sizes of a loop, share one.
func (t *trace) widen(v uint64) uint32 {
	for i := len(t.wide) - 1; i >= max(0, len(t.wide)-32); i-- {
		if t.wide[i] == v {
			return wideBit | uint32(i)
		}
	}
	t.wide = append(t.wide, v)
	return wideBit | uint32(len(t.wide)-1)
}

func (v *values) value(cell uint32) uint64 {
	if cell&wideBit == 0 {
		return uint64(cell)
	}
	return v.wide[cell&^wideBit]
}

func (t *trace) offset(time, base int64) uint32 {
	if time == 0 {
		return 0
	}
	if d := time - base + timeBias; d > 0 && d < wideBit && (time < 0) == (base < 0) {
		return uint32(d)
	}
	return t.widen(uint64(time))
}

// stream numbers a handle. PyTorch makes at most 64 streams a device; a file
// with more than 65,535 has its last ones lumped together.
func (t *trace) stream(handle uint64) uint16 {
	if handle == 0 {
		return 0
	}
	n, ok := t.streamNumbers[handle]
	if !ok {
		if len(t.streams) < 1<<16-1 {
			t.streams = append(t.streams, handle)
		}
		n = uint16(len(t.streams))
		if t.streamNumbers == nil {
			t.streamNumbers = map[uint64]uint16{}
		}
		t.streamNumbers[handle] = n
	}
	return n
}

// pool numbers a pool id. Pools after the 255th count as the default pool;
// only the layout before the first event asks for them.
func (t *trace) pool(id [2]uint64) uint8 {
	if id == [2]uint64{} {
		return 0
	}
	for i, p := range t.pools {
		if p == id {
			return uint8(i + 1)
		}
	}
	if len(t.pools) == 255 {
		return 0
	}
	t.pools = append(t.pools, id)
	return uint8(len(t.pools))
}
