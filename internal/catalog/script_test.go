package catalog

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/estimate/sourcetest"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// scriptText is the tape of a small script.
const scriptText = `plimsoll symbolic 1
torch 2.15.0
symbol B batch of the command
symbol width width of the command
body 0
+0 4*width*width parameter @layers.0>train.py:3>randn
body 1
+0 4*B*width activation @layers.0>train.py:7>addmm>linear
+1 reduce_outer(512,B,4) temporary @layers.0>train.py:7>sum_dim_IntList>raw
-1.1.layers.0.forward 1
body 2
+0 4*width*width gradient mm>AddmmBackward0
-1.1.layers.0.forward 0
body 3
+0 8*width*width optimizer train.py:9>_foreach_add
-1.1.backward 0
tape script
seen B 4 12
seen width 64 256 64
checked 8 8 0
about command python train.py {batch} {width}
about card GeForce RTX 3090
about device 86 82 1536
about alloc_conf expandable_segments:True
about outside 1048576
about varied B batch
about varied width width
about note streams the script allocates on 2 streams
ceiling 1000*B
part script 0.1.load - up 0 1 -=0
part script 1.1.layers.0.forward - up 0 2 -=1
part script 1.1.backward - up 0 1 -=2
part script 1.1.step - up 0 1 -=3
param layers.0.weight - - 0 float32 trained - - width width
end
`

func scriptOf(t testing.TB, text string, values map[string]int64) (estimate.Source, error) {
	t.Helper()
	c, err := symbolic.ParseCollection(text)
	if err != nil {
		t.Fatal(err)
	}
	return Script("run.sym", c, values)
}

func TestScriptSource(t *testing.T) {
	s, err := scriptOf(t, scriptText, map[string]int64{"width": 100})
	if err != nil {
		t.Fatal(err)
	}
	sourcetest.Test(t, s, recipe.Recipe{Batch: 3}, kernel.Device{Capability: 80, Multiprocessors: 108, ThreadsPerMultiprocessor: 2048})
	sourcetest.Test(t, s, recipe.Recipe{}, kernel.Device{})
	r, err := s.Complete(recipe.Recipe{Batch: 3})
	if err != nil || r.Precision != recipe.Own || r.Task != scriptTask || r.Torch != "2.15.0" || r.AllocConf != "expandable_segments:True" {
		t.Fatalf("%+v, %v", r, err)
	}
	var w tape.Writer
	p, err := s.Play(r, usualDevice, &w, estimate.Sites)
	if err != nil {
		t.Fatal(err)
	}
	if p.Parameters != 10000 || len(p.Layers) != 1 || p.Layers[0].Parameters != 10000 || len(p.StepEnds) != 1 || p.Varied[1] != (estimate.Varied{Name: "width", Symbol: "width", Value: 100, Low: 64, High: 256}) {
		t.Errorf("%+v", p)
	}
	codes := map[string]unit.Bytes{}
	for _, d := range p.Doubts {
		codes[d.Code] = d.More
	}
	for code, more := range map[string]bool{"outside-captures": true, "other-multiple": true, "other-card": true, "streams": false, "outside-allocator": true, estimate.CuDNNWorkspace: true} {
		if got, ok := codes[code]; !ok || (got > 0) != more {
			t.Errorf("%s is %d, %t", code, got, ok)
		}
	}
	// A complete recipe may be completed again.
	if again, err := s.Complete(r); err != nil || again != r {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestScriptRefusals(t *testing.T) {
	for name, r := range map[string]recipe.Recipe{
		"optimizer": {Optimizer: "sgd"}, "precision": {Precision: recipe.BF16}, "adapter": {LoRA: &recipe.LoRA{Rank: 1}}, "accumulation": {Accumulate: 2},
		"mode": {Mode: recipe.Infer}, "task": {Task: recipe.CausalLM}, "attention": {Attention: "eager"}, "checkpointing": {Checkpoint: "full"},
		"one seq": {Seq: 5}, "one image": {ImageHeight: 9, ImageWidth: 9}, "cards share": {Shard: "ddp"}, "version": {Torch: "2.6"},
	} {
		s, err := scriptOf(t, scriptText, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Complete(r)
		if e, ok := errors.AsType[*estimate.Error](err); !ok || !strings.Contains(e.Msg, name) || e.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for change, want := range map[string]string{
		"tape script > tape other":                            "has no tape of a script",
		"about device 86 82 1536\n > ":                        "does not say what card",
		"about device 86 > about device x":                    "does not say what card",
		"seen B 4 12\nseen width 64 256 64\n > ":              "does not say what was varied",
		"about varied B batch > about speed 9":                `"speed" is not command`,
		"about card GeForce RTX 3090 > about card":            "about card says nothing",
		"part script 1.1.step > part script x":                "", // of step 0
		"-1.1.backward 0 > -1.1.backward 7":                   "which there is not",
		"width*width optimizer > width*height optimizer":      `depends on "height"`,
		"8*width*width optimizer > 8*width/zero optimizer":    `depends on "zero"`,
		"4*B*width activation > 4*B*width/(B-B) activation":   "character",
		"part script 0.1.load - > part script 0.1.load stack": "",
	} {
		from, to, _ := strings.Cut(change, " > ")
		if !strings.Contains(scriptText, from) {
			t.Fatalf("%q changes nothing", change)
		}
		s, err := scriptOf(t, strings.Replace(scriptText, from, to, 1), nil)
		var r recipe.Recipe
		if err == nil {
			r, err = s.Complete(recipe.Recipe{})
		}
		if err == nil {
			_, err = s.Play(r, usualDevice, new(tape.Writer), estimate.Events)
		}
		if want == "" {
			continue // whatever it says, it does not fall over
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", change, err, want)
		}
	}
}

// FuzzScript reads any text as a script's tape and estimates it: an answer or an
// error, never a panic.
func FuzzScript(f *testing.F) {
	f.Add(scriptText)
	if text, err := os.ReadFile("../cli/testdata/script/estimate-script.txtar"); err == nil {
		_, sym, _ := strings.Cut(string(text), "-- run.sym --\n")
		sym, _, _ = strings.Cut(sym, "-- ")
		f.Add(sym)
	}
	f.Add(strings.Replace(scriptText, "4*B*width", "99999999999*B*width*width*width", 1))
	target := estimate.Target{Name: "a card", Count: 1, Device: usualDevice, Capacity: 80 * unit.GiB}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := symbolic.ParseCollection(text)
		if err != nil {
			return
		}
		s, err := Script("run.sym", c, nil)
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		e, err := estimate.On(ctx, s, recipe.Recipe{}, target, estimate.Options{Formula: true})
		if ctx.Err() != nil {
			t.Error("it takes too long")
		}
		if err == nil && e.ByCategory.Sum() != e.Peak.Device {
			t.Errorf("%d is not %d", e.ByCategory.Sum(), e.Peak.Device)
		}
	})
}
