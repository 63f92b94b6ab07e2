package formula

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/attribute"
	"github.com/plimsoll-dev/plimsoll/internal/capture"
	"github.com/plimsoll-dev/plimsoll/internal/gpu"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/whatif"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A fake is a script that allocates what a test says, at a batch and a length.
type fake func(w *fakeWriter, batch, seq int64)

// A fakeWriter makes the tape of a fake.
type fakeWriter struct {
	t       *testing.T
	builder tape.Builder
	marks   []attribute.Mark
	count   int
	next    uint64
}

func (w *fakeWriter) mark(kind, value, name string) {
	w.marks = append(w.marks, attribute.Mark{Count: w.count, Kind: kind, Value: value, Name: name})
}

// alloc allocates under an operator.
func (w *fakeWriter) alloc(bytes int64, operator string) uint64 {
	w.t.Helper()
	w.next += 1 << 40
	site := w.builder.Tape().InternSite([]tape.Frame{
		{Name: "at::detail::empty_cuda", File: "/lib/libtorch_cuda.so"},
		{Name: "at::_ops::" + operator + "::call", File: "/lib/libtorch_cpu.so"},
		{Name: "forward", File: "/project/train.py", Line: 7},
	})
	if _, err := w.builder.Add(tape.Event{Kind: tape.Alloc, Bytes: unit.Bytes(bytes), Addr: w.next, Site: site}); err != nil {
		w.t.Fatal(err)
	}
	w.count++
	return w.next
}

func (w *fakeWriter) free(addr uint64) {
	w.t.Helper()
	for _, kind := range []tape.Kind{tape.FreeRequested, tape.Free} {
		if _, err := w.builder.Add(tape.Event{Kind: kind, Addr: addr}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// runner captures a fake.
func (f fake) runner(t *testing.T) capture.Runner {
	return func(_ context.Context, o capture.Options) (*capture.Capture, error) {
		value := func(name string) int64 {
			for _, word := range o.Argv {
				if text, ok := strings.CutPrefix(word, name+"="); ok {
					n, err := strconv.ParseInt(text, 10, 64)
					if err != nil {
						t.Fatal(err)
					}
					return n
				}
			}
			return 1
		}
		batch, seq := value("batch"), value("seq")
		if batch > 90 {
			return nil, &capture.Error{Msg: "the script takes no such batch"}
		}
		w := &fakeWriter{t: t}
		f(w, batch, seq)
		rec := attribute.Attribute(attribute.Input{Tape: w.builder.Tape(), Marks: w.marks, UserDirs: []string{"/project"}})
		a, err := whatif.New("", "2.15.0")
		if err != nil {
			t.Fatal(err)
		}
		out, err := a.Replay(rec.Tape, whatif.Endless)
		if err != nil {
			t.Fatal(err)
		}
		res := &capture.Result{Peak: capture.Peak{Allocated: out.Allocated, Reserved: out.Reserved}}
		res.RecordedWith.Torch = "2.15.0+cu132"
		parameters := []capture.Parameter{{Name: "layers.0.weight", DType: "float32", Shape: []int64{512, 64}, Trained: true}}
		return &capture.Capture{Result: res, Recordings: []capture.Recording{{Recording: rec, Parameters: parameters}}}, nil
	}
}

// training is a model of two layers, trained for two steps.
func training(w *fakeWriter, batch, seq int64) {
	w.mark("phase", "load", "")
	var weights []uint64
	for range 2 {
		weights = append(weights, w.alloc(4*512*64, "randn"))
	}
	for step := 1; step <= 2; step++ {
		w.mark("phase", "forward", "")
		var kept []uint64
		for i := range weights {
			module := "layers." + strconv.Itoa(i)
			w.mark("enter", "f", module)
			x := w.alloc(4*batch*seq*512, "addmm")
			if batch*seq > 3072 {
				w.free(w.alloc(8*batch*seq, "sort"))
			}
			kept = append(kept, x, w.alloc(batch*seq*seq*8, "softmax"))
			w.mark("exit", "f", module)
		}
		w.mark("phase", "backward", "")
		var grads []uint64
		for _, x := range slices.Backward(kept) {
			grads = append(grads, w.alloc(4*512*64, "mm"))
			w.free(x)
		}
		w.mark("phase", "step", "")
		w.free(w.alloc(4*512*64*2, "_foreach_add"))
		w.mark("step", strconv.Itoa(step), "")
		for _, g := range grads {
			w.free(g)
		}
	}
}

func options(t *testing.T, words ...string) capture.Options {
	t.Helper()
	choice, err := gpu.Lookup("h100")
	if err != nil {
		t.Fatal(err)
	}
	return capture.Options{Argv: append([]string{"python", "train.py"}, words...), Card: capture.Card{Card: choice.Card}, Progress: func(capture.Progress) {}}
}

func variables(t *testing.T, texts ...string) []Variable {
	t.Helper()
	list, err := ParseVariables(texts)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestAScriptIsSolved(t *testing.T) {
	runs := 0
	s, err := Solve(t.Context(), fake(training).runner(t), options(t, "batch={batch}", "seq={seq}"), variables(t, "batch=4,8,12+seq=256,384,640"), func(capture.Trial) { runs++ })
	if err != nil {
		t.Fatal(err)
	}
	if !s.Exact() || !s.Right() || len(s.Checks) != 2 || runs != len(s.Runs) || runs > mostPoints+3 {
		t.Errorf("%d runs, checks %+v, doubts %q", runs, s.Checks, s.Doubts)
	}
	// It is played far beyond what was captured, and says so in the file.
	var w tape.Writer
	played, err := s.Tape.PlayScript(symbolic.Env{Dims: symbolic.Dims{"B": 100, "S": 1000}}, symbolic.Plan{Sites: true}, &w)
	if err != nil {
		t.Fatal(err)
	}
	var want fakeWriter
	want.t = t
	training(&want, 100, 1000)
	wanted, got := bytesOf(want.builder.Tape()), bytesOf(w.Tape())
	if !slices.Equal(got, wanted) {
		t.Errorf("allocations are %v, want %v", got, wanted)
	}
	if len(played.Starts) != 3 || len(played.Layers) != 2 || played.Layers[1].Name != "layers.1" || len(played.Params) != 1 {
		t.Errorf("%+v", played)
	}
	for word, want := range map[string]string{
		symbolic.AboutCommand: "python train.py batch={batch} seq={seq}", symbolic.AboutDevice: "90 132 2048", symbolic.AboutVaried: "B batch",
	} {
		if got := s.Tape.Fact(word); got != want {
			t.Errorf("%s is %q, want %q", word, got, want)
		}
	}
	// What is written is read as the same.
	var file bytes.Buffer
	if _, err := s.Collection().WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	c, err := symbolic.ParseCollection(file.String())
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.Tape(symbolic.Script)
	if err != nil {
		t.Fatal(err)
	}
	if len(again.Parts) != len(s.Tape.Parts) || len(again.About) != len(s.Tape.About) {
		t.Errorf("%d parts and %d facts are read", len(again.Parts), len(again.About))
	}
}

func bytesOf(t *tape.Tape) []int64 {
	var list []int64
	for b := range t.Blocks() {
		list = append(list, int64(t.Block(tape.BlockID(b)).Bytes))
	}
	return list
}

func TestFewValuesAreAddedTo(t *testing.T) {
	s, err := Solve(t.Context(), fake(training).runner(t), options(t, "batch={batch}", "seq=512"), variables(t, "batch=4,6,8"), nil)
	if err != nil || !s.Exact() || len(s.Runs) < fewValues+2 {
		t.Fatalf("%v; %d runs, %+v, %q", err, len(s.Runs), s.Checks, s.Doubts)
	}
}

func TestValuesThatAScriptDoesNotTakeAreToldAndLeftOut(t *testing.T) {
	s, err := Solve(t.Context(), fake(training).runner(t), options(t, "batch={batch}", "seq=64"), variables(t, "batch=60,64,68,72,80,88"), nil)
	if err != nil || len(s.Checks) != 1 || len(s.Notes) != 1 || s.Notes[0].Code != "unchecked" {
		t.Fatalf("%v; %+v", err, s)
	}
}

func TestSizesThatDependOnDataAreRefused(t *testing.T) {
	noise := int64(1)
	random := func(w *fakeWriter, _, _ int64) {
		w.mark("phase", "forward", "")
		noise = noise * 48271 % 2147483647
		w.alloc(1<<30+noise%(1<<31), "masked_select")
	}
	_, err := Solve(t.Context(), fake(random).runner(t), options(t, "batch={batch}", "seq={seq}"), variables(t, "batch+seq"), nil)
	e, ok := errors.AsType[*capture.Error](err)
	if !ok || !strings.Contains(e.Msg, "no formula holds: at batch") || !strings.Contains(e.Hint, "depend on data") {
		t.Fatal(err)
	}
}

func TestFailures(t *testing.T) {
	nothing := func(*fakeWriter, int64, int64) {}
	for name, c := range map[string]struct {
		script fake
		words  string
		want   string
	}{
		"no placeholder":  {training, "batch=1", "no {batch} to put the values of batch in"},
		"nothing on GPUs": {nothing, "batch={batch}", "at batch 4: the script allocated nothing"},
	} {
		_, err := Solve(t.Context(), c.script.runner(t), options(t, c.words), variables(t, "batch=4,8,12"), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestVariables(t *testing.T) {
	for text, want := range map[string]string{
		"batch=8,4,16,8+seq=128,256,512":      "batch B [4 8 16]; seq S [128 256 512]; ",
		"batch+seq=128,256,512+width":         "error: --vary width has no values",
		"batch+image":                         "batch B [4 7 12]; image size [128 160 224]; ",
		"width=16,32,64":                      "width width [16 32 64]; ",
		"batch=4":                             "error: --vary batch has 1 values",
		"batch=1,2,3,4,5,6,7,8,9,10,11,12,13": "error: --vary batch has 13 values",
		"batch=a,b,c":                         `error: --vary batch: "a" is no number`,
		"batch=0,1,2":                         `error: --vary batch: "0" is no number`,
		"batch=4,8,12+batch":                  "error: --vary names batch twice",
		"a=1,2,3+b=1,2,3+c=1,2,3+d=1,2,3":     "error: --vary names 4 options",
		"=1,2,3":                              "error: --vary \"=1,2,3\" begins with no name",
		"":                                    "error: --symbolic needs to know",
	} {
		got := ""
		list, err := ParseVariables([]string{text})
		if err != nil {
			got = "error: " + err.Error()
		}
		for _, v := range list {
			got += v.Name + " " + v.Symbol + " " + strings.ReplaceAll(strings.Trim(strings.Join(strings.Fields(sprint(v.Values)), " "), " "), "  ", " ") + "; "
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func sprint(list []int64) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.FormatInt(n, 10)
	}
	return "[" + strings.Join(words, " ") + "]"
}

// Values that nobody named lie between those named and beyond, and nothing is solved
// from them; all named values are among the points.
func TestPoints(t *testing.T) {
	for _, text := range []string{"batch=4,8,12", "batch=4,7,12+seq=256,384,640", "image=32,64,96,128+batch=2,4,6,8,10", "a=1,2,3+b=1,2,3+c=5,10,20", "seq=1,2,3"} {
		list := variables(t, text)
		points := solvedAt(list)
		for _, v := range list {
			for _, n := range v.Values {
				if !slices.ContainsFunc(points, func(d symbolic.Dims) bool { return d[v.Symbol] == n }) {
					t.Errorf("%s: %s %d is not recorded", text, v.Name, n)
				}
			}
			for _, d := range checkedAt(list) {
				if d[v.Symbol] < v.Values[0] {
					t.Errorf("%s: checked at %v", text, d)
				}
			}
		}
		for _, d := range checkedAt(list) {
			if slices.ContainsFunc(points, func(p symbolic.Dims) bool { return maps.Equal(p, d) }) {
				t.Errorf("%s: checked at %v, which it is solved from", text, d)
			}
		}
		if beyond := checkedAt(list)[len(checkedAt(list))-1]; beyond[list[0].Symbol] <= list[0].Values[len(list[0].Values)-1] {
			t.Errorf("%s: %v is not beyond", text, beyond)
		}
	}
}

func TestNumbered(t *testing.T) {
	for path, want := range map[string]string{"blocks.3.mlp.0": "blocks.3", "0": "0", "a.b": "", "": "", "h.12": "h.12", "a b.1.c": "a_b.1"} {
		if got := numbered(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
