package formula

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/capture"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// A Variable is what a script is captured at several values of.
type Variable struct {
	Name   string // of the placeholder in the command
	Symbol string // in formulas
	Values []int64
	Chosen bool // by us, since the user named no values
}

// symbols are those of names that mean the same in every estimate.
var symbols = map[string]string{"batch": "B", "seq": "S", "image": "size"}

// Name is what users call a symbol.
func Name(symbol string) string {
	for name, s := range symbols {
		if s == symbol {
			return name
		}
	}
	return symbol
}

// usual are values for names that have a usual meaning: enough to tell formulas
// apart, large enough that kernels work as they do in earnest.
var usual = map[string][]int64{
	"batch": {4, 7, 12},
	"seq":   {256, 384, 640},
	"image": {128, 160, 224},
}

// Bounds of what is varied.
const (
	leastValues   = 3
	mostValues    = 12
	mostVariables = 3
	mostValue     = 1 << 30
)

var (
	nextVariable = regexp.MustCompile(`\+([A-Za-z_][A-Za-z0-9_]*)(=|\+|$)`)
	nameOf       = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// example is a whole --vary.
const example = "--vary batch=4,8,12+seq=256,512,768 with {batch} and {seq} in the command"

// ParseVariables reads "batch=4,8,12+seq=256,512,768", or names alone.
func ParseVariables(texts []string) ([]Variable, error) {
	var list []Variable
	for _, text := range texts {
		for text != "" {
			one := text
			text = ""
			if at := nextVariable.FindStringIndex(one); at != nil {
				one, text = one[:at[0]], one[at[0]+1:]
			}
			v, err := parseVariable(one)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(list, func(w Variable) bool { return w.Symbol == v.Symbol }) {
				return nil, &capture.Error{Msg: fmt.Sprintf("--vary names %s twice", v.Name), Hint: example}
			}
			list = append(list, v)
		}
	}
	if len(list) == 0 {
		return nil, &capture.Error{Msg: "--symbolic needs to know what to vary", Hint: example}
	}
	if len(list) > mostVariables {
		return nil, &capture.Error{Msg: fmt.Sprintf("--vary names %d options, and --symbolic solves for %d at most", len(list), mostVariables), Hint: "vary those that you will ask about"}
	}
	return list, nil
}

func parseVariable(text string) (Variable, error) {
	name, values, given := strings.Cut(text, "=")
	if !nameOf.MatchString(name) {
		return Variable{}, &capture.Error{Msg: fmt.Sprintf("--vary %q begins with no name", text), Hint: example}
	}
	v := Variable{Name: name, Symbol: name}
	if s, ok := symbols[name]; ok {
		v.Symbol = s
	}
	if !given {
		if v.Values = usual[name]; v.Values == nil {
			return v, &capture.Error{Msg: fmt.Sprintf("--vary %s has no values, and there are no usual ones", name), Hint: fmt.Sprintf("--vary %s=16,32,48", name)}
		}
		v.Chosen = true
		return v, nil
	}
	for word := range strings.SplitSeq(values, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(word), 10, 64)
		if err != nil || n < 1 || n > mostValue {
			return v, &capture.Error{Msg: fmt.Sprintf("--vary %s: %q is no number between 1 and %d, and formulas are of numbers", name, word, mostValue), Hint: example}
		}
		v.Values = append(v.Values, n)
	}
	slices.Sort(v.Values)
	v.Values = slices.Compact(v.Values)
	if n := len(v.Values); n < leastValues || n > mostValues {
		return v, &capture.Error{Msg: fmt.Sprintf("--vary %s has %d values; a formula is solved from %d to %d", name, n, leastValues, mostValues), Hint: example}
	}
	return v, nil
}

// step is what all values are multiples of.
func (v Variable) step() int64 {
	var g int64
	for _, n := range v.Values {
		g = symbolic.GCD(g, n)
	}
	return g
}
