package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/family"
	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// refuse says what there is instead of a variant.
func (s *source) refuse(v recordings.Way) error {
	words := func(get func(v recordings.Way) string) string {
		var list []string
		for _, have := range s.recorded() {
			if w := get(have); have.Structure == v.Structure && w != "" && !slices.Contains(list, w) {
				list = append(list, w)
			}
		}
		return strings.Join(list, ", ")
	}
	if words(func(v recordings.Way) string { return v.Task }) == "" {
		return &estimate.Error{Msg: fmt.Sprintf("%s: there is no recording of the structure %s of %s", s.model.Name, v.Structure, s.model.Family), Hint: tryCapture}
	}
	if err := s.noAdapters(v); err != nil {
		return err
	}
	for _, c := range parts {
		asked, have := c.get(v), words(c.get)
		if asked != "" && !slices.Contains(strings.Split(have, ", "), asked) && (c.what != targets || !s.someHave(v.LoRA)) {
			hint := "recorded are " + have
			switch {
			case have != "":
			case slices.ContainsFunc(s.recorded(), func(w recordings.Way) bool { return c.get(w) != "" }):
				hint = fmt.Sprintf("no recording of its structure, %s, has any", v.Structure)
			default:
				hint = fmt.Sprintf("no recording of %s has any", s.model.Family)
			}
			return &estimate.Error{Msg: fmt.Sprintf("%s %s is not recorded for %s", c.what, asked, s.model.Family), Hint: hint + "; " + tryCapture}
		}
	}
	return &estimate.Error{Msg: fmt.Sprintf("this combination is not recorded for %s: %s", s.model.Family, wordsOf(v)), Hint: s.changes(v) + tryCapture}
}

// A part is what a variant is named by, and how.
type part struct {
	what string
	get  func(v recordings.Way) string
}

// parts are those that a user chooses.
var parts = []part{
	{"--task", func(v recordings.Way) string { return v.Task }},
	{"--mode", func(v recordings.Way) string { return v.Mode }},
	{"precision", func(v recordings.Way) string { return v.Precision }},
	{"--attention", func(v recordings.Way) string { return v.Attention }},
	{"--checkpoint", func(v recordings.Way) string { return v.Checkpoint }},
	{"--lora base", func(v recordings.Way) string { return v.Quantize }},
	{"--shard", func(v recordings.Way) string { return v.Shard }},
	{targets, func(v recordings.Way) string { return strings.Join(v.LoRA, "+") }},
}

const targets = "--lora targets"

// someHave reports whether a recording has adapters on all of some layers, so that the
// others could be taken off.
func (s *source) someHave(layers []string) bool {
	return slices.ContainsFunc(s.recorded(), func(have recordings.Way) bool {
		return have.Structure == s.structure() && !slices.ContainsFunc(layers, func(l string) bool { return !slices.Contains(have.LoRA, l) })
	})
}

// noAdapters refuses adapters on layers that the model does not have, and those that
// are not told apart in the recordings; nil says that it is about something else.
func (s *source) noAdapters(v recordings.Way) error {
	if len(v.LoRA) == 0 {
		return nil
	}
	if f := s.fewer(v); f.from != nil && f.err != nil {
		return &estimate.Error{
			Msg:  fmt.Sprintf("adapters on %s are not told apart in the recording of those on %s of %s: %v", strings.Join(v.LoRA, "+"), strings.Join(f.from, "+"), s.model.Family, f.err),
			Hint: "--lora targets=" + strings.Join(f.from, "+") + " is recorded, and takes more; " + tryCapture,
		}
	}
	t := s.anyTape()
	if t == nil || s.isAllLinear(v.LoRA) {
		return nil
	}
	layers := slices.Sorted(maps.Keys(t.Modules()))
	for _, l := range v.LoRA {
		if l != allLinear && !slices.ContainsFunc(layers, func(module string) bool { return targeted(module, []string{l}) }) {
			hint := "it has " + strings.Join(lastNames(layers), ", ")
			if hasExperts(t) {
				hint += "; its experts are parameters, not layers; " + s.changes(v) + tryCapture
			}
			return &estimate.Error{Msg: fmt.Sprintf("--lora targets %s: %s has no linear layer of that name", l, s.model.Name), Hint: hint}
		}
	}
	return nil
}

// isAllLinear reports whether targets are those that the family's row has for all linear
// layers, which may name parameters that are no layers.
func (s *source) isAllLinear(targets []string) bool {
	row, ok := family.Lookup(s.model.Family)
	return ok && slices.Equal(targets, row.AllLinear(s.structure()))
}

// anyTape is a tape of the model, nil for none.
func (s *source) anyTape() *symbolic.Tape {
	for _, v := range s.recorded() {
		if v.Structure != s.structure() || v.Task != string(s.model.Task) {
			continue
		}
		if t, err := s.tapes.Tape(v.String()); err == nil {
			return t
		}
	}
	return nil
}

// hasExperts reports whether layers hold the weights of several experts as one
// parameter, as Transformers 5 does.
func hasExperts(t *symbolic.Tape) bool {
	return slices.ContainsFunc(t.Params, func(p symbolic.Param) bool { return p.Stack != "" && len(p.Shape) == 3 })
}

// lastNames are the last parts of modules' names.
func lastNames(modules []string) []string {
	var list []string
	for _, m := range modules {
		if name := m[strings.LastIndexByte(m, '.')+1:]; !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// changes are the parts of a variant of which one alone would have to be another for
// it to be recorded, and what they might be.
func (s *source) changes(v recordings.Way) string {
	var list []string
	for _, p := range parts {
		var words []string
		for _, have := range s.recorded() {
			if w := p.get(have); have.Structure == v.Structure && differ(have, v, p) && w != "" && !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
		if len(words) > 0 {
			list = append(list, p.what+" "+strings.Join(words, " or "))
		}
	}
	if len(list) == 0 {
		return "change one of its parts; "
	}
	return "recorded is the same with " + strings.Join(list, ", or with ") + "; "
}

// differ reports whether one part alone is another, of those that a user chooses.
func differ(a, b recordings.Way, in part) bool {
	for _, p := range parts {
		if (p.get(a) != p.get(b)) != (p.what == in.what) {
			return false
		}
	}
	return a.ChannelsLast == b.ChannelsLast && a.Unpadded == b.Unpadded
}

// wordsOf is a way for people.
func wordsOf(v recordings.Way) string {
	words := []string{v.Task, v.Mode, v.Precision, v.Attention + " attention", "checkpoint " + v.Checkpoint}
	if v.ChannelsLast {
		words = append(words, "channels last")
	}
	if v.Unpadded {
		words = append(words, "without padding")
	}
	if len(v.LoRA) > 0 {
		words = append(words, "adapters on "+strings.Join(v.LoRA, "+"))
	}
	for _, w := range []string{v.Quantize, v.Shard} {
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, ", ")
}
