package kineto

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/plimsoll-dev/plimsoll/internal/input"
)

// A reader collects what a trace holds about memory.
type reader struct {
	name  string
	lim   input.Limits
	dec   *json.Decoder
	guard *input.Guard

	threads  map[string]*thread
	order    []*thread
	names    map[string]string // interned
	capacity map[int]int64
	ranges   []Range
	memories int // of devices
	skipped  int // events of a wrong form
	spans    int
}

// A thread is what happened on one of the program's threads.
type thread struct {
	spans  []span
	events []memory
}

// A span is an operator or a function that ran for a while.
type span struct {
	begin, end float64
	name       string
	from       string // place of the call, "train.py:41"
	python     bool
}

// A memory is one allocation or free.
type memory struct {
	time             float64
	order            int
	device           int
	addr             uint64
	bytes            int64 // negative when given up
	allocated, total int64 // of the device afterwards: in blocks, reserved
	stack            int   // index into the builder's stacks
}

// maxValue is how many bytes one event may take; those of real traces take
// some hundred.
const maxValue = 64 << 20

func newReader(name string, lim input.Limits) *reader {
	return &reader{name: name, lim: lim, threads: map[string]*thread{}, names: map[string]string{}, capacity: map[int]int64{}}
}

func (r *reader) open(src io.Reader) {
	r.guard = &input.Guard{Src: src, Left: maxValue}
	r.dec = json.NewDecoder(r.guard)
}

func (r *reader) errorf(format string, args ...any) error {
	return &input.SyntaxError{File: r.name, Offset: r.dec.InputOffset(), Msg: fmt.Sprintf(format, args...)}
}

// explain turns the decoder's errors into ours.
func (r *reader) explain(err error) error {
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: byte %d: %w", r.name, r.dec.InputOffset(), input.ErrTruncated)
	case errors.Is(err, input.ErrLarge):
		return r.errorf("one value takes more than %d bytes", int64(maxValue))
	case errors.As(err, &syntax):
		return &input.SyntaxError{File: r.name, Offset: syntax.Offset, Msg: syntax.Error()}
	}
	return err
}

func (r *reader) token() (json.Token, error) {
	r.guard.Left = maxValue
	return r.dec.Token()
}

// top reads the outermost value: an object with events, or their list alone.
func (r *reader) top() error {
	t, err := r.token()
	if err != nil {
		return err
	}
	if t == json.Delim('[') {
		return r.events()
	}
	if t != json.Delim('{') {
		return r.errorf("no trace: neither an object nor a list")
	}
	for r.dec.More() {
		key, err := r.token()
		if err != nil {
			return err
		}
		switch key {
		case "traceEvents":
			if t, err = r.token(); err == nil && t == json.Delim('[') {
				err = r.events()
			}
		case "deviceProperties":
			err = r.properties()
		default:
			err = r.skip()
		}
		if err != nil {
			return err
		}
	}
	_, err = r.token()
	return err
}

// skip reads over a value of any size.
func (r *reader) skip() error {
	for depth := 0; ; {
		t, err := r.token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('['), json.Delim('{'):
			depth++
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
		if depth > maxDepth {
			return r.errorf("values are nested more than %d deep", maxDepth)
		}
		if depth == 0 {
			return nil
		}
	}
}

const maxDepth = 1000

// properties reads the sizes of the devices.
func (r *reader) properties() error {
	var list []struct {
		ID     int   `json:"id"`
		Memory int64 `json:"totalGlobalMem"`
	}
	r.guard.Left = maxValue
	err := r.dec.Decode(&list)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return nil
	}
	for _, d := range list {
		r.capacity[d.ID] = d.Memory
	}
	return err
}

// An entry is one event of the trace; other fields are not looked at.
type entry struct {
	Phase    string          `json:"ph"`
	Category string          `json:"cat"`
	Name     string          `json:"name"`
	Thread   json.RawMessage `json:"tid"`
	Time     number          `json:"ts"`
	Duration number          `json:"dur"`
	Args     struct {
		Type      *int   `json:"Device Type"`
		Device    int    `json:"Device Id"`
		Addr      uint64 `json:"Addr"`
		Bytes     int64  `json:"Bytes"`
		Allocated int64  `json:"Total Allocated"`
		Reserved  int64  `json:"Total Reserved"`
		From      string `json:"CallFrom"`
	} `json:"args"`
}

// events reads the list of events behind its opening bracket.
func (r *reader) events() error {
	var e entry
	for r.dec.More() {
		e = entry{Thread: e.Thread[:0]}
		r.guard.Left = maxValue
		err := r.dec.Decode(&e)
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			r.skipped++
			continue
		}
		if err != nil {
			return err
		}
		if err := r.event(&e); err != nil {
			return err
		}
	}
	_, err := r.token()
	return err
}

// maxDevices is how many devices a tape can tell apart.
const maxDevices = 256

func (r *reader) event(e *entry) error {
	switch {
	case e.Phase == "i" && e.Name == "[memory]":
		if e.Args.Type == nil || *e.Args.Type == 0 || e.Args.Device < 0 || e.Args.Device >= maxDevices || e.Args.Bytes == 0 {
			return nil // of the host
		}
		t := r.thread(e.Thread)
		t.events = append(t.events, memory{
			time: float64(e.Time), order: r.memories, device: e.Args.Device, addr: e.Args.Addr, bytes: e.Args.Bytes,
			allocated: e.Args.Allocated, total: e.Args.Reserved,
		})
		r.memories++
	case e.Phase == "X" && (e.Category == "cpu_op" || e.Category == "python_function" || e.Category == "user_annotation"):
		t := r.thread(e.Thread)
		t.spans = append(t.spans, span{
			begin: float64(e.Time), end: float64(e.Time + e.Duration), name: r.intern(e.Name), from: r.intern(e.Args.From),
			python: e.Category == "python_function",
		})
		if e.Category == "user_annotation" {
			r.ranges = append(r.ranges, Range{r.intern(e.Name), true, int64(e.Time)}, Range{r.intern(e.Name), false, int64(e.Time + e.Duration)})
		}
		r.spans++
	}
	if most := r.lim.MaxValues; most > 0 && r.spans+r.memories > most {
		return r.errorf("more than %d spans and allocations", most)
	}
	return nil
}

func (r *reader) thread(id []byte) *thread {
	t := r.threads[string(id)]
	if t == nil {
		t = &thread{}
		r.threads[string(id)] = t
		r.order = append(r.order, t)
	}
	return t
}

func (r *reader) intern(s string) string {
	if known, ok := r.names[s]; ok {
		return known
	}
	r.names[s] = s
	return s
}
