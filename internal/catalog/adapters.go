package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/family"
	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// allLinear is what PEFT calls every linear layer but the head.
const allLinear = "all-linear"

// targetsOf are the targets of a recipe, in the order of the recording that has the
// same ones.
func (s *source) targetsOf(targets []string) []string {
	if row, ok := family.Lookup(s.model.Family); ok && slices.Equal(targets, []string{allLinear}) {
		if all := row.AllLinear(s.structure()); len(all) > 0 {
			targets = all
		}
	}
	for _, v := range s.recorded() {
		if len(v.LoRA) == len(targets) && !slices.ContainsFunc(targets, func(t string) bool { return !slices.Contains(v.LoRA, t) }) {
			return v.LoRA
		}
	}
	return targets
}

// has reports whether there is a tape of a way, recorded or composed.
func (s *source) has(v recordings.Way) bool {
	if s.tapes.Has(v.String()) {
		return true
	}
	return len(v.LoRA) > 0 && s.fewer(v).err == nil || v.Unpadded && s.unpadded(v).err == nil
}

// tape is the tape of a way that there is.
func (s *source) tape(v recordings.Way) (*symbolic.Tape, error) {
	if s.tapes.Has(v.String()) {
		return s.tapes.Tape(v.String())
	}
	if len(v.LoRA) > 0 {
		if f := s.fewer(v); f.err == nil || !v.Unpadded {
			return f.tape, f.err
		}
	}
	if v.Unpadded {
		u := s.unpadded(v)
		return u.tape, u.err
	}
	return s.tapes.Tape(v.String())
}

// A fewer is a tape with fewer adapters than were recorded.
type fewer struct {
	tape *symbolic.Tape
	from []string // the recorded targets
	err  error
}

// errNotRecorded says that no recording has all of the adapters of a way.
var errNotRecorded = errors.New("no recording has these adapters")

// fewer is the tape of a way whose adapters are some of those that were recorded, of
// as few others as there are: those are taken off.
func (s *source) fewer(v recordings.Way) fewer {
	if have, ok := s.fewers.Load(v.String()); ok {
		return have.(fewer)
	}
	f := fewer{err: errNotRecorded}
	var ways []recordings.Way
	for _, w := range s.recorded() {
		same := w
		same.LoRA = v.LoRA
		if len(w.LoRA) > 0 && same.String() == v.String() {
			ways = append(ways, w)
		}
	}
	slices.SortStableFunc(ways, func(a, b recordings.Way) int { return len(a.LoRA) - len(b.LoRA) })
	for _, w := range ways {
		t, err := s.tapes.Tape(w.String())
		switch {
		case err != nil:
		case !covers(t, v.LoRA):
			continue
		default:
			t, err = t.WithoutAdapters(func(module string) bool { return !targeted(module, v.LoRA) }, s.freely(v))
		}
		if f = (fewer{t, w.LoRA, err}); err == nil {
			break
		}
	}
	s.fewers.Store(v.String(), f)
	return f
}

// freely is the tape of the same way with layers that are computed again, nil where
// there is none or the way is that one.
func (s *source) freely(v recordings.Way) *symbolic.Tape {
	if v.Checkpoint == "full" {
		return nil
	}
	v.Checkpoint = "full"
	t, err := s.tape(v)
	if err != nil {
		return nil
	}
	return t
}

// targeted reports whether an adapter with these targets goes on a module: one whose
// name is a target, or ends with it.
func targeted(module string, targets []string) bool {
	return slices.ContainsFunc(targets, func(t string) bool { return module == t || strings.HasSuffix(module, "."+t) })
}

// covers reports whether a tape has an adapter on each module that targets mean, and
// each of them means one, so that the others may be taken off.
func covers(t *symbolic.Tape, targets []string) bool {
	if t.AdaptsParameters() {
		return false
	}
	met := map[string]bool{}
	for module, adapted := range t.Modules() {
		for _, target := range targets {
			if targeted(module, []string{target}) {
				if !adapted {
					return false
				}
				met[target] = true
			}
		}
	}
	return len(met) == len(targets)
}

// composedAdapters says that adapters were taken off a recording with more. Where
// layers are computed again all of their events are as recorded; else the first
// layer, whose input needs no gradient, may keep what its adapters need no more.
func (s *source) composedAdapters(v recordings.Way) []reason {
	f := s.fewer(v)
	if v.Checkpoint != "none" {
		return nil
	}
	share := composedAdaptersShare
	if !s.about(f.tape).attends {
		share = composedProductsShare
	}
	return []reason{{
		code: "composed-adapters", share: share, over: true,
		message: fmt.Sprintf("adapters on %s are put together from the recording of those on %s: the first layer may keep less", strings.Join(v.LoRA, "+"), strings.Join(f.from, "+")),
	}}
}

// What peaks were then off by at most, rounded up: those that PyTorch 2.15.0 and PEFT
// 0.21 had with Llama 3.2 1B, Qwen 2.5 0.5B, Qwen 3 0.6B, Mistral 7B and Phi 1.5,
// adapters on one to three of their layers' modules, 59 runs without checkpointing; and
// with GPT-Neo 125M, whose attention is a product of its own, which keeps its weights
// for the gradient of values alone.
const (
	composedAdaptersShare = 0.003
	composedProductsShare = 0.016
)
