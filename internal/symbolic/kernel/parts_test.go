package kernel

import "testing"

// TestParts compares the parts of large reductions, counted, with each by its number.
func TestParts(t *testing.T) {
	for _, c := range []struct{ n, step, element int64 }{
		{1, 1 << 40, 4}, {5, 1 << 30, 2}, {10, 1 << 30, 4}, {1000, 1 << 27, 4}, {1<<31 + 7, 1, 4}, {77, 1 << 31, 1}, {0, 3, 4},
	} {
		left := map[int64]int64{}
		var steps int64
		for _, p := range Parts(c.n, c.step, c.element) {
			left[p.Steps] = p.Count
			steps += p.Steps * p.Count
		}
		if steps != c.n {
			t.Errorf("%v: the parts have %d steps together", c, steps)
		}
		for part := int64(0); ; part++ {
			size := nthPart(c.n, c.step, c.element, part)
			if size == 0 {
				break
			}
			left[size]--
		}
		for size, n := range left {
			if n != 0 && c.n > 0 {
				t.Errorf("%v: %d parts of %d steps too many", c, n, size)
			}
		}
	}
	for _, n := range []int64{1 << 62, 1<<62 + 12345, 1<<63 - 1} {
		if got := len(Parts(n, 1<<40, 4)); got > 200 {
			t.Errorf("%d steps: %d kinds of parts", n, got)
		}
	}
}
