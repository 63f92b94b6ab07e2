package snapshot

import (
	"errors"
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/internal/pickle"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// A consumer takes the containers of a pickle into a recording, each as soon
// as it is complete. What a list is for is noted on it: a role, and a number
// that depends on the role.
type consumer struct {
	*recording
	m      *pickle.Machine
	kinds  []tape.Kind     // actions by the number of their string, which come right after the keys
	roles  map[uint32]role // by the number of the key
	frame  map[frameKey]uint32
	blocks []block // of the segment that is being read
	past   []block // of the history that is being read, newest first
	stack  []uint32
}

// A frameKey is a frame as numbers of strings, so that a frame that is
// written out again and again costs one look-up.
type frameKey struct {
	name, file uint32
	line       int64
}

// A role says what a list is for.
type role uint64

const (
	noRole         role = iota
	segmentList         // of "segments", or the outermost list
	blockList           // number: how many blocks of the consumer come before
	historyList         // of a block, before 2.1; number: how many entries of past come before
	deviceList          // of "device_traces"
	traceList           // number: the device
	annotationList      // of "external_annotations"
	ignoredList         // everything in it is skipped
)

const roleShift = 56

func noteOf(r role, n int) uint64 { return uint64(r)<<roleShift | uint64(n) }

func roleOf(note uint64) (r role, n int) {
	return role(note >> roleShift), int(note & (1<<roleShift - 1))
}

// Kinds of atoms.
const (
	frameAtom uint8 = iota + 1 // number: the frame
	stackAtom                  // number: the stack
)

// listRoles are the roles of lists that are the value of a key.
var listRoles = map[string]role{
	"segments":             segmentList,
	"blocks":               blockList,
	"history":              historyList,
	"device_traces":        deviceList,
	"external_annotations": annotationList,
	"host_segments":        ignoredList, // 2.15: pinned memory of the host
	"host_traces":          ignoredList,
}

// readPickle reads a pickle in one pass, and what cannot be read so in two.
func readPickle(in *input.Reader) (*recording, error) {
	r := newRecording(in)
	err := r.fill((*pickle.Machine).RunOnce)
	if errors.Is(err, pickle.ErrAgain) {
		r.wait()
		in.Rewind()
		r = newRecording(in)
		err = r.fill((*pickle.Machine).Run)
	}
	return r, err
}

// fill runs a pickle into the recording.
func (r *recording) fill(run func(*pickle.Machine) (pickle.Value, error)) error {
	c := &consumer{recording: r, roles: map[uint32]role{}, frame: map[frameKey]uint32{}}
	c.m = pickle.New(r.in, c)
	for i, k := range keys {
		if c.m.Intern(k) != uint32(i) {
			panic("snapshot: key " + k + " stands twice in the table of keys")
		}
	}
	c.kinds = slices.Repeat([]tape.Kind{tape.Other}, len(keys)+len(actions))
	for name, kind := range actions {
		c.kinds[c.m.Intern(name)] = kind
	}
	for name, role := range listRoles {
		c.roles[c.m.Intern(name)] = role
	}
	root, err := run(c.m)
	if err != nil {
		return err
	}
	r.openTrace = -1
	c.orderTraces(root)
	if len(c.m.Items(root)) > 0 && root.Type() == pickle.List {
		return r.in.Errorf(-1, "no memory snapshot: a list of something else than segments")
	}
	return nil
}

// orderTraces gives each trace the number of its place in the list, which
// differs from the order of reading when a writer shared empty lists.
func (c *consumer) orderTraces(root pickle.Value) {
	items := c.m.Items(root)
	for i := 0; i+1 < len(items) && root.Type() == pickle.Dict; i += 2 {
		if n, ok := items[i].StringNumber(); !ok || n != keyDeviceTraces {
			continue
		}
		ordered := make([]*trace, 0, len(c.traces))
		for _, list := range c.m.Items(items[i+1]) {
			t := &trace{}
			if r, n := roleOf(c.m.Note(list)); r == traceList && c.traces[n] != nil {
				t, c.traces[n] = c.traces[n], nil
			}
			ordered = append(ordered, t)
		}
		c.traces = ordered
		return
	}
}

// List notes what a new list is for.
func (c *consumer) List(m *pickle.Machine, list pickle.Value) {
	place := m.ListPlace()
	if place.Outermost {
		c.sawSegments, c.bareList = true, true
		c.begin(list, segmentList, 0)
		return
	}
	if n, ok := place.Key.StringNumber(); ok {
		if r, ok := c.roles[n]; ok && c.belongs(r, m.Holder(place)) {
			c.beginList(list, r)
		}
		return
	}
	switch r, _ := roleOf(m.Note(place.List)); r {
	case deviceList:
		c.begin(list, traceList, c.addTrace())
	case ignoredList:
		c.begin(list, ignoredList, 0)
	}
}

// belongs reports whether a list of a role can be in a dict that stands at a
// place. Blocks are only in segments, and their history only in blocks.
func (c *consumer) belongs(r role, dict pickle.Place) bool {
	in, _ := roleOf(c.m.Note(dict.List))
	switch r {
	case blockList:
		return in == segmentList
	case historyList:
		return in == blockList
	}
	return in != ignoredList
}

// beginList notes the role of a list that is the value of a known key.
func (c *consumer) beginList(list pickle.Value, r role) {
	n := 0
	switch r {
	case segmentList:
		if c.sawSegments {
			return // of something else that has this key
		}
		c.sawSegments = true
	case deviceList:
		if c.sawTraces {
			return
		}
		c.sawTraces = true
	case annotationList:
		c.openTrace = -1
	case ignoredList:
		c.openTrace = -1
	case blockList:
		n = len(c.blocks)
	case historyList:
		n = len(c.past)
	}
	c.begin(list, r, n)
}

// begin notes what a list is for. What stands in it is taken at once.
func (c *consumer) begin(list pickle.Value, r role, n int) {
	c.m.SetNote(list, noteOf(r, n))
	c.m.SetBrief(list)
}

// Dict takes what has just been set on a dict.
func (c *consumer) Dict(m *pickle.Machine, dict pickle.Value, pairs []pickle.Value) (pickle.Value, error) {
	place := m.DictPlace()
	if n, ok := place.Key.StringNumber(); ok {
		if n == keySettings && c.settings == nil {
			return c.takeSettings(dict, pairs)
		}
		return dict, nil
	}
	r, n := roleOf(m.Note(place.List))
	switch r {
	case traceList:
		return pickle.MakeGone(), c.takeEvent(c.traces[n], n, pairs)
	case segmentList:
		return pickle.MakeGone(), c.takeSegment(pairs)
	case blockList:
		return pickle.MakeGone(), c.takeBlock(pairs)
	case historyList:
		return pickle.MakeGone(), c.takePast(pairs)
	case annotationList:
		c.takeAnnotation(pairs)
		return pickle.MakeGone(), nil
	case ignoredList:
		c.hostMemory = true
		return pickle.MakeGone(), nil
	}
	if n, ok := c.takeFrame(pairs); ok {
		return pickle.MakeAtom(frameAtom, uint64(n)), nil
	}
	return dict, nil
}

// takeFrame interns a frame; ok is false for other dicts.
func (c *consumer) takeFrame(pairs []pickle.Value) (n uint32, ok bool) {
	var k frameKey
	found := 0
	for i := 0; i < len(pairs); i += 2 {
		key, _ := pairs[i].StringNumber()
		switch {
		case pairs[i].Type() != pickle.String:
			continue
		case key == keyName:
			k.name, ok = pairs[i+1].StringNumber()
		case key == keyFilename:
			k.file, ok = pairs[i+1].StringNumber()
		case key == keyLine:
			k.line, ok = c.m.Int64(pairs[i+1])
		default:
			continue
		}
		if !ok {
			return 0, false
		}
		found++
	}
	if found != 3 {
		return 0, false
	}
	if n, ok = c.frame[k]; !ok {
		n = c.stacks.frame(tape.Frame{Name: c.m.StringAt(k.name), File: c.m.StringAt(k.file), Line: int(k.line)})
		c.frame[k] = n
	}
	return n, true
}

// takeStack returns the number of the stack that a list of frames is.
func (c *consumer) takeStack(v pickle.Value) (uint32, bool) {
	if kind, n, ok := v.Atom(); ok && kind == stackAtom {
		return uint32(n), true
	}
	if v.Type() == pickle.None {
		return 0, true
	}
	if v.Type() != pickle.List {
		return 0, false
	}
	c.stack = c.stack[:0]
	for _, item := range c.m.Items(v) {
		kind, n, ok := item.Atom()
		if !ok || kind != frameAtom {
			return 0, false
		}
		c.stack = append(c.stack, uint32(n))
	}
	n := c.stacks.stack(c.stack)
	c.m.Replace(v, pickle.MakeAtom(stackAtom, uint64(n)))
	return n, true
}
