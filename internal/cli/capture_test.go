package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/capture"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// answered is a capture that says what a test wants it to.
func answered(change func(*capture.Result)) runCapture {
	return func(_ context.Context, o capture.Options) (*capture.Capture, error) {
		card := o.Card
		r := &capture.Result{
			Schema: capture.Schema, Method: "capture", Command: o.Argv, Verdict: capture.Fits, End: "steps",
			GPU:  capture.GPU{Name: card.Name, Count: card.Count, Capacity: card.Card.Capacity, Note: card.Note},
			Peak: capture.Peak{Requested: 9 * unit.GiB, Allocated: 9 * unit.GiB, Reserved: 10 * unit.GiB, Device: 11 * unit.GiB, Needs: 10 * unit.GiB, Low: 10 * unit.GiB, High: 12 * unit.GiB, Step: 2, Phase: "backward", Module: "layers.3", Site: "/x/train.py:7 in main"},
			ByCategory: capture.Categories{
				Parameter: 3 * unit.GiB, Activation: 6 * unit.GiB, Cached: unit.GiB, Context: unit.GiB,
			},
			Sites:        []capture.Site{{File: "/x/train.py", Line: 7, Function: "main", Code: "loss.backward()", Category: "activation", Bytes: 6 * unit.GiB, Blocks: 3, User: true}},
			Modules:      []capture.Module{{Name: "layers.*", Count: 4, Category: "activation", Bytes: 6 * unit.GiB, Blocks: 3}},
			Phases:       []capture.PhasePeak{{Phase: "backward", Requested: 9 * unit.GiB}},
			Steps:        []capture.Step{{Step: 1, Allocated: 8 * unit.GiB, Reserved: 9 * unit.GiB}, {Step: 2, Allocated: 9 * unit.GiB, Reserved: 10 * unit.GiB}},
			Verdicts:     []capture.Verdict{{GPU: card.Name, Capacity: card.Card.Capacity, Verdict: capture.Fits, Device: 11 * unit.GiB, Needs: 10 * unit.GiB, Method: "capture"}},
			Processes:    []capture.Process{{World: 1, End: "steps", Devices: []capture.Device{{Allocated: 9 * unit.GiB, Reserved: 10 * unit.GiB, Device: 11 * unit.GiB, Verdict: capture.Fits}}}},
			RecordedWith: capture.RecordedWith{Torch: "2.15.0", CUDA: "13.2", Python: "3.11.4", VirtualGPU: true, Context: unit.GiB},
			Replay:       capture.Replay{Equal: true},
			Writes:       []capture.Write{}, Operators: []capture.Operator{}, Syncs: []capture.Operator{}, Warnings: []capture.Warning{}, Estimates: []capture.Estimate{},
		}
		if change != nil {
			change(r)
		}
		return &capture.Capture{Result: r}, nil
	}
}

// outOfMemory makes a result that of a script which ran out.
func outOfMemory(r *capture.Result) {
	r.Verdict, r.End = capture.DoesNotFit, "oom"
	r.OOM = &capture.OOM{Message: "CUDA out of memory. Tried to allocate 2.00 GiB.", Phase: "forward", Step: 1, Site: "/x/train.py:9 in forward"}
	r.Verdicts[0].Verdict = capture.DoesNotFit
}

func captureWith(t *testing.T, run runCapture, change func(*captureOptions)) (stdout, stderr string, err error) {
	t.Helper()
	stdio, out, errs := record()
	o := captureOptions{Steps: 3, Timeout: capture.DefaultTimeout, GPU: "3090", Argv: []string{"python", "train.py", "--batch-size", "{batch}"}, Dir: t.TempDir()}
	o.Format, o.formats = "text", []string{"text", "json", "html"}
	if change != nil {
		change(&o)
	}
	err = captureCommand(t.Context(), stdio, run, o)
	return out.String(), errs.String(), err
}

func TestCaptureExits(t *testing.T) {
	for name, c := range map[string]struct {
		result func(*capture.Result)
		strict bool
		want   Exit
	}{
		"it fits":                    {nil, true, ExitOK},
		"it does not fit":            {outOfMemory, false, ExitNo},
		"it does not fit, strictly":  {outOfMemory, true, ExitNo},
		"it may not fit":             {func(r *capture.Result) { r.Verdict = capture.MayNotFit }, false, ExitOK},
		"it may not fit, strictly":   {func(r *capture.Result) { r.Verdict = capture.MayNotFit }, true, ExitGaps},
		"a lower bound":              {func(r *capture.Result) { r.LowerBound = true }, false, ExitOK},
		"a lower bound, strictly":    {func(r *capture.Result) { r.LowerBound = true }, true, ExitGaps},
		"another replay, strictly":   {func(r *capture.Result) { r.Replay.Equal = false; r.Replay.Error = "x" }, true, ExitGaps},
		"a cut recording, strictly":  {func(r *capture.Result) { r.Warnings = append(r.Warnings, capture.Warning{Code: "recording-cut"}) }, true, ExitGaps},
		"a mere remark, strictly":    {func(r *capture.Result) { r.Warnings = append(r.Warnings, capture.Warning{Code: "one-step"}) }, true, ExitOK},
		"a caught error, not a no":   {func(r *capture.Result) { r.OOM = &capture.OOM{Caught: true} }, false, ExitOK},
		"a script without any steps": {func(r *capture.Result) { r.Steps = nil }, false, ExitOK},
	} {
		_, _, err := captureWith(t, answered(c.result), func(o *captureOptions) { o.Strict = c.strict })
		if got := exitOf(err); got != c.want {
			t.Errorf("%s: exit %d (%v), want %d", name, got, err, c.want)
		}
	}
}

func TestCaptureSaysTheVerdictFirst(t *testing.T) {
	for name, c := range map[string]struct {
		result func(*capture.Result)
		want   []string
	}{
		"fits": {nil, []string{"fits   needs 11.0 GiB, GeForce RTX 3090 offers 23.7 GiB", "in backward of step 2, in module layers.3, at", "No GPU was used"}},
		"out of memory": {outOfMemory, []string{
			"does not fit   ran out of memory with 11.0 GiB in use", "in the forward pass of step 1", "CUDA out of memory. Tried to allocate 2.00 GiB.",
		}},
		"out of memory, and how much it needs": {func(r *capture.Result) { outOfMemory(r); r.OOM.Needs = 40 * unit.GiB }, []string{"does not fit   needs 40.0 GiB"}},
		"a lower bound": {func(r *capture.Result) {
			r.LowerBound = true
			r.Operators = []capture.Operator{{Op: "nonzero", File: "/x/nms.py", Line: 3, Count: 2}}
		}, []string{"needs at least 11.0 GiB", "nonzero() at /x/nms.py:3 depends on computed values", "[data-dependent-shape]"}},
		"writes": {func(r *capture.Result) {
			r.Writes = []capture.Write{{Action: "dropped", What: "torch.save", Path: "/x/a.pt", Count: 3}}
		}, []string{"Kept from leaving the run", "/x/a.pt"}},
		"replay differs": {func(r *capture.Result) {
			r.Replay = capture.Replay{Diffs: []capture.ReplayDiff{{What: "reserved", PyTorch: unit.GiB, Replayed: unit.MiB}}}
		}, []string{"our allocator comes to 1.00 MiB reserved where PyTorch counted 1.00 GiB"}},
		"several devices": {func(r *capture.Result) { r.Processes = append(r.Processes, r.Processes[0]) }, []string{"of device 0 in rank 0, the fullest", "Devices"}},
	} {
		out, _, _ := captureWith(t, answered(c.result), nil)
		for _, want := range c.want {
			if flat := strings.Join(strings.Fields(out), " "); !strings.Contains(flat, strings.Join(strings.Fields(want), " ")) {
				t.Errorf("%s: %q is not in\n%s", name, want, out)
			}
		}
	}
}

func TestCaptureDocuments(t *testing.T) {
	asJSON := func(o *captureOptions) { o.Format = "json" }
	out, _, err := captureWith(t, answered(nil), asJSON)
	if err != nil {
		t.Fatal(err)
	}
	checkSchema(t, "capture.schema.json", []byte(out))
	out, _, err = captureWith(t, answered(outOfMemory), asJSON)
	if exitOf(err) != ExitNo {
		t.Fatal(err)
	}
	checkSchema(t, "capture.schema.json", []byte(out))
	out, _, err = captureWith(t, answered(nil), func(o *captureOptions) { asJSON(o); o.GPU = "3090,a100x2" })
	if err != nil {
		t.Fatal(err)
	}
	checkSchema(t, "captures.schema.json", []byte(out))
	out, _, err = captureWith(t, upTo(5), func(o *captureOptions) { asJSON(o); o.Largest = "batch" })
	if err != nil {
		t.Fatal(err)
	}
	checkSchema(t, "sweep.schema.json", []byte(out))
	out, _, err = captureWith(t, upTo(5), func(o *captureOptions) { asJSON(o); o.Vary = []string{"batch=4,8,fail"} })
	if err != nil {
		t.Fatal(err)
	}
	checkSchema(t, "sweep.schema.json", []byte(out))
}

// upTo fits up to a batch size, and fails for one that is no number.
func upTo(edge int) runCapture {
	return func(ctx context.Context, o capture.Options) (*capture.Capture, error) {
		batch := o.Argv[len(o.Argv)-1]
		if batch == "fail" {
			return nil, &capture.Error{Msg: "the script failed: ValueError"}
		}
		if len(batch) > 1 || int(batch[0]-'0') > edge {
			return answered(outOfMemory)(ctx, o)
		}
		return answered(nil)(ctx, o)
	}
}

func TestLargestAndVary(t *testing.T) {
	out, _, err := captureWith(t, upTo(5), func(o *captureOptions) { o.Largest = "batch" })
	if err != nil || !strings.HasPrefix(out, "batch 5   is the largest that fits GeForce RTX 3090") || !strings.Contains(out, "with 6: CUDA out of memory") {
		t.Errorf("%v\n%s", err, out)
	}
	out, _, err = captureWith(t, upTo(0), func(o *captureOptions) { o.Largest = "batch" })
	if exitOf(err) != ExitNo || !strings.Contains(out, "not even with batch 1") {
		t.Errorf("%v\n%s", err, out)
	}
	out, _, err = captureWith(t, upTo(5), func(o *captureOptions) { o.Vary = []string{"batch=4,8,fail"} })
	if err != nil || !strings.HasPrefix(out, "1 of 3 fit") || !strings.Contains(out, "fails") {
		t.Errorf("%v\n%s", err, out)
	}
	out, _, err = captureWith(t, upTo(0), func(o *captureOptions) { o.Vary = []string{"batch=4,8"} })
	if exitOf(err) != ExitNo {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestCaptureRefuses(t *testing.T) {
	for want, change := range map[string]func(*captureOptions){
		"--steps must be at least 1":                  func(o *captureOptions) { o.Steps = 0 },
		"--timeout must be more than nothing":         func(o *captureOptions) { o.Timeout = 0 },
		"cannot be given together":                    func(o *captureOptions) { o.Largest, o.Vary = "a", []string{"b=1"} },
		"cannot be given with --largest":              func(o *captureOptions) { o.Largest, o.Snapshot = "batch", "x.pickle" },
		"--rank 8 is not a rank of --world 8":         func(o *captureOptions) { o.World, o.Rank = 8, 8 },
		"--rank needs --world":                        func(o *captureOptions) { o.Rank = 1 },
		`gpu "h1000" is not in the table`:             func(o *captureOptions) { o.GPU = "h1000" },
		`format "yaml" is not known`:                  func(o *captureOptions) { o.Format = "yaml" },
		`--vary "batch" is not NAME=VALUE,VALUE`:      func(o *captureOptions) { o.Vary = []string{"batch"} },
		"the command has no {steps}":                  func(o *captureOptions) { o.Largest = "steps" },
		"--largest and --vary take one card":          func(o *captureOptions) { o.Largest, o.GPU = "batch", "3090,a100" },
		"may be any of":                               func(o *captureOptions) { o.GPU = "4060ti" },
		"is made by AMD, and a capture imitates NVID": func(o *captureOptions) { o.GPU = "mi300x" },
	} {
		_, _, err := captureWith(t, answered(nil), change)
		if err == nil || !strings.Contains(err.Error(), want) || exitOf(err) != ExitFailed {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestAFailedScriptShowsItsOwnOutputFirst(t *testing.T) {
	run := func(context.Context, capture.Options) (*capture.Capture, error) {
		return nil, &capture.Error{Msg: "the script failed: ValueError: no", Hint: "look", Output: "Traceback\nValueError: no"}
	}
	out, errs, err := captureWith(t, run, nil)
	if out != "" || errs != "Traceback\nValueError: no\n" || err == nil || err.Error() != "the script failed: ValueError: no" || hintOf(err) != "look" {
		t.Errorf("stdout %q, stderr %q, %v, hint %q", out, errs, err, hintOf(err))
	}
}

func TestWithoutACardALargeOneIsTakenAndSaid(t *testing.T) {
	out, _, err := captureWith(t, answered(nil), func(o *captureOptions) { o.GPU = "" })
	if err != nil || !strings.Contains(strings.Join(strings.Fields(out), " "), "no --gpu was given, so a large card was taken") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestWhatif(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.tape")
	tp := &tape.Tape{Meta: map[string]string{"torch": "2.15.0+cu132", "gpu": "GeForce RTX 3090", "capacity_bytes": "25436946432", "context_bytes": "262144000", "alloc_conf": ""}}
	for i := range 4 {
		tp.Append(tape.Event{Kind: tape.Alloc, Bytes: unit.GiB})
		if i == 2 {
			tp.Append(tape.Event{Kind: tape.FreeRequested, Block: 1})
			tp.Append(tape.Event{Kind: tape.Free, Block: 1})
		}
	}
	if err := writeTape(file, tp); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]struct {
		exit Exit
		text string
	}{
		file:                       {ExitOK, "fits needs 3.24 GiB, GeForce RTX 3090 offers 23.7 GiB"},
		file + " --capacity 3GiB":  {ExitNo, "does not fit needs 3.24 GiB, where 3.00 GiB are given"},
		file + " --gpu 3060":       {ExitOK, "GeForce RTX 3060 12GB offers"},
		file + " --gpu h1000":      {ExitFailed, "is not in the table"},
		file + " --alloc-conf a:b": {ExitFailed, "Unrecognized key"},
		file + " --alloc-conf expandable_segments:True --capacity 3GiB": {ExitNo, "with expandable_segments:True"},
		"/no/such.tape": {ExitFailed, "read the recording"},
		"root.go":       {ExitFailed, "makes a recording"},
	} {
		stdio, out, errs := record()
		exit := Run(t.Context(), append([]string{"whatif"}, strings.Fields(args)...), stdio)
		all := strings.Join(strings.Fields(out.String()+errs.String()), " ")
		if exit != want.exit || !strings.Contains(all, want.text) {
			t.Errorf("%s: exit %d\n%s", args, exit, all)
		}
	}
	stdio, out, _ := record()
	if exit := Run(t.Context(), []string{"whatif", file, "--format", "json"}, stdio); exit != ExitOK {
		t.Fatalf("exit %d", exit)
	}
	checkSchema(t, "whatif.schema.json", out.Bytes())
	cut, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, cut[:len(cut)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	stdio, _, errs := record()
	if exit := Run(t.Context(), []string{"whatif", file}, stdio); exit != ExitFailed || !strings.Contains(errs.String(), "ends early") {
		t.Errorf("a cut tape: exit %d, %s", exit, errs)
	}
}
