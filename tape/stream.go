package tape

// A streamTable interns the handles of streams. Stream 0 is handle 0.
type streamTable struct {
	handles []uint64 // handle of stream i+1
	index   map[uint64]StreamID
}

// maxStreams is the number of streams a tape can tell apart, one being the
// default stream. PyTorch makes at most 64 for each device.
const maxStreams = 1 << 16

// InternStream returns the id of the stream with this handle. A tape that
// already has 65,535 streams returns the last one.
func (t *Tape) InternStream(handle uint64) StreamID {
	if handle == 0 {
		return 0
	}
	if s, ok := t.streams.index[handle]; ok {
		return s
	}
	if len(t.streams.handles) == maxStreams-1 {
		return maxStreams - 1
	}
	if t.streams.index == nil {
		t.streams.index = map[uint64]StreamID{}
	}
	t.streams.handles = append(t.streams.handles, handle)
	s := StreamID(len(t.streams.handles))
	t.streams.index[handle] = s
	return s
}

// StreamHandle returns the handle of a stream, 0 for the default stream.
func (t *Tape) StreamHandle(s StreamID) uint64 {
	if s == 0 || int(s) > len(t.streams.handles) {
		return 0
	}
	return t.streams.handles[s-1]
}

// Streams returns the number of streams, the default stream included; ids
// are 0 to Streams()-1.
func (t *Tape) Streams() int { return len(t.streams.handles) + 1 }
