package compose

import (
	"encoding/json"
	"testing"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// wrapping is a case of testdata/record_ddp.py.
type wrapping struct {
	ID        string
	World     int64
	Tensors   []tensor
	Construct string
	Forward   []string
	Ready     []int
}

// tensor is written as [shape, bytes of an element, kind].
type tensor struct {
	Param
	kind string
}

func (t *tensor) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&t.Shape, &t.Element, &t.kind})
}

func (c wrapping) module() Replicated {
	m := Replicated{World: c.World}
	for _, t := range c.Tensors {
		switch t.kind {
		case "trained":
			m.Trainable = append(m.Trainable, t.Param)
		case "buffer":
			m.Buffers = append(m.Buffers, t.Param)
		}
	}
	for _, buffers := range []bool{false, true} {
		for _, t := range c.Tensors {
			if (t.kind == "buffer") == buffers {
				m.States = append(m.States, t.Param)
			}
		}
	}
	return m
}

func TestDDP(t *testing.T) {
	var file struct{ Cases []wrapping }
	unpack(t, "testdata/ddp-2.15.json.gz", &file)
	for _, c := range file.Cases {
		t.Run(c.ID, func(t *testing.T) {
			var w tape.Writer
			d := NewDDP(c.module(), c.Ready)
			span := spans{t: t, tape: w.Tape()}
			d.Construct(&w)
			span.check("construct", c.Construct)
			for _, want := range c.Forward {
				d.Forward(&w)
				span.check("forward", want)
			}
		})
	}
}
