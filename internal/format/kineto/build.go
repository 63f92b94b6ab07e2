package kineto

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// build makes the tapes of everything that was read.
func (r *reader) build() (*Trace, error) {
	t := &Trace{Ranges: r.ranges}
	var stacks stackTable
	stacks.index = map[string]int{"": 0}
	stacks.frames = [][]tape.Frame{nil}
	byDevice := map[int][]memory{}
	for _, th := range r.order {
		th.attribute(&stacks)
		for _, m := range th.events {
			byDevice[m.device] = append(byDevice[m.device], m)
		}
		*th = thread{}
	}
	numbers := make([]int, 0, len(byDevice))
	for n := range byDevice {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		events := byDevice[n]
		slices.SortFunc(events, func(a, b memory) int { return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.order, b.order)) })
		b := deviceBuilder{number: uint8(n), stacks: &stacks, sites: map[int]tape.SiteID{}}
		if err := b.build(events); err != nil {
			return nil, fmt.Errorf("device %d: %w", n, err)
		}
		t.Tapes = append(t.Tapes, b.builder.Tape())
		t.Devices = append(t.Devices, uint8(n))
		t.Capacity = append(t.Capacity, unit.Bytes(max(r.capacity[n], 0)))
		t.Reserved = append(t.Reserved, b.reserved)
		t.Warnings = append(t.Warnings, b.warnings()...)
	}
	if r.skipped > 0 {
		t.Warnings = append(t.Warnings, Warning{"unread-event", fmt.Sprintf("%d events of a form that this version does not know were left out", r.skipped)})
	}
	return t, nil
}

// A stackTable interns stacks.
type stackTable struct {
	frames [][]tape.Frame
	index  map[string]int
	key    strings.Builder
}

// attribute gives each allocation the stack of the spans that it lies in:
// those of its thread that began before it and end after it.
func (t *thread) attribute(stacks *stackTable) {
	slices.SortStableFunc(t.spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(b.end, a.end)) })
	slices.SortStableFunc(t.events, func(a, b memory) int { return cmp.Compare(a.time, b.time) })
	var open []span
	next := 0
	for i := range t.events {
		m := &t.events[i]
		for next < len(t.spans) && t.spans[next].begin <= m.time {
			for len(open) > 0 && open[len(open)-1].end < t.spans[next].begin {
				open = open[:len(open)-1]
			}
			open = append(open, t.spans[next])
			next++
		}
		for len(open) > 0 && open[len(open)-1].end < m.time {
			open = open[:len(open)-1]
		}
		m.stack = stacks.of(open, m.time)
	}
}

// deepest bounds a stack, as hostile spans may nest without end.
const deepest = 512

// of interns the stack of open spans, outermost first.
func (s *stackTable) of(open []span, at float64) int {
	open = open[max(0, len(open)-deepest):]
	s.key.Reset()
	for _, o := range open {
		if o.end >= at {
			s.key.WriteString(o.name)
			s.key.WriteByte(0)
			s.key.WriteString(o.from)
			s.key.WriteByte(0)
		}
	}
	if n, ok := s.index[s.key.String()]; ok {
		return n
	}
	var frames []tape.Frame
	from := "" // where the frame inside was called
	for i := len(open) - 1; i >= 0; i-- {
		o := open[i]
		if o.end < at {
			continue
		}
		if !o.python {
			frames = append(frames, tape.Frame{Name: o.name})
			continue
		}
		if f, ok := frameOf(o.name, from); ok {
			frames = append(frames, f)
		}
		if o.from != "" {
			from = o.from
		}
	}
	n := len(s.frames)
	s.frames = append(s.frames, frames)
	s.index[strings.Clone(s.key.String())] = n
	return n
}

// pythonFrame is how the profiler names a function: by the line on which it
// begins.
var pythonFrame = regexp.MustCompile(`^(.+)\((\d+)\): (.+)$`)

// libraries are packages whose files the profiler names without their folder,
// as it does with those of the program, and modules of Python itself.
var (
	libraries = []string{
		"torch", "transformers", "accelerate", "peft", "deepspeed", "lightning", "pytorch_lightning", "diffusers", "timm", "flash_attn",
		"bitsandbytes", "megatron", "xformers", "triton", "torchvision", "torchaudio", "apex", "trl", "datasets", "sentence_transformers", "vllm",
		"torchtune", "torchtitan", "einops", "numpy", "IPython", "ipykernel",
	}
	modules = []string{"threading.py", "runpy.py", "contextlib.py", "functools.py", "copy.py", "importlib", "multiprocessing", "concurrent", "asyncio"}
)

// frameOf reads a function's name. The line is the one on which the function
// inside was called, where that is known.
func frameOf(name, from string) (tape.Frame, bool) {
	m := pythonFrame.FindStringSubmatch(name)
	if m == nil {
		return tape.Frame{}, false // a built-in function, or the name of a module
	}
	f := tape.Frame{File: m[1], Name: m[3]}
	f.Line, _ = strconv.Atoi(m[2])
	if i := strings.LastIndexByte(from, ':'); i >= 0 && strings.HasSuffix(m[1], from[:i]) || i >= 0 && strings.HasSuffix(from[:i], m[1]) {
		if line, err := strconv.Atoi(from[i+1:]); err == nil {
			f.Line = line
		}
	}
	first, _, _ := strings.Cut(f.File, "/")
	switch {
	case slices.Contains(libraries, first) && first != f.File:
		f.File = "site-packages/" + f.File
	case slices.Contains(modules, first):
		f.File = "<" + f.File + ">"
	}
	return f, true
}

// A deviceBuilder makes one tape.
type deviceBuilder struct {
	number     uint8
	builder    tape.Builder
	stacks     *stackTable
	sites      map[int]tape.SiteID
	reserved   unit.Bytes
	before     unit.Bytes // in use before the first event
	inferred   int        // frees that are missing
	unknown    int        // frees of what was not in use
	mismatches int        // events after which the sum is another than the trace says
}

// elsewhere is where what was in use before and is never given up is put.
const elsewhere = 1 << 62

// build puts events on the tape, and before them what was in use already: the
// blocks that are given up without having been made, and the rest of what the
// trace says is allocated.
func (b *deviceBuilder) build(events []memory) error {
	if len(events) == 0 {
		return nil
	}
	live := map[uint64]bool{} // addresses that had an event
	var known unit.Bytes
	b.before = unit.Bytes(events[0].allocated - events[0].bytes)
	for _, m := range events {
		if m.bytes < 0 && !live[m.addr] {
			if err := b.initial(m.addr, unit.Bytes(-m.bytes)); err != nil {
				b.unknown++
			} else {
				known += unit.Bytes(-m.bytes)
			}
		}
		live[m.addr] = true // from here on its events tell
	}
	if rest := b.before - known; rest > 0 {
		if err := b.initial(elsewhere, rest); err != nil {
			return err
		}
	}
	now := max(b.before, known)
	for _, m := range events {
		b.reserved = max(b.reserved, unit.Bytes(m.total))
		now += unit.Bytes(m.bytes)
		if m.allocated > 0 && now != unit.Bytes(m.allocated) {
			b.mismatches++
			now = unit.Bytes(m.allocated)
		}
		if err := b.add(m); err != nil {
			return err
		}
	}
	return nil
}

func (b *deviceBuilder) initial(addr uint64, bytes unit.Bytes) error {
	return b.builder.Initial(tape.Segment{Addr: addr, Bytes: bytes, Device: b.number, Blocks: []tape.SegmentBlock{
		{Addr: addr, Bytes: bytes, Requested: bytes, State: tape.Active, Block: tape.NoBlock},
	}})
}

func (b *deviceBuilder) add(m memory) error {
	e := tape.Event{Kind: tape.Alloc, Device: b.number, Bytes: unit.Bytes(m.bytes), Addr: m.addr, Time: int64(m.time), Site: b.site(m.stack)}
	if m.bytes < 0 {
		e.Kind, e.Bytes = tape.Free, 0
	}
	freed, left, err := b.builder.Mend(e)
	if freed {
		b.inferred++
	}
	if left {
		b.unknown++
	}
	return err
}

func (b *deviceBuilder) site(stack int) tape.SiteID {
	id, ok := b.sites[stack]
	if !ok {
		id = b.builder.Tape().InternSite(b.stacks.frames[stack])
		b.sites[stack] = id
	}
	return id
}

func (b *deviceBuilder) warnings() []Warning {
	out := []Warning{{"block-sizes", fmt.Sprintf("device %d: sizes are of blocks, after rounding, and nothing is said about segments", b.number)}}
	if b.before > 0 {
		out = append(out, Warning{"history-begins", fmt.Sprintf("device %d: %s were in use before the trace begins", b.number, b.before)})
	}
	if b.inferred > 0 {
		out = append(out, Warning{"inferred-free", fmt.Sprintf("device %d: %d frees are not in the trace and were put before the next allocation at their address", b.number, b.inferred)})
	}
	if b.unknown > 0 {
		out = append(out, Warning{"impossible-event", fmt.Sprintf("device %d: %d frees of addresses that were not in use were left out", b.number, b.unknown)})
	}
	if b.mismatches > 0 {
		out = append(out, Warning{"sums-differ", fmt.Sprintf("device %d: after %d events the trace says that another amount is in use", b.number, b.mismatches)})
	}
	return out
}
