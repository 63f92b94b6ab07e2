package safetensors

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// metadataKey is the one key of a header that is no tensor.
const metadataKey = "__metadata__"

// A parser reads one header.
type parser struct {
	name string
	dec  *json.Decoder
}

// explain turns the decoder's errors into ours.
func (p *parser) explain(err error, size int) error {
	var bad *json.SyntaxError
	switch {
	case errors.As(err, &bad):
		return syntax(p.name, LengthBytes+bad.Offset, "header is not JSON: %s", bad)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return syntax(p.name, LengthBytes+int64(size), "header ends in the middle of its JSON")
	}
	return syntax(p.name, LengthBytes+p.dec.InputOffset(), "%s", err)
}

// header reads the outermost object.
func (p *parser) header() (*Header, error) {
	if err := p.open('{'); err != nil {
		return nil, err
	}
	h := &Header{}
	seen := map[string]bool{}
	for p.dec.More() {
		key, err := p.key()
		if err != nil {
			return nil, err
		}
		if seen[key] {
			return nil, fmt.Errorf("%q is described twice", shortened(key))
		}
		seen[key] = true
		if key == metadataKey {
			h.Metadata, err = p.metadata()
		} else if len(h.Tensors) == maxTensors {
			err = fmt.Errorf("more than %d tensors", maxTensors)
		} else {
			var t Tensor
			t, err = p.tensor(key)
			h.Tensors = append(h.Tensors, t)
		}
		if err != nil {
			return nil, err
		}
	}
	if _, err := p.dec.Token(); err != nil {
		return nil, err
	}
	if _, err := p.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something stands behind the header's object")
	}
	return h, nil
}

func (p *parser) open(want json.Delim) error {
	t, err := p.dec.Token()
	if err == nil && t != want {
		err = fmt.Errorf("%s where %q should stand", shortened(fmt.Sprint(t)), want.String())
	}
	return err
}

func (p *parser) key() (string, error) {
	t, err := p.dec.Token()
	if err != nil {
		return "", err
	}
	s, _ := t.(string) // the decoder lets only strings be keys
	if len(s) > maxNameBytes {
		return "", fmt.Errorf("name of %d bytes, at most %d are believed", len(s), maxNameBytes)
	}
	return s, nil
}

func (p *parser) metadata() (map[string]string, error) {
	if err := p.open('{'); err != nil {
		return nil, err
	}
	m := map[string]string{}
	for p.dec.More() {
		key, err := p.key()
		if err != nil {
			return nil, err
		}
		t, err := p.dec.Token()
		if err != nil {
			return nil, err
		}
		s, ok := t.(string)
		if !ok {
			return nil, fmt.Errorf("metadata %q is not text", shortened(key))
		}
		m[key] = s
	}
	_, err := p.dec.Token()
	return m, err
}

// tensor reads {"dtype": ..., "shape": [...], "data_offsets": [begin, end]}.
func (p *parser) tensor(name string) (Tensor, error) {
	t := Tensor{Name: name, Shape: []int64{}}
	var offsets []int64
	if err := p.open('{'); err != nil {
		return t, err
	}
	for p.dec.More() {
		key, err := p.key()
		if err != nil {
			return t, err
		}
		switch key {
		case "dtype":
			var s any
			if s, err = p.dec.Token(); err == nil {
				text, _ := s.(string)
				t.DType = DType(text)
			}
		case "shape":
			t.Shape, err = p.numbers(maxDimensions)
		case "data_offsets":
			offsets, err = p.numbers(2)
		default:
			err = fmt.Errorf("tensor %q has %q, which the format does not know", shortened(name), shortened(key))
		}
		if err != nil {
			return t, err
		}
	}
	if _, err := p.dec.Token(); err != nil {
		return t, err
	}
	return t, t.check(offsets)
}

// check takes the offsets over if they agree with the type and the shape.
func (t *Tensor) check(offsets []int64) error {
	name := shortened(t.Name)
	kind, ok := dtypes[t.DType]
	if !ok {
		return fmt.Errorf("tensor %q has the type %q, which the format does not know", name, shortened(string(t.DType)))
	}
	if len(offsets) != 2 || offsets[0] > offsets[1] {
		return fmt.Errorf("tensor %q has the offsets %v: a beginning and an end are wanted", name, offsets)
	}
	n, ok := product(t.Shape)
	if !ok || n > 1<<57 {
		return fmt.Errorf("tensor %q has the shape %v, larger than any file", name, t.Shape)
	}
	t.Begin, t.End = offsets[0], offsets[1]
	if bits := n * kind.bits; bits%8 != 0 || t.End-t.Begin != bits/8 {
		return fmt.Errorf("tensor %q has %d bytes, but %v of %s takes %d", name, t.End-t.Begin, t.Shape, t.DType, bits/8)
	}
	return nil
}

// numbers reads a list of at most limit whole numbers that are not negative.
func (p *parser) numbers(limit int) ([]int64, error) {
	if err := p.open('['); err != nil {
		return nil, err
	}
	list := []int64{}
	for p.dec.More() {
		t, err := p.dec.Token()
		if err != nil {
			return nil, err
		}
		text, ok := t.(json.Number)
		if !ok {
			return nil, fmt.Errorf("%s where a number should stand", shortened(fmt.Sprint(t)))
		}
		n, err := text.Int64()
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%s is no size", shortened(text.String()))
		}
		if len(list) == limit {
			return nil, fmt.Errorf("more than %d numbers", limit)
		}
		list = append(list, n)
	}
	_, err := p.dec.Token()
	return slices.Clip(list), err
}
