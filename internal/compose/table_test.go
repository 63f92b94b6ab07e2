package compose

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// TestTable holds each row to its recordings: no rule without one.
func TestTable(t *testing.T) {
	recorded := map[string]bool{}
	for _, file := range load(t) {
		for _, c := range file.Cases {
			recorded[c.Optimizer] = true
		}
	}
	seen := map[string]bool{}
	for _, r := range rules {
		if seen[r.name] {
			t.Errorf("%s is there twice", r.name)
		}
		seen[r.name] = true
		if r.source == "" {
			t.Errorf("%s lacks its source", r.name)
		}
		if !recorded[r.name] {
			t.Errorf("%s has no recording", r.name)
		}
		for _, s := range r.body {
			if r.over == everyGroup && (s.do != let || s.beside != nil) {
				t.Errorf("%s: lists know only let", r.name)
			}
		}
	}
}

func TestStates(t *testing.T) {
	matrix, bias := Param{Shape: []int64{4096, 1024}, Element: 2}, Param{Shape: []int64{4096}, Element: 4}
	for _, c := range []struct {
		name         string
		matrix, bias int64
	}{
		{"sgd", 0, 0},
		{"sgd-momentum", 8 << 20, 16 << 10},
		{"adamw", 16 << 20, 32 << 10},
		{"adamw-fused", 16<<20 + 4, 32<<10 + 4},
		{"adafactor", 2 * (4096 + 1024), 16 << 10},
		{"adamw-8bit", 8<<20 + 2*4*(4<<20)/256, 2*4096 + 2*4*16},
		{"lion", 16 << 20, 16 << 10},
	} {
		for _, p := range []struct {
			Param
			want int64
		}{{matrix, c.matrix}, {bias, c.bias}} {
			var got int64
			for _, s := range find(c.name).keeps {
				got += s(p.Param, kernel.Device{})
			}
			if got != p.want {
				t.Errorf("%s keeps %d bytes of %v, want %d", c.name, got, p.Shape, p.want)
			}
		}
	}
}

func TestUnknownOptimizer(t *testing.T) {
	_, err := NewOptimizer("adamx", nil, kernel.Device{})
	if err == nil || !strings.Contains(err.Error(), `"adamx"`) || !strings.Contains(err.Error(), "adamw-fused") {
		t.Errorf("the error names neither the word nor what is known: %v", err)
	}
	if Known("adamx") || Paged("adamx") || !Known("adamw") || Paged("adamw") || !Paged("paged-adamw-8bit") {
		t.Error("adamx is known")
	}
}

// TestEndlessParameter has a matrix that no card holds: it must cost neither time nor
// memory.
func TestEndlessParameter(t *testing.T) {
	for _, shape := range [][]int64{{1 << 24, 1 << 24}, {1<<24 - 1, 1<<24 - 1}, {1 << 40, 1 << 40}, {1 << 30, 3, 1 << 50}, {1<<62 + 1}} {
		for _, name := range Optimizers() {
			for _, element := range []int64{2, 4} {
				params := []Param{{Shape: shape, Element: element}}
				o, err := NewOptimizer(name, params, kernel.Device{Capability: 80, Multiprocessors: 108, ThreadsPerMultiprocessor: 2048})
				if err != nil {
					t.Fatal(err)
				}
				var w tape.Writer
				(&Finish{Clip: NewClip(params), Optimizer: o}).Step(&w, []tape.BlockID{0})
				if n := w.Tape().Len(); n > 100_000 {
					t.Errorf("%s of %v: %d events", name, shape, n)
				}
				for i := range w.Tape().Len() {
					if e := w.Tape().Event(i); e.Kind == tape.Alloc && e.Bytes < 0 {
						t.Errorf("%s of %v: event %d asks for %d bytes", name, shape, i, e.Bytes)
					}
				}
			}
		}
	}
}

// TestNothingToDo writes steps without parameters or without gradients.
func TestNothingToDo(t *testing.T) {
	for _, params := range [][]Param{nil, {{Shape: []int64{3}, Element: 4}}} {
		for _, name := range Optimizers() {
			var w tape.Writer
			o, err := NewOptimizer(name, params, kernel.Device{Capability: 80, Multiprocessors: 108, ThreadsPerMultiprocessor: 2048})
			if err != nil {
				t.Fatal(err)
			}
			grads := make([]tape.BlockID, len(params))
			for i := range grads {
				grads[i] = tape.NoBlock
			}
			f := Finish{Clip: NewClip(params), Optimizer: o}
			f.Step(&w, grads)
			if n := w.Tape().Len(); n != 0 {
				t.Errorf("%s with %d parameters and no gradient: %d events", name, len(params), n)
			}
		}
	}
}
