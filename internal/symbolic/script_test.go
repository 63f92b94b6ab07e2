package symbolic_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/tape"
)

const scripted = `plimsoll symbolic 1
torch 2.15.0
body 0
+0 64 parameter @layers.0>train.py:3>randn
body 1
+0 8*B activation @layers.0>train.py:7>addmm>linear
body 2
-1.1.layers.0.forward 0
+0 64 gradient mm>AddmmBackward0
tape script
about command python train.py {batch}
about note streams two of them
part script 0.1.load - up 0 1 -=0
part script 1.1.layers.0.forward - up 0 1 -=1
part script 1.1.backward - up 0 1 -=2
part script 2.1.layers.0.forward - up 0 1 -=1
end
`

func TestPlayScript(t *testing.T) {
	t.Parallel()
	tp := read(t, scripted, symbolic.Script)
	var w tape.Writer
	played, err := tp.PlayScript(symbolic.Env{Dims: symbolic.Dims{"B": 3}}, symbolic.Plan{Sites: true}, &w)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range w.Tape().Len() {
		e := w.Tape().Event(i)
		line := fmt.Sprintf("%s %s %d", e.Kind, e.Phase, e.Bytes)
		for _, f := range w.Tape().Site(e.Site) {
			line += " " + f.Name + ", " + f.File
		}
		got = append(got, line)
	}
	want := []string{
		"alloc load 64 layers.0 at train.py:3, aten::randn",
		"alloc forward 24 layers.0 at train.py:7, aten::addmm",
		"free backward 24 , ", // frees have no site of their own
		"alloc backward 64 , aten::mm",
		"alloc forward 24 layers.0 at train.py:7, aten::addmm",
	}
	if !slices.Equal(got, want) {
		t.Errorf("events are %q, want %q", got, want)
	}
	if !slices.Equal(played.Starts, []int{1, 4, 5}) || len(played.Layers) != 1 || played.Layers[0].Name != "layers.0" {
		t.Errorf("%+v", played)
	}
	if tp.Fact(symbolic.AboutCommand) != "python train.py {batch}" || tp.Fact(symbolic.AboutCard) != "" {
		t.Errorf("%+v", tp.About)
	}
}

// Two tapes of layers that hand a block on: the first keeps it for the backward
// pass, the second lets the next layer give it back at once.
const (
	keeps = `plimsoll symbolic 1
body 0
+0 1000 activation mm
body 1
+0 10 gradient mm
-a.forward 0 near -1
body 2
-a.backward 0 every 0
-a.forward 0 last 0
body 3
tape x
part first a.forward a up 0 1 one:first=0 one=0 one:last=0
part first top - up 0 0 -=3
part first a.backward a down 0 1 one:last=1 one=1 one:first=1
part zero grads - up 0 0 -=2
param a.{}.w a - 0 float32 trained - a.backward:0:0 5
end
`
	hands = `plimsoll symbolic 1
body 0
+0 8 temporary empty
+1 1000 activation mm
-a.forward 0
body 1
+0 8 temporary empty
+1 1000 activation mm
-a.forward 1 near -1
-a.forward 0
body 2
+0 4 temporary add
+1 10 gradient mm
-a.backward 0
body 3
-a.backward 1 every 0
-a.forward 1 last 0
body 4
-a.forward 1 last 1
tape x
part first a.forward a up 0 2 one:first=0 one=1 one:last=0
part first top - up 0 0 -=4
part first a.backward a down 0 2 one:last=2 one=2 one:first=2
part zero grads - up 0 0 -=3
param a.{}.w a - 0 float32 trained - a.backward:1:0 5
end
`
)

func TestMix(t *testing.T) {
	t.Parallel()
	kinds := map[string][]string{"a": {"one", "one", "one", "one", "one"}}
	for name, c := range map[string]struct {
		second []bool
		want   string // where what is handed on is given back
	}{
		"the first and third": {[]bool{true, false, true, false, false}, "1000 in backward, 1000 in backward, 1000 in backward, 1000 in forward, 1000 in step"},
		"all":                 {[]bool{true, true, true, true, true}, "1000 in forward, 1000 in forward, 1000 in forward, 1000 in forward, 1000 in step"},
		"none":                {make([]bool, 5), "1000 in backward, 1000 in backward, 1000 in backward, 1000 in backward, 1000 in step"},
	} {
		mixed, of, err := symbolic.Mix(read(t, keeps, "x"), read(t, hands, "x"), kinds, map[string][]bool{"a": c.second})
		if err != nil {
			t.Fatal(err)
		}
		var w tape.Writer
		played, err := mixed.Play(symbolic.Env{Kinds: of}, symbolic.Plan{Train: true, Micros: []int{1}}, &w, nil)
		if err != nil {
			t.Fatal(err)
		}
		var frees []string
		for i := range w.Tape().Len() {
			if e := w.Tape().Event(i); e.Kind == tape.Free && e.Bytes == 1000 {
				frees = append(frees, fmt.Sprintf("%d in %s", e.Bytes, e.Phase))
			}
		}
		slices.Sort(frees)
		for b := range tape.BlockID(w.Tape().Blocks()) {
			if block := w.Tape().Block(b); block.Free < 0 {
				t.Errorf("%s: block %d of %d bytes is never freed", name, b, block.Bytes)
			}
		}
		if got := strings.Join(frees, ", "); got != c.want || len(played.Params) != 5 {
			t.Errorf("%s: %s, want %s; %+v", name, got, c.want, played.Params)
		}
		for _, p := range played.Params {
			if !p.Graded {
				t.Errorf("%s: %s has no gradient", name, p.Name)
			}
		}
	}
	if _, _, err := symbolic.Mix(read(t, keeps, "x"), read(t, scripted, symbolic.Script), kinds, map[string][]bool{"a": make([]bool, 5)}); err == nil {
		t.Error("tapes of other parts are mixed")
	}
}
