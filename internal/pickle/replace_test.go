package pickle

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
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

// A brief lets go of the dicts of all lists.
type brief struct{ seen []int64 }

func (*brief) List(m *Machine, list Value) { m.SetBrief(list) }

func (b *brief) Dict(m *Machine, _ Value, pairs []Value) (Value, error) {
	for i := 0; i < len(pairs); i += 2 {
		n, _ := m.Int64(pairs[i+1])
		b.seen = append(b.seen, n)
	}
	return MakeGone(), nil
}

// What one pass cannot read is read in two.
func TestRunOnceGivesUp(t *testing.T) {
	dict := "}\x94(\x8c\x01a\x94K\x07u" // slots 1, 2
	for name, c := range map[string]struct {
		body  string
		again bool
		seen  []int64
	}{
		"dicts that do not come again":   {"]\x94(" + dict + "}\x94(h\x02K\x09u" + "}\x94(h\x02K\x0bu" + "e.", false, []int64{7, 9, 11}},
		"a dict that does":               {"]\x94(" + dict + "h\x01e.", true, []int64{7}},
		"a slot that nothing set":        {"]\x94(" + dict + "h\x63e.", true, nil},
		"a slot before the last":         {"]\x94(K\x01r\x08\x00\x00\x00K\x01q\x07e.", true, nil},
		"a class":                        {"cos\nsystem\n.", true, nil},
		"a slot of a key, set anew":      {"]\x94(" + dict + "}\x94(h\x02K\x09u" + "K\x05q\x02" + "}\x94(h\x02K\x0bue.", false, []int64{7, 9, 11}},
		"a value as long as seven bytes": {"]\x94(" + dict + "}\x94(h\x02\x8a\x07\xff\xff\xff\xff\xff\xff\xffu" + "}\x94(h\x02\x8a\x06\x00\x00\x00\x00\x00\x80ue.", false, []int64{7, -1, -1 << 47}},
	} {
		t.Run(name, func(t *testing.T) {
			data := []byte("\x80\x04" + c.body + string(make([]byte, 64))) // so that nothing is left to the slow way
			b := &brief{}
			_, err := New(input.NewReader(bytes.NewReader(data), int64(len(data)), "f", input.Limits{}), b).RunOnce()
			if errors.Is(err, ErrAgain) != c.again || err != nil && !c.again {
				t.Fatalf("again: %t, %v", c.again, err)
			}
			if c.seen != nil && !slices.Equal(b.seen, c.seen) {
				t.Errorf("saw %v, want %v", b.seen, c.seen)
			}
		})
	}
}

// A file of nothing but memo slots takes no more memory than a share of it.
func TestRunOnceIsBounded(t *testing.T) {
	data := append([]byte("\x80\x04N"), bytes.Repeat([]byte{opMemoize}, 8*leastKept)...)
	m := New(input.NewReader(bytes.NewReader(data), int64(len(data)), "f", input.Limits{}), keeper{})
	if _, err := m.RunOnce(); !errors.Is(err, ErrAgain) {
		t.Error(err)
	}
	if len(m.memo) > 2*leastKept {
		t.Errorf("%d slots are kept of %d bytes", len(m.memo), len(data))
	}
}
