package pickle

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/internal/input"
)

// A keeper keeps everything, so that tests see the whole tree.
type keeper struct{}

func (keeper) List(*Machine, Value) {}

func (keeper) Dict(_ *Machine, d Value, _ []Value) (Value, error) { return d, nil }

// load reads a pickle into plain Go values, in two passes and in one, which
// must agree: nil, bool, int64 or uint64,
// float64, string, []any (tuples too) and map[string]any.
func load(data []byte, lim input.Limits) (any, error) {
	out, err := loadBy((*Machine).Run, data, lim)
	once, err1 := loadBy((*Machine).RunOnce, data, lim)
	switch {
	case errors.Is(err1, ErrAgain):
	case (err == nil) != (err1 == nil), fmt.Sprint(out) != fmt.Sprint(once):
		return nil, fmt.Errorf("two passes find %v, %w, one finds %v, %w", out, err, once, err1)
	}
	return out, err
}

func loadBy(run func(*Machine) (Value, error), data []byte, lim input.Limits) (any, error) {
	m := New(input.NewReader(bytes.NewReader(data), int64(len(data)), "test.pickle", lim), keeper{})
	root, err := run(m)
	if err != nil {
		return nil, err
	}
	budget := 1 << 20
	return tree(m, root, &budget, 0), nil
}

// tree stops at containers that hold themselves, and at the budget, since a
// small pickle can stand for a tree of any size.
func tree(m *Machine, v Value, budget *int, depth int) any {
	if *budget--; *budget < 0 || depth > 200 {
		return "..."
	}
	switch v.Type() {
	case None:
		return nil
	case Bool:
		return v.Bool()
	case Int:
		if i, ok := m.Int64(v); ok {
			return i
		}
		if u, ok := m.Uint64(v); ok {
			return u
		}
		return "huge"
	case Float:
		f, _ := m.Float64(v)
		return f
	case String:
		s, _ := m.Text(v)
		return s
	case List, Tuple:
		out := []any{}
		for _, item := range m.Items(v) {
			out = append(out, tree(m, item, budget, depth+1))
		}
		return out
	case Dict:
		out := map[string]any{}
		items := m.Items(v)
		for i := 0; i+1 < len(items); i += 2 {
			out[fmt.Sprint(tree(m, items[i], budget, depth+1))] = tree(m, items[i+1], budget, depth+1)
		}
		return out
	}
	return fmt.Sprintf("type %d", v.Type())
}
