package catalog

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/gpu"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

func TestClosedText(t *testing.T) {
	c := newClosed()
	for range 4 {
		c.add("layers", "a", symbolic.MustParse("2*B*S*h"))
		c.add("layers", "b", symbolic.MustParse("4*B*S*h+8"))
	}
	for range 3 {
		c.add("layers", "c", symbolic.MustParse("B*S/2"))
	}
	c.add("layers", "d", symbolic.MustParse("h"))
	c.add("", "e", symbolic.MustParse("8*S"))
	c.add("", "f", symbolic.MustParse("8*S+2*V*h"))
	want := "2*V*h + 16*S + L*(6*B*S*h + 8) + (L-1)*B*S/2 + h"
	if got := c.text(map[string]int64{"layers": 4}, map[string]string{"layers": "L"}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestFormula computes the formulas: each is the sum of the blocks that live at
// the allocator's peak, to the byte.
func TestFormula(t *testing.T) {
	a100, err := gpu.Lookup("A100-80GB")
	if err != nil {
		t.Fatal(err)
	}
	target := estimate.TargetOf(a100.Card, 1)
	for name, r := range map[string]recipe.Recipe{
		"gpt2":              {Batch: 3, Seq: 500, Optimizer: "adamw-fused"},
		"bert-base-uncased": {Batch: 16, Precision: recipe.AmpFP16, ClipGradNorm: true, Optimizer: "sgd-momentum"},
		"distilgpt2":        {Mode: recipe.Eval, Precision: recipe.BF16},
		"gpt2-medium":       {Batch: 1, Seq: 64, Optimizer: "adamw-8bit"},
		"gpt2-large":        {Batch: 1, Seq: 64, Optimizer: "adafactor"},
		"llama-3.2-1b":      {Batch: 1, Seq: 128, Precision: recipe.BF16, ClipGradNorm: true},
		"resnet18":          {Batch: 1, ImageHeight: 32, ImageWidth: 32},
	} {
		s := find(t, Query{Name: name})
		r, err := s.Complete(r)
		if err != nil {
			t.Fatal(err)
		}
		e, err := estimate.On(t.Context(), s, r, target, estimate.Options{Formula: true, Bare: true})
		if err != nil {
			t.Fatal(err)
		}
		formulas, symbols := e.Formula, e.Symbols
		if symbols == nil {
			t.Errorf("%s: no list of symbols, which is not an empty one", name)
		}
		dims := symbolic.Dims{}
		for _, sym := range symbols {
			dims[sym.Name] = sym.Value
			if sym.Meaning == "" {
				t.Errorf("%s: nobody says what %s is", name, sym.Name)
			}
		}
		var w tape.Writer
		if _, err := s.Play(r, target.Device, &w, 0); err != nil {
			t.Fatal(err)
		}
		want := map[string]unit.Bytes{}
		for _, b := range liveAfter(w.Tape(), e.Peak.Event) {
			block := w.Tape().Block(b)
			want[block.Category.String()] += block.Bytes
			want["peak"] += block.Bytes
		}
		for key, bytes := range want {
			if got := compute(t, formulas[key], dims); unit.Bytes(got) != bytes {
				t.Errorf("%s: %s is %s = %d, and %d bytes live", name, key, formulas[key], got, bytes)
			}
		}
		if want["peak"] != e.Peak.Requested {
			t.Errorf("%s: the formula is about %d bytes, the estimate about %d", name, want["peak"], e.Peak.Requested)
		}
		if len(want) != len(formulas) {
			t.Errorf("%s: %v for the categories %v", name, formulas, want)
		}
	}
}

// compute evaluates a formula with brackets.
func compute(t *testing.T, text string, d symbolic.Dims) int64 {
	t.Helper()
	var sum int64
	depth, start := 0, 0
	text += " + "
	for i := range len(text) - 2 {
		switch {
		case text[i] == '(':
			depth++
		case text[i] == ')':
			depth--
		case depth == 0 && text[i:i+3] == " + ":
			sum += computeTerm(t, text[start:i], d)
			start = i + 3
		}
	}
	return sum
}

func computeTerm(t *testing.T, term string, d symbolic.Dims) int64 {
	t.Helper()
	if number, ok := strings.CutPrefix(term, "["); ok {
		number, _, _ = strings.Cut(number, " ")
		term = number
	}
	if factor, rest, ok := strings.Cut(term, "*("); ok && strings.HasSuffix(term, ")") {
		return compute(t, factor, d) * compute(t, strings.TrimSuffix(rest, ")"), d)
	}
	if inner, rest, ok := strings.Cut(term, ")*"); ok && term[0] == '(' {
		return compute(t, inner[1:], d) * compute(t, rest, d)
	}
	if strings.HasPrefix(term, "(") {
		term = strings.Trim(term, "()")
	}
	e, err := symbolic.Parse(term)
	if err == nil {
		var v int64
		if v, err = e.Eval(d, usualDevice); err == nil {
			return v
		}
	}
	t.Fatalf("%s: %v", term, err)
	return 0
}
