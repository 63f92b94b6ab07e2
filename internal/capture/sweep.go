package capture

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Variable is a placeholder in a command and the values to put there.
type Variable struct {
	Name   string // "batch" for {batch}
	Values []string
}

// ParseVariable reads "batch=8,16,32".
func ParseVariable(s string) (Variable, error) {
	name, list, ok := strings.Cut(s, "=")
	if !ok || name == "" || list == "" {
		return Variable{}, &Error{Msg: fmt.Sprintf("--vary %q is not NAME=VALUE,VALUE", s), Hint: "--vary batch=8,16,32 with {batch} in the command"}
	}
	return Variable{Name: name, Values: strings.Split(list, ",")}, nil
}

// A Trial is one run of a command with its placeholders filled.
type Trial struct {
	Values  map[string]string
	Capture *Capture // nil when the script failed
	Err     error    // an *Error
}

// Fits reports whether the run surely fits its card.
func (t Trial) Fits() bool { return t.Capture != nil && t.Capture.Result.Verdict == Fits }

// A Runner captures once; Run is the one, tests have others.
type Runner func(context.Context, Options) (*Capture, error)

// Attempt runs the command with values in place of their placeholders. The
// error is about the whole sweep: the context's, or one that no value mends.
func Attempt(ctx context.Context, run Runner, o Options, values map[string]string) (Trial, error) {
	o.Argv = fill(o.Argv, values)
	o.NoSecondRun = true
	c, err := run(ctx, o)
	if ctx.Err() != nil {
		return Trial{}, context.Cause(ctx)
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return Trial{Values: values, Err: e}, nil
	}
	if err != nil {
		return Trial{}, err
	}
	c.Result.Variables = values
	return Trial{Values: values, Capture: c}, nil
}

func fill(argv []string, values map[string]string) []string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		pairs = append(pairs, "{"+name+"}", values[name])
	}
	r := strings.NewReplacer(pairs...)
	out := make([]string, len(argv))
	for i, word := range argv {
		out[i] = r.Replace(word)
	}
	return out
}

// CheckPlaceholder reports a variable that the command does not mention.
func CheckPlaceholder(argv []string, name string) error {
	if strings.Contains(strings.Join(argv, "\x00"), "{"+name+"}") {
		return nil
	}
	return &Error{
		Msg:  fmt.Sprintf("the command has no {%s} to put the values of %s in", name, name),
		Hint: fmt.Sprintf("for example: -- python train.py --%s {%s}", strings.ReplaceAll(name, "_", "-"), name),
	}
}

// Vary captures the command once for each combination of values, the last
// variable changing fastest. each, which may be nil, hears of every trial.
func Vary(ctx context.Context, run Runner, o Options, variables []Variable, each func(Trial)) ([]Trial, error) {
	for _, v := range variables {
		if err := CheckPlaceholder(o.Argv, v.Name); err != nil {
			return nil, err
		}
	}
	var trials []Trial
	for _, values := range product(variables) {
		t, err := Attempt(ctx, run, o, values)
		if err != nil {
			return trials, err
		}
		trials = append(trials, t)
		if each != nil {
			each(t)
		}
	}
	if slices.IndexFunc(trials, func(t Trial) bool { return t.Err == nil }) < 0 {
		return trials, trials[0].Err
	}
	return trials, nil
}

func product(variables []Variable) []map[string]string {
	all := []map[string]string{{}}
	for _, v := range variables {
		var next []map[string]string
		for _, values := range all {
			for _, value := range v.Values {
				one := maps.Clone(values)
				one[v.Name] = value
				next = append(next, one)
			}
		}
		all = next
	}
	return all
}
