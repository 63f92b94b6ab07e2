package catalog

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/compose"
	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/family"
	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// steps is how many optimizer steps, or passes, are played: the allocator's
// cache settles in the third.
const steps = 3

// settled is the micro-batch of a step from which on each does to memory what
// the one before did.
const settled = 8

// tokens is how many are generated after a prompt: the peak is in the last of
// them, which sees the longest cache.
const tokens = 2

// usualDevice stands for a card that nothing is known of.
var usualDevice = kernel.Device{Capability: 80, Multiprocessors: 108, ThreadsPerMultiprocessor: 2048}

// Play writes the whole run.
func (s *source) Play(r recipe.Recipe, d kernel.Device, w *tape.Writer, detail estimate.Detail) (*estimate.Played, error) {
	run, err := s.begin(r, d)
	if err != nil {
		return nil, err
	}
	run.plan.Sites = detail >= estimate.Sites
	played, err := s.perform(run, w)
	if err != nil {
		return nil, s.missing(err)
	}
	out, err := s.played(w.Tape(), played, run)
	if err != nil {
		return nil, err
	}
	out.Doubts = append(out.Doubts, cudnn(s.about(run.tape), run.env, played.Params)...)
	out.Doubts = append(out.Doubts, packed(run, s.about(run.tape), played.Params)...)
	return out, nil
}

// A run is one play in the making: a tape, and what happens between its passes.
type run struct {
	recipe  recipe.Recipe
	torch   string // whose recordings these are
	way     recordings.Way
	tape    *symbolic.Tape
	env     symbolic.Env
	plan    symbolic.Plan
	reasons []reason             // why it is not certain
	forward func(w *tape.Writer) // before each forward pass, nil for nothing
	finish  compose.Finish
	grads   []tape.BlockID
}

// begin finds the tape of a recipe.
func (s *source) begin(r recipe.Recipe, d kernel.Device) (*run, error) {
	if d.Multiprocessors == 0 {
		d = usualDevice
	}
	v, reasons, err := s.choose(r, d)
	if err != nil {
		return nil, err
	}
	t, err := s.tape(v)
	if err != nil {
		return nil, err
	}
	if w := s.adapted(v); len(w.LoRA) > 0 && !s.tapes.Has(w.String()) {
		reasons = append(reasons, s.composedAdapters(w)...)
	}
	out := &run{recipe: r, way: v, tape: t, env: s.env(r, d), torch: s.tapes.Torch}
	if k := everyK(r.Checkpoint); k > 0 {
		if err := s.everyKth(out, k); err != nil {
			return nil, err
		}
		reasons = append(reasons, composedFrom(v, len(out.env.Kinds))...)
	}
	out.plan = out.planned(s.paths())
	out.reasons = s.reasons(out, reasons)
	return out, nil
}

// planned says how much of the run is played; paths are where its layers are.
func (r *run) planned(paths map[string]string) symbolic.Plan {
	plan := symbolic.Plan{Train: r.recipe.Mode == recipe.Train, Ready: r.ready, Paths: paths}
	plan.Forward = func(w *tape.Writer) {
		if r.forward != nil {
			r.forward(w)
		}
	}
	if r.recipe.Mode == recipe.Infer {
		plan.Micros, plan.Decode = []int{1}, tokens
	} else {
		plan.Micros = slices.Repeat([]int{int(min(r.recipe.Accumulate, settled))}, steps)
	}
	return plan
}

// reasons are why a run is not certain, beside those of how its tape was chosen.
func (s *source) reasons(r *run, chosen []reason) []reason {
	for i := range chosen {
		if chosen[i].code == paddedBatch {
			s.boundMask(&chosen[i], r.way, r.recipe.Checkpoint, r.env)
		}
	}
	list := slices.Concat(s.notes, chosen, unseen(r.tape, s.about(r.tape), r.env))
	if r.recipe.Shard == sharded {
		list = append(list, s.fewLayers(r.tape, r.env)...)
	}
	list = append(append(list, unequal(r.tape)...), s.kindsAsSet()...)
	if compose.Paged(r.recipe.Optimizer) {
		list = append(list, reason{code: "paged-states", message: "large states of " + r.recipe.Optimizer + " are in managed memory, which CUDA moves between card and host as there is room: they are not counted"})
	}
	if strings.HasSuffix(s.model.DType, "float16") && r.recipe.Precision == recipe.FP32 {
		list = append(list, reason{code: "stored-in-half", message: "the checkpoint is stored in " + s.model.DType + " and is taken in fp32 here: --dtype bf16 leaves it in 16 bits"})
	}
	return list
}

func (r *run) play(w *tape.Writer) (*symbolic.Played, error) {
	return r.tape.Play(r.env, r.plan, w, r.step)
}

// paths are where stacks of layers are in the model.
func (s *source) paths() map[string]string {
	paths := map[string]string{}
	if row, ok := family.Lookup(s.model.Family); ok {
		for _, stack := range row.Stacks {
			paths[stack.Name] = stack.Path
		}
	}
	return paths
}

// env gives the symbols of a tape their values.
func (s *source) env(r recipe.Recipe, d kernel.Device) symbolic.Env {
	dims := maps.Clone(s.model.Dims)
	dims["B"] = r.Batch
	if s.hasText() {
		dims["S"] = r.Seq
	}
	if r.Mode == recipe.Infer { // the sequence is what the cache holds in the end
		dims["S"], dims["Y"] = max(r.Seq-tokens, 1), r.Seq
	}
	if _, ok := dims["H"]; ok {
		dims["H"], dims["W"] = r.ImageHeight, r.ImageWidth
	}
	if r.LoRA != nil {
		dims["A"] = r.LoRA.Rank
	}
	if r.Shard == sharded {
		dims["D"] = max(r.World, 1)
	}
	return symbolic.Env{Dims: dims, Device: d, Kinds: s.model.Kinds}
}

// missing says for people that a tape needs a size that the model lacks.
func (s *source) missing(err error) error {
	if e, ok := errors.AsType[*symbolic.MissingError](err); ok {
		return &estimate.Error{Msg: fmt.Sprintf("the recordings of %s depend on a size %q that %s does not say", s.model.Family, e.Name, s.model.Name), Hint: tryCapture}
	}
	return &estimate.Error{Msg: fmt.Sprintf("%s: %v", s.model.Name, err), Hint: tryCapture}
}

// ready makes the optimizer, and before it what replicates the model.
func (r *run) ready(w *tape.Writer, params []symbolic.Tensor) error {
	if r.recipe.Mode != recipe.Train {
		return nil
	}
	var all, trained []compose.Param
	for i := range params {
		p := compose.Param{Shape: params[i].Shape, Element: elementBytes(params[i].DType)}
		all = append(all, p)
		if params[i].Trainable {
			trained = append(trained, p)
		}
	}
	if r.recipe.Shard == replicated {
		buffers := buffersOf(w.Tape())
		ddp := compose.NewDDP(compose.Replicated{Trainable: trained, States: append(all, buffers...), Buffers: buffers, World: max(r.recipe.World, 1)}, nil)
		ddp.Construct(w)
		r.forward = ddp.Forward
	}
	w.Phase = tape.Step
	optimizer, err := compose.NewOptimizer(r.recipe.Optimizer, trained, r.env.Device)
	if err != nil {
		return err
	}
	optimizer.Construct(w)
	r.finish.Optimizer = optimizer
	if r.recipe.ClipGradNorm {
		r.finish.Clip = compose.NewClip(trained)
		r.finish.Clip.Sharded = r.recipe.Shard == sharded
		r.finish.Clip.Padded = recordings.Compare(r.torch, clipUnpadded) < 0
	}
	if r.recipe.Precision == recipe.AmpFP16 {
		r.finish.Scaler = &compose.Scaler{} // its scale is made in the recorded pass
	}
	return nil
}

// clipUnpadded is the version since which clip_grad_norm_ needs no more partial
// sums than there are chunks.
const clipUnpadded = "2.15.0"

// sharded is training with a share of the model on each card.
const sharded = "fsdp2"

// buffersOf are the model's buffers when it was built. A tape knows their bytes
// alone: those of 8 bytes are counters, the others take 4 an element.
func buffersOf(t *tape.Tape) []compose.Param {
	var list []compose.Param
	for b := range tape.BlockID(t.Blocks()) {
		block := t.Block(b)
		if block.Category != tape.Buffer || block.Free >= 0 {
			continue
		}
		element := int64(4)
		if block.Bytes%4 != 0 {
			element = 1
		} else if block.Bytes == 8 {
			element = 8
		}
		list = append(list, compose.Param{Shape: []int64{int64(block.Bytes) / element}, Element: element})
	}
	return list
}

// step writes what follows a backward pass.
func (r *run) step(w *tape.Writer, params []symbolic.Tensor) error {
	r.grads = r.grads[:0]
	for i := range params {
		p := &params[i]
		grad := p.Grad
		if grad == tape.NoBlock && p.Graded {
			grad = p.Block // what counts is that there is one
		}
		if p.Trainable {
			r.grads = append(r.grads, grad)
		}
	}
	r.finish.Step(w, r.grads)
	return nil
}

// elementBytes is the size of an element of a type of PyTorch.
func elementBytes(dtype string) int64 {
	switch dtype {
	case "float64", "int64":
		return 8
	case "bfloat16", "float16", "int16":
		return 2
	case "int8", "uint8", "bool", "float8_e4m3fn", "float8_e5m2":
		return 1
	}
	return 4
}

// played is what there is to say about a play.
func (s *source) played(t *tape.Tape, p *symbolic.Played, run *run) (*estimate.Played, error) {
	out := &estimate.Played{StepEnds: p.Starts[1:], Exact: true}
	inLayer := map[string]int64{}
	whole, err := s.whole(run, p.Params)
	if err != nil {
		return nil, err
	}
	for i := range whole {
		q := &whole[i]
		n := q.Elements()
		out.Parameters += n
		if q.Trainable {
			out.Trainable += n
		}
		inLayer[q.Layer] += n
	}
	for _, l := range p.Layers {
		out.Layers = append(out.Layers, estimate.LayerSpan{Name: l.Name, First: l.First, Last: l.Last, Parameters: inLayer[l.Name], Output: s.output(run.env)})
	}
	doubt(out, t, p, run.reasons)
	if w := s.found.Compare(out.Parameters); w != nil {
		out.Doubts = append(out.Doubts, estimate.Doubt{Code: w.Code, Message: w.Message})
	}
	return out, nil
}

// doubt says why a play is not certain, and how much it may be off.
func doubt(out *estimate.Played, t *tape.Tape, p *symbolic.Played, reasons []reason) {
	if p.Error > 0 {
		out.Exact = false
		out.Doubts = append(out.Doubts, estimate.Doubt{Code: "approximate", Message: "some sizes are known only roughly", Less: p.Error, More: p.Error})
	}
	var peak unit.Bytes
	for _, r := range reasons {
		if r.share == 0 && r.less == 0 && r.more == 0 {
			out.Doubts = append(out.Doubts, estimate.Doubt{Code: r.code, Message: r.message})
			continue
		}
		if peak == 0 {
			peak = estimate.Asked(t)
		}
		share := unit.Bytes(r.share * float64(peak))
		less, more := max(r.less, share), max(r.more, share)
		if r.over {
			more = 0
		}
		if r.under {
			less = 0
		}
		out.Exact = false
		out.Doubts = append(out.Doubts, estimate.Doubt{Code: r.code, Message: r.message, Less: less, More: more})
	}
}

// whole are the parameters of the model: those of the tape, or where it has the
// shards of one card, or packed ones, those of a tape without. They are the same
// however that one is trained.
func (s *source) whole(run *run, params []symbolic.Tensor) ([]symbolic.Tensor, error) {
	if run.way.Shard == "" && run.way.Quantize == "" {
		return params, nil
	}
	v, ok := s.unshared(run.way)
	if !ok {
		return nil, &estimate.Error{Msg: fmt.Sprintf("how many parameters %s has is not recorded: %s is, but not the whole", s.model.Name, wordsOf(run.way)), Hint: tryCapture}
	}
	t, err := s.tape(v)
	if err != nil {
		return nil, err
	}
	r := run.recipe
	r.Shard, r.World = "", 0
	list, err := t.Parameters(s.env(r, run.env.Device), run.plan.Paths)
	if err != nil {
		return nil, s.missing(err)
	}
	return list, nil
}

// unshared is a recorded way to use the same model for the same, on one card and
// with weights as they are.
func (s *source) unshared(v recordings.Way) (recordings.Way, bool) {
	for _, w := range s.recorded() {
		whole := w.Task == v.Task && w.Mode == v.Mode && w.Structure == v.Structure && w.Shard == "" && w.Quantize == "" && len(w.LoRA) > 0 == (len(v.LoRA) > 0)
		if w.LoRA = v.LoRA; whole && s.has(w) {
			return w, true
		}
	}
	return v, false
}

// output is the shape of what a layer hands on, nil where that is not known: in
// models of text the hidden states.
func (s *source) output(env symbolic.Env) []int64 {
	row, ok := family.Lookup(s.model.Family)
	if h, has := env.Dims["h"]; ok && has && (row.Batch == "text" || row.Batch == "seq2seq") {
		return []int64{env.Dims["B"], env.Dims["S"], h}
	}
	return nil
}
