package main

import (
	"fmt"
	"io"
	"math/rand/v2"
)

// A synthetic snapshot is that of a training run whose steps repeat: layers
// that keep activations until the backward pass comes by, temporaries, an
// optimizer whose state is made in the first step, and one line that keeps a
// little of every step. Every block has its place, as in the steady state of
// a real run; segments are got when a place in them is used first.

type slot struct {
	addr, size uint64
	stack      int
	segment    int
}

type segment struct {
	addr, size uint64
	got        bool
	slots      []int
}

type synthetic struct {
	p        *pickler
	rnd      *rand.Rand
	frames   []frame
	placed   []uint32 // where a frame stands in the memo, plus one
	stacks   [][]int
	lists    []uint32 // where a slot's list of frames stands in the memo, plus one
	slots    []slot
	live     []bool
	segments []segment
	next     uint64 // address of the next segment
	fill     int    // the segment that small slots still go to
	used     uint64 // of it
	events   *list
	time     uint64
	count    int
}

type frame struct {
	name, file string
	line       int
}

const (
	synthLayers = 48
	perLayer    = 18
	firstAddr   = 0x7f1000000000
)

// writeSynthetic writes a snapshot of about the given number of bytes and
// returns how many events it has. leaf adds that many frames to each stack.
func writeSynthetic(w io.Writer, bytes int64, leaf int) (events int, err error) {
	s := &synthetic{p: newPickler(w), rnd: rand.New(rand.NewPCG(1, 2)), next: firstAddr, fill: -1, time: 1_760_000_000_000_000}
	s.makeStacks(leaf)
	s.p.beginDict()
	s.p.text("device_traces")
	devices := s.p.beginList()
	devices.next()
	s.events = s.p.beginList()
	s.train(bytes)
	s.events.end()
	devices.end()
	s.p.text("segments")
	s.writeSegments()
	s.p.endDict()
	return s.count, s.p.end()
}

// makeStacks makes a few thousand stacks that share their outer frames.
func (s *synthetic) makeStacks(leaf int) {
	add := func(name, file string, line int) int {
		s.frames = append(s.frames, frame{name, file, line})
		return len(s.frames) - 1
	}
	outer := []int{add("<module>", "/home/user/project/train.py", 212), add("main", "/home/user/project/train.py", 180), add("train_step", "/home/user/project/train.py", 97)}
	inner := make([]int, leaf)
	for i := range inner {
		inner[i] = add(fmt.Sprintf("at::native::operator_%d(at::Tensor const&, at::Tensor const&)", i), "??", 0)
	}
	for layer := range synthLayers {
		block := add("forward", "/home/user/project/model/block.py", 30+layer)
		for i := range perLayer {
			module := add([]string{"forward", "attention", "mlp", "norm"}[i%4], fmt.Sprintf("/home/user/project/model/part_%d.py", i), 20+3*i)
			call := add("_call_impl", "/usr/lib/python3/dist-packages/torch/nn/modules/module.py", 1500+i%7)
			stack := append([]int{}, inner...)
			s.rnd.Shuffle(len(stack), func(a, b int) { stack[a], stack[b] = stack[b], stack[a] })
			stack = append(stack, call, module, call, block, call)
			for j := len(outer) - 1; j >= 0; j-- {
				stack = append(stack, outer[j])
			}
			s.stacks = append(s.stacks, stack)
		}
	}
	s.placed = make([]uint32, len(s.frames))
}

// newSlot finds a place for blocks of a size.
func (s *synthetic) newSlot(size uint64, stack int) int {
	size = (size + 511) &^ 511
	n := slot{size: size, stack: stack % len(s.stacks)}
	switch {
	case size >= 10<<20:
		n.segment = s.newSegment((size + 2<<20 - 1) &^ (2<<20 - 1))
		n.addr = s.segments[n.segment].addr
	default:
		if s.fill < 0 || s.used+size > s.segments[s.fill].size {
			s.fill, s.used = s.newSegment(20<<20), 0
		}
		n.segment, n.addr = s.fill, s.segments[s.fill].addr+s.used
		s.used += size
	}
	s.slots = append(s.slots, n)
	s.live = append(s.live, false)
	s.lists = append(s.lists, 0)
	i := len(s.slots) - 1
	s.segments[n.segment].slots = append(s.segments[n.segment].slots, i)
	return i
}

func (s *synthetic) newSegment(size uint64) int {
	s.segments = append(s.segments, segment{addr: s.next, size: size})
	s.next += size
	return len(s.segments) - 1
}

// train writes steps until the file is large enough.
func (s *synthetic) train(bytes int64) {
	var weights, kept, temps, grads, state []int
	for layer := range synthLayers {
		for i := range perLayer {
			stack := layer*perLayer + i
			if i%3 == 0 {
				weights = append(weights, s.newSlot(uint64(1+i)<<20, stack))
				grads = append(grads, s.newSlot(uint64(1+i)<<20, stack))
				state = append(state, s.newSlot(uint64(2+2*i)<<20, stack))
			}
			kept = append(kept, s.newSlot(uint64(1+s.rnd.IntN(24))<<19, stack))
			temps = append(temps, s.newSlot(uint64(1+s.rnd.IntN(300))<<12, stack))
		}
	}
	for _, w := range weights {
		s.alloc(w)
	}
	for step := 0; s.p.written < bytes && s.p.err == nil; step++ {
		for i, k := range kept {
			s.alloc(k)
			for j := range 3 {
				t := temps[(i+j)%len(temps)]
				s.alloc(t)
				s.free(t)
			}
		}
		s.alloc(s.newSlot(96<<10, step%7)) // the line that keeps something
		for i := len(kept) - 1; i >= 0; i-- {
			if i%3 == 0 {
				s.alloc(grads[i/3])
			}
			t := temps[i]
			s.alloc(t)
			s.free(kept[i])
			s.free(t)
		}
		for i, g := range grads {
			if step == 0 {
				s.alloc(state[i])
			}
			s.alloc(temps[i])
			s.free(temps[i])
			s.free(g)
		}
	}
}

func (s *synthetic) alloc(i int) {
	n := s.slots[i]
	g := &s.segments[n.segment]
	if !g.got {
		g.got = true
		s.event("segment_alloc", g.addr, g.size, i)
	}
	s.lists[i] = 0 // every allocation collects a stack of its own
	s.event("alloc", n.addr, n.size-uint64(s.rnd.IntN(3))*4, i)
	s.live[i] = true
}

func (s *synthetic) free(i int) {
	s.event("free_requested", s.slots[i].addr, s.slots[i].size, i)
	s.event("free_completed", s.slots[i].addr, s.slots[i].size, i)
	s.live[i] = false
}

func (s *synthetic) event(action string, addr, size uint64, slot int) {
	p := s.p
	s.count++
	s.time += uint64(2 + s.rnd.IntN(30))
	s.events.next()
	p.beginDict()
	p.text("action")
	p.text(action)
	p.text("addr")
	p.number(addr)
	p.text("size")
	p.number(size)
	p.text("stream")
	p.number(0)
	p.text("time_us")
	p.number(s.time)
	p.text("frames")
	s.stack(slot)
	p.endDict()
}

// stack writes the frames of a slot's block, or where they stood before.
func (s *synthetic) stack(slot int) {
	p := s.p
	if at := s.lists[slot]; at > 0 {
		p.get(at - 1)
		return
	}
	l := p.beginList()
	s.lists[slot] = p.memo
	for _, f := range s.stacks[s.slots[slot].stack] {
		l.next()
		s.frame(f)
	}
	l.end()
}

func (s *synthetic) frame(f int) {
	p := s.p
	if at := s.placed[f]; at > 0 {
		p.getFar(at - 1)
		return
	}
	p.bytes(opEmptyDict)
	s.placed[f] = p.memoize() + 1
	p.bytes(opMark)
	p.text("name")
	p.text(s.frames[f].name)
	p.text("filename")
	p.text(s.frames[f].file)
	p.text("line")
	p.number(uint64(s.frames[f].line))
	p.endDict()
}

func (s *synthetic) writeSegments() {
	p := s.p
	all := p.beginList()
	for _, g := range s.segments {
		if !g.got {
			continue
		}
		all.next()
		p.beginDict()
		for _, f := range []struct {
			key   string
			value uint64
		}{{"device", 0}, {"address", g.addr}, {"total_size", g.size}, {"stream", 0}} {
			p.text(f.key)
			p.number(f.value)
		}
		p.text("segment_type")
		p.text("large")
		p.text("blocks")
		blocks := p.beginList()
		next := g.addr
		for _, i := range g.slots {
			if n := s.slots[i]; s.live[i] {
				if n.addr > next {
					s.block(blocks, next, n.addr-next, -1)
				}
				s.block(blocks, n.addr, n.size, i)
				next = n.addr + n.size
			}
		}
		if next < g.addr+g.size {
			s.block(blocks, next, g.addr+g.size-next, -1)
		}
		blocks.end()
		p.endDict()
	}
	all.end()
}

func (s *synthetic) block(blocks *list, addr, size uint64, slot int) {
	p := s.p
	blocks.next()
	p.beginDict()
	p.text("address")
	p.number(addr)
	p.text("size")
	p.number(size)
	p.text("requested_size")
	p.number(size)
	p.text("state")
	if slot < 0 {
		p.text("inactive")
	} else {
		p.text("active_allocated")
		p.text("frames")
		s.stack(slot)
	}
	p.endDict()
}
