package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
)

// A variant is one way to use a family's models, which one tape answers.
type variant struct {
	task, mode, precision, attention, checkpoint string
	class                                        int // of cards, as classOf gives it
	structure                                    string
	channelsLast, unpadded                       bool
	lora                                         []string
	quantize, shard                              string
}

// key is the name of the variant's tape, as package record writes it.
func (v variant) key() string {
	key := fmt.Sprintf("%s/%s/%s/%s/%s/%d/%s", v.task, v.mode, v.precision, v.attention, v.checkpoint, v.class, v.structure)
	if v.channelsLast {
		key += "/channels-last"
	}
	if v.unpadded {
		key += "/unpadded"
	}
	if len(v.lora) > 0 {
		key += "/lora=" + strings.Join(v.lora, "+")
	}
	if v.quantize != "" {
		key += "/" + v.quantize
	}
	if v.shard != "" {
		key += "/" + v.shard
	}
	return key
}

// parseKey reads what key writes.
func parseKey(key string) (v variant, ok bool) {
	f := strings.Split(key, "/")
	if len(f) < 7 {
		return v, false
	}
	class, err := strconv.Atoi(f[5])
	v = variant{task: f[0], mode: f[1], precision: f[2], attention: f[3], checkpoint: f[4], class: class, structure: f[6]}
	for _, more := range f[7:] {
		targets, lora := strings.CutPrefix(more, "lora=")
		switch {
		case lora:
			v.lora = strings.Split(targets, "+")
		case more == "channels-last":
			v.channelsLast = true
		case more == "unpadded":
			v.unpadded = true
		case more == "nf4":
			v.quantize = more
		default:
			v.shard = more
		}
	}
	return v, err == nil
}

// recorded are the variants that there are tapes of.
func (s *source) recorded() []variant {
	var list []variant
	for _, key := range s.tapes.Keys() {
		if v, ok := parseKey(key); ok {
			list = append(list, v)
		}
	}
	return list
}

// classOf is the class of cards that kernels are alike on: attention in half
// precision has kernels of its own before 8.0, and cuDNN's on 9.0 and 10.x.
func classOf(v variant, d kernel.Device) int {
	switch {
	case v.precision == string(recipe.FP32) || v.attention != "sdpa":
		return 80
	case d.Capability < 80:
		return 75
	case d.Capability >= 90 && d.Capability < 110:
		return 90
	}
	return 80
}

// A reason is why the answer is not certain, and by which share of the peak it
// may be off.
type reason struct {
	code, message string
	share         float64
}

// replicated is training with a copy of the model on each card, which is
// composed from the training on one.
const replicated = "ddp"

// variantOf is what a complete recipe asks for.
func (s *source) variantOf(r recipe.Recipe, d kernel.Device) variant {
	v := variant{
		task: string(r.Task), mode: string(r.Mode), precision: string(r.Precision), attention: r.Attention, checkpoint: r.Checkpoint,
		structure: s.structure(), channelsLast: r.ChannelsLast, unpadded: r.Unpadded, quantize: r.Quantize, shard: r.Shard,
	}
	if v.shard == replicated {
		v.shard = "" // composed
	}
	if v.checkpoint == "every-1" {
		v.checkpoint = "full"
	}
	if r.LoRA != nil {
		v.lora = s.ordered(r.LoRA.Targets)
	}
	v.class = classOf(v, d)
	return v
}

// ordered are targets in the order of the recording that has the same ones.
func (s *source) ordered(targets []string) []string {
	for _, v := range s.recorded() {
		if len(v.lora) == len(targets) && !slices.ContainsFunc(targets, func(t string) bool { return !slices.Contains(v.lora, t) }) {
			return v.lora
		}
	}
	return targets
}

// A substitute is what may stand for a variant that was not recorded.
type substitute struct {
	code    string
	share   float64
	message string // %s is what was asked for
	asked   func(v variant) string
	apply   func(s *source, v *variant) bool // false where it changes nothing
}

// substitutes are tried alone and in pairs, the least harmful first.
var substitutes = []substitute{
	{
		code: "other-precision", share: 0.001, message: "training in %s is answered from bf16, whose tensors are as large",
		asked: func(v variant) string { return v.precision },
		apply: func(_ *source, v *variant) bool { return change(&v.precision, "fp16", "bf16") },
	},
	{
		code: "other-precision", share: 0.001, message: "training in %s is answered from amp-bf16, whose tensors are as large",
		asked: func(v variant) string { return v.precision },
		apply: func(_ *source, v *variant) bool {
			return change(&v.precision, string(recipe.AmpFP16), string(recipe.AmpBF16))
		},
	},
	{
		code: "other-attention", share: 0.02, message: "attention %q is answered from PyTorch's own choice, which uses the same kernel where it can",
		asked: func(v variant) string { return v.attention },
		apply: func(_ *source, v *variant) bool { return change(&v.attention, "flash", "sdpa") },
	},
	{
		code: "other-attention", share: 0.05, message: "attention %q is answered from eager attention, which keeps the same matrices",
		asked: func(v variant) string { return v.attention },
		apply: func(_ *source, v *variant) bool { return change(&v.attention, "math", "eager") },
	},
	{
		code: "other-card", share: 0.02, message: "this was recorded on cards of other compute capability than %s, whose attention takes another kernel",
		asked: func(v variant) string { return map[int]string{75: "7.5", 90: "9.0 and 10.x"}[v.class] },
		apply: func(_ *source, v *variant) bool {
			if v.class == 80 {
				return false
			}
			v.class = 80
			return true
		},
	},
	{
		code: "padded-batch", share: 0.05, message: "batches %s padding were not recorded this way: this is with an attention mask",
		asked: func(variant) string { return "without" },
		apply: func(_ *source, v *variant) bool { was := v.unpadded; v.unpadded = false; return was },
	},
	{
		code: "other-targets", share: 0.15, message: "adapters on %s alone were not recorded: this is for more layers, those nearest that were",
		asked: func(v variant) string { return strings.Join(v.lora, "+") },
		apply: func(s *source, v *variant) bool { return s.moreTargets(v) },
	},
	{
		code: "other-layout", share: 0.1, message: "images are laid out %s: this was recorded in PyTorch's usual layout only",
		asked: func(variant) string { return "channels last" },
		apply: func(_ *source, v *variant) bool { was := v.channelsLast; v.channelsLast = false; return was },
	},
}

// moreTargets takes the recorded adapters that are on all wanted layers and on
// the fewest others.
func (s *source) moreTargets(v *variant) bool {
	var best []string
	for _, have := range s.recorded() {
		has := func(target string) bool { return slices.Contains(have.lora, target) }
		if len(v.lora) > 0 && len(have.lora) > len(v.lora) && !slices.ContainsFunc(v.lora, func(t string) bool { return !has(t) }) && (best == nil || len(have.lora) < len(best)) {
			best = have.lora
		}
	}
	if best != nil {
		v.lora = best
	}
	return best != nil
}

func change(s *string, from, to string) bool {
	if *s != from {
		return false
	}
	*s = to
	return true
}

// choose finds the tape that answers a recipe, and what is in doubt about it.
func (s *source) choose(r recipe.Recipe, d kernel.Device) (variant, []reason, error) {
	want := s.variantOf(r, d)
	if s.tapes.Has(want.key()) {
		return want, nil, nil
	}
	if anywhere := want; want.class != 80 {
		anywhere.class = 80
		if s.tapes.Has(anywhere.key()) && !s.attends(anywhere) {
			return anywhere, nil, nil
		}
	}
	for first := range substitutes {
		for second := first; second < len(substitutes); second++ {
			v, reasons, ok := s.substituted(want, d, first, second)
			if ok && s.tapes.Has(v.key()) {
				return v, reasons, nil
			}
		}
	}
	return want, nil, s.refuse(want)
}

// attends reports whether a tape has attention in one kernel.
func (s *source) attends(v variant) bool {
	t, err := s.tapes.Tape(v.key())
	return err != nil || s.about(t).attends
}

// substituted applies one substitute, or two.
func (s *source) substituted(v variant, d kernel.Device, which ...int) (variant, []reason, bool) {
	var reasons []reason
	for _, i := range slices.Compact(which) {
		x := &substitutes[i]
		asked := x.asked(v)
		if !x.apply(s, &v) {
			return v, nil, false
		}
		if x.code != "other-card" {
			v.class = classOf(v, d)
		}
		reasons = append(reasons, reason{x.code, fmt.Sprintf(x.message, asked), x.share})
	}
	return v, reasons, true
}

// refuse says what there is instead of a variant.
func (s *source) refuse(v variant) error {
	words := func(get func(v variant) string) string {
		var list []string
		for _, have := range s.recorded() {
			if w := get(have); have.structure == v.structure && w != "" && !slices.Contains(list, w) {
				list = append(list, w)
			}
		}
		return strings.Join(list, ", ")
	}
	if words(func(v variant) string { return v.task }) == "" {
		return &estimate.Error{Msg: fmt.Sprintf("%s: there is no recording of the structure %s of %s", s.model.Name, v.structure, s.model.Family), Hint: tryCapture}
	}
	for _, c := range []struct {
		what string
		get  func(v variant) string
	}{
		{"--task", func(v variant) string { return v.task }},
		{"--mode", func(v variant) string { return v.mode }},
		{"precision", func(v variant) string { return v.precision }},
		{"--attention", func(v variant) string { return v.attention }},
		{"--checkpoint", func(v variant) string { return v.checkpoint }},
		{"--lora targets", func(v variant) string { return strings.Join(v.lora, "+") }},
		{"quantized weights", func(v variant) string { return v.quantize }},
		{"--shard", func(v variant) string { return v.shard }},
	} {
		asked, have := c.get(v), words(c.get)
		if asked != "" && !slices.Contains(strings.Split(have, ", "), asked) {
			hint := "no recording of " + s.model.Family + " has any; " + tryCapture
			if have != "" {
				hint = "recorded are " + have + "; " + tryCapture
			}
			return &estimate.Error{Msg: fmt.Sprintf("%s %s is not recorded for %s", c.what, asked, s.model.Family), Hint: hint}
		}
	}
	return &estimate.Error{Msg: fmt.Sprintf("this combination is not recorded for %s: %s", s.model.Family, v.words()), Hint: "change one of its parts; " + tryCapture}
}

// words is the variant for people.
func (v variant) words() string {
	words := []string{v.task, v.mode, v.precision, v.attention + " attention", "checkpoint " + v.checkpoint}
	if v.channelsLast {
		words = append(words, "channels last")
	}
	if v.unpadded {
		words = append(words, "without padding")
	}
	if len(v.lora) > 0 {
		words = append(words, "adapters on "+strings.Join(v.lora, "+"))
	}
	for _, w := range []string{v.quantize, v.shard} {
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, ", ")
}
