package symbolic_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// grafted are tapes of one model: with a head that scores words, with and without a
// mask, and with one that names a class, whose batch has a mask. Slots of what attends
// differ; the first layer's bias and the mask are there with a mask alone.
const grafted = `plimsoll symbolic 1
torch 2.15.0
body 0
+0 2*h*h parameter empty
body 1
body 2
+0 8*B*S input zeros
body 3
+0 8*B*S input zeros
+1 8*B*S input ones_like
body 4
+0 2*B*S*h activation embedding
body 5
+0 1 temporary all
-forward 0
+1 2*B*S*h activation embedding
+2 B*S*S temporary __and__
body 6
+0 2*B*S*h activation flash
+1 2*B*S*h temporary mm
body 7
+0 2*B*S*S temporary where
-layers.forward 0
+1 2*B*S*h activation efficient
+2 4*B*S activation efficient
+3 2*B*S*h temporary mm
body 8
+0 2*B*S*V activation lm_head
-layers.forward 1 last 0
body 9
-forward 2
+0 2*B*S*V activation lm_head
-layers.forward 3 last 0
body 10
+0 2*B*C activation score
-forward 2
-layers.forward 3 last 0
body 11
+0 2*B*S*h temporary mm_backward
-layers.top 0
body 12
+0 2*B*h temporary mm_backward
-layers.top 0
+1 2*B*S*h temporary select_backward
-backward 0
body 13
+0 2*h*h gradient mm
+1 2*B*S*h temporary flash_backward
-backward 0
-layers.backward 1
-layers.forward 0
body 14
+0 2*B*S*h temporary efficient_backward
+1 2*h*h gradient mm
-layers.backward 0
-backward 0
-layers.forward 1
-layers.forward 2
body 15
+0 2*B*S*h temporary efficient_backward
+1 2*h*h gradient mm
-layers.backward 0
-backward 1
-layers.forward 1
-layers.forward 2
body 16
-batch 0
-forward 0
body 17
-batch 0
-forward 1
body 18
-batch 0
-batch 1
-forward 1
body 19
-layers.backward 0 every 0
body 20
-layers.backward 1 every 0
tape words/unpadded
part load layers.load layers up 0 1 one:only=0
part first batch - up 0 1 -=2
part first forward - up 0 1 -=4
part first layers.forward layers up 0 2 one:only=6
part first layers.top - up 0 1 -=8
part first backward - up 0 1 -=11
part first layers.backward layers down 0 2 one:only=13
part first drop - up 0 0 -=16
part zero grads - up 0 0 -=19
param layers.{}.weight layers - 0 bfloat16 trained layers.load:0:0 layers.backward:0:0 h h
tape words/padded
part load layers.load layers up 0 1 one:only=0
part first batch - up 0 1 -=2
part first forward - up 0 3 -=5
part first layers.forward layers up 0 4 one:only=7
part first layers.top - up 0 1 -=9
part first backward - up 0 1 -=11
part first layers.backward layers down 0 2 one:only=14
part first drop - up 0 0 -=17
part zero grads - up 0 0 -=20
param layers.{}.weight layers - 0 bfloat16 trained layers.load:0:0 layers.backward:1:0 h h
tape class/padded
part load layers.load layers up 0 1 one:only=0
part first batch - up 0 2 -=3
part first forward - up 0 3 -=5
part first layers.forward layers up 0 4 one:only=7
part first layers.top - up 0 1 -=10
part first backward - up 0 2 -=12
part first layers.backward layers down 0 2 one:only=15
part first drop - up 0 0 -=18
part zero grads - up 0 0 -=20
param layers.{}.weight layers - 0 bfloat16 trained layers.load:0:0 layers.backward:1:0 h h
end
`

func TestGraft(t *testing.T) {
	t.Parallel()
	layers, head := read(t, grafted, "words/unpadded"), read(t, grafted, "class/padded")
	if words := read(t, grafted, "words/padded"); !words.SameLayers(head) || layers.SameLayers(words) {
		t.Error("layers with a mask are the same under both heads, and others than those without")
	}
	env := tinyEnv(1, symbolic.Dims{"B": 1, "S": 8, "h": 4, "V": 16, "C": 2})
	plan := symbolic.Plan{Train: true, Micros: []int{1}}
	play := func(tp *symbolic.Tape) string {
		var w tape.Writer
		if _, err := tp.Play(env, plan, &w, nil); err != nil {
			t.Fatal(err)
		}
		return told(w.Tape())
	}
	for _, key := range []string{"words/unpadded", "words/padded", "class/padded"} {
		whole := read(t, grafted, key)
		self, err := symbolic.Graft(whole, whole)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := play(self), play(whole); got != want {
			t.Errorf("%s with its own head:\n%s\nand is\n%s", key, got, want)
		}
	}
	both, err := symbolic.Graft(layers, head)
	if err != nil {
		t.Fatal(err)
	}
	const want = `load: +32
idle: +64 +64
forward: +64 +64 +64 +4 -5
backward: +8 -6 +64 -7 +32 +64 -10 -8 -4 -1 -2 -3
step: -9
`
	if got := play(both); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestGraftRefuses(t *testing.T) {
	t.Parallel()
	head := "class/padded"
	for want, change := range map[string][2]string{
		"8 parts and 9":                       {"part zero grads - up 0 0 -=19\n", ""},
		"part first loss and part first drop": {"part first drop - up 0 0 -=16", "part first loss - up 0 0 -=16"},
		"first layers.backward: 0 blocks of the head are given back, and 1 in its own tape": {"-backward 0\n-layers.backward 1\n-layers.forward 0", "-layers.backward 1\n-layers.forward 0"},
		"parameter layers.{}.weight is in one tape":                                         {"param layers.{}.weight", "param layers.{}.bias"},
	} {
		text := strings.Replace(grafted, change[0], change[1], 1)
		_, err := symbolic.Graft(read(t, text, "words/unpadded"), read(t, grafted, head))
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
