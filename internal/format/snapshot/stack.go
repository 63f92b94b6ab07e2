package snapshot

import (
	"encoding/binary"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// A stackTable interns frames and stacks of a whole file. Stack 0 is the
// unknown stack; stack n is numbers[ends[n-1]:ends[n]].
type stackTable struct {
	frames  []tape.Frame
	frameOf map[tape.Frame]uint32
	numbers []uint32
	ends    []uint32
	stackOf map[string]uint32
	key     []byte
}

func newStackTable() stackTable {
	return stackTable{frameOf: map[tape.Frame]uint32{}, ends: []uint32{0}, stackOf: map[string]uint32{}}
}

func (t *stackTable) frame(f tape.Frame) uint32 {
	if n, ok := t.frameOf[f]; ok {
		return n
	}
	n := uint32(len(t.frames))
	t.frames = append(t.frames, f)
	t.frameOf[f] = n
	return n
}

func (t *stackTable) stack(frames []uint32) uint32 {
	if len(frames) == 0 {
		return 0
	}
	t.key = t.key[:0]
	for _, n := range frames {
		t.key = binary.LittleEndian.AppendUint32(t.key, n)
	}
	if n, ok := t.stackOf[string(t.key)]; ok {
		return n
	}
	t.numbers = append(t.numbers, frames...)
	t.ends = append(t.ends, uint32(len(t.numbers)))
	n := uint32(len(t.ends) - 1)
	t.stackOf[string(t.key)] = n
	return n
}

// A siteMap gives the stacks of a file their ids on one tape.
type siteMap struct {
	stacks *stackTable
	tape   *tape.Tape
	sites  []tape.SiteID
	frames []tape.Frame
}

func (m *siteMap) site(stack uint32) tape.SiteID {
	if stack == 0 {
		return 0
	}
	if int(stack) >= len(m.sites) {
		m.sites = append(m.sites, make([]tape.SiteID, len(m.stacks.ends)-len(m.sites))...)
	}
	if id := m.sites[stack]; id != 0 {
		return id
	}
	m.frames = m.frames[:0]
	for _, n := range m.stacks.numbers[m.stacks.ends[stack-1]:m.stacks.ends[stack]] {
		m.frames = append(m.frames, m.stacks.frames[n])
	}
	m.sites[stack] = m.tape.InternSite(m.frames)
	return m.sites[stack]
}
