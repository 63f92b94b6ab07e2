package catalog

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/compose"
	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/family"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
)

// Defaults of what a recipe leaves open.
const (
	usualSeq     = 512
	usualContext = 1024 // of models that continue a text
	adamw        = "adamw"
)

// Complete fills in what a recipe leaves open and refuses what the model or
// its recordings cannot do.
func (s *source) Complete(r recipe.Recipe) (recipe.Recipe, error) {
	if r.Mode == "" {
		r.Mode = recipe.Train
	}
	if r.Task == "" {
		r.Task = s.model.Task
	}
	if r.Task != s.model.Task {
		return r, &estimate.Error{Msg: fmt.Sprintf("%s was read with a head for %s, not for %s", s.model.Name, s.model.Task, r.Task), Hint: "its heads: " + tasks(s.model.Tasks)}
	}
	if r.Precision == "" {
		r.Precision = s.precision(r.Mode)
	}
	setDefault(&r.Attention, "sdpa")
	setDefault(&r.Checkpoint, "none")
	r.Batch, r.Accumulate = max(r.Batch, 1), max(r.Accumulate, 1)
	if r.World > 1 && r.Shard == "" {
		r.Shard = "ddp"
	}
	for _, complete := range []func(*recipe.Recipe) error{s.completeTraining, s.completeSeq, s.completeImage} {
		if err := complete(&r); err != nil {
			return r, err
		}
	}
	return r, nil
}

func setDefault(s *string, to string) {
	if *s == "" {
		*s = to
	}
}

func tasks(list []recipe.Task) string {
	words := make([]string, len(list))
	for i, t := range list {
		words[i] = string(t)
	}
	return strings.Join(words, ", ")
}

// precision is what a recipe has that names none: fp32 for training, which is
// what PyTorch does unless it is told otherwise, and half for serving.
func (s *source) precision(mode recipe.Mode) recipe.Precision {
	switch {
	case mode != recipe.Infer:
		return recipe.FP32
	case s.model.DType == "float16":
		return recipe.FP16
	}
	return recipe.BF16
}

func (s *source) completeTraining(r *recipe.Recipe) error {
	if r.Mode != recipe.Train {
		r.Accumulate = 1
		if r.Optimizer != "" || r.ClipGradNorm {
			return &estimate.Error{Msg: fmt.Sprintf("mode %s takes no optimizer step", r.Mode), Hint: "leave out the optimizer, or take --mode train"}
		}
		if in, ok := strings.CutPrefix(string(r.Precision), "amp-"); ok && r.Mode == recipe.Infer {
			return &estimate.Error{Msg: "generation is recorded in the type of the weights, not under autocast", Hint: "--dtype " + in + " in place of --amp " + in}
		}
		return nil
	}
	setDefault(&r.Optimizer, adamw)
	if !compose.Known(r.Optimizer) {
		return &estimate.Error{Msg: fmt.Sprintf("optimizer %q is not known", r.Optimizer), Hint: "--optimizer takes " + strings.Join(compose.Optimizers(), ", ")}
	}
	if r.Optimizer == "adafactor" && r.Shard == sharded {
		return &estimate.Error{Msg: "PyTorch's adafactor refuses parameters that --shard fsdp2 has split", Hint: "--optimizer adamw, or --shard ddp"}
	}
	if r.Checkpoint != "none" && r.Checkpoint != "full" && r.Checkpoint != "every-1" && everyK(r.Checkpoint) == 0 {
		return &estimate.Error{Msg: fmt.Sprintf("--checkpoint %s is not recorded", r.Checkpoint), Hint: "--checkpoint none, full and every-K are; " + tryCapture}
	}
	if r.LoRA != nil && everyK(r.Checkpoint) > 0 {
		return &estimate.Error{
			Msg:  fmt.Sprintf("--checkpoint %s is not put together with adapters: with full checkpointing the embeddings' output is made to need a gradient, and without it is not", r.Checkpoint),
			Hint: "it lies between --checkpoint none and --checkpoint full; " + tryCapture,
		}
	}
	return nil
}

// completeSeq is about the length of sequences.
func (s *source) completeSeq(r *recipe.Recipe) error {
	if !s.hasText() {
		if r.Seq != 0 {
			return &estimate.Error{Msg: s.model.Name + " reads images: --seq says nothing about it", Hint: "leave out --seq"}
		}
		return nil
	}
	most := s.positions()
	if r.Seq == 0 {
		r.Seq = usualSeq
		if r.Task == recipe.CausalLM {
			r.Seq = usualContext
		}
		if most > 0 {
			r.Seq = min(r.Seq, most)
		}
	}
	if most > 0 && r.Seq > most {
		return &estimate.Error{Msg: fmt.Sprintf("--seq %d: %s has %d positions", r.Seq, s.model.Name, most), Hint: fmt.Sprintf("--seq %d is the longest", most)}
	}
	return nil
}

// completeImage is about the size of images. Models of Transformers have their
// own, which their weights depend on.
func (s *source) completeImage(r *recipe.Recipe) error {
	side, has := s.model.Dims["H"]
	if !has {
		if r.ImageHeight != 0 || r.ChannelsLast {
			return &estimate.Error{Msg: s.model.Name + " reads no images", Hint: "leave out --image and --channels-last"}
		}
		return nil
	}
	if r.ImageHeight == 0 {
		r.ImageHeight, r.ImageWidth = side, s.width()
	}
	if s.model.Library != family.Torchvision && (r.ImageHeight != side || r.ImageWidth != side) {
		return &estimate.Error{Msg: fmt.Sprintf("--image %dx%d: the weights of %s are for images of %d pixels", r.ImageHeight, r.ImageWidth, s.model.Name, side), Hint: fmt.Sprintf("--image %d, or a config with another image_size", side)}
	}
	if fixed := s.fixedSide(); fixed > 0 && (r.ImageHeight != fixed || r.ImageWidth != fixed) {
		return &estimate.Error{Msg: fmt.Sprintf("--image %dx%d: %s takes images of %d pixels alone", r.ImageHeight, r.ImageWidth, s.model.Name, fixed), Hint: fmt.Sprintf("--image %d", fixed)}
	}
	return nil
}

// fixedSide is the side of images of a model of torchvision that takes one size
// alone, 0 for the others: recordings vary it where they can.
func (s *source) fixedSide() int64 {
	if s.model.Library != family.Torchvision {
		return 0
	}
	for _, span := range s.training().spans {
		if span.Name == "H" && span.Low == span.High {
			return span.Low
		}
	}
	return 0
}

func (s *source) width() int64 {
	if w, ok := s.model.Dims["W"]; ok {
		return w
	}
	return s.model.Dims["H"]
}

// hasText reports whether a batch has sequences whose length may be chosen.
func (s *source) hasText() bool {
	row, ok := family.Lookup(s.model.Family)
	return s.model.Library != family.Torchvision && ok && row.Batch != "image"
}

// positions is the longest sequence that the weights allow, 0 for any.
func (s *source) positions() int64 {
	if row, ok := family.Lookup(s.model.Family); ok {
		return row.Longest(s.model.Dims)
	}
	return 0
}
