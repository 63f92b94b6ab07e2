package solve

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// recordings reads a file of testdata.
func recordings(t *testing.T, name string) []*Recording {
	t.Helper()
	f, err := os.Open("testdata/" + name + ".jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := json.NewDecoder(in)
	var list []*Recording
	for {
		r := &Recording{}
		if err := lines.Decode(r); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(name, err)
		}
		list = append(list, r)
	}
}

// A tape equals, event by event, the recordings that it was solved from and
// others: more layers, other dimensions, another card. So does the tape that is
// read again from its text.
func TestSolve(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"llama-bf16":         "model.layers.{}.mlp.down_proj.weight h f",
		"alexnet-fp32":       "features.0.weight 64 3 11 11",
		"gpt2-amp-fp16-full": "transformer.h.{}.mlp.c_fc.weight h f",
		"llama-infer":        "model.layers.{}.mlp.down_proj.weight h f",
		"llama-fsdp2":        "model.layers.{}.mlp.down_proj.weight ceil(h,D) f",
		"llama-lora-full":    "base_model.model.model.layers.{}.self_attn.q_proj.lora_A.default.weight A h",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := recordings(t, name+".solve")
			s, err := Solve(from)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range s.Doubts {
				t.Error("doubt:", d)
			}
			c := symbolic.NewCollection()
			c.Add("tape", s.Tape)
			again, err := c.Tape("tape")
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range append(from, recordings(t, name+".check")...) {
				for _, tp := range []*symbolic.Tape{s.Tape, again} {
					check, err := Verify(tp, r)
					if err != nil {
						t.Fatal(err)
					}
					if !check.OK() {
						t.Errorf("%v: %d of %d events equal, %d played, peak %d, want %d: %s", check.Dims, check.Equal, check.Events, check.Played, check.Peak, check.Want, check.First)
					}
				}
			}
			found := false
			for _, p := range s.Tape.Params {
				found = found || p.Name+" "+strings.TrimSpace(shapeText(p)) == want
			}
			if !found {
				t.Errorf("no parameter %s", want)
			}
		})
	}
}

// A model of one layer is played as none was recorded: its layer begins as the first
// and ends as the last.
func TestSingleLayer(t *testing.T) {
	t.Parallel()
	s, err := Solve(recordings(t, "llama-bf16.solve"))
	if err != nil {
		t.Fatal(err)
	}
	check, err := Verify(s.Tape, recordings(t, "llama-bf16.single")[0])
	if err != nil || !check.OK() {
		t.Errorf("%+v, %v", check, err)
	}
}

// Verify sees a size that is off, an event that is missing and a free at another
// place.
func TestVerifyFindsDifferences(t *testing.T) {
	t.Parallel()
	from := recordings(t, "llama-bf16.solve")
	s, err := Solve(from)
	if err != nil {
		t.Fatal(err)
	}
	forward := func(tp *symbolic.Tape) *symbolic.Class {
		for i := range tp.Parts {
			if tp.Parts[i].Name == "layers.forward" {
				return &tp.Parts[i].Classes[0]
			}
		}
		t.Fatal("no forward pass of layers")
		return nil
	}
	for name, spoil := range map[string]func(c *symbolic.Class){
		"a size": func(c *symbolic.Class) {
			for i := range c.Ops {
				if !c.Ops[i].Free {
					c.Ops[i].Bytes = symbolic.Product(3, 1, "B", "S", "h")
					return
				}
			}
		},
		"an event that is missing": func(c *symbolic.Class) { c.Ops = c.Ops[1:] },
		"a free elsewhere": func(c *symbolic.Class) {
			for i := range c.Ops {
				if c.Ops[i].Free {
					free := c.Ops[i]
					copy(c.Ops[i:], c.Ops[i+1:])
					c.Ops[len(c.Ops)-1] = free
					return
				}
			}
		},
	} {
		again := symbolic.NewCollection()
		again.Add("tape", s.Tape)
		tp, err := again.Tape("tape")
		if err != nil {
			t.Fatal(err)
		}
		spoil(forward(tp))
		c, err := Verify(tp, from[0])
		if err != nil {
			t.Fatal(err)
		}
		if c.OK() || c.First == "" || c.Equal >= c.Events {
			t.Errorf("%s: %d of %d equal, %q", name, c.Equal, c.Events, c.First)
		}
	}
}

func TestSolveRefuses(t *testing.T) {
	t.Parallel()
	if _, err := Solve([]*Recording{{Error: "OutOfMemoryError"}}); err == nil || !strings.Contains(err.Error(), "OutOfMemoryError") {
		t.Error(err)
	}
	late := &Recording{marks: []mark{{3, "load", "begin", -1}, {2, "load", "end", -1}}}
	if _, err := Solve([]*Recording{late}); err == nil || !strings.Contains(err.Error(), "lies after the next") {
		t.Error(err)
	}
}

func TestReadRecording(t *testing.T) {
	t.Parallel()
	const good = `{"job":{"family":"x","dims":{"B":2},"device":{"Capability":80}},"events":[[512,0],[1024,1],-1,-2],"labels":["mm","sum raw"],
"marks":[[0,"load","layers.load",0],[2,"first","batch",-1]],"kinds":{"layers":["one"]},
"places":{"parameters":[["w",[2,3],"bfloat16",0,true]],"buffers":[["b",[],"int64",-1,false]],"gradients":{"steady":[1]}}}`
	var r Recording
	if err := json.Unmarshal([]byte(good), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.events) != 4 || !r.events[2].free || r.events[3].alloc != 1 || r.marks[0].stackOf() != "layers" || r.marks[1].stackOf() != "" ||
		r.places.Parameters[0].shape[1] != 3 || r.places.Buffers[0].alloc != -1 || r.places.Gradients["steady"].Allocs[0] != 1 {
		t.Errorf("%+v", r)
	}
	for change, want := range map[string]string{
		"-1,-2 > -1,-3":                   "event 3 frees what was not allocated",
		`[0,"load" > [9,"load"`:           "out of place",
		`[0,"load" > [0,7`:                "out of place",
		`[512,0] > [512,"x"]`:             "event 0",
		`[512,0] > {}`:                    "event 0",
		`"steady":[1] > "steady"`:         "invalid character",
		`"steady":[1] > "steady":[2]`:     "nothing is in allocation 2",
		`[512,0] > [512,2]`:               "event 0 has no label",
		`-1,-2 > -1,-1`:                   "event 3 frees what is free",
		`[0,"load" > [1,"load"`:           "before the first mark",
		`layers.load",0 > layers.load",1`: "mark load layers.load 1 is of no layer",
	} {
		from, to, _ := strings.Cut(change, " > ")
		text := strings.Replace(good, from, to, 1)
		if text == good {
			t.Fatalf("%q is not there", from)
		}
		if err := json.Unmarshal([]byte(text), &Recording{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", change, err, want)
		}
	}
}

// FuzzRecording: a recording from elsewhere is refused or solved, and never a
// panic.
func FuzzRecording(f *testing.F) {
	f.Add([]byte(`{"job":{"dims":{"B":2}},"events":[[512,0],-1],"labels":["mm"],"marks":[[0,"load","begin",-1]],"kinds":{},"places":{"parameters":[],"buffers":[],"gradients":{}}}`))
	f.Add([]byte(`{"job":{"dims":{"B":2}},"events":[[512,0],[8,0],-1],"labels":["mm"],"marks":[[0,"load","layers.load",0],[1,"first","layers.forward",0]],"kinds":{"layers":["one"]},"places":{"parameters":[["layers.0.w",[2],"x",0,true]],"buffers":[],"gradients":{"steady":[1]}}}`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		r := &Recording{}
		if json.Unmarshal(data, r) != nil {
			return
		}
		if s, err := Solve([]*Recording{r}); err == nil {
			_, _ = Verify(s.Tape, r)
		}
	})
}
