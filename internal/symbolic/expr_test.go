package symbolic_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
)

var (
	card = kernel.Device{Capability: 80, Multiprocessors: 108, ThreadsPerMultiprocessor: 2048}
	dims = symbolic.Dims{"B": 8, "S": 1000, "h": 768, "a": 12, "V": 50257, "zero": 0}
)

// most is where values stay.
const most = 1 << 61

func TestEval(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0":                              0,
		"512":                            512,
		"2*B*S*h":                        2 * 8 * 1000 * 768,
		"4*V*h+B/2-1":                    4*50257*768 + 4 - 1,
		"B*S/3":                          2666, // the division is the last thing that is done
		"-B*S/3":                         -2667,
		"h/a":                            64,
		"B*S/zero":                       -1, // an error
		"up(S,64)":                       1024,
		"ceil(S,64)":                     16,
		"floor(S,64)":                    15,
		"min(S,h)-max(B,a)":              768 - 12,
		"2*a*up(S+1,8)*S":                2 * 12 * 1008 * 1000,
		"cublas_workspace()":             8519680,
		"reduce_outer_semaphores(h,B*S)": 24,
		"up(S,zero)":                     -1,
		"V*V*V*V*V":                      most,
		"-V*V*V*V*V":                     -most,
		"V*V*V*V*V+V*V*V*V*V":            most,
		"-V*V*V*V*V-V*V*V*V*V":           -most,
	} {
		got, err := symbolic.MustParse(text).Eval(dims, card)
		if (err != nil) != (want == -1) || err == nil && got != want {
			t.Errorf("%s is %d, %v, want %d", text, got, err, want)
		}
	}
}

func TestEvalNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"2*q", "up(q,8)"} {
		_, err := symbolic.MustParse(text).Eval(dims, card)
		var missing *symbolic.MissingError
		if !errors.As(err, &missing) || missing.Name != "q" {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                          "character 1: a name or a number",
		"2*":                        "character 3: a name or a number",
		"2**B":                      "character 3: a name or a number",
		"B+":                        "character 3: a name or a number",
		"2 * B":                     "character 2: nothing more",
		"B/0":                       "character 4: a divisor above zero",
		"up(S,64":                   `character 8: "," or ")"`,
		"up(,64)":                   "character 4: a name or a number",
		"up(S,64))":                 "character 9: nothing more",
		"up(S)":                     "character 5: 2 arguments, not 1",
		"reduce_outer(h)":           "character 15: 3 arguments, not 1",
		"q(B)":                      "character 1: the name of a function",
		"99999999999999999999":      "character 21: a number up to 2^61",
		strings.Repeat("up(", 5000): "character 28: fewer brackets",
	} {
		_, err := symbolic.Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

func TestNamesAndCalls(t *testing.T) {
	t.Parallel()
	e := symbolic.MustParse("2*B*up(S,q)+reduce_outer(h,B*S,4)/a")
	var names, calls []string
	e.Names(func(n string) { names = append(names, n) })
	e.Calls(func(n string) { calls = append(calls, n) })
	if got := fmt.Sprint(names, calls); got != "[B S q h B S a] [up reduce_outer]" {
		t.Error(got)
	}
}

// expressions draws expressions of the given depth, and values of all sizes.
func expressions(depth int) *rapid.Generator[symbolic.Expr] {
	factor := rapid.Custom(func(t *rapid.T) symbolic.Factor {
		f := symbolic.Factor{Invert: rapid.IntRange(0, 5).Draw(t, "invert") == 0}
		if depth == 0 || rapid.Bool().Draw(t, "is a dimension") {
			f.Dim = rapid.SampledFrom([]string{"B", "S", "h", "zero", "a_2"}).Draw(t, "dim")
			return f
		}
		args := 2
		if rapid.Bool().Draw(t, "is a kernel's") {
			fn := rapid.SampledFrom(kernel.All()).Draw(t, "kernel")
			f.Func, args = fn.Name, len(fn.Args)
		} else {
			f.Func = rapid.SampledFrom([]string{"up", "floor", "ceil", "min", "max"}).Draw(t, "function")
		}
		for range args {
			f.Args = append(f.Args, expressions(depth-1).Draw(t, "argument"))
		}
		return f
	})
	term := rapid.Custom(func(t *rapid.T) symbolic.Term {
		return symbolic.Term{
			Num:     rapid.Int64Range(-most, most).Draw(t, "num"),
			Den:     rapid.Int64Range(1, 1<<rapid.IntRange(0, 61).Draw(t, "digits")).Draw(t, "den"),
			Factors: rapid.SliceOfN(factor, 0, 3).Draw(t, "factors"),
		}
	})
	return rapid.Custom(func(t *rapid.T) symbolic.Expr {
		return symbolic.Sum(rapid.SliceOfN(term, 0, 3).Draw(t, "terms")...)
	})
}

func drawDims(t *rapid.T) symbolic.Dims {
	d := symbolic.Dims{"zero": 0}
	for _, name := range []string{"B", "S", "h", "a_2"} {
		size := rapid.IntRange(0, 62).Draw(t, "size of "+name)
		d[name] = rapid.Int64Range(-1<<size, 1<<size).Draw(t, name)
	}
	return d
}

func TestStringIsParsed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := expressions(2).Draw(t, "expression")
		d := drawDims(t)
		again, err := symbolic.Parse(e.String())
		if err != nil {
			t.Fatal(err)
		}
		if again.String() != e.String() {
			t.Fatalf("%s is read as %s", e, again)
		}
		got, err1 := again.Eval(d, card)
		want, err2 := e.Eval(d, card)
		if got != want || (err1 == nil) != (err2 == nil) {
			t.Fatalf("%s: %d, %v; read again: %d, %v", e, want, err2, got, err1)
		}
		if got > most || got < -most {
			t.Fatalf("%s is %d", e, got)
		}
	})
}

// A product of what is not negative is what arithmetic without limits says, or
// the limit.
func TestProductsSaturate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := drawDims(t)
		for name := range d {
			d[name] = max(d[name], -d[name])
		}
		e := symbolic.Product(rapid.Int64Range(1, 1<<20).Draw(t, "num"), 1, "B", "S", "h")
		got, err := e.Eval(d, card)
		want := float64(e.Terms[0].Num) * float64(d["B"]) * float64(d["S"]) * float64(d["h"])
		if err != nil || got < 0 || math.Abs(float64(got)-min(want, most)) > want*1e-9 {
			t.Fatalf("%s at %v is %d, %v, want about %g", e, d, got, err, want)
		}
	})
}

func TestGuard(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"B>7":                 true,
		"B>8":                 false,
		"B<=8":                true,
		"B*S>3072&h<=1024":    true,
		"B*S>3072&h<=767":     false,
		"B>8&missing>1":       false, // what cannot matter is not asked for
		"up(S,64)-1*S>0":      true,
		"S-1*h>-1&S-1*h<=232": true,
		"V*V*V*V*V*V>99999":   true,
	} {
		g, err := symbolic.ParseGuard(text)
		if err != nil {
			t.Fatal(err)
		}
		if g.String() != text {
			t.Errorf("%s is written as %s", text, g)
		}
		if got, err := g.Holds(dims, card); got != want || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	if ok, err := (symbolic.Guard{}).Holds(nil, card); !ok || err != nil {
		t.Error("no condition does not hold:", err)
	}
	for _, text := range []string{"", "B", "B>", "B>x", "B<8", ">8", "B>8&", "B>1.5"} {
		if g, err := symbolic.ParseGuard(text); err == nil {
			t.Errorf("%q is read as %s", text, g)
		}
	}
	g, _ := symbolic.ParseGuard("missing>1")
	if _, err := g.Holds(dims, card); err == nil {
		t.Error("a name without a value is no error")
	}
}

// FuzzParse: what is read is written so that it is read as the same again, and
// evaluates to something or an error.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"0", "2*B*S*h", "4*V*h+B/2", "2*a*up(S,16)", "-3*B/7/h-max(1,B)", "reduce_outer(h,B*S,4)", "cublas_workspace()", "B>3", "up(up(up(B,2),2),2)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := symbolic.Parse(s)
		if err != nil {
			return
		}
		text := e.String()
		again, err := symbolic.Parse(text)
		if err != nil {
			t.Fatalf("%q is written as %q: %v", s, text, err)
		}
		if again.String() != text {
			t.Fatalf("%q is written as %q and then as %q", s, text, again)
		}
		got, err1 := e.Eval(dims, card)
		want, err2 := again.Eval(dims, card)
		if got != want || (err1 == nil) != (err2 == nil) {
			t.Fatalf("%q: %d, %v; written: %d, %v", s, got, err1, want, err2)
		}
	})
}
