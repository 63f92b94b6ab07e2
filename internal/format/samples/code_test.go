package samples

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestCoder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Int64(), 0, 300).Draw(t, "numbers")
		list = append(list, 0, 1, -1, math.MaxInt64, math.MinInt64)
		e, m := newEncoder(), newModel()
		for i, v := range list {
			e.number(m, v)
			e.bit(&m.same, i%3/2)
		}
		u, m := newUnpacker(e.end()), newModel()
		for i, v := range list {
			if got := u.number(m); got != v {
				t.Fatalf("number %d is %d, was %d", i, got, v)
			}
			if got := u.bit(&m.same); got != i%3/2 {
				t.Fatalf("bit %d is %d", i, got)
			}
		}
		if u.broken() {
			t.Fatal("read behind the end")
		}
	})
}

// TestCoderIsNearEntropy packs noise whose entropy is known.
func TestCoderIsNearEntropy(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	e, m := newEncoder(), newModel()
	const n = 20000
	for range n {
		e.number(m, rng.Int64N(1000)-500)
	}
	want := n * math.Log2(1000) / 8
	if got := float64(len(e.end())); got > 1.05*want {
		t.Errorf("%d numbers of %.1f bits take %.0f bytes, %.0f at best", n, math.Log2(1000), got, want)
	}
}
