package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/internal/compose"
	"github.com/plimsoll-dev/plimsoll/internal/family"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
)

// recipeFlags are the flags that say how a model is trained or served; they
// mean the same in every command.
type recipeFlags struct {
	Batch, Accumulate, Seq int64
	Image                  string
	DType, AMP             string
	Optimizer              string
	ClipGradNorm           bool
	Checkpoint             string
	Attention              string
	ChannelsLast, Unpadded bool
	LoRA                   string
	Shard                  string
	AllocConf              string
	Torch                  string
	Mode, Task             string

	given func(flag string) bool // whether the user named it
}

// wordFlags are the flags that take one of a few words.
var wordFlags = []struct {
	flag  string
	words []string
	value func(*recipeFlags) *string
	help  string
}{
	{"dtype", []string{"fp32", "bf16", "fp16"}, func(f *recipeFlags) *string { return &f.DType }, "`TYPE` of weights and of computation: fp32, bf16, fp16; without it fp32, and to infer bf16, or fp16 where the model is stored so"},
	{"amp", []string{"bf16", "fp16"}, func(f *recipeFlags) *string { return &f.AMP }, "compute in `TYPE` under autocast, weights in fp32: bf16, or fp16 with a GradScaler"},
	{"attention", []string{"sdpa", "flash", "math", "eager"}, func(f *recipeFlags) *string { return &f.Attention }, "`KIND` of attention: sdpa, flash, math, eager"},
	{"shard", []string{"ddp", "fsdp2"}, func(f *recipeFlags) *string { return &f.Shard }, "`HOW` several cards share the work: ddp, fsdp2; to train, ddp without it"},
	{"mode", []string{"train", "eval", "infer"}, func(f *recipeFlags) *string { return &f.Mode }, "`WHAT` is done: train, eval (a forward pass with loss), infer (generation with a KV cache)"},
	{
		"task", []string{"causal-lm", "masked-lm", "sequence-classification", "seq2seq-lm", "image-classification", "semantic-segmentation"},
		func(f *recipeFlags) *string { return &f.Task }, "`TASK` that the head is for, as causal-lm; the architecture's own without it",
	},
}

func (o *recipeFlags) addRecipeFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Int64Var(&o.Batch, "batch", 1, "micro-batch of one device")
	f.Int64Var(&o.Accumulate, "accumulate", 1, "micro-batches of an optimizer step")
	f.Int64Var(&o.Seq, "seq", 0, "length of the sequences in `TOKENS`, to infer with those generated; without it 1024 for causal-lm and 512 else, if the model has as many")
	f.StringVar(&o.Image, "image", "", "`SIZE` of the images in pixels, as 224 or 512x1024 (height x width)")
	for _, c := range wordFlags {
		f.StringVar(c.value(o), c.flag, "", c.help)
		complete(cmd, c.flag, cobra.FixedCompletions(c.words, cobra.ShellCompDirectiveNoFileComp))
	}
	f.StringVar(&o.Optimizer, "optimizer", "", "`NAME` of the optimizer, as adamw, adamw-fused, adamw-8bit or sgd-momentum")
	complete(cmd, "optimizer", cobra.FixedCompletions(compose.Optimizers(), cobra.ShellCompDirectiveNoFileComp))
	f.BoolVar(&o.ClipGradNorm, "clip-grad-norm", false, "clip the norm of the gradients before each step")
	f.StringVar(&o.Checkpoint, "checkpoint", "", "`WHICH` layers are computed again in backward: none, full, every-K (layers 0, K, 2K and so on)")
	complete(cmd, "checkpoint", cobra.FixedCompletions([]string{"none", "full", "every-2"}, cobra.ShellCompDirectiveNoFileComp))
	f.BoolVar(&o.ChannelsLast, "channels-last", false, "keep images and convolutions in the channels-last format")
	f.BoolVar(&o.Unpadded, "unpadded", false, "batches hold no padding, so that attention needs no mask")
	f.StringVar(&o.LoRA, "lora", "", "train `ADAPTERS` only, as r=16,targets=q_proj+v_proj; with base=nf4, over weights in 4 bits")
	f.StringVar(&o.AllocConf, "alloc-conf", "", "allocator `SETTINGS`, exactly as in PYTORCH_CUDA_ALLOC_CONF")
	f.StringVar(&o.Torch, "torch", "", "`VERSION` of PyTorch whose recordings and allocator to follow; the newest known without it")
}

// Bounds of what anybody trains with. Beyond them a number is a slip.
const (
	mostBatch = 1 << 20
	mostSeq   = 1 << 24
	mostSide  = 1 << 15
	mostRank  = 1 << 16
)

// leastCache is the shortest sequence of generation that is recorded: a prompt
// of one token and two that are generated.
const leastCache = 3

// recipe is what the flags say; what they leave open the model fills in.
func (o recipeFlags) recipe() (recipe.Recipe, error) {
	for _, check := range []func() error{o.checkNumbers, o.checkWords, o.checkConflicts} {
		if err := check(); err != nil {
			return recipe.Recipe{}, err
		}
	}
	r := recipe.Recipe{
		Mode: recipe.Mode(o.Mode), Task: recipe.Task(o.Task), Batch: o.Batch, Accumulate: o.Accumulate, Seq: o.Seq,
		Precision: recipe.Precision(o.DType), Optimizer: o.Optimizer, ClipGradNorm: o.ClipGradNorm, Checkpoint: o.Checkpoint,
		Attention: o.Attention, ChannelsLast: o.ChannelsLast, Unpadded: o.Unpadded, Shard: o.Shard, AllocConf: o.AllocConf, Torch: o.Torch,
	}
	if o.AMP != "" {
		r.Precision = recipe.Precision("amp-" + o.AMP)
	}
	var err error
	if r.ImageHeight, r.ImageWidth, err = parseImage(o.Image); err != nil {
		return r, err
	}
	r.LoRA, r.Quantize, err = parseLoRA(o.LoRA)
	return r, err
}

func (o recipeFlags) checkNumbers() error {
	for _, n := range []struct {
		flag        string
		value, most int64
	}{{"batch", o.Batch, mostBatch}, {"accumulate", o.Accumulate, mostBatch}, {"seq", o.Seq, mostSeq}} {
		least := int64(1)
		if !o.isGiven(n.flag) {
			least = 0
		}
		if n.value < least || n.value > n.most {
			return fmt.Errorf("--%s %d is not between 1 and %d", n.flag, n.value, n.most)
		}
	}
	return nil
}

func (o recipeFlags) checkWords() error {
	for _, c := range wordFlags {
		word := *c.value(&o)
		if o.isGiven(c.flag) && !slices.Contains(c.words, word) {
			return WithHint(fmt.Errorf("--%s %q is not known", c.flag, word), "--"+c.flag+" takes "+strings.Join(c.words, ", "))
		}
	}
	if o.isGiven("checkpoint") && !checkpointWord.MatchString(o.Checkpoint) {
		return WithHint(fmt.Errorf("--checkpoint %q is not known", o.Checkpoint), "--checkpoint takes none, full and every-K, as every-2")
	}
	if known := compose.Optimizers(); o.isGiven("optimizer") && !slices.Contains(known, o.Optimizer) {
		hint := "--optimizer takes " + strings.Join(known, ", ")
		if near := family.Nearest(o.Optimizer, known); len(near) > 0 {
			hint = "did you mean " + strings.Join(near, ", ") + "?"
		}
		return WithHint(fmt.Errorf("optimizer %q is not known", o.Optimizer), hint)
	}
	return nil
}

var checkpointWord = regexp.MustCompile(`^(none|full|every-[1-9][0-9]{0,3})$`)

// trainOnly are the flags that say something about training alone.
var trainOnly = []string{"optimizer", "accumulate", "clip-grad-norm", "checkpoint"}

func (o recipeFlags) checkConflicts() error {
	if o.AMP != "" && o.isGiven("dtype") && o.DType != "fp32" {
		return WithHint(fmt.Errorf("--amp %s keeps weights in fp32, and --dtype %s does not", o.AMP, o.DType), "give one of the two")
	}
	if o.Mode == string(recipe.Eval) || o.Mode == string(recipe.Infer) {
		for _, flag := range trainOnly {
			if o.isGiven(flag) {
				return WithHint(fmt.Errorf("--%s is about training, and --mode %s does not train", flag, o.Mode), "leave one of the two out")
			}
		}
	}
	if o.Mode == string(recipe.Infer) && o.isGiven("seq") && o.Seq < leastCache {
		return WithHint(fmt.Errorf("--seq %d leaves no room for a prompt and two generated tokens", o.Seq), fmt.Sprintf("--seq %d is the shortest in --mode infer", leastCache))
	}
	if o.Unpadded && o.isGiven("image") {
		return WithHint(errors.New("--unpadded is about sequences, and --image is not"), "leave one of the two out")
	}
	return nil
}

// isGiven reports whether the user named a flag.
func (o recipeFlags) isGiven(flag string) bool { return o.given != nil && o.given(flag) }

// parseImage reads "224" and "512x1024".
func parseImage(s string) (height, width int64, err error) {
	if s == "" {
		return 0, 0, nil
	}
	first, second, two := strings.Cut(strings.ToLower(s), "x")
	if !two {
		second = first
	}
	for _, side := range []struct {
		text string
		to   *int64
	}{{first, &height}, {second, &width}} {
		*side.to, err = strconv.ParseInt(side.text, 10, 64)
		if err != nil || *side.to < 1 || *side.to > mostSide {
			return 0, 0, WithHint(fmt.Errorf("--image %q is no size of an image between 1 and %d pixels", s, mostSide), "--image 224, or height x width as --image 512x1024")
		}
	}
	return height, width, nil
}

// loraExample shows the whole form.
const loraExample = "--lora r=16,targets=q_proj+v_proj"

// parseLoRA reads "r=16,targets=q_proj+v_proj,base=nf4".
func parseLoRA(s string) (adapter *recipe.LoRA, base string, err error) {
	if s == "" {
		return nil, "", nil
	}
	adapter = &recipe.LoRA{}
	for part := range strings.SplitSeq(s, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch key {
		case "r":
			adapter.Rank, err = strconv.ParseInt(value, 10, 64)
			if err != nil || adapter.Rank < 1 || adapter.Rank > mostRank {
				return nil, "", WithHint(fmt.Errorf("--lora: rank %q is not between 1 and %d", value, mostRank), loraExample)
			}
		case "targets":
			for target := range strings.SplitSeq(value, "+") {
				if target == "" || slices.Contains(adapter.Targets, target) {
					return nil, "", WithHint(fmt.Errorf("--lora: targets %q name a layer twice or not at all", value), loraExample)
				}
				adapter.Targets = append(adapter.Targets, target)
			}
		case "base":
			if value != "nf4" {
				return nil, "", WithHint(fmt.Errorf("--lora: weights in %q are not known", value), "base=nf4 is QLoRA's")
			}
			base = value
		default:
			return nil, "", WithHint(fmt.Errorf("--lora: %q is not known", key), loraExample)
		}
	}
	if adapter.Rank == 0 || len(adapter.Targets) == 0 {
		return nil, "", WithHint(errors.New("--lora needs a rank and targets"), loraExample)
	}
	return adapter, base, nil
}
