package symbolic_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// written is a collection as its file has it.
func written(t testing.TB, c *symbolic.Collection) string {
	t.Helper()
	var b strings.Builder
	n, err := c.WriteTo(&b)
	if err != nil || n != int64(b.Len()) {
		t.Fatalf("%d bytes of %d, %v", n, b.Len(), err)
	}
	return b.String()
}

func TestTextIsWrittenAsItWasRead(t *testing.T) {
	t.Parallel()
	c, err := symbolic.ParseCollection(tiny)
	if err != nil {
		t.Fatal(err)
	}
	again := symbolic.NewCollection()
	again.Meta, again.Symbols = c.Meta, c.Symbols
	for _, key := range c.Keys {
		tp, err := c.Tape(key)
		if err != nil {
			t.Fatal(err)
		}
		again.Add(key, tp)
	}
	if diff := cmp.Diff(tiny, written(t, c)); diff != "" {
		t.Error("as it was read:\n", diff)
	}
	for _, key := range c.Keys {
		a, _ := c.Tape(key)
		b, err := again.Tape(key)
		if diff := cmp.Diff(a, b); diff != "" || err != nil {
			t.Error("through tapes:", err, "\n", diff)
		}
	}
}

// Slots are written by what they are more than the one before, and read so or by
// themselves.
func TestSlotsAreCountedFromTheOneBefore(t *testing.T) {
	t.Parallel()
	const head, tail = "plimsoll symbolic 1\nbody 0\n", `
tape x
part load a - up 0 9 -=0
part load b - up 0 9 -=0
param one - - 0 float32 trained a:+2:0 - B
param two - - 0 float32 trained a:+1:0 a:+3:0 B
param three - - 0 float32 trained b:+1:0 a:-1:0 B
end
`
	const plain = head + `+0 B buffer mm
+1 B buffer mm
-a 7
+2 B buffer mm
-b 4
+6 B buffer mm
-a 5
-b 5
+3 B buffer mm` + tail
	const counted = head + `+ B buffer mm
+ B buffer mm
-a +7
+ B buffer mm
-b +4
++4 B buffer mm
-a -2
-b +1
+-3 B buffer mm` + tail
	a, b := read(t, plain, "x"), read(t, counted, "x")
	if diff := cmp.Diff(a, b); diff != "" {
		t.Error(diff)
	}
	if p := b.Params[2]; p.Home != (symbolic.Ref{Part: "b", Slot: 1}) || p.Grad != (symbolic.Ref{Part: "a", Slot: 2}) {
		t.Error(p)
	}
	c := symbolic.NewCollection()
	c.Add("x", a)
	if diff := cmp.Diff(counted, written(t, c)); diff != "" {
		t.Error(diff)
	}
}

func TestEqualBodiesAreWrittenOnce(t *testing.T) {
	t.Parallel()
	tp := read(t, tiny, "causal-lm/train")
	c := symbolic.NewCollection()
	c.Add("one", tp)
	single := strings.Count(written(t, c), "\nbody ")
	c.Add("two", tp)
	if got := strings.Count(written(t, c), "\nbody "); got != single {
		t.Errorf("%d bodies of two tapes, %d of one", got, single)
	}
	if strings.Join(c.Keys, " ") != "one two" || !c.Has("two") || c.Has("three") {
		t.Error(c.Keys)
	}
	c.Add("one", &symbolic.Tape{})
	c.Keep(func(key string) bool { return key == "one" })
	if got := written(t, c); got != "plimsoll symbolic 1\ntape one\nend\n" || c.Has("two") {
		t.Errorf("what nobody uses is written:\n%s", got)
	}
}

// The example of the documentation is what it says.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/symbolic-format.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n```\n")
	text, _, _ = strings.Cut(text, "```\n")
	tp := read(t, text, "causal-lm/train/bf16/sdpa/none/80/untied-gqa")
	var w tape.Writer
	env := tinyEnv(3, symbolic.Dims{"B": 8, "S": 512, "h": 16, "f": 64})
	if _, err := tp.Play(env, symbolic.Plan{Micros: []int{1}}, &w, nil); err != nil {
		t.Fatal(err)
	}
	const want = "load: +2048 +2048 +2048\nforward: +131072 +16384 -4 +131072 +16384 -6 +131072 +16384 -8\nbackward: +2048 -7 +2048 -5 +2048 -3\n"
	if got := told(w.Tape()); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// A file that was cut is refused, wherever that was.
func TestCuts(t *testing.T) {
	t.Parallel()
	for n := range len(tiny) - 1 {
		if _, err := symbolic.ParseCollection(tiny[:n]); err == nil {
			t.Fatalf("cut at %d of %d: read", n, len(tiny))
		}
	}
	if _, err := symbolic.ParseCollection(strings.TrimSuffix(tiny, "\n")); err != nil {
		t.Error("without the last line's end:", err)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for change, want := range map[string]string{
		"plimsoll symbolic 1 > plimsoll symbolic 2": `line 1: "plimsoll symbolic 1" expected`,
		"\nend\n > \n":                                       `the last line is not "end": the file was cut off`,
		"\nend\n > \nend\nseen B 1 37\n":                     "the last line is not",
		"seen B > end\nseen B":                               "seen, checked, about, ceiling, part or param expected",
		"torch 2.15.0 > tensorflow 2":                        `a line begins with "tensorflow", where symbol`,
		"torch 2.15.0 > \n":                                  `a line begins with ""`,
		"torch 2.15.0 > torch 2.15.0\ntorch 2.6.0":           "one version of torch expected",
		"symbol h hidden size > symbol h a\nsymbol h b":      `symbol "h": a name that no other symbol has`,
		"symbol h hidden size > symbol h a\npeft 1":          `a line begins with "peft"`,
		"part load layers.load > part late layers.load":      `"late" is not load, first, steady, accumulate, zero, decode or script`,
		"@load > @later":                                     `"later" is not load, first or before`,
		"layers down 0 4 > layers sideways 0 4":              `"sideways" is not up or down`,
		"float32 frozen > float32 cold":                      `"cold" is not frozen or trained`,
		"layers - 0 bfloat16 > layers - -2 bfloat16":         "has level -2",
		"dropout ~0.25 > dropout 0.25":                       `error "0.25"`,
		"+0 64 buffer > +0 fast(B) buffer":                   `expression "fast(B)", character 1: the name of a function expected`,
		"+0 64 buffer > +0 up(B) buffer":                     "2 arguments, not 1 expected",
		"seen B 1 37 > seen B 37 1":                          "from 37 to 1",
		"checked 900 899 -0.002 > checked 899 900 0":         "900 of 899 events equal",
		"checked 900 899 -0.002 > checked 9 9 NaN":           "the peak off by NaN",
		"checked 900 899 -0.002 > ceiling B\nceiling B":      "one ceiling BYTES expected",
		"body 3\n > body 4\n":                                "body 3 expected, not 4",
		"tape causal-lm/train > tape other":                  "no tape causal",
		"param layers.{}.weight > tape causal-lm/train\n":    "there twice",
		"+0 2*h*h gradient mm > +0 2*h* gradient mm":         "body 6, event 1: expression \"2*h*\", character 5",
		"+0 2*h*h gradient mm > 0 2*h*h gradient mm":         "begins with + or -",
		"+0 2*h*h gradient mm > +0 2*h*h gradients mm":       `category "gradients"`,
		"+0 2*h*h gradient mm > +-1 2*h*h gradient mm":       `event 1: slot "-1"`,
		"-layers.forward 3 nth 0 > -layers.forward -1 nth 0": `slot "-1"`,
		"ready:0:0 - 16 > ready:+1048576:0 - 16":             `slot "+1048576"`,
		"+0 2*h*h gradient mm > +9 2*h*h gradient mm":        "slot 9 of 4",
		"+0 2*h*h gradient mm > +0 2*h*h gradient":           "+SLOT BYTES CATEGORY OPERATOR expected",
		"dropout ~0.25 > dropout ~NaN":                       `error "~NaN"`,
		"?S>64 > ?S=64":                                      "neither > nor <=",
		"-layers.forward 3 nth 0 > -layers.forward 3 any 0":  `"any" is not near`,
		"-layers.forward 3 nth 0 > -layers.forward 3 nth":    "and a number expected",
		"-layers.forward 3 nth 0 > -layers.forward":          "-PART SLOT expected",
		"-layers.forward 3 nth 0 > -layers.forward 7 nth 0":  `frees slot 7 of "layers.forward", which there is not`,
		"-loss 0 > -nowhere 0":                               `slot 0 of "nowhere"`,
		"seen B 1 37 > seen B 1":                             "seen NAME LOW HIGH, and STEP if it is not 1, expected",
		"seen B 1 37 > seen B 1 37 0":                        "in steps of 0",
		"seen B 1 37 > sea B 1":                              "seen, checked, about, ceiling, part or param expected",
		"seen B 1 37 > checked 9 9":                          "checked EVENTS EQUAL PEAK expected",
		"seen B 1 37 > checked 9 x 0":                        "invalid syntax",
		"seen B 1 37 > \n":                                   "is empty",
		"-=2 > -=99":                                         `"-=99" names no body`,
		"-=2 > -=2 one=2":                                    "has no layers and 2 classes",
		"load layers up 0 > load layers up 5":                "has level 5",
		"load layers up 0 2 > load layers up 0 9999999":      "9999999 slots",
		"ready:0:0 - 16 > ready:5:0 - 16":                    `lies in slot 5 of "ready"`,
		"ready:0:0 - 16 > ready:0 - 16":                      "is no PART:SLOT:DISTANCE",
		"bfloat16 trained > bfloat16":                        `no PART:SLOT:DISTANCE`,
	} {
		from, to, _ := strings.Cut(change, " > ")
		text := strings.Replace(tiny, from, to, 1)
		if text == tiny {
			t.Fatalf("%q is not there", from)
		}
		c, err := symbolic.ParseCollection(text)
		if err == nil {
			_, err = c.Tape("causal-lm/train")
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", change, err, want)
		}
	}
}

func TestSharedBodiesAreBounded(t *testing.T) {
	t.Parallel()
	text := "plimsoll symbolic 1\nbody 0\n" + strings.Repeat("+0 8 buffer x\n", 1000) + "tape x\npart load all layers up 0 1" + strings.Repeat(" a=0", 2000) + "\nend\n"
	c, err := symbolic.ParseCollection(text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Tape("x"); err == nil || !strings.Contains(err.Error(), "more than 1048576 events") {
		t.Error(err)
	}
}

// FuzzParseCollection: what is read is written, and read as the same.
func FuzzParseCollection(f *testing.F) {
	f.Add(tiny)
	f.Add("plimsoll symbolic 1\ntape x\nend\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := symbolic.ParseCollection(text)
		if err != nil {
			return
		}
		kept := symbolic.NewCollection()
		kept.Meta, kept.Symbols = c.Meta, c.Symbols
		for _, key := range c.Keys {
			if tp, err := c.Tape(key); err == nil {
				kept.Add(key, tp)
			}
		}
		once := written(t, kept)
		again, err := symbolic.ParseCollection(once)
		if err != nil {
			t.Fatalf("%v\n%s", err, once)
		}
		for _, key := range kept.Keys {
			if _, err := again.Tape(key); err != nil {
				t.Fatalf("%v\n%s", err, once)
			}
		}
		if twice := written(t, again); twice != once {
			t.Fatalf("got\n%s\nwant\n%s", twice, once)
		}
	})
}

// FuzzTape plays what was read: an error, or a tape that is sound.
func FuzzTape(f *testing.F) {
	f.Add(tiny, 2, 1)
	f.Add("plimsoll symbolic 1\nbody 0\n+0 8 buffer x\n-a 0 every 0\ntape x\npart first a layers up 0 1 one=0 one:first=0 one:last=0 one:only=0\nend\n", 3, 2)
	f.Fuzz(func(t *testing.T, text string, layers, micros int) {
		c, err := symbolic.ParseCollection(text)
		if err != nil {
			return
		}
		env := tinyEnv(max(0, layers%9), symbolic.Dims{"B": 2, "S": 65, "h": 16, "L": 2})
		for _, key := range c.Keys {
			tp, err := c.Tape(key)
			if err != nil {
				continue
			}
			var w tape.Writer
			plan := symbolic.Plan{Train: micros%2 == 0, Micros: []int{max(0, micros%4), 2}, Decode: max(0, micros%3), Sites: micros%5 == 0}
			if _, err := tp.Play(env, plan, &w, nil); err != nil {
				continue
			}
			if err := sound(w.Tape()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// sound reports a free of what is not there.
func sound(t *tape.Tape) error {
	live := map[tape.BlockID]bool{}
	for i := range t.Len() {
		e := t.Event(i)
		if e.Kind == tape.Alloc {
			live[e.Block] = true
			continue
		}
		if !live[e.Block] {
			return fmt.Errorf("event %d frees block %d, which is not there", i, e.Block)
		}
		delete(live, e.Block)
	}
	return nil
}
