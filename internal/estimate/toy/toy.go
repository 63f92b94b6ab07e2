// Package toy is a model of three layers that is written down by hand, for
// tests of what stands on a Source. It behaves like a transformer and is none.
package toy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Model has an embedding, layers of two matrices, and a head. The zero value
// is a small one.
type Model struct {
	Hidden, Inner, Vocabulary int64
	Layers                    int
	Dropout                   bool
	Doubts                    []estimate.Doubt
}

// New is the model that most tests take: three layers of width 1,024.
func New() *Model { return &Model{Hidden: 1024, Inner: 4096, Vocabulary: 32000, Layers: 3} }

// optimizers are the bytes of state for a parameter of so many bytes.
var optimizers = map[string]int64{"sgd": 0, "sgd-momentum": 4, "adamw": 8, "adamw-fused": 8, "adamw-8bit": 2}

// Model describes it.
func (m *Model) Model() estimate.Model {
	return estimate.Model{
		Name: "toy", Source: "builtin", Family: "toy", Dropout: m.Dropout, LoRATargets: []string{"up"},
		RecordedWith: estimate.RecordedWith{Torch: "2.15.0", Transformers: "5.24.0"},
	}
}

// Complete fills in what is left open.
func (m *Model) Complete(r recipe.Recipe) (recipe.Recipe, error) {
	set := func(s *string, to string) {
		if *s == "" {
			*s = to
		}
	}
	if r.Task == "" {
		r.Task = recipe.CausalLM
	}
	if r.Task != recipe.CausalLM {
		return r, &estimate.Error{Msg: fmt.Sprintf("toy has no head for %s", r.Task), Hint: "it has one for causal-lm"}
	}
	if r.Mode == "" {
		r.Mode = recipe.Train
	}
	if r.Seq == 0 {
		r.Seq = 512
	}
	if r.Precision == "" {
		r.Precision = recipe.FP32
	}
	set(&r.Attention, "sdpa")
	set(&r.Checkpoint, "none")
	if r.Mode == recipe.Train {
		set(&r.Optimizer, "adamw")
	}
	if _, ok := optimizers[r.Optimizer]; !ok && r.Optimizer != "" {
		return r, &estimate.Error{Msg: fmt.Sprintf("optimizer %q is not known", r.Optimizer), Hint: "--optimizer takes adamw, adamw-8bit, adamw-fused, sgd, sgd-momentum"}
	}
	if r.Quantize != "" {
		return r, &estimate.Error{Msg: "toy has no weights in 4 bits"}
	}
	if r.Shard == "fsdp2" {
		return r, &estimate.Error{Msg: "toy cannot be sharded"}
	}
	r.Batch, r.Accumulate = max(r.Batch, 1), max(r.Accumulate, 1)
	return r, nil
}

// Formula is typed in by hand, which a real source never does.
func (m *Model) Formula(r recipe.Recipe, _ kernel.Device, _ int) (map[string]string, []estimate.Symbol, error) {
	return map[string]string{"parameter": "4*(2*V*h + L*(2*f*h + h))", "activation": "4*B*S*(h + L*(h + f) + V)", "peak": "..."},
		[]estimate.Symbol{{Name: "B", Value: r.Batch, Meaning: "micro-batch"}, {Name: "S", Value: r.Seq, Meaning: "length of the sequence"}, {Name: "h", Value: m.Hidden, Meaning: "hidden size"}}, nil
}

// A player is one run in the making.
type player struct {
	*Model
	r      recipe.Recipe
	w      *tape.Writer
	out    *estimate.Played
	detail estimate.Detail
	params []param
	states []tape.BlockID
}

type param struct {
	bytes     unit.Bytes
	block     tape.BlockID
	trainable bool
}

// Play writes the run.
func (m *Model) Play(r recipe.Recipe, _ kernel.Device, w *tape.Writer, detail estimate.Detail) (*estimate.Played, error) {
	p := &player{Model: m, r: r, w: w, detail: detail, out: &estimate.Played{Exact: len(m.Doubts) == 0, Doubts: m.Doubts}}
	p.load()
	for range 3 {
		if r.Mode == recipe.Train {
			var grads []tape.BlockID
			for range r.Accumulate {
				grads = p.pass(grads)
			}
			p.step(grads)
		} else {
			p.pass(nil)
		}
		p.out.StepEnds = append(p.out.StepEnds, w.Tape().Len())
	}
	return p.out, nil
}

func (p *player) site(module, operator string) {
	if p.detail < estimate.Sites {
		return
	}
	p.w.Site = p.w.Tape().InternSite([]tape.Frame{{Name: module, File: "aten::" + operator}})
}

func (p *player) load() {
	p.w.Phase = tape.Load
	add := func(module string, elements int64) {
		p.site(module, "empty")
		p.out.Parameters += elements
		b := unit.Bytes(elements * p.r.Precision.WeightBytes())
		trainable := p.r.LoRA == nil
		p.params = append(p.params, param{b, p.w.Alloc(b, tape.Parameter), trainable})
		if trainable {
			p.out.Trainable += elements
		}
		if p.r.LoRA != nil && strings.HasSuffix(module, "up") && slices.Contains(p.r.LoRA.Targets, "up") {
			small := p.r.LoRA.Rank * (p.Hidden + p.Inner)
			p.out.Parameters += small
			p.out.Trainable += small
			p.params = append(p.params, param{unit.Bytes(4 * small), p.w.Alloc(unit.Bytes(4*small), tape.Parameter), true})
		}
	}
	add("embed", p.Vocabulary*p.Hidden)
	for i := range p.Layers {
		before := p.out.Parameters
		add(fmt.Sprintf("layers.%d.norm", i), p.Hidden)
		add(fmt.Sprintf("layers.%d.up", i), p.Hidden*p.Inner)
		add(fmt.Sprintf("layers.%d.down", i), p.Hidden*p.Inner)
		p.out.Layers = append(p.out.Layers, estimate.LayerSpan{Name: fmt.Sprintf("layers.%d", i), Parameters: p.out.Parameters - before, Output: []int64{p.r.Batch, p.r.Seq, p.Hidden}})
	}
	add("head", p.Vocabulary*p.Hidden)
}

// pass is a forward pass and, in training, its backward pass.
func (p *player) pass(grads []tape.BlockID) []tape.BlockID {
	size := unit.Bytes(p.r.Batch * p.r.Seq * p.computeBytes())
	w, h, f, v := p.w, unit.Bytes(p.Hidden), unit.Bytes(p.Inner), unit.Bytes(p.Vocabulary)
	train := p.r.Mode == recipe.Train
	w.Phase = tape.Forward
	p.site("", "zeros")
	input := w.Alloc(unit.Bytes(p.r.Batch*p.r.Seq*8), tape.Input)
	p.site("embed", "embedding")
	saved := []tape.BlockID{w.Alloc(size*h, tape.Activation)}
	for i := range p.Layers {
		name := fmt.Sprintf("layers.%d", i)
		w.Mark(tape.MarkModuleEnter, name, 0)
		first := tape.BlockID(w.Tape().Blocks())
		p.site(name+".up", "mm")
		up := w.Alloc(size*f, tape.Activation)
		p.site(name+".down", "mm")
		down := w.Alloc(size*h, tape.Activation)
		if train && p.r.Checkpoint != "full" {
			saved = append(saved, up)
		} else {
			w.Free(up)
		}
		if train {
			saved = append(saved, down)
		} else {
			w.Free(saved[0])
			saved[0] = down
		}
		if l := &p.out.Layers[i]; l.Last == 0 {
			l.First, l.Last = first, tape.BlockID(w.Tape().Blocks())
		}
		w.Mark(tape.MarkModuleExit, name, 0)
	}
	p.site("head", "mm")
	logits := w.Alloc(size*v, tape.Activation)
	if !train {
		for _, b := range append(saved, logits, input) {
			w.Free(b)
		}
		return nil
	}
	w.Phase = tape.Backward
	p.site("head", "log_softmax")
	w.Free(w.Alloc(size*v, tape.Temporary))
	w.Free(logits)
	for i := len(saved) - 1; i >= 0; i-- {
		p.site("layers", "mm")
		w.Free(w.Alloc(size*f, tape.Temporary))
		w.Free(saved[i])
	}
	if grads == nil {
		for _, q := range p.params {
			if q.trainable {
				grads = append(grads, w.Alloc(q.bytes, tape.Gradient))
			}
		}
	}
	w.Free(input)
	return grads
}

func (p *player) computeBytes() int64 {
	if p.r.Precision == recipe.FP32 {
		return 4
	}
	return 2
}

func (p *player) step(grads []tape.BlockID) {
	w := p.w
	w.Phase = tape.Step
	p.site("", "_foreach_mul")
	first := p.states == nil
	var temporary []tape.BlockID
	for _, q := range p.params {
		if !q.trainable {
			continue
		}
		if n := optimizers[p.r.Optimizer]; n > 0 && first {
			p.states = append(p.states, w.Alloc(q.bytes*unit.Bytes(n)/4, tape.OptimizerState))
		}
		if p.r.Optimizer == "adamw" {
			temporary = append(temporary, w.Alloc(q.bytes, tape.Temporary))
		}
	}
	for _, b := range append(temporary, grads...) {
		w.Free(b)
	}
	w.Mark(tape.MarkStep, "", int64(len(p.out.StepEnds)+1))
}
