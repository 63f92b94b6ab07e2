package solve

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// A Job is what was recorded.
type Job struct {
	Family       string        `json:"family"`
	Model        string        `json:"model,omitempty"`
	Task         string        `json:"task"`
	Mode         string        `json:"mode"`
	Precision    string        `json:"precision"`
	Attention    string        `json:"attention"`
	Checkpoint   string        `json:"checkpoint,omitempty"`
	ChannelsLast bool          `json:"channels_last,omitempty"`
	Unpadded     bool          `json:"unpadded,omitempty"` // the batch needs no attention mask
	LoRA         []string      `json:"lora,omitempty"`
	Quantize     string        `json:"quantize,omitempty"`
	Shard        string        `json:"shard,omitempty"`
	Structure    string        `json:"structure,omitempty"`
	Dims         symbolic.Dims `json:"dims"`
	Device       kernel.Device `json:"device"`
}

// A Recording is a line that the recorder wrote.
type Recording struct {
	Job    Job
	Labels []string
	Kinds  map[string][]string // of each layer, by stack
	Error  string
	// Extents and Convolutions are those of an image; see the recorder's vision.py.
	Extents      [][2]int64
	Convolutions [][8]int64

	events []event
	marks  []mark
	places places
	// categories are those of allocations, where they are known: of a script.
	categories []tape.Category
}

type event struct {
	free  bool
	bytes int64
	label int
	alloc int // of a free: the number of the allocation
}

type mark struct {
	at          int
	scope, part string
	index       int
}

type places struct {
	Parameters []tensor
	Buffers    []tensor
	Gradients  map[string]struct {
		Allocs []int // number of the allocation, -1 for none
	}
}

type tensor struct {
	name    string
	shape   []int64
	dtype   string
	trained bool
	alloc   int // number of the allocation that holds it, -1 for none
}

// UnmarshalJSON reads a line of the recorder.
func (r *Recording) UnmarshalJSON(data []byte) error {
	var raw struct {
		Job    Job
		Events []json.RawMessage
		Labels []string
		Marks  [][4]any
		Kinds  map[string][]string
		Places json.RawMessage
		Error  string

		Extents      [][2]int64
		Convolutions [][8]int64
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*r = Recording{Job: raw.Job, Labels: raw.Labels, Kinds: raw.Kinds, Error: raw.Error, Extents: raw.Extents, Convolutions: raw.Convolutions}
	if raw.Error != "" {
		return nil
	}
	allocs := 0
	for i, e := range raw.Events {
		var ev event
		if len(e) > 0 && e[0] == '[' {
			var pair [2]int64
			if err := json.Unmarshal(e, &pair); err != nil {
				return fmt.Errorf("event %d: %w", i, err)
			}
			ev = event{bytes: pair[0], label: int(pair[1]), alloc: allocs}
			allocs++
		} else {
			var n int
			if err := json.Unmarshal(e, &n); err != nil {
				return fmt.Errorf("event %d: %w", i, err)
			}
			ev = event{free: true, alloc: -1 - n}
			if ev.alloc < 0 || ev.alloc >= allocs {
				return fmt.Errorf("event %d frees what was not allocated", i)
			}
		}
		r.events = append(r.events, ev)
	}
	for _, m := range raw.Marks {
		at, ok1 := m[0].(float64)
		scope, ok2 := m[1].(string)
		part, ok3 := m[2].(string)
		index, ok4 := m[3].(float64)
		if !ok1 || !ok2 || !ok3 || !ok4 || int(at) > len(r.events) {
			return errors.New("a mark is out of place")
		}
		r.marks = append(r.marks, mark{int(at), scope, part, int(index)})
	}
	if err := r.places.read(raw.Places); err != nil {
		return err
	}
	return r.check(allocs)
}

// check refuses numbers that lead nowhere, so that the solver need not look.
func (r *Recording) check(allocs int) error {
	freed := make([]bool, allocs)
	for i, e := range r.events {
		if !e.free {
			if e.label < 0 || e.label >= len(r.Labels) || e.bytes < 0 {
				return fmt.Errorf("event %d has no label or no size", i)
			}
			continue
		}
		if freed[e.alloc] {
			return fmt.Errorf("event %d frees what is free", i)
		}
		freed[e.alloc] = true
	}
	if len(r.events) > 0 && (len(r.marks) == 0 || r.marks[0].at != 0) {
		return errors.New("there are events before the first mark")
	}
	for _, m := range r.marks {
		if m.at < 0 || m.index < -1 || m.index >= 0 && m.index >= len(r.Kinds[m.stackOf()]) {
			return fmt.Errorf("mark %s %s %d is of no layer", m.scope, m.part, m.index)
		}
	}
	var all []int
	for _, t := range slices.Concat(r.places.Parameters, r.places.Buffers) {
		all = append(all, t.alloc)
	}
	for _, g := range r.places.Gradients {
		all = append(all, g.Allocs...)
	}
	for _, a := range all {
		if a < -1 || a >= allocs {
			return fmt.Errorf("nothing is in allocation %d", a)
		}
	}
	return nil
}

func (p *places) read(data []byte) error {
	var raw struct {
		Parameters, Buffers [][5]any
		Gradients           map[string][]int
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	p.Parameters, p.Buffers = tensors(raw.Parameters), tensors(raw.Buffers)
	p.Gradients = map[string]struct{ Allocs []int }{}
	for scope, g := range raw.Gradients {
		p.Gradients[scope] = struct{ Allocs []int }{g}
	}
	return nil
}

func tensors(rows [][5]any) []tensor {
	var list []tensor
	for _, row := range rows {
		t := tensor{alloc: -1}
		t.name, _ = row[0].(string)
		shape, _ := row[1].([]any)
		for _, s := range shape {
			v, _ := s.(float64)
			t.shape = append(t.shape, int64(v))
		}
		t.dtype, _ = row[2].(string)
		if a, ok := row[3].(float64); ok {
			t.alloc = int(a)
		}
		t.trained, _ = row[4].(bool)
		list = append(list, t)
	}
	return list
}

// Len is the number of events.
func (r *Recording) Len() int { return len(r.events) }

// stackOf is the stack of a part's name, "layers" of "layers.forward".
func (m mark) stackOf() string {
	if m.index < 0 {
		return ""
	}
	stack, _, _ := strings.Cut(m.part, ".")
	return stack
}
