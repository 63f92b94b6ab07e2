package attribute

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// script is a recording in short hand, one event a line: "+name bytes
// [file:func ...]" allocates, "~name" gives up, "-name" frees, "segment_free" gives a segment
// back; lines that start with "@" are marks and "=" labels, at the place where
// they stand.
func script(t *testing.T, text string) Input {
	t.Helper()
	var b tape.Builder
	in := Input{Tape: b.Tape(), UserDirs: []string{"/project"}, HelperDir: "/helper/py"}
	addrs := map[string]uint64{}
	count := 0
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		words := strings.Fields(line)
		e := tape.Event{Addr: addrs[strings.TrimLeft(words[0], "+-=~")]}
		switch words[0][0] {
		case '+':
			n, err := unit.Parse(words[1])
			if err != nil {
				t.Fatal(err)
			}
			var frames []tape.Frame
			for _, f := range words[2:] {
				file, name, _ := strings.Cut(f, ":")
				frames = append(frames, tape.Frame{File: file, Name: name, Line: 7})
			}
			e.Kind, e.Bytes, e.Site = tape.Alloc, n, b.Tape().InternSite(frames)
			e.Addr = 1<<40 + uint64(len(addrs))*uint64(unit.GiB)
			addrs[words[0][1:]] = e.Addr
			count++
		case '~':
			e.Kind = tape.FreeRequested
		case '-':
			e.Kind = tape.Free
		case 's':
			e.Kind, e.Bytes = tape.SegmentFree, 2*unit.MiB
		case '@':
			m := Mark{Count: count, Kind: words[0][1:]}
			if len(words) > 1 {
				m.Value = words[1]
			}
			if len(words) > 2 {
				m.Name = words[2]
			}
			in.Marks = append(in.Marks, m)
			continue
		case '=':
			c, ok := tape.ParseCategory(words[1])
			if !ok {
				t.Fatalf("no category %s", words[1])
			}
			l := Label{Count: count, Category: c, Addr: e.Addr, Bytes: 1}
			if len(words) > 2 {
				l.Name = words[2]
			}
			in.Labels = append(in.Labels, l)
			continue
		}
		if _, err := b.Add(e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	return in
}

const training = `
@phase load
+w 4MiB /project/train.py:main
=w parameter net.0.weight
@phase forward
@enter f net
@enter f net.0
+cublas 8519680 /usr/lib/python3.11/site-packages/torch/nn/functional.py:linear /project/net.py:forward
+short 1MiB
-short
+act 2MiB /helper/py/helper.py:hook /usr/lib/python3.11/site-packages/torch/nn/functional.py:linear /project/net.py:forward
@exit f net.0
@exit f net
@phase loss
+loss 512
@phase backward
@enter b net.0
+tmp 3MiB
+grad 4MiB
-tmp
-act
@exit b net.0
@phase step
+m 4MiB
+lr 512
-lr
@step 1
@empty_cache
-grad
segment_free
-loss
@phase forward
+act2 2MiB
@phase backward
@enter f net.0
+again 1MiB
@exit f net.0
-again
-act2
`

func TestBlocksAreNamedByWhatHappenedToThem(t *testing.T) {
	r := Attribute(script(t, training))
	want := []tape.Category{
		tape.Parameter, tape.Workspace, tape.Temporary, tape.Activation, tape.Activation, // w cublas short act loss
		tape.Temporary, tape.Gradient, tape.OptimizerState, tape.Temporary, // tmp grad m lr
		tape.Activation, tape.Activation, // act2 again
	}
	for i, w := range want {
		if got := r.Tape.Block(tape.BlockID(i)).Category; got != w {
			t.Errorf("block %d is %v, want %v", i, got, w)
		}
	}
	for i, w := range []string{"net.0", "net.0", "net.0", "net.0", "", "net.0"} {
		if got := r.Module(tape.BlockID(i)); got != w {
			t.Errorf("block %d is in %q, want %q", i, got, w)
		}
	}
}

func TestEmptyCacheStandsBeforeTheSegmentsItFrees(t *testing.T) {
	r := Attribute(script(t, training))
	var kinds []string
	for i := range r.Tape.Len() {
		if k := r.Tape.Kind(i); k != tape.Alloc && (k != tape.Free || len(kinds) > 0) && len(kinds) < 2 && k != tape.Free {
			kinds = append(kinds, k.String())
		}
	}
	if got := strings.Join(kinds, " "); got != "empty_cache segment_free" {
		t.Errorf("got %s", got)
	}
}

func TestEmptyCacheStandsBetweenTheFreesOfItsTime(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"before a free":        {"+a 4MiB\n+b 4MiB\n@empty_cache 0\n~a\n-a\n+c 4MiB", "alloc alloc empty_cache free_requested free alloc"},
		"after a free":         {"+a 4MiB\n+b 4MiB\n~a\n-a\n@empty_cache 1\n~b\n-b\n+c 4MiB", "alloc alloc free_requested free empty_cache free_requested free alloc"},
		"before a late free":   {"+a 4MiB\n+b 4MiB\n~a\n@empty_cache 1\n~b\n-b\n-a\n+c 4MiB", "alloc alloc free_requested empty_cache free_requested free free alloc"},
		"of an unknown number": {"+a 4MiB\n@empty_cache\n~a\n-a\n+c 4MiB", "alloc free_requested free empty_cache alloc"},
	} {
		r := Attribute(script(t, c.text))
		var kinds []string
		for i := range r.Tape.Len() {
			kinds = append(kinds, r.Tape.Kind(i).String())
		}
		if got := strings.Join(kinds, " "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestMemoryThatGoesBackUnaskedForIsAFlush(t *testing.T) {
	const text = "+a 4MiB\n~a\n-a\nsegment_free\nsegment_free\n+b 4MiB\n~b\n-b\n@empty_cache 2\nsegment_free\n+c 4MiB"
	for flushes, want := range map[bool]string{
		true:  "alloc free_requested free empty_cache segment_free segment_free alloc free_requested free empty_cache segment_free alloc",
		false: "alloc free_requested free segment_free segment_free alloc free_requested free empty_cache segment_free alloc",
	} {
		in := script(t, text)
		in.Flushes = flushes
		r := Attribute(in)
		var kinds []string
		for i := range r.Tape.Len() {
			kinds = append(kinds, r.Tape.Kind(i).String())
		}
		if got := strings.Join(kinds, " "); got != want {
			t.Errorf("%t: %s, want %s", flushes, got, want)
		}
	}
}

func TestWhereSaysPhaseStepAndModule(t *testing.T) {
	r := Attribute(script(t, training))
	for _, c := range []struct {
		block  tape.BlockID
		phase  tape.Phase
		step   int
		module string
	}{
		{0, tape.Load, 0, "net.0"},
		{3, tape.Forward, 1, "net.0"},
		{6, tape.Backward, 1, "net.0"},
		{9, tape.Forward, 2, ""},
	} {
		phase, step, module := r.Where(r.Tape.Block(c.block).Alloc)
		if phase != c.phase || step != c.step || module != c.module {
			t.Errorf("block %d: %v, step %d, module %q, want %+v", c.block, phase, step, module, c)
		}
	}
	if phase, step, _ := r.Where(-1); phase != tape.Idle || step != 0 {
		t.Errorf("before the first event: %v, %d", phase, step)
	}
}

func TestLinesAreTheUsersOwnFirst(t *testing.T) {
	r := Attribute(script(t, `
+a 1MiB /x/site-packages/torch/f.py:f /project/net.py:g /project/train.py:main
+b 1MiB /project/venv/lib/python3.11/site-packages/timm/x.py:f /opt/lib/editable.py:g
+c 1MiB /x/site-packages/torch/f.py:f /x/site-packages/transformers/t.py:train <frozen>:run
+d 1MiB <string>:f
+e 1MiB /helper/py/helper.py:hook /project2/x.py:f`))
	for i, want := range []Line{
		{"/project/net.py", 7, "g", true},
		{"/opt/lib/editable.py", 7, "g", false},
		{"/x/site-packages/transformers/t.py", 7, "train", false},
		{"<string>", 7, "f", false},
		{"/project2/x.py", 7, "f", false},
	} {
		if got := r.Line(r.Tape.Block(tape.BlockID(i)).Site); got != want {
			t.Errorf("block %d: %+v, want %+v", i, got, want)
		}
	}
}

func TestAMomentSumsToWhatIsLive(t *testing.T) {
	r := Attribute(script(t, training))
	m := r.At(r.Tape.Block(6).Alloc) // the gradient is the peak
	var sum unit.Bytes
	for _, b := range m.ByCategory {
		sum += b
	}
	want := 15*unit.MiB - 2*unit.MiB + 8519680 + 512
	if m.Requested != want || sum != want {
		t.Errorf("requested %d, categories %d, want %d", m.Requested, sum, want)
	}
	if l := m.Lines[0]; l.Function != "cuBLAS workspace" || l.File != "" || l.Bytes != 8519680 || l.Category != tape.Workspace {
		t.Errorf("lines: %+v", m.Lines)
	}
	if m.Modules[0].Name != "net.*" {
		t.Errorf("modules: %+v", m.Modules)
	}
	for _, l := range m.Lines {
		if l.File == "" && l.Function == "backward of net.*" && l.Bytes != 7*unit.MiB {
			t.Errorf("backward holds %d", l.Bytes)
		}
	}
}

func TestABucketIsNoGradient(t *testing.T) {
	const stage2 = "/usr/lib/python3.11/site-packages/deepspeed/runtime/zero/stage_1_and_2.py"
	for function, want := range map[string]tape.Category{"setup_buckets": tape.Communication, "average_tensor": tape.Gradient} {
		r := Attribute(script(t, "@phase backward\n+b 954MiB "+stage2+":"+function+" /x/train.py:main\n=b gradient 0.weight\n+c 4MiB"))
		if got := r.Tape.Block(0).Category; got != want {
			t.Errorf("made in %s: %v, want %v", function, got, want)
		}
	}
}

func TestALabelInsideABlockFindsIt(t *testing.T) {
	in := script(t, "+flat 8MiB\n+other 1MiB\n@note x")
	base := in.Tape.Block(0).Addr
	in.Labels = []Label{
		{Count: 2, Category: tape.Gradient, Addr: base + 4<<20, Bytes: unit.MiB},
		{Count: 2, Category: tape.Communication, Addr: base, Bytes: 8 * unit.MiB, Name: "bucket.0"},
		{Count: 2, Category: tape.Parameter, Addr: base + 9<<20, Bytes: 1},
		{Count: 2, Category: tape.Parameter, Addr: 5, Bytes: 1},
		{Count: 0, Category: tape.Parameter, Addr: base, Bytes: 1},
	}
	r := Attribute(in)
	if got := r.Tape.Block(0).Category; got != tape.Communication {
		t.Errorf("the flat block is %v", got)
	}
	if r.Unknown != 3 {
		t.Errorf("%d labels found no block, want 3", r.Unknown)
	}
}

func TestALabelHoldsForWhatIsFreedRightAfterIt(t *testing.T) {
	r := Attribute(script(t, "+a 1MiB\n=a gradient\n-a\n+b 1MiB"))
	if got := r.Tape.Block(0).Category; got != tape.Gradient || r.Unknown != 0 {
		t.Errorf("the block is %v, %d labels found none", got, r.Unknown)
	}
}

func TestACutRecordingCountsFromItsBeginning(t *testing.T) {
	in := script(t, "+a 1MiB\n+b 1MiB")
	in.Before = 10
	in.Marks = []Mark{{Count: 3, Kind: "phase", Value: "load"}, {Count: 11, Kind: "phase", Value: "forward"}}
	r := Attribute(in)
	if a, b := r.Tape.Block(0).Phase, r.Tape.Block(1).Phase; a != tape.Load || b != tape.Forward {
		t.Errorf("phases %v, %v", a, b)
	}
}

func TestFold(t *testing.T) {
	for in, want := range map[string]string{"layers.10.mlp": "layers.*.mlp", "h.0": "h.*", "a1.b": "a1.b", "": "", "..": ".."} {
		if got := Fold(in); got != want {
			t.Errorf("Fold(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestAnyMarksAndLabelsAreSurvived feeds nonsense: marks come from a process
// that the script shares.
func TestAnyMarksAndLabelsAreSurvived(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b tape.Builder
		var live []uint64
		for i := range rapid.IntRange(0, 30).Draw(t, "events") {
			if len(live) > 0 && rapid.Bool().Draw(t, "free") {
				if _, err := b.Add(tape.Event{Kind: tape.Free, Addr: live[0]}); err != nil {
					t.Fatal(err)
				}
				live = live[1:]
				continue
			}
			live = append(live, uint64(i+1)<<20)
			if _, err := b.Add(tape.Event{Kind: tape.Alloc, Addr: uint64(i+1) << 20, Bytes: unit.Bytes(rapid.IntRange(1, 1<<20).Draw(t, "bytes"))}); err != nil {
				t.Fatal(err)
			}
		}
		kinds := rapid.SampledFrom([]string{"phase", "step", "enter", "exit", "empty_cache", "note", "?"})
		words := rapid.SampledFrom([]string{"", "forward", "backward", "b", "f", "3", "-1", "x"})
		in := Input{Tape: b.Tape(), Before: rapid.IntRange(-3, 3).Draw(t, "before")}
		for range rapid.IntRange(0, 20).Draw(t, "marks") {
			in.Marks = append(in.Marks, Mark{Count: rapid.IntRange(-5, 50).Draw(t, "count"), Kind: kinds.Draw(t, "kind"), Value: words.Draw(t, "value"), Name: words.Draw(t, "name")})
		}
		for range rapid.IntRange(0, 10).Draw(t, "labels") {
			in.Labels = append(in.Labels, Label{Count: rapid.IntRange(-5, 50).Draw(t, "count"), Category: tape.Parameter, Addr: rapid.Uint64().Draw(t, "addr"), Bytes: unit.Bytes(rapid.IntRange(-1, 9).Draw(t, "size"))})
		}
		r := Attribute(in)
		for e := -1; e <= r.Tape.Len(); e++ {
			m := r.At(e)
			var sum unit.Bytes
			for _, n := range m.ByCategory {
				sum += n
			}
			if sum != m.Requested {
				t.Fatalf("event %d: categories sum to %d of %d", e, sum, m.Requested)
			}
			r.Where(e)
		}
	})
}

func TestBlocksAreNamedByWhereTheyWereMade(t *testing.T) {
	const torch = "/usr/lib/python3.11/site-packages/torch/"
	for name, c := range map[string]struct {
		text string
		want tape.Category
	}{
		"a bucket of DDP":                      {"@phase load\n+a 4MiB " + torch + "nn/parallel/distributed.py:_ddp_init_helper /x/train.py:main", tape.Communication},
		"a bucket that 2.0's forward makes":    {"@phase forward\n+a 4MiB " + torch + "nn/parallel/distributed.py:forward /x/train.py:main\n@phase loss\n@phase backward\n-a", tape.Communication},
		"what a model under DDP makes":         {"@phase forward\n+a 4MiB " + torch + "nn/functional.py:relu " + torch + "nn/parallel/distributed.py:forward\n@phase backward\n+b 4MiB\n-a", tape.Activation},
		"what kernels are timed with":          {"@phase forward\n+a 256MiB " + torch + "_inductor/runtime/triton_heuristics.py:bench /x/train.py:main\n@phase backward\n-a", tape.Temporary},
		"a model that was moved and not run":   {"@phase load\n+a 4MiB " + torch + "nn/modules/module.py:_apply /x/train.py:main\n+b 4MiB", tape.Parameter},
		"a model that was moved and let go":    {"@phase load\n+a 4MiB " + torch + "nn/modules/module.py:_apply /x/train.py:main\n-a", tape.Temporary},
		"something of the script before a run": {"@phase load\n+a 4MiB /x/train.py:main\n+b 4MiB", tape.Unknown},
	} {
		r := Attribute(script(t, c.text))
		if got := r.Tape.Block(0).Category; got != c.want {
			t.Errorf("%s is %v, want %v", name, got, c.want)
		}
	}
}
