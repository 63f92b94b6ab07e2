package catalog

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
)

func find(t *testing.T, q Query) *source {
	t.Helper()
	s, err := New(System{}).Find(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return s.(*source)
}

func TestComplete(t *testing.T) {
	for _, c := range []struct {
		model    string
		in, want recipe.Recipe
	}{
		{
			"gpt2", recipe.Recipe{},
			recipe.Recipe{Mode: recipe.Train, Task: recipe.CausalLM, Batch: 1, Accumulate: 1, Seq: 1024, Precision: recipe.FP32, Optimizer: "adamw", Checkpoint: "none", Attention: "sdpa"},
		},
		{
			"llama-3.1-8b", recipe.Recipe{Mode: recipe.Eval, Batch: 3, Seq: 9000},
			recipe.Recipe{Mode: recipe.Eval, Task: recipe.CausalLM, Batch: 3, Accumulate: 1, Seq: 9000, Precision: recipe.FP32, Checkpoint: "none", Attention: "sdpa"},
		},
		{
			"gpt2", recipe.Recipe{World: 4, Seq: 128, Precision: recipe.AmpFP16, Optimizer: "lion", Attention: "eager"},
			recipe.Recipe{Mode: recipe.Train, Task: recipe.CausalLM, Batch: 1, Accumulate: 1, Seq: 128, Precision: recipe.AmpFP16, Optimizer: "lion", Checkpoint: "none", Attention: "eager", World: 4, Shard: "ddp"},
		},
	} {
		got, err := find(t, Query{Name: c.model}).Complete(c.in)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v is completed to %+v, %v; want %+v", c.model, c.in, got, err, c.want)
		}
	}
}

// adapted trains adapters.
func adapted(checkpoint string, targets ...string) recipe.Recipe {
	return recipe.Recipe{Precision: recipe.BF16, Checkpoint: checkpoint, LoRA: &recipe.LoRA{Rank: 8, Targets: targets}}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		model string
		recipe.Recipe
		want string // in the message or the hint
	}{
		{"gpt2", recipe.Recipe{Seq: 1025}, "1024 positions"},
		{"gpt2", recipe.Recipe{ImageHeight: 224, ImageWidth: 224}, "no images"},
		{"gpt2", recipe.Recipe{ChannelsLast: true}, "no images"},
		{"gpt2", recipe.Recipe{Task: recipe.SequenceClassification}, "causal-lm"},
		{"gpt2", recipe.Recipe{Optimizer: "adamx"}, "adamw-fused"},
		{"gpt2", recipe.Recipe{Mode: recipe.Eval, Optimizer: "adamw"}, "no optimizer step"},
		{"gpt2", recipe.Recipe{Checkpoint: "every-0"}, "full"},
		{"gpt2", recipe.Recipe{Shard: "zero3"}, "capture"},
		{"gpt2", recipe.Recipe{Shard: "fsdp2", Optimizer: "adafactor"}, "adamw"},
		{"gpt2", recipe.Recipe{LoRA: &recipe.LoRA{Rank: 8, Targets: []string{"mlp"}}}, "gpt2 has no linear layer of that name it has c_attn, c_proj, "},
		{"gpt2", recipe.Recipe{Attention: "eager", Precision: recipe.AmpBF16, Shard: "fsdp2", World: 8}, "combination"},
		{"gpt2", recipe.Recipe{Attention: "eager", Precision: recipe.AmpBF16, Shard: "fsdp2", World: 8}, "the same with --attention sdpa"},
		{"gpt2", recipe.Recipe{Mode: recipe.Infer, Precision: recipe.AmpBF16}, "not under autocast --dtype bf16"},
		{"llama-3.1-8b", adapted("", "q_proj", "lm_head"), "--lora targets q_proj+lm_head is not recorded for llama recorded are q_proj+v_proj, "},
		{"llama-3.1-8b", adapted("every-2", "q_proj"), "every-2 is not put together with adapters"},
		{"mixtral-8x7b", adapted("", "w1"), "its experts are parameters"},
		{"gpt-neo-125m", adapted("", "k_proj"), "adapters on k_proj are not told apart"},
		{"phi-2", recipe.Recipe{Precision: recipe.BF16, Quantize: "nf4", LoRA: &recipe.LoRA{Rank: 8, Targets: []string{"q_proj"}}}, "--lora base nf4 is not recorded for phi"},
		{"resnet50", adapted("", "fc"), "no recording of resnet50 has any"},
	} {
		s := find(t, Query{Name: c.model})
		r, err := s.Complete(c.Recipe)
		if err == nil {
			_, err = s.Play(r, usualDevice, new(tape.Writer), estimate.Events)
		}
		e, ok := errors.AsType[*estimate.Error](err)
		if !ok || !strings.Contains(e.Msg+" "+e.Hint, c.want) || e.Hint == "" || strings.Contains(e.Msg, "\n") {
			t.Errorf("%+v: %v, want one that speaks of %q", c.Recipe, err, c.want)
		}
	}
}

// TestSubstitutes answers from what is nearest, and says so.
func TestSubstitutes(t *testing.T) {
	h100 := kernel.Device{Capability: 90, Multiprocessors: 132, ThreadsPerMultiprocessor: 2048}
	t4 := kernel.Device{Capability: 75, Multiprocessors: 40, ThreadsPerMultiprocessor: 1024}
	for _, c := range []struct {
		recipe.Recipe
		kernel.Device
		codes string
	}{
		{recipe.Recipe{Precision: recipe.BF16}, usualDevice, ""},
		{recipe.Recipe{Precision: recipe.FP16}, usualDevice, "other-precision"},
		{recipe.Recipe{Precision: recipe.BF16, Attention: "flash"}, usualDevice, "other-attention"},
		{recipe.Recipe{Precision: recipe.FP16, Attention: "math"}, usualDevice, "other-precision other-attention"},
		{recipe.Recipe{Precision: recipe.FP32}, h100, ""},
		{recipe.Recipe{Precision: recipe.BF16}, t4, "other-attention"},
		{recipe.Recipe{Precision: recipe.AmpBF16}, t4, "other-attention"},
		{recipe.Recipe{Precision: recipe.FP16}, t4, "other-precision"},
		{recipe.Recipe{Precision: recipe.AmpFP16}, h100, "other-precision"},
		{recipe.Recipe{Seq: 8}, usualDevice, "below-recordings"},
	} {
		s := find(t, Query{Name: "gpt2"})
		r, err := s.Complete(c.Recipe)
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Play(r, c.Device, new(tape.Writer), estimate.Events)
		if err != nil {
			t.Errorf("%+v: %v", c.Recipe, err)
			continue
		}
		var codes []string
		for _, d := range p.Doubts {
			codes = append(codes, d.Code)
			if d.Less <= 0 || d.More <= 0 {
				t.Errorf("%+v: doubt %+v widens nothing", c.Recipe, d)
			}
		}
		if got := strings.Join(codes, " "); got != c.codes || p.Exact != (got == "") {
			t.Errorf("%+v on %v: exact %v, doubts %q, want %q", c.Recipe, c.Device, p.Exact, got, c.codes)
		}
	}
}

// TestOneTapeForAllCards: where attention is no kernel, a card of another class is no
// doubt, nor is it where another variant stands for what was asked.
func TestOneTapeForAllCards(t *testing.T) {
	t4 := kernel.Device{Capability: 75, Multiprocessors: 40, ThreadsPerMultiprocessor: 1024}
	s := find(t, Query{Name: "regnet_x_400mf"})
	r, err := s.Complete(recipe.Recipe{Precision: recipe.AmpFP16, ChannelsLast: true})
	if err != nil {
		t.Fatal(err)
	}
	way, reasons, err := s.choose(r, t4)
	if err != nil || way.Class != 80 || len(reasons) != 1 || reasons[0].code != "other-layout" {
		t.Errorf("%v, %v, %v", way, reasons, err)
	}
}

func TestNearest(t *testing.T) {
	versions := []string{"2.15.0", "2.9.1", "2.6.0"}
	for torch, want := range map[string]string{"": "2.15.0", "2.15": "2.15.0", "2.15.3": "2.15.0", "2.20": "2.15.0", "2.10": "2.15.0", "2.9": "2.9.1", "2.8.0": "2.9.1", "2.1": "2.6.0", "2.6.0+cu124": "2.6.0"} {
		if got := nearest(versions, torch); got != want {
			t.Errorf("PyTorch %q takes the recordings of %s, want %s", torch, got, want)
		}
	}
}
