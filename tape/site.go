package tape

import "encoding/binary"

// A Frame is one line of a stack.
type Frame struct {
	Name string // function
	File string
	Line int // 1-based, 0 when unknown
}

// A frameTable interns frames.
type frameTable struct {
	frames []Frame
	index  map[Frame]uint32
}

func (f *frameTable) intern(fr Frame) uint32 {
	if n, ok := f.index[fr]; ok {
		return n
	}
	if f.index == nil {
		f.index = map[Frame]uint32{}
	}
	n := uint32(len(f.frames))
	f.frames = append(f.frames, fr)
	f.index[fr] = n
	return n
}

// A siteTable interns stacks as lists of frame numbers. Site 0, the unknown
// stack, is not stored: site s is stacks[ends[s-1]:ends[s]] with ends[0] = 0.
type siteTable struct {
	stacks []uint32
	ends   []uint32
	index  map[string]SiteID
	key    []byte
}

func (s *siteTable) len() int { return max(len(s.ends)-1, 0) }

// intern returns the number of the stack and true when it is new.
func (s *siteTable) intern(stack []uint32) (SiteID, bool) {
	if len(stack) == 0 {
		return 0, false
	}
	s.key = s.key[:0]
	for _, n := range stack {
		s.key = binary.LittleEndian.AppendUint32(s.key, n)
	}
	if id, ok := s.index[string(s.key)]; ok {
		return id, false
	}
	if s.index == nil {
		s.index = map[string]SiteID{}
		s.ends = []uint32{0}
	}
	s.stacks = append(s.stacks, stack...)
	s.ends = append(s.ends, uint32(len(s.stacks)))
	id := SiteID(len(s.ends) - 1)
	s.index[string(s.key)] = id
	return id, true
}

func (s *siteTable) at(id SiteID) []uint32 {
	if id == 0 || int(id) >= len(s.ends) {
		return nil
	}
	return s.stacks[s.ends[id-1]:s.ends[id]]
}

// InternSite returns the id of a stack, innermost frame first. An empty
// stack is site 0.
func (t *Tape) InternSite(frames []Frame) SiteID {
	stack := make([]uint32, 0, 64)
	for _, f := range frames {
		stack = append(stack, t.frames.intern(f))
	}
	id, _ := t.names.intern(stack)
	return id
}

// Site returns the frames of a stack, innermost first; nil for site 0.
func (t *Tape) Site(s SiteID) []Frame {
	stack := t.names.at(s)
	if stack == nil {
		return nil
	}
	frames := make([]Frame, len(stack))
	for i, n := range stack {
		frames[i] = t.frames.frames[n]
	}
	return frames
}

// Sites returns the number of known stacks; their ids are 1 to Sites().
func (t *Tape) Sites() int { return t.names.len() }
