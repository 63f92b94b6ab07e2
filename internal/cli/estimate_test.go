package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
)

// run runs plimsoll with words.
func run(t *testing.T, words ...string) (stdout, stderr string, exit Exit) {
	t.Helper()
	stdio, out, errs := record()
	exit = Run(t.Context(), words, stdio)
	return out.String(), errs.String(), exit
}

func TestEstimatesKeepTheirSchema(t *testing.T) {
	for name, words := range map[string]string{
		"fits":           "toy --gpu 3090",
		"does not fit":   "toy-unsure --gpu 3090 --batch 192 --seq 1024 --lora r=4,targets=up --accumulate 2",
		"no card":        "toy --mode eval",
		"several cards":  "toy --gpu h100x8 --shard ddp --amp bf16 --optimizer sgd",
		"every cure":     "toy --gpu 3090 --explain",
		"settings":       "toy --gpu t4 --alloc-conf expandable_segments:True --torch 2.6",
		"another size":   "toy --gpu t4 --capacity 2GiB --context 0",
		"not even a bit": "toy --gpu t4 --capacity 10MiB",
		"images":         "resnet50 --gpu t4 --formula",
		"numbers alone":  "resnet50 --gpu t4 --formula --image 32", // no symbol is in its formulas
		"shards":         "llama-3.2-1b --gpu h100x8 --shard fsdp2 --amp bf16 --checkpoint full --formula",
	} {
		out, errs, exit := run(t, append(append([]string{"estimate"}, strings.Fields(words)...), "--format", "json")...)
		if exit == ExitFailed {
			t.Fatalf("%s: %s", name, errs)
		}
		checkSchema(t, "estimate.schema.json", []byte(out))
		var e estimate.Estimate
		if err := json.Unmarshal([]byte(out), &e); err != nil {
			t.Fatal(err)
		}
		if e.ByCategory.Sum() != e.Peak.Device || e.Recipe.Mode == "" || e.Recipe.Precision == "" || len(e.Formula) == 0 {
			t.Errorf("%s: %d is not %d; %+v", name, e.ByCategory.Sum(), e.Peak.Device, e.Recipe)
		}
		if want := map[estimate.Verdict]Exit{estimate.DoesNotFit: ExitNo}[e.Verdict]; exit != want {
			t.Errorf("%s: %s and exit %d", name, e.Verdict, exit)
		}
	}
}

func TestExplainedShares(t *testing.T) {
	out, errs, exit := run(t, "estimate", "llama-3.2-1b", "--gpu", "h100x8", "--shard", "fsdp2", "--amp", "bf16", "--checkpoint", "full", "--explain")
	if exit != ExitOK {
		t.Fatal(errs)
	}
	for _, want := range []string{
		"1,235,814,400 parameters, at 4 bytes each on average, of which this card has 1/8",
		"adamw remembers of each of the 1,235,814,400 trainable parameters, 8 bytes each, of which this card has 1/8",
	} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("nothing says %q:\n%s", want, out)
		}
	}
}

func TestModelsKeepTheirSchema(t *testing.T) {
	for _, words := range [][]string{{"models"}, {"models", "TOY"}} {
		out, _, exit := run(t, append(words, "--format", "json")...)
		if exit != ExitOK {
			t.Fatalf("exit %d", exit)
		}
		checkSchema(t, "models.schema.json", []byte(out))
	}
}

func TestEstimatePagesDrawTheRun(t *testing.T) {
	out, _, exit := run(t, "estimate", "toy", "--gpu", "3090", "--format", "html")
	if exit != ExitOK || !strings.Contains(out, "layers.0") || !strings.Contains(out, "cuda:0, GeForce RTX 3090") {
		t.Errorf("exit %d, %d bytes", exit, len(out))
	}
}

func TestLoRAFlag(t *testing.T) {
	got, base, err := parseLoRA("r=8, targets=q_proj+v_proj,base=nf4")
	if err != nil || got.Rank != 8 || strings.Join(got.Targets, " ") != "q_proj v_proj" || base != "nf4" {
		t.Errorf("%+v, %q, %v", got, base, err)
	}
}

func TestImageFlag(t *testing.T) {
	for text, want := range map[string][2]int64{"224": {224, 224}, "512x1024": {512, 1024}, "": {}} {
		if h, w, err := parseImage(text); err != nil || h != want[0] || w != want[1] {
			t.Errorf("%q: %d, %d, %v", text, h, w, err)
		}
	}
}

// FuzzRecipeFlags gives the flags any words: a recipe or one sentence, never a
// panic.
func FuzzRecipeFlags(f *testing.F) {
	f.Add("r=16,targets=q_proj", "512x512", "every-3", "bf16", int64(1), int64(1))
	f.Add("r=,targets=+", "x", "every-0", "", int64(-1), int64(0))
	f.Add("=,=", "9999999999999999999x1", "", "\xff", int64(1)<<62, int64(-1)<<63)
	f.Fuzz(func(t *testing.T, lora, image, checkpoint, word string, batch, seq int64) {
		o := recipeFlags{
			LoRA: lora, Image: image, Checkpoint: checkpoint, AMP: word, DType: word, Optimizer: word, Batch: batch, Accumulate: 1, Seq: seq,
			given: func(string) bool { return true },
		}
		r, err := o.recipe()
		switch {
		case err != nil && strings.Contains(err.Error(), "\n"):
			t.Errorf("%q is more than one sentence", err)
		case err == nil && (r.Batch < 1 || r.Seq < 1 || r.ImageHeight < 0 || r.Mode != recipe.Mode("")):
			t.Errorf("%+v", r)
		}
	})
}

func TestEstimateExits(t *testing.T) {
	for words, want := range map[string]Exit{
		"toy --gpu 3090":                                 ExitOK,
		"toy --gpu 3090 --strict":                        ExitOK,
		"toy-unsure --gpu 3090":                          ExitOK,
		"toy-unsure --gpu 3090 --strict":                 ExitGaps,
		"toy --gpu 3090 --capacity 2GiB":                 ExitOK, // inside the interval
		"toy --gpu 3090 --capacity 2GiB --strict":        ExitGaps,
		"toy --gpu 3090 --capacity 1GiB":                 ExitNo,
		"toy --gpu 3090 --capacity 1GiB --strict":        ExitNo,
		"toy --batch 400000":                             ExitNo, // on no card
		"toy --batch 0":                                  ExitFailed,
		"no-such-model":                                  ExitFailed,
		"toy --gpu 3090 -o /no/such/folder/run.tape":     ExitFailed,
		"toy --gpu 3090 --format json -o /no/such/a.txt": ExitFailed,
	} {
		out, errs, exit := run(t, append([]string{"estimate"}, strings.Fields(words)...)...)
		if exit != want {
			t.Errorf("%s: exit %d, want %d\n%s%s", words, exit, want, out, errs)
		}
		if (exit == ExitFailed) != (errs != "") {
			t.Errorf("%s: stderr %q", words, errs)
		}
	}
}
