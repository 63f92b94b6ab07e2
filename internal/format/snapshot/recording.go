package snapshot

import (
	"maps"
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// A recording is what a file says, in the file's own terms. Both readers,
// for pickles and for JSON, fill it.
type recording struct {
	in          *input.Reader
	stacks      stackTable
	traces      []*trace // by device
	segments    []segment
	annotations []Annotation
	settings    map[string]any
	unknown     map[string]int // events by action that this version does not know
	facts       Facts          // of the segments; of the traces when all is read
	bareList    bool           // the outermost value is the list of segments
	hostMemory  bool           // events of pinned host memory are in the file
	sawSegments bool
	sawTraces   bool
	openTrace   int // the trace that the reader is in, -1 when none
	truncated   bool
	noAddresses bool // blocks have none, before 2.1
}

func newRecording(in *input.Reader) *recording {
	return &recording{in: in, stacks: newStackTable(), unknown: map[string]int{}, openTrace: -1}
}

// wait ends what goes on beside the reading.
func (r *recording) wait() {
	for _, t := range r.traces {
		if t != nil {
			t.wait.Wait()
		}
	}
}

// A segment is one segment of the state at the end.
type segment struct {
	device     uint8
	small      bool
	expandable bool
	addr       uint64
	size       uint64
	stream     uint64 // handle
	pool       [2]uint64
	stack      uint32
	blocks     []block
}

// A block is a piece of a segment.
type block struct {
	addr      uint64 // 0 when the file does not say, before 2.1
	size      uint64
	requested uint64
	state     tape.State
	stack     uint32
}

// maxSize is the largest size that can be meant: PyTorch refuses requests of
// 2^60 bytes and more.
const maxSize = 1 << 60

// addTrace begins the events of the next device.
func (r *recording) addTrace() int {
	r.traces = append(r.traces, &trace{})
	r.openTrace = len(r.traces) - 1
	return r.openTrace
}

// addEvent appends an event to the trace of a device.
func (r *recording) addEvent(t *trace, action string, e event, at int64) error {
	if e.size > maxSize {
		return r.in.Errorf(at, "event %s of %d bytes", action, e.size)
	}
	if e.kind == tape.Other && action != "annotate" {
		if len(r.unknown) < 100 || r.unknown[action] > 0 {
			r.unknown[action]++
		}
	}
	t.note(action, &e)
	t.add(e)
	return nil
}

// maxDevices is the number of devices that a tape can tell apart.
const maxDevices = 256

// addSegment takes a segment. Blocks of old files have no addresses: they
// follow each other. Where nothing is said about a part of the segment it
// counts as inactive.
func (r *recording) addSegment(s segment, at int64) error {
	blocks := make([]block, 0, len(s.blocks))
	next, end := s.addr, s.addr+s.size
	for _, b := range s.blocks {
		if b.addr == 0 {
			b.addr, r.noAddresses = next, true
		}
		if b.addr < next || b.size > end-b.addr || b.addr > end {
			return r.in.Errorf(at, "block at %#x of %d bytes does not fit into what is left of segment %#x", b.addr, b.size, s.addr)
		}
		if b.addr > next {
			blocks = append(blocks, block{addr: next, size: b.addr - next})
		}
		blocks = append(blocks, b)
		next = b.addr + b.size
	}
	if next < end {
		blocks = append(blocks, block{addr: next, size: end - next})
	}
	r.facts.addSegment(&s)
	s.blocks = blocks
	r.segments = append(r.segments, s)
	return nil
}

// devices are the devices that have events or segments, in order.
func (r *recording) devices() []uint8 {
	seen := map[uint8]bool{}
	for i, t := range r.traces {
		if t.count > 0 && i < maxDevices {
			seen[uint8(i)] = true
		}
	}
	for _, s := range r.segments {
		seen[s.device] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// trace returns the events of a device, nil when it has none.
func (r *recording) trace(device uint8) *trace {
	if int(device) < len(r.traces) && r.traces[device].count > 0 {
		return r.traces[device]
	}
	return nil
}
