package symbolic_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// tiny is a model of layers with a weight each, one token type in the last, and
// a step that shows every way to name a block.
const tiny = `plimsoll symbolic 1
torch 2.15.0
symbol h hidden size
body 0
+0 2*h*h parameter empty
body 1
+0 2*h*h parameter empty
+1 2*h parameter empty
body 2
+0 64 buffer arange
body 3
+0 8*B*S input zeros
body 4
+0 2*B*S*h activation mm>linear
+1 4*B*S temporary sum ?S>64
-layers.forward 1
+2 B*S/3 activation dropout ~0.25 ?h>1000&S<=9
+3 2*B*h activation gelu
body 5
+0 4 temporary nll_loss
-layers.forward 3 nth 0
-layers.forward 3 last 0
-layers.forward 3 every 0
body 6
+0 2*h*h gradient mm
+1 2*B*S*h temporary mm
-layers.forward 0
-layers.backward 1 near 1
body 7
+0 2*h*h gradient mm
+1 2*B*S*h temporary mm
-layers.forward 0
-layers.backward 1 near 1
+3 2*h gradient sum
body 8
-layers.backward 1 nth 0
-loss 0
-batch 0
-ready 0 @load
body 9
-layers.backward 0 every 0
-layers.backward 3 every 0
body 10
+2 2*h*h temporary mm
+1 2*B*S*h temporary mm
-layers.backward 2
-layers.forward 0
-layers.backward 1 near 1
tape causal-lm/train
seen B 1 37
checked 900 899 -0.002
part load layers.load layers up 0 2 one:first=0 one=0 one:last=1 one:only=1
part load ready - up 0 1 -=2
part first batch - up 0 1 -=3
part first layers.forward layers up 0 4 one:first=4 one=4 one:last=4 one:only=4
part first loss - up 0 1 -=5
part first layers.backward layers down 0 4 one:first=6 one=6 one:last=7 one:only=7
part first drop - up 0 0 -=8
part steady batch - up 0 1 -=3
part steady layers.forward layers up 0 4 one:first=4 one=4 one:last=4 one:only=4
part steady loss - up 0 1 -=5
part steady layers.backward layers down 0 4 one:first=6 one=6 one:last=7 one:only=7
part steady drop - up 0 0 -=8
part zero grads - up 0 0 -=9
part accumulate batch - up 0 1 -=3
part accumulate layers.forward layers up 0 4 one:first=4 one=4 one:last=4 one:only=4
part accumulate loss - up 0 1 -=5
part accumulate layers.backward layers down 0 4 one:first=10 one=10 one:last=10 one:only=10
part accumulate drop - up 0 0 -=8
param layers.{}.weight layers - 0 bfloat16 trained layers.load:0:0 layers.backward:0:0 h h
param layers.{}.bias layers one:last 0 bfloat16 trained layers.load:1:0 layers.backward:3:0 h
param layers.{}.bias layers one:only 0 bfloat16 trained layers.load:1:0 layers.backward:3:0 h
param position - - 0 float32 frozen ready:0:0 - 16
end
`

func read(t testing.TB, text, key string) *symbolic.Tape {
	t.Helper()
	c, err := symbolic.ParseCollection(text)
	if err != nil {
		t.Fatal(err)
	}
	tp, err := c.Tape(key)
	if err != nil {
		t.Fatal(err)
	}
	return tp
}

func tinyEnv(layers int, d symbolic.Dims) symbolic.Env {
	return symbolic.Env{Dims: d, Device: card, Kinds: map[string][]string{"layers": slices.Repeat([]string{"one"}, layers)}}
}

// told is a tape in words, a phase a line: +16 is an allocation, -3 the free of block 3.
func told(t *tape.Tape) string {
	var b strings.Builder
	phase := tape.Phase(255)
	for i := range t.Len() {
		e := t.Event(i)
		if e.Phase != phase {
			phase = e.Phase
			fmt.Fprintf(&b, "\n%s:", phase)
		}
		if e.Kind == tape.Alloc {
			fmt.Fprintf(&b, " +%d", e.Bytes)
		} else {
			fmt.Fprintf(&b, " -%d", e.Block)
		}
	}
	return strings.TrimSpace(b.String()) + "\n"
}

func TestPlay(t *testing.T) {
	t.Parallel()
	tp := read(t, tiny, "causal-lm/train")
	for name, c := range map[string]struct {
		layers int
		dims   symbolic.Dims
		plan   symbolic.Plan
		want   string
	}{
		"two layers, one step": {
			layers: 2, dims: symbolic.Dims{"B": 1, "S": 8, "h": 4},
			plan: symbolic.Plan{Train: true, Micros: []int{1}},
			want: `load: +32 +32 +8 +64
idle: +64
forward: +64 +8 +64 +8
loss: +4 -6 -8
backward: +32 +64 -7 +8 +32 +64 -5 -11 -14 -9 -4 -3
step: -13 -10 -12
`,
		},
		"a condition that holds, and three layers of which the middle one's block is freed by every": {
			layers: 3, dims: symbolic.Dims{"B": 1, "S": 65, "h": 4},
			plan: symbolic.Plan{Train: true, Micros: []int{1}},
			want: `load: +32 +32 +32 +8 +64
idle: +520
forward: +520 +260 -7 +8 +520 +260 -10 +8 +520 +260 -13 +8
loss: +4 -8 -14 -11
backward: +32 +520 -12 +8 +32 +520 -9 -17 +32 +520 -6 -20 -22 -15 -5 -4
step: -21 -19 -16 -18
`,
		},
		"gradients are added to; the block of the load is freed once": {
			layers: 1, dims: symbolic.Dims{"B": 1, "S": 1, "h": 4},
			plan: symbolic.Plan{Train: true, Micros: []int{1, 2}},
			want: `load: +32 +8 +64
idle: +8
forward: +8 +8
loss: +4 -5
backward: +32 +8 -4 +8 -8 -6 -3 -2
step: -7 -9
idle: +8
forward: +8 +8
loss: +4 -12
backward: +32 +8 -11 +8 -15 -13 -10
idle: +8
forward: +8 +8
loss: +4 -19
backward: +32 +8 -21 -18 -22 -20 -17
step: -14 -16
`,
		},
		"an evaluation drops no gradients": {
			layers: 1, dims: symbolic.Dims{"B": 1, "S": 1, "h": 4},
			plan: symbolic.Plan{Micros: []int{1}},
			want: `load: +32 +8 +64
idle: +8
forward: +8 +8
loss: +4 -5
backward: +32 +8 -4 +8 -8 -6 -3 -2
`,
		},
		"nothing is allocated for a size of nothing, and it is not freed": {
			layers: 1, dims: symbolic.Dims{"B": 0, "S": 1, "h": 4},
			plan: symbolic.Plan{Train: true, Micros: []int{1}},
			want: "load: +32 +8 +64\nloss: +4\nbackward: +32 +8 -3 -2\nstep: -4 -5\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w tape.Writer
			if _, err := tp.Play(tinyEnv(c.layers, c.dims), c.plan, &w, nil); err != nil {
				t.Fatal(err)
			}
			if got := told(w.Tape()); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

func TestPlayed(t *testing.T) {
	t.Parallel()
	tp := read(t, tiny, "causal-lm/train")
	var w tape.Writer
	steps, blocks := 0, 0
	plan := symbolic.Plan{Train: true, Micros: []int{1, 1}, Sites: true}
	plan.Ready = func(w *tape.Writer, params []symbolic.Tensor) error {
		if w.Tape().Blocks() != 4 || len(params) != 4 {
			t.Errorf("ready after %d blocks with %d parameters", w.Tape().Blocks(), len(params))
		}
		return nil
	}
	plan.Trace = func(b tape.BlockID, part *symbolic.Part, op *symbolic.Op) {
		if blocks++; int(b) != w.Tape().Blocks()-1 || part.Name == "" || op.Free {
			t.Errorf("block %d of %s", b, part.Name)
		}
	}
	played, err := tp.Play(tinyEnv(2, symbolic.Dims{"B": 3, "S": 8, "h": 2000}), plan, &w, func(_ *tape.Writer, params []symbolic.Tensor) error {
		steps++
		var b strings.Builder
		for _, p := range params {
			fmt.Fprintf(&b, "%s %v %s %s %v %d %d %d\n", p.Name, p.Shape, p.DType, p.Layer, p.Trainable, p.Elements(), p.Block, p.Grad)
		}
		want := `layers.0.weight [2000 2000] bfloat16 layers.0 true 4000000 0 15
layers.1.weight [2000 2000] bfloat16 layers.1 true 4000000 1 12
layers.1.bias [2000] bfloat16 layers.1 true 2000 2 14
position [16] float32  false 16 3 -1
`
		if steps == 1 && strings.ReplaceAll(b.String(), fmt.Sprint(tape.NoBlock), "-1") != want {
			t.Errorf("got\n%swant\n%s", b.String(), want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if steps != 2 || blocks != w.Tape().Blocks() {
		t.Errorf("%d steps; %d blocks traced of %d", steps, blocks, w.Tape().Blocks())
	}
	if len(played.Starts) != 3 || played.Starts[0] != 4 || played.Starts[2] != w.Tape().Len() {
		t.Errorf("steps start at %v", played.Starts)
	}
	want := []symbolic.Layer{{Name: "layers.0", First: 5, Last: 8}, {Name: "layers.1", First: 8, Last: 11}}
	if !slices.Equal(played.Layers, want) {
		t.Errorf("layers are %v", played.Layers)
	}
	if played.Error != 2*2*(3*8/3)/4 { // steps, layers, bytes that stay, the quarter that they may be off
		t.Errorf("sizes may be off by %d", played.Error)
	}
	site := w.Tape().Site(w.Tape().Event(5).Site)
	if len(site) != 1 || site[0].Name != "layers.0" || site[0].File != "mm linear" {
		t.Errorf("the first layer's block comes from %v", site)
	}
}

// A tape may be played several times at once; plays share nothing that they change.
func TestPlaysAtOnce(t *testing.T) {
	t.Parallel()
	tp := read(t, tiny, "causal-lm/train")
	var wait sync.WaitGroup
	got := make([]string, 4)
	for i := range got {
		wait.Go(func() {
			var w tape.Writer
			env := tinyEnv(3, symbolic.Dims{"B": 1, "S": 8, "h": 4})
			if _, err := tp.Play(env, symbolic.Plan{Train: true, Micros: []int{1, 2}, Sites: true}, &w, nil); err != nil {
				t.Error(err)
			}
			got[i] = told(w.Tape())
		})
	}
	wait.Wait()
	for _, g := range got {
		if g != got[0] || g == "" {
			t.Errorf("got\n%swant\n%s", g, got[0])
		}
	}
}

// What blocks may be off by counts where they are there at once.
func TestErrorOfAMoment(t *testing.T) {
	t.Parallel()
	const text = `plimsoll symbolic 1
body 0
+0 1000 temporary mm ~0.1
+1 100 activation mm ~0.1
-a.forward 0
tape x
part first a.forward layers up 0 2 one:first=0 one=0 one:last=0
end
`
	var w tape.Writer
	played, err := read(t, text, "x").Play(tinyEnv(9, nil), symbolic.Plan{Micros: []int{1}}, &w, nil)
	if err != nil || played.Error != 100+9*10 {
		t.Errorf("%d bytes, %v", played.Error, err)
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	list, err := read(t, tiny, "causal-lm/train").Parameters(tinyEnv(3, symbolic.Dims{"h": 4}), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range list {
		names = append(names, p.Name)
	}
	if got := strings.Join(names, " "); got != "layers.0.weight layers.1.weight layers.2.weight layers.2.bias position" {
		t.Error(got)
	}
}

func TestPlayRefuses(t *testing.T) {
	t.Parallel()
	tp := read(t, tiny, "causal-lm/train")
	failed := errors.New("of the caller")
	fail := func(*tape.Writer, []symbolic.Tensor) error { return failed }
	small := symbolic.Dims{"B": 1, "S": 8, "h": 4}
	other := tinyEnv(2, small)
	other.Kinds = map[string][]string{"layers": {"one", "two"}}
	single := tinyEnv(1, small)
	single.Kinds = map[string][]string{"layers": {"two"}}
	for name, c := range map[string]struct {
		env   symbolic.Env
		ready symbolic.Step
		step  symbolic.Step
		want  string
	}{
		"a dimension is missing":  {env: tinyEnv(2, symbolic.Dims{"B": 1, "S": 8}), want: `no value for "h"`},
		"a kind is not known":     {env: other, want: `no recording has a layer of kind "two" (last) in layers.load`},
		"a single layer":          {env: single, want: "no recording has a single layer in layers"},
		"the first hook failed":   {env: tinyEnv(1, small), ready: fail, want: "of the caller"},
		"the optimizer failed":    {env: tinyEnv(1, small), step: fail, want: "of the caller"},
		"there are a lot of them": {env: tinyEnv(1<<22, small), want: "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w tape.Writer
			_, err := tp.Play(c.env, symbolic.Plan{Train: true, Micros: []int{1}, Ready: c.ready}, &w, c.step)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

func TestPosition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kinds, levels string }{
		{"a", "a:only|a:only|a:only"},
		{"a a", "a:first a:last|a:first a:last|a:first a:last"},
		{"a a a a a", "a:first a a a a:last|a:first a a a a:last|a:first a:second a a:beforelast a:last"},
		{"a b a a b a b", strings.Repeat("|", 3) + "a:first:before-b b:second:after-a:before-a:eldest a:after-b a:before-b b:after-a:before-a a:beforelast:after-b:before-b:youngest b:last:after-a"},
		{"a b b", "a:first b b:last|a:first:before-b b:after-a b:last|a:first:before-b b:second:after-a b:last"},
		{"a b b b b", strings.Repeat("|", 4) + "a:first:before-b:two-before-b b:second:after-a:eldest b:two-after-a b:beforelast b:last"},
		{"a b a b", "a:first b a b:last|a:first:before-b b:after-a:before-a a:after-b:before-b b:last:after-a|a:first:before-b b:second:after-a:before-a a:beforelast:after-b:before-b b:last:after-a"},
	} {
		kinds := strings.Fields(c.kinds)
		var levels []string
		for level := range strings.Count(c.levels, "|") + 1 {
			var keys []string
			for i := range kinds {
				keys = append(keys, symbolic.Position(kinds, i, level))
			}
			levels = append(levels, strings.Join(keys, " "))
		}
		for level, want := range strings.Split(c.levels, "|") {
			if want == "" {
				levels[level] = "" // this level is of no interest
			}
		}
		if got := strings.Join(levels, "|"); got != c.levels {
			t.Errorf("%s: got %s, want %s", c.kinds, got, c.levels)
		}
	}
}

func TestElsewhere(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"a:second:after-b":             "a:after-b",
		"a:beforelast:before-b:eldest": "a:before-b:eldest",
		"a:last:after-b":               "a:last:after-b",
		"a":                            "a",
	} {
		if got := symbolic.Elsewhere(key); got != want {
			t.Errorf("%s elsewhere is %s, want %s", key, got, want)
		}
	}
}
