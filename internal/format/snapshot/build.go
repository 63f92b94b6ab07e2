package snapshot

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// snapshot makes the tapes of everything that was read.
func (r *recording) snapshot() (*Snapshot, error) {
	out := &Snapshot{
		Settings: r.settings, Annotations: r.annotations, Truncated: r.truncated, Size: r.in.Size(), Facts: r.finishFacts(), Old: r.noAddresses,
	}
	r.warnAll(out)
	byDevice := map[uint8][]segment{}
	for _, s := range r.segments {
		byDevice[s.device] = append(byDevice[s.device], s)
	}
	for _, d := range r.devices() {
		if err := r.addDevice(out, d, byDevice[d]); err != nil {
			return nil, fmt.Errorf("device %d: %w", d, err)
		}
	}
	return out, nil
}

// addDevice makes the tape of one device.
func (r *recording) addDevice(out *Snapshot, device uint8, final []segment) error {
	t := r.trace(device)
	complete := !r.truncated || int(device) != r.openTrace
	l := t.finishLedger()
	b := &deviceBuilder{device: device, final: final}
	b.sites = siteMap{stacks: &r.stacks, tape: b.builder.Tape()}
	b.inherited = l.inherits()
	b.layout = l.lay(final, roundingOf(r.settings), complete)
	if complete && t != nil {
		b.differences = l.differences(final)
	}
	if err := b.begin(); err != nil {
		return err
	}
	if t != nil {
		if err := b.replay(t); err != nil {
			return err
		}
	}
	tp := b.builder.Tape()
	if conf := r.conf(); conf != "" {
		tp.SetMeta("alloc_conf", conf)
	}
	out.Tapes = append(out.Tapes, tp)
	out.Devices = append(out.Devices, device)
	out.Final = append(out.Final, b.finalState())
	out.Contexts = append(out.Contexts, b.contexts)
	b.warn(out, complete)
	return nil
}

// conf is the settings string that the file holds. The name of the key
// changed with that of the environment variable.
func (r *recording) conf() string {
	for _, key := range []string{"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"} {
		if s, _ := r.settings[key].(string); s != "" {
			return s
		}
	}
	return ""
}

// A deviceBuilder makes one tape and counts what could not be right.
type deviceBuilder struct {
	device      uint8
	builder     tape.Builder
	sites       siteMap
	final       []segment
	layout      layout
	contexts    []Context
	inherited   bool // an event is about a block that no event made
	differences int  // addresses that end in another state than the file says
	inferred    int  // frees that were not recorded
	impossible  int  // frees of nothing
}

// begin puts the state before the first event on the tape.
func (b *deviceBuilder) begin() error {
	tp := b.builder.Tape()
	for i := range b.layout.spans {
		s := &b.layout.spans[i]
		seg := tape.Segment{
			Addr: s.addr, Bytes: unit.Bytes(s.size), Device: b.device, Stream: tp.InternStream(s.stream),
			Small: s.small, Expandable: s.expandable, Pool: s.pool, Site: b.sites.site(s.stack),
		}
		next := s.addr
		for _, p := range s.blocks {
			seg.Blocks = fill(seg.Blocks, next, p.addr)
			seg.Blocks = append(seg.Blocks, tape.SegmentBlock{
				Addr: p.addr, Bytes: unit.Bytes(p.size), Requested: unit.Bytes(p.requested),
				State: p.state, Block: tape.NoBlock, Site: b.sites.site(p.stack),
			})
			next = p.addr + p.size
		}
		seg.Blocks = fill(seg.Blocks, next, s.end())
		if err := b.builder.Initial(seg); err != nil {
			return err
		}
		s.blocks = nil
	}
	return nil
}

// fill appends an inactive piece from next to end, if there is any.
func fill(blocks []tape.SegmentBlock, next, end uint64) []tape.SegmentBlock {
	if next >= end {
		return blocks
	}
	return append(blocks, tape.SegmentBlock{Addr: next, Bytes: unit.Bytes(end - next), Block: tape.NoBlock})
}

// replay moves the events to the tape and lets go of them.
func (b *deviceBuilder) replay(t *trace) error {
	tp := b.builder.Tape()
	index, contexts := 0, t.contexts
	return t.drain(func(e event) error {
		for len(contexts) > 0 && contexts[0].Event <= index {
			contexts[0].Event = tp.Len()
			b.contexts = append(b.contexts, contexts[0])
			contexts = contexts[1:]
		}
		index++
		return b.add(tape.Event{
			Kind: e.kind, Device: b.device, Stream: tp.InternStream(e.stream), Bytes: unit.Bytes(e.size), Addr: e.addr,
			Site: b.sites.site(e.stack), Time: e.time, Block: tape.NoBlock,
		})
	})
}

// add appends an event. Recordings can lack frees: some were not asked for
// (skip_actions), or another thread slipped in while they were written.
func (b *deviceBuilder) add(e tape.Event) error {
	freed, left, err := b.builder.Mend(e)
	if freed {
		b.inferred++
	}
	if left {
		b.impossible++
	}
	return err
}

// finalState is the state at the end as the file has it.
func (b *deviceBuilder) finalState() []tape.Segment {
	tp := b.builder.Tape()
	out := make([]tape.Segment, 0, len(b.final))
	for i := range b.final {
		s := &b.final[i]
		seg := tape.Segment{
			Addr: s.addr, Bytes: unit.Bytes(s.size), Device: b.device, Stream: tp.InternStream(s.stream),
			Small: s.small, Expandable: s.expandable, Pool: s.pool, Site: b.sites.site(s.stack),
			Blocks: make([]tape.SegmentBlock, len(s.blocks)),
		}
		for j, p := range s.blocks {
			piece := tape.SegmentBlock{Addr: p.addr, Bytes: unit.Bytes(p.size), State: p.state, Block: tape.NoBlock}
			if p.state != tape.Inactive {
				piece.Requested, piece.Site = unit.Bytes(p.requested), b.sites.site(p.stack)
				if id, ok := b.builder.Live(b.device, p.addr); ok {
					piece.Block = id
				}
			}
			seg.Blocks[j] = piece
		}
		out = append(out, seg)
	}
	return out
}
