package catalog

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// An unpadded is the tape of a way without padding that was not recorded as such.
type unpadded struct {
	tape   *symbolic.Tape
	layers recordings.Way // whose layers it has
	err    error
}

// unpadded is the tape of a way without padding: that of padded batches where nothing
// looks whether there is padding, else one that has its layers, with the head of the
// padded one's.
func (s *source) unpadded(v recordings.Way) unpadded {
	if have, ok := s.unpaddeds.Load(v.String()); ok {
		return have.(unpadded)
	}
	u := s.composeUnpadded(v)
	s.unpaddeds.Store(v.String(), u)
	return u
}

func (s *source) composeUnpadded(v recordings.Way) unpadded {
	padded := v
	padded.Unpadded = false
	if !s.has(padded) {
		return unpadded{err: s.refuse(v)}
	}
	t, err := s.tape(padded)
	if err != nil || !asks(t) {
		return unpadded{t, padded, err}
	}
	for _, w := range s.relatives(v) {
		layers := s.layersOf(w, padded, t)
		if layers == nil {
			continue
		}
		if grafted, err := symbolic.Graft(layers, t); err == nil {
			return unpadded{tape: grafted, layers: w}
		}
	}
	if !s.about(t).attends {
		return unpadded{tape: t, layers: padded} // what is asked decides about the mask alone
	}
	return unpadded{err: s.refuse(v)}
}

// relatives are the ways whose layers may be those of a way, with another head: of
// another task, or a structure whose head is another. The two kinds of mixed precision
// differ in what happens to the loss.
func (s *source) relatives(v recordings.Way) []recordings.Way {
	var list []recordings.Way
	for _, w := range s.recorded() {
		w.LoRA, w.Unpadded = v.LoRA, v.Unpadded
		same := w
		same.Task, same.Structure = v.Task, v.Structure
		if mixed(v.Precision) && mixed(w.Precision) {
			same.Precision = v.Precision
		}
		if same.String() == v.String() && w.String() != v.String() && !slices.ContainsFunc(list, func(have recordings.Way) bool { return have.String() == w.String() }) {
			list = append(list, w)
		}
	}
	return list
}

func mixed(precision string) bool {
	return precision == string(recipe.AmpBF16) || precision == string(recipe.AmpFP16)
}

// layersOf is the tape of a relative without padding, nil where its layers are others
// than those of t, which is the padded way's. Where nothing asks for padding in the
// relative's passes and its layers are others all the same, they have no mask.
//
// Another structure must make the same mask: one of a window stays without padding. It
// is as large as the batch where a task's batches have a mask of their own.
func (s *source) layersOf(w, padded recordings.Way, t *symbolic.Tape) *symbolic.Tape {
	masked, twin := w, padded
	masked.Unpadded, twin.Structure = false, w.Structure
	own, like := s.tapeIfAny(masked), s.tapeIfAny(twin)
	if own == nil || like == nil || !like.SameLayers(t) || !like.SameLead(t) {
		return nil
	}
	layers, same := own, own.SameLayers(t)
	if asks(own) {
		if !same || !s.tapes.Has(w.String()) && (len(w.LoRA) == 0 || s.fewer(w).err != nil) {
			return nil
		}
		layers = s.tapeIfAny(w)
	} else if same {
		return nil
	}
	if layers == nil || w.Task != padded.Task && masks(layers) {
		return nil
	}
	return layers
}

// tapeIfAny is the tape of a way, nil where there is none.
func (s *source) tapeIfAny(v recordings.Way) *symbolic.Tape {
	if !s.has(v) {
		return nil
	}
	t, err := s.tape(v)
	if err != nil {
		return nil
	}
	return t
}

// asks reports whether the pass of a tape reads from the card whether something is
// masked. What is read decides whether there is a mask, and which kernel attends.
func asks(t *symbolic.Tape) bool {
	return slices.ContainsFunc(t.Parts, func(p symbolic.Part) bool {
		return p.Stack == "" && slices.ContainsFunc(p.Classes[0].Ops, isAsking)
	})
}

// masks reports whether the pass of a tape makes a mask: what is as large as the square
// of the sequence, outside of layers.
func masks(t *symbolic.Tape) bool {
	return slices.ContainsFunc(t.Parts, func(p symbolic.Part) bool {
		return p.Stack == "" && slices.ContainsFunc(p.Classes[0].Ops, func(op symbolic.Op) bool { return !op.Free && strings.Contains(op.Bytes.String(), "S*S") })
	})
}

// isAsking reports whether an event is one number that says whether all of a tensor is
// true: by all, or as Transformers' fast_all does it, by a sum.
func isAsking(op symbolic.Op) bool {
	if op.Free {
		return false
	}
	innermost, _, _ := strings.Cut(op.Label, " ")
	return innermost == "all" && op.Bytes.String() == "1" || strings.HasSuffix(op.Label, " sum") && op.Bytes.String() == "8"
}

// adapted is the way that a way's adapters are those of: itself, or that of its layers.
func (s *source) adapted(v recordings.Way) recordings.Way {
	if v.Unpadded && !s.tapes.Has(v.String()) && (len(v.LoRA) == 0 || s.fewer(v).err != nil) {
		return s.unpadded(v).layers
	}
	return v
}

// paddedBatch is the code of an answer for padded batches where one for others was
// asked for.
const paddedBatch = "padded-batch"

// maskShare is what it may be off by where no way of the model was recorded both ways,
// rounded up: TestMaskIsBounded measures it.
const maskShare = 0.15

// unscaled is more than what is as large whatever the sizes.
const unscaled = unit.MiB

// boundMask says by how much such an answer may be off: twice what passes of the same
// model differ by that were recorded with a mask and without, at the same sizes, in any
// stretch of the pass. Where none of them are of the same structure and precision, on the
// same cards and with the same checkpointing, it is at least the share.
func (s *source) boundMask(r *reason, v recordings.Way, checkpoint string, env symbolic.Env) {
	for _, alike := range []bool{true, false} {
		for _, w := range s.recorded() {
			same := w.Structure == v.Structure && w.Mode == v.Mode && w.Checkpoint == checkpoint && w.Precision == v.Precision && w.Class == v.Class
			if !w.Unpadded || len(w.LoRA) > 0 || alike && !same {
				continue
			}
			without, err := s.heights(w, env)
			if err != nil {
				continue
			}
			w.Unpadded = false
			with, err := s.heights(w, env)
			if err != nil {
				continue
			}
			for stretch, high := range with {
				r.less = max(r.less, 2*(high-without[stretch])+unscaled)
				r.more = max(r.more, 2*(without[stretch]-high)+unscaled)
			}
		}
		if alike && r.less > 0 {
			r.share = 0
			return
		}
	}
}

// heights are the most that activations and temporaries come to in each stretch of the
// first pass of a recorded way.
func (s *source) heights(w recordings.Way, env symbolic.Env) (map[string]unit.Bytes, error) {
	t, err := s.tapes.Tape(w.String())
	if err != nil {
		return nil, err
	}
	var names []string // by block
	plan := symbolic.Plan{Train: w.Mode == string(recipe.Train), Micros: []int{1}}
	plan.Trace = func(_ tape.BlockID, p *symbolic.Part, _ *symbolic.Op) { names = append(names, p.Name) }
	var out tape.Writer
	if _, err := t.Play(env, plan, &out, nil); err != nil {
		return nil, err
	}
	now, high := unit.Bytes(0), map[string]unit.Bytes{}
	played := out.Tape()
	for i := range played.Len() {
		e := played.Event(i)
		b := played.Block(e.Block)
		switch {
		case b.Category == tape.Parameter || b.Category == tape.Gradient:
		case e.Kind == tape.Alloc:
			now += b.Bytes
			high[names[e.Block]] = max(high[names[e.Block]], now)
		default:
			now -= b.Bytes
		}
	}
	return high, nil
}
