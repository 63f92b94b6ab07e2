package pickle

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/input"
)

// A replacer lets a number stand for each list that is a value of a dict, and
// notes what it sees.
type replacer struct{ seen []uint64 }

func (r *replacer) List(*Machine, Value) {}

func (r *replacer) Dict(m *Machine, _ Value, pairs []Value) (Value, error) {
	v := pairs[1]
	if _, n, ok := v.Atom(); ok {
		r.seen = append(r.seen, n)
		return MakeGone(), nil
	}
	n, _ := m.Int64(m.Items(v)[0])
	m.Replace(v, MakeAtom(1, uint64(n)))
	r.seen = append(r.seen, uint64(n))
	return MakeGone(), nil
}

// Lists that come again later cost a memo slot each once they were replaced,
// so that a snapshot may have any number of stacks.
func TestReplacedListsAreNotHeld(t *testing.T) {
	const n = 5000
	data := []byte("\x80\x02](")
	slot := func(op byte, i int) {
		data = binary.LittleEndian.AppendUint32(append(data, op), uint32(i))
	}
	for i := range n { // {"f": [i % 200]}, twice
		data = append(data, "}(X\x01\x00\x00\x00f]"...)
		slot('r', i)
		data = append(data, 'K', byte(i%200), 'a', 'u', '}', '(')
		data = append(data, "X\x01\x00\x00\x00f"...)
		slot('j', i)
		data = append(data, 'u')
	}
	for i := range n { // and once more at the end
		data = append(data, "}(X\x01\x00\x00\x00f"...)
		slot('j', i)
		data = append(data, 'u')
	}
	data = append(data, "e."...)
	c := &replacer{}
	if _, err := New(input.NewReader(bytes.NewReader(data), int64(len(data)), "f", input.Limits{MaxValues: 1000}), c).Run(); err != nil {
		t.Fatal(err)
	}
	if len(c.seen) != 3*n {
		t.Fatalf("%d of %d", len(c.seen), 3*n)
	}
	for i, got := range c.seen {
		want := uint64(i / 2 % 200)
		if i >= 2*n {
			want = uint64((i - 2*n) % 200)
		}
		if got != want {
			t.Fatalf("dict %d has %d, want %d", i, got, want)
		}
	}
}

// A slot that holds something else by then keeps it.
func TestReplaceLeavesASlotThatWasSetAnew(t *testing.T) {
	data := "\x80\x02](}(X\x01\x00\x00\x00f]q\x00K\x07aX\x01\x00\x00\x00gK\x01q\x00u}(X\x01\x00\x00\x00fh\x00ue."
	c := &last{}
	if _, err := New(input.NewReader(bytes.NewReader([]byte(data)), int64(len(data)), "f", input.Limits{}), c).Run(); err != nil {
		t.Fatal(err)
	}
	if c.v.Type() != Int {
		t.Errorf("slot 0 holds a %v", c.v.Type())
	}
}

type last struct{ v Value }

func (l *last) List(*Machine, Value) {}

func (l *last) Dict(m *Machine, _ Value, pairs []Value) (Value, error) {
	l.v = pairs[1]
	m.Replace(pairs[1], MakeAtom(1, 1))
	return MakeGone(), nil
}
