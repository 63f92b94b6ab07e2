package symbolic_test

import (
	"slices"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// llama is a recorded tape and the dimensions of Llama 2 7B.
func llama(b *testing.B) (*symbolic.Tape, symbolic.Env) {
	b.Helper()
	file, err := recordings.Open("", "llama")
	if err != nil {
		b.Fatal(err)
	}
	const key = "causal-lm/train/bf16/sdpa/none/80/"
	i := slices.IndexFunc(file.Keys(), func(k string) bool { return len(k) > len(key) && k[:len(key)] == key })
	t, err := file.Tape(file.Keys()[i])
	if err != nil {
		b.Fatal(err)
	}
	return t, symbolic.Env{
		Dims:   symbolic.Dims{"B": 4, "S": 2048, "h": 4096, "a": 32, "k": 32, "d": 128, "f": 11008, "V": 32000, "P": 4096, "L": 32},
		Device: card,
		Kinds:  map[string][]string{"layers": slices.Repeat([]string{"one"}, 32)},
	}
}

// BenchmarkPlay plays three steps of 32 layers; a play should take a
// millisecond, since a search for the largest batch is some dozens.
func BenchmarkPlay(b *testing.B) {
	t, env := llama(b)
	for name, sites := range map[string]bool{"sizes": false, "sites": true} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var w tape.Writer
			for b.Loop() {
				w.Reset()
				if _, err := t.Play(env, symbolic.Plan{Train: true, Micros: []int{1, 1, 1}, Sites: sites}, &w, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(w.Tape().Len()), "events")
		})
	}
}

// BenchmarkRead reads a tape of a collection that was just opened.
func BenchmarkRead(b *testing.B) {
	file, err := recordings.Open("", "llama")
	if err != nil {
		b.Fatal(err)
	}
	key := file.Keys()[0]
	t, err := file.Tape(key)
	if err != nil {
		b.Fatal(err)
	}
	c := symbolic.NewCollection()
	c.Add(key, t)
	text := written(b, c)
	for b.Loop() {
		c, err := symbolic.ParseCollection(text)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.Tape(key); err != nil {
			b.Fatal(err)
		}
	}
}
