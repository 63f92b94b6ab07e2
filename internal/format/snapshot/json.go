package snapshot

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// A jsonReader fills a recording from JSON, as json.dump writes it.
type jsonReader struct {
	*recording
	dec   *json.Decoder
	guard *input.Guard
	stack []uint32
}

// maxValue is how many bytes of JSON one event or segment may take. A
// segment of 10,000 blocks with stacks of 100 frames takes a third of it.
const maxValue = 512 << 20

func (r *recording) readJSON(src io.ReaderAt) error {
	g := &input.Guard{Src: io.NewSectionReader(src, 0, r.in.Size())}
	j := &jsonReader{recording: r, dec: json.NewDecoder(g), guard: g}
	j.dec.UseNumber() // of the settings some are whole and some are not
	err := j.top()
	if err == nil {
		r.openTrace = -1
	}
	return j.explain(err)
}

// explain turns the decoder's errors into ours.
func (j *jsonReader) explain(err error) error {
	var syntax *json.SyntaxError
	var wrongType *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return j.in.Truncated()
	case errors.Is(err, input.ErrLarge):
		return j.in.Errorf(j.dec.InputOffset(), "one value takes more than %d bytes", int64(maxValue))
	case errors.As(err, &syntax):
		return j.in.Errorf(syntax.Offset, "%s", syntax.Error())
	case errors.As(err, &wrongType):
		return j.in.Errorf(j.dec.InputOffset(), "%q is of the wrong type, %s", wrongType.Field, wrongType.Value)
	}
	return err
}

func (j *jsonReader) token() (json.Token, error) {
	j.guard.Left = maxValue
	return j.dec.Token()
}

func (j *jsonReader) decode(v any) error {
	j.guard.Left = maxValue
	return j.dec.Decode(v)
}

// top reads the outermost value: a snapshot, or its segments alone.
func (j *jsonReader) top() error {
	t, err := j.token()
	if err != nil {
		return err
	}
	if t == json.Delim('[') {
		j.sawSegments, j.bareList = true, true
		return j.rest(j.segment)
	}
	for j.dec.More() {
		key, err := j.token()
		if err != nil {
			return err
		}
		switch key {
		case "segments":
			j.sawSegments = true
			err = j.list(j.segment)
		case "device_traces":
			j.sawTraces = true
			err = j.list(j.trace)
			j.openTrace = -1
		case "allocator_settings":
			err = j.readSettings()
		case "external_annotations":
			err = j.list(j.annotation)
		default:
			j.hostMemory = j.hostMemory || listRoles[key.(string)] == ignoredList
			err = j.skip()
		}
		if err != nil {
			return err
		}
	}
	_, err = j.token() // the closing brace
	return err
}

// list reads a list whose items are read by item.
func (j *jsonReader) list(item func() error) error {
	at := j.dec.InputOffset()
	t, err := j.token()
	if err != nil {
		return err
	}
	if t == nil {
		return nil
	}
	if t != json.Delim('[') {
		return j.in.Errorf(at, "not a list")
	}
	return j.rest(item)
}

// rest reads what follows the opening bracket of a list.
func (j *jsonReader) rest(item func() error) error {
	for j.dec.More() {
		if err := item(); err != nil {
			return err
		}
	}
	_, err := j.token()
	return err
}

// skip reads over a value of any size.
func (j *jsonReader) skip() error {
	for depth := 0; ; {
		t, err := j.token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('['), json.Delim('{'):
			depth++
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
		if depth > j.in.Limits().MaxDepth {
			return j.in.Errorf(j.dec.InputOffset(), "values are nested more than %d deep", j.in.Limits().MaxDepth)
		}
		if depth == 0 {
			return nil
		}
	}
}

// An integer is a JSON number of 64 bits, signed or not.
type integer struct {
	bits uint64
	set  bool
}

// UnmarshalJSON accepts whole numbers from -2^63 to 2^64-1, and null.
func (n *integer) UnmarshalJSON(b []byte) error {
	text := string(b)
	if text == "null" {
		return nil
	}
	n.set = true
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		n.bits = uint64(i)
		return nil
	}
	u, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return &json.UnmarshalTypeError{Value: "number " + text}
	}
	n.bits = u
	return nil
}

type jsonFrame struct {
	Name     string `json:"name"`
	Filename string `json:"filename"`
	Line     int    `json:"line"`
}

// number interns a stack.
func (j *jsonReader) number(frames []jsonFrame) uint32 {
	j.stack = j.stack[:0]
	for _, f := range frames {
		j.stack = append(j.stack, j.stacks.frame(tape.Frame{Name: f.Name, File: f.Filename, Line: f.Line}))
	}
	return j.stacks.stack(j.stack)
}

func (j *jsonReader) trace() error {
	n := j.addTrace()
	return j.list(func() error { return j.event(n) })
}

func (j *jsonReader) event(device int) error {
	var v struct {
		Action     string      `json:"action"`
		Addr       integer     `json:"addr"`
		DeviceFree integer     `json:"device_free"`
		Size       integer     `json:"size"`
		Stream     integer     `json:"stream"`
		Time       integer     `json:"time_us"`
		Pool       []integer   `json:"pool_id"`
		Compile    string      `json:"compile_context"`
		Metadata   string      `json:"user_metadata"`
		Frames     []jsonFrame `json:"frames"`
	}
	at := j.dec.InputOffset()
	if err := j.decode(&v); err != nil {
		return err
	}
	if device >= maxDevices {
		return j.in.Errorf(at, "more than %d devices have events", maxDevices)
	}
	kind, known := actions[v.Action]
	if !known {
		kind = tape.Other
	}
	if v.Action == "" || kind.HasBlock() && (!v.Addr.set || !v.Size.set) {
		return j.in.Errorf(at, `event %s without "action", "addr" or "size"`, v.Action)
	}
	e := event{kind: kind, addr: v.Addr.bits, size: v.Size.bits, stream: v.Stream.bits, time: int64(v.Time.bits)}
	if v.DeviceFree.set {
		e.addr = v.DeviceFree.bits
	}
	if len(v.Pool) == 2 {
		e.pool = [2]uint64{v.Pool[0].bits, v.Pool[1].bits}
	}
	e.stack = j.number(v.Frames)
	t := j.traces[device]
	t.context(v.Compile, v.Metadata)
	return j.addEvent(t, v.Action, e, at)
}

type jsonBlock struct {
	Address   integer     `json:"address"`
	Size      integer     `json:"size"`
	Requested integer     `json:"requested_size"`
	State     string      `json:"state"`
	Frames    []jsonFrame `json:"frames"`
	History   []struct {
		RealSize integer     `json:"real_size"`
		Frames   []jsonFrame `json:"frames"`
	} `json:"history"`
}

func (j *jsonReader) segment() error {
	var v struct {
		Device     integer     `json:"device"`
		Address    integer     `json:"address"`
		TotalSize  integer     `json:"total_size"`
		Stream     integer     `json:"stream"`
		Type       string      `json:"segment_type"`
		Pool       []integer   `json:"segment_pool_id"`
		Expandable bool        `json:"is_expandable"`
		Frames     []jsonFrame `json:"frames"`
		Blocks     []jsonBlock `json:"blocks"`
	}
	at := j.dec.InputOffset()
	if err := j.decode(&v); err != nil {
		return err
	}
	if !v.Address.set || !v.TotalSize.set || v.Blocks == nil || v.TotalSize.bits > maxSize || v.Device.bits >= maxDevices {
		return j.in.Errorf(at, `segment without a good "address", "total_size", "device" or "blocks"`)
	}
	s := segment{
		device: uint8(v.Device.bits), small: v.Type == "small", expandable: v.Expandable, addr: v.Address.bits,
		size: v.TotalSize.bits, stream: v.Stream.bits, stack: j.number(v.Frames),
	}
	if len(v.Pool) == 2 {
		s.pool = [2]uint64{v.Pool[0].bits, v.Pool[1].bits}
	}
	for _, b := range v.Blocks {
		out, err := j.block(b, at)
		if err != nil {
			return err
		}
		s.blocks = append(s.blocks, out)
	}
	return j.addSegment(s, at)
}

func (j *jsonReader) block(b jsonBlock, at int64) (block, error) {
	state, known := states[b.State]
	if !b.Size.set || !known || b.Size.bits > maxSize || b.Requested.bits > maxSize {
		return block{}, j.in.Errorf(at, `block without a good "size", "requested_size" or "state"`)
	}
	out := block{
		addr: b.Address.bits, size: b.Size.bits, requested: b.Requested.bits, state: state, stack: j.number(b.Frames),
	}
	if len(b.History) > 0 {
		out.stack = j.number(b.History[0].Frames)
		if out.requested == 0 && b.History[0].RealSize.bits <= maxSize {
			out.requested = b.History[0].RealSize.bits
		}
	}
	return out, nil
}

func (j *jsonReader) annotation() error {
	var v struct {
		Stage  string  `json:"stage"`
		Name   string  `json:"name"`
		Device integer `json:"device"`
		Time   integer `json:"time_us"`
	}
	if err := j.decode(&v); err != nil {
		return err
	}
	a := Annotation{Name: v.Name, Begin: v.Stage == "START", Device: -1, Time: int64(v.Time.bits)}
	if v.Device.set && v.Device.bits < maxDevices {
		a.Device = int(v.Device.bits)
	}
	j.annotations = append(j.annotations, a)
	return nil
}

func (j *jsonReader) readSettings() error {
	var raw map[string]any
	if err := j.decode(&raw); err != nil {
		return err
	}
	for k, v := range raw {
		raw[k] = whole(v)
	}
	j.settings = raw
	return nil
}

// whole turns the numbers of a decoded value into int64 and float64, as they
// are in a pickle.
func whole(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, _ := v.Float64()
		return f
	case map[string]any:
		for k := range v {
			v[k] = whole(v[k])
		}
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	}
	return v
}
