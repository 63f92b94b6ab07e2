package alloc

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Replay feeds a tape to a simulated allocator on devices of the given
// capacity, 0 for no limit: what PyTorch, with these settings, would have
// done with the same requests in the same order.
//
// Segment events of the tape are not inputs; they are what it did at the
// time. A request that fails ends the replay, since the program would have
// ended there; a failure that the tape itself records does not when it fails
// here too, since the program went on.
func Replay(t *tape.Tape, s Settings, capacity unit.Bytes) (*Timeline, error) {
	return ReplayCurve(t, s, capacity, 0)
}

// ReplayCurve is Replay with a curve of at most the given number of points
// for each device.
func ReplayCurve(t *tape.Tape, s Settings, capacity unit.Bytes, points int) (*Timeline, error) {
	n := t.Len()
	points = max(min(points, n), 0)
	starts := make([]int, points)
	for p := range starts {
		starts[p] = p * n / points
	}
	return ReplayStretches(t, s, capacity, starts)
}

// ReplayStretches is Replay with a curve whose points stand at the given
// events, which must ascend: each holds the highest levels from there to the
// next, or to the end.
func ReplayStretches(t *tape.Tape, s Settings, capacity unit.Bytes, starts []int) (*Timeline, error) {
	return ReplayEditedStretches(t, s, capacity, Edit{}, starts)
}

// A replay is a tape on its way through the allocators of its devices.
type replay struct {
	tape     *tape.Tape
	settings Settings
	capacity unit.Bytes
	devices  []*device
	watches  []watch
	indices  []uint32 // of the tape's blocks in their device, 0 while there is none
	owners   []uint8  // device of the tape's blocks; nil when there is only one
	streams  [][]int  // the device's index of the tape's streams, by device; -1 unknown
	oom      *OOMEvent
	changes  []tape.Mark // the tape's changes of pool and of the limit that are still to come
	edit     Edit
	cuts     []Cut    // of the edit that are still to come
	current  []PoolID // that allocations are redirected to, by device
}

func newReplay(t *tape.Tape, s Settings, capacity unit.Bytes, e Edit) (*replay, error) {
	if s.Backend == "cudaMallocAsync" {
		return nil, ErrBackend
	}
	r := &replay{tape: t, settings: s, capacity: capacity, indices: make([]uint32, t.Blocks()), edit: e, cuts: e.Cuts}
	for n := range t.Devices() {
		k := newBooks(capacity)
		r.devices = append(r.devices, newDevice(n, s, k.total, k))
		r.streams = append(r.streams, nil)
		r.current = append(r.current, PoolID{})
	}
	marks := t.Marks
	if len(e.Marks) > 0 {
		marks = append(slices.Clone(marks), e.Marks...)
		slices.SortStableFunc(marks, func(a, b tape.Mark) int { return cmp.Compare(a.Event, b.Event) })
	}
	for _, m := range marks {
		if (m.Kind == tape.MarkPool || m.Kind == tape.MarkFraction) && int(m.Device) < len(r.devices) {
			r.changes = append(r.changes, m)
		}
	}
	if len(r.devices) > 1 {
		r.owners = make([]uint8, t.Blocks())
	}
	for _, d := range r.devices {
		if err := r.begin(d); err != nil {
			return nil, fmt.Errorf("replay on device %d: %w", d.number, err)
		}
	}
	return r, nil
}

// begin puts the initial state of the tape on a device. Memory that is only
// cached goes if the device is too small for it.
func (r *replay) begin(d *device) error {
	if r.edit.Anew {
		r.anew(d)
		return nil
	}
	err := d.place(r.tape.Initial, r.tape.StreamHandle, func(b tape.BlockID, i uint32) { r.put(b, d, i) })
	if err != nil {
		return err
	}
	k := d.driver.(*books)
	for i := range r.tape.Initial {
		s := &r.tape.Initial[i]
		if int(s.Device) == d.number {
			k.used += s.Bytes.RoundUp(granularity)
			k.above(s.Addr + uint64(s.Bytes))
		}
	}
	for i := range d.extents {
		e := &d.extents[i]
		k.above(e.addr + uint64(e.size))
	}
	k.next = (k.next + uint64(granularity) - 1) &^ uint64(granularity-1)
	if k.used > k.total {
		d.releaseCached()
		r.forget(d)
	}
	if k.used > k.total && r.oom == nil {
		r.oom = &OOMEvent{Event: -1, Device: d.number, Block: tape.NoBlock, Err: &OOMError{
			Version: d.settings.Version, Device: d.number, Total: d.total, Allocated: d.current(allocatedBytes), Reserved: d.reserved,
		}}
	}
	return nil
}

func (r *replay) put(b tape.BlockID, d *device, i uint32) {
	if int(b) >= len(r.indices) {
		return
	}
	r.indices[b] = i
	if r.owners != nil {
		r.owners[b] = uint8(d.number)
	}
}

// stream returns the device's index of a stream of the tape.
func (r *replay) stream(d *device, s tape.StreamID) int {
	if s == 0 {
		return 0
	}
	known := r.streams[d.number]
	if int(s) < len(known) && known[s] >= 0 {
		return known[s]
	}
	for len(known) <= int(s) {
		known = append(known, -1)
	}
	known[s] = d.streamIndex(r.tape.StreamHandle(s))
	r.streams[d.number] = known
	return known[s]
}

// run replays events first to last-1, or up to the first failure, with the
// cuts of the edit.
func (r *replay) run(first, last int) {
	for len(r.cuts) > 0 && r.cuts[0].Event < last {
		c := &r.cuts[0]
		r.cuts = r.cuts[1:]
		r.stretch(first, c.Event)
		first = max(first, c.Event)
		if r.oom == nil || r.oom.survived {
			r.cut(c)
		}
	}
	r.stretch(first, last)
}

// stretch replays events first to last-1 from the pools and under the limits
// that the tape says.
func (r *replay) stretch(first, last int) {
	for len(r.changes) > 0 && r.changes[0].Event < last {
		m := r.changes[0]
		r.changes = r.changes[1:]
		r.events(first, m.Event)
		first = max(first, m.Event)
		if m.Kind == tape.MarkFraction {
			r.devices[m.Device].limitTo(math.Float64frombits(uint64(m.Value)), r.deviceTotal())
		} else {
			r.redirect(m)
		}
	}
	r.events(first, last)
}

// deviceTotal is what PyTorch took a share of: the memory of the device, which
// is more than the replay's capacity by the context. On a device without end
// it is the device of the recording, 0 when the tape does not name it.
func (r *replay) deviceTotal() unit.Bytes {
	meta := func(key string) unit.Bytes {
		n, err := strconv.ParseInt(r.tape.Meta[key], 10, 64)
		if err != nil || n < 0 {
			return 0
		}
		return unit.Bytes(n)
	}
	if r.capacity > 0 && r.capacity < unlimited {
		return r.capacity + meta("context_bytes")
	}
	return meta("capacity_bytes")
}

// redirect lets the allocations of a device come from another pool. Pools are
// kept: a tape does not say when a graph is given up.
func (r *replay) redirect(m tape.Mark) {
	d, to := r.devices[m.Device], poolOf(m.Name)
	if was := r.current[m.Device]; was != (PoolID{}) {
		d.poolEnd(was)
	}
	if to != (PoolID{}) {
		d.poolBegin(to)
	}
	r.current[m.Device] = to
}

// poolName writes the id of a pool as a mark has it; "" for the default pool.
func poolName(id PoolID) string {
	if id == (PoolID{}) {
		return ""
	}
	return fmt.Sprintf("%d.%d", id[0], id[1])
}

// poolOf reads the id in a mark: "1.0" is {1, 0}.
func poolOf(name string) PoolID {
	graph, mem, ok := strings.Cut(name, ".")
	a, err := strconv.ParseUint(graph, 10, 64)
	b, err2 := strconv.ParseUint(mem, 10, 64)
	if !ok || err != nil || err2 != nil {
		return PoolID{}
	}
	return PoolID{a, b}
}

func (r *replay) events(first, last int) {
	t := r.tape
	for i := first; i < last && (r.oom == nil || r.oom.survived); i++ {
		switch t.Kind(i) {
		case tape.Alloc:
			b := t.BlockOf(i)
			if i+1 < last && t.Kind(i+1) == tape.Free && t.BlockOf(i+1) == b && r.pass(i, b) {
				i++
				continue
			}
			r.alloc(i, b)
		case tape.FreeRequested:
			b := t.BlockOf(i)
			if i+1 < last && t.BlockOf(i+1) == b && t.Kind(i+1) == tape.Free { // as nearly always
				i++
				r.free(b)
			} else {
				r.giveUp(b)
			}
		case tape.Free:
			r.free(t.BlockOf(i))
		case tape.EmptyCache:
			d := r.devices[t.Event(i).Device]
			d.emptyCache()
			r.forget(d)
		case tape.OOM:
			r.failed(i, t.Event(i))
		}
	}
}

func (r *replay) free(b tape.BlockID) {
	if i := r.indices[b]; i != 0 {
		r.indices[b] = 0
		r.deviceOf(b).complete(i)
	}
}

func (r *replay) giveUp(b tape.BlockID) {
	if i := r.indices[b]; i != 0 {
		if d := r.deviceOf(b); d.blocks[i].state == live {
			d.hold(i)
		}
	}
}

func (r *replay) deviceOf(b tape.BlockID) *device {
	if r.owners == nil {
		return r.devices[0]
	}
	return r.devices[r.owners[b]]
}

// complete returns block i to the free set, given up before or not.
func (d *device) complete(i uint32) {
	switch d.blocks[i].state {
	case live:
		d.countGivenUp(i)
	case pending:
		d.held--
	default:
		return
	}
	d.freeBlock(i)
}

func (r *replay) alloc(i int, block tape.BlockID) {
	bytes, device, stream := r.tape.Request(block)
	if bytes <= 0 {
		return
	}
	if r.edit.Bytes != nil {
		bytes = max(r.edit.Bytes(block, bytes), 1)
	}
	d := r.devices[device]
	index := 0
	if stream != 0 {
		index = r.stream(d, stream)
	}
	b, err := d.malloc(bytes, index)
	if len(d.early) > 0 {
		r.forget(d)
	}
	if err != nil {
		r.fail(OOMEvent{Event: i, Device: d.number, Block: block}, err)
		return
	}
	d.blocks[b].owner = uint32(block) + 1
	r.indices[block] = b
	if r.owners != nil {
		r.owners[block] = device
	}
	if r.watches != nil {
		r.watches[device].look(d, i)
	}
}

// failed repeats a request that failed when the tape was recorded. If it
// succeeds now the block is given back, since the tape does not use it.
func (r *replay) failed(i int, e tape.Event) {
	d := r.devices[e.Device]
	b, err := d.malloc(max(e.Bytes/unit.Bytes(max(r.edit.FailedParts, 1)), 1), r.stream(d, e.Stream))
	r.forget(d)
	if err != nil {
		r.fail(OOMEvent{Event: i, Device: d.number, Block: tape.NoBlock, Recorded: true, survived: true}, err)
		return
	}
	if r.watches != nil {
		r.watches[e.Device].look(d, i)
	}
	d.giveUp(b)
}

// fail notes a failure; only the first is kept.
func (r *replay) fail(e OOMEvent, err error) {
	if r.oom != nil {
		r.oom.survived = e.survived
		return
	}
	errors.As(err, &e.Err)
	r.oom = &e
}

// forget drops the blocks that a flush freed before the tape does.
func (r *replay) forget(d *device) {
	for _, owner := range d.early {
		if owner != 0 {
			r.indices[owner-1] = 0
		}
	}
	d.early = d.early[:0]
}
