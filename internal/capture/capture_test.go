package capture

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/unit"
)

func TestACaptureSaysWhatTheRecordingHolds(t *testing.T) {
	f := newFakeRun(t, "echo hello; leave main")
	f.canned("main", trained(f.dir))
	c, err := f.run()
	if err != nil {
		t.Fatal(err)
	}
	r := c.Result
	context := f.options.Card.Context.Typical
	if r.Verdict != Fits || r.Peak.Allocated != 100*unit.MiB || r.Peak.Reserved != 130*unit.MiB || r.Peak.Device != 130*unit.MiB+context {
		t.Errorf("verdict %s, peak %+v", r.Verdict, r.Peak)
	}
	want := Categories{Parameter: 20 * unit.MiB, Gradient: 20 * unit.MiB, Optimizer: 20 * unit.MiB, Activation: 40 * unit.MiB, Cached: 30 * unit.MiB, Context: context}
	if r.ByCategory != want {
		t.Errorf("categories %+v", r.ByCategory)
	}
	if r.ByCategory.Sum() != r.Peak.Device {
		t.Errorf("categories sum to %d, the device peak is %d", r.ByCategory.Sum(), r.Peak.Device)
	}
	if !r.Replay.Equal {
		t.Errorf("replay %+v", r.Replay)
	}
	if r.Peak.Phase != "backward" || r.Peak.Step != 2 {
		t.Errorf("the peak is in %s of step %d", r.Peak.Phase, r.Peak.Step)
	}
	if s := r.Sites[0]; s.Line != 7 || s.Function != "forward" || !s.User || s.Bytes != 40*unit.MiB {
		t.Errorf("largest line %+v", s)
	}
	if m := r.Modules[0]; m.Name != "net.*" || m.Bytes != 60*unit.MiB {
		t.Errorf("largest module %+v", m)
	}
	if len(r.Steps) != 2 || r.Steps[1].Allocated != 100*unit.MiB {
		t.Errorf("steps %+v", r.Steps)
	}
	if r.Peak.Low >= r.Peak.Device || r.Peak.High <= r.Peak.Device {
		t.Errorf("interval %d to %d around %d", r.Peak.Low, r.Peak.High, r.Peak.Device)
	}
}

func TestTheScriptRunsInItsOwnWorld(t *testing.T) {
	f := newFakeRun(t, `
read line && echo "input: $line"
echo "devices [$CUDA_VISIBLE_DEVICES] conf [$PYTORCH_CUDA_ALLOC_CONF] mine [$MINE] path [${PYTHONPATH#$RUN/}] libs [$LD_LIBRARY_PATH]" > "$CANNED/../seen"
echo "$TMPDIR" | grep -q "^$RUN/tmp$" && echo tmp >> "$CANNED/../seen"
echo "$PLIMSOLL_VGPU" >> "$CANNED/../seen"
leave main`)
	f.canned("main", trained(f.dir))
	f.options.Environ = append(f.options.Environ, "CUDA_VISIBLE_DEVICES=3", "MINE=yes", "PYTHONPATH=/my/lib", "LD_LIBRARY_PATH=/opt/lib")
	f.options.AllocConf = "expandable_segments:True"
	c, err := f.run()
	if err != nil {
		t.Fatal(err)
	}
	seen, err := os.ReadFile(filepath.Join(f.dir, "seen"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"devices [] conf [expandable_segments:True] mine [yes] path [py:/my/lib] libs [/nowhere:/opt/lib]", "\ntmp\n", "PLIMSOLL_VGPU", "RTX 3090"} {
		if want != "PLIMSOLL_VGPU" && !strings.Contains(string(seen), want) {
			t.Errorf("%q is not in %q", want, seen)
		}
	}
	if c.Result.RecordedWith.AllocConf != "expandable_segments:True" {
		t.Errorf("recorded with %+v", c.Result.RecordedWith)
	}
}

// failing are scripts that give no answer, and the one sentence for each.
func TestAScriptThatGivesNoAnswerIsNamed(t *testing.T) {
	raised := trained("/x")
	raised.result.End, raised.result.ExitCode = endException, 1
	raised.result.Exception = &helperException{Type: "ValueError", Message: "bad shape\nmore", Traceback: "Traceback (most recent call last):\n  File \"train.py\", line 9\nValueError: bad shape\n"}
	left := trained("/x")
	left.result.End, left.result.ExitCode = endExit, 3
	idle := trained("/x")
	idle.result.Devices = nil
	idle.result.End = endScript
	for _, c := range []struct {
		name, script, want, hint, output string
	}{
		{"fails before the GPU", "echo 'Traceback: no module' >&2; exit 1", "the script failed with exit status 1 before it used the GPU", "", "no module"},
		{"raises", "leave raised; exit 1", "the script failed: ValueError: bad shape", "", "ValueError: bad shape"},
		{"exits by itself", "leave left; exit 3", "the script ended with exit status 3", "", ""},
		{"never allocates", "echo on the CPU", "without allocating anything on the GPU", "--device cuda", ""},
		{"brings up CUDA and never allocates", "leave idle", "without allocating anything on the GPU", "", ""},
		{"crashes", "echo before; kill -SEGV $$", "the script was ended by SIGSEGV", "-v", "before"},
		{"is killed for memory", "kill -KILL $$", "runs out of memory", "torch.device", ""},
		{"prints binary and fails", `printf 'a\033[2J\000\377b\n'; exit 1`, "exit status 1", "", "a.[2J..b"},
		{"leaves a torn result", `mkdir "$OUT/p7"; echo '{"end":' > "$OUT/p7/result.json"`, "result.json", "", ""},
		{"dies while it writes", `mkdir "$OUT/p7"; exit 1`, "exit status 1", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFakeRun(t, c.script)
			f.canned("raised", raised)
			f.canned("left", left)
			f.canned("idle", idle)
			_, err := f.run()
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			e, ok := errors.AsType[*Error](err)
			if !ok {
				if c.hint != "" || c.output != "" {
					t.Fatalf("%T is no *Error", err)
				}
				return
			}
			if !strings.Contains(e.Hint, c.hint) || !strings.Contains(e.Output, c.output) {
				t.Errorf("hint %q, output %q", e.Hint, e.Output)
			}
			if strings.Contains(e.Msg, "\n") {
				t.Errorf("more than a sentence: %q", e.Msg)
			}
		})
	}
}

func TestAScriptThatNeverEndsIsKilled(t *testing.T) {
	f := newFakeRun(t, "trap '' TERM; (sleep 1000 &); echo working; sleep 1000")
	f.options.Timeout, f.options.Lateness = 300*time.Millisecond, 200*time.Millisecond
	_, err := f.run()
	e, ok := errors.AsType[*Error](err)
	if !ok || !strings.Contains(e.Msg, "did not stop within 500ms and was killed") || e.Output != "working" || !strings.Contains(e.Hint, "--timeout") {
		t.Errorf("got %v", err)
	}
}

func TestAScriptThatHangsAfterItsRecordingIsAnsweredWithAWarning(t *testing.T) {
	f := newFakeRun(t, "leave main; sleep 1000")
	f.canned("main", trained(f.dir))
	f.options.Timeout, f.options.Lateness = 300*time.Millisecond, 200*time.Millisecond
	c, err := f.run()
	if err != nil || !hasWarning(c.Result, "hung") {
		t.Errorf("%v", err)
	}
}

func TestAScriptThatFillsTheDiskIsStopped(t *testing.T) {
	f := newFakeRun(t, `while :; do head -c 1000000 /dev/zero >> "$TMPDIR/big"; done`)
	f.options.Disk = 4 * unit.MiB
	_, err := f.run()
	if err == nil || !strings.Contains(err.Error(), "because it filled the disk: more than 4.00 MiB") {
		t.Errorf("got %v", err)
	}
}

func TestAScriptThatForksLeavesNothingBehind(t *testing.T) {
	f := newFakeRun(t, `for i in 1 2 3 4 5 6 7 8; do setsid sh -c 'sleep 1000 & exec sleep 1000' & done; leave main`)
	f.canned("main", trained(f.dir))
	if _, err := f.run(); err != nil {
		t.Error(err)
	}
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range environments {
		if env, err := os.ReadFile(name); err == nil && strings.Contains(string(env), "CANNED="+f.dir) {
			t.Errorf("still there: %s", name)
		}
	}
}

func TestASetOfPrintedBytesIsNoTrouble(t *testing.T) {
	f := newFakeRun(t, `head -c 3000000 /dev/urandom; leave main`)
	f.canned("main", trained(f.dir))
	if _, err := f.run(); err != nil {
		t.Error(err)
	}
}

func TestWhatTheOverlayKeptIsListedOnce(t *testing.T) {
	f := newFakeRun(t, `
printf 'overwrite\t/u/checkpoint.pt\ncreate\t/u/log.txt\nmkdir\t/u/out\nmkdir\t/u/out/a\ncreate\t/u/out/a/x\ncreate\t/u/out/y\ndelete\t/u/old\nno-space\t/u/big\n' >> "$RUN/files.log"
leave main`)
	p := trained(f.dir)
	p.result.Writes = []Write{{Action: "redirected", What: "torch.save", Path: "/u/checkpoint.pt"}, {Action: "redirected", What: "torch.save", Path: "/u/checkpoint.pt"}}
	f.canned("main", p)
	c, err := f.run()
	if err != nil {
		t.Fatal(err)
	}
	want := []Write{
		{"redirected", "torch.save", "/u/checkpoint.pt", 2}, {"redirected", "new file", "/u/log.txt", 1},
		{"redirected", "new folder", "/u/out", 3}, {"redirected", "deletion", "/u/old", 1},
	}
	if diff := cmp.Diff(want, c.Result.Writes); diff != "" {
		t.Errorf("writes (want -, got +):\n%s", diff)
	}
	if !hasWarning(c.Result, "overlay-full") {
		t.Errorf("warnings %+v", c.Result.Warnings)
	}
}

func TestOutOfMemoryIsAnAnswer(t *testing.T) {
	f := newFakeRun(t, `
case $PLIMSOLL_VGPU in *capacity=2199023255552*) leave whole; exit 0;; esac
echo 'torch.OutOfMemoryError: CUDA out of memory.' >&2
leave oom; exit 1`)
	f.canned("whole", trained(f.dir))
	p := trained(f.dir)
	p.events = "+w 20MiB\n+a1 40MiB\n"
	p.result.End, p.result.ExitCode = endOOM, 1
	p.result.OOM = &helperOOM{Message: "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 90.00 MiB"}
	p.result.Devices[0].AllocatedPeak, p.result.Devices[0].ReservedPeak, p.result.Devices[0].DriverPeak = 60*unit.MiB, 60*unit.MiB, 60*unit.MiB
	p.result.Devices[0].Stats = nil
	f.canned("oom", p)
	c, err := f.run()
	if err != nil {
		t.Fatal(err)
	}
	r := c.Result
	if r.Verdict != DoesNotFit || r.OOM == nil || r.OOM.Caught || !strings.Contains(r.OOM.Message, "Tried to allocate") {
		t.Fatalf("verdict %s, oom %+v", r.Verdict, r.OOM)
	}
	if want := 100*unit.MiB + f.options.Card.Context.Typical; r.OOM.Needs != want {
		t.Errorf("needs %d, want %d", r.OOM.Needs, want)
	}
	if r.Processes[0].Devices[0].Verdict != DoesNotFit {
		t.Errorf("the device's own verdict is %s", r.Processes[0].Devices[0].Verdict)
	}
}

func TestACaughtOutOfMemoryErrorIsAWarning(t *testing.T) {
	f := newFakeRun(t, "leave main")
	p := trained(f.dir)
	p.result.OOM = &helperOOM{Message: "CUDA out of memory."}
	f.canned("main", p)
	c, err := f.run()
	if err != nil {
		t.Fatal(err)
	}
	if c.Result.Verdict != Fits || !hasWarning(c.Result, "oom-caught") {
		t.Errorf("verdict %s, warnings %+v", c.Result.Verdict, c.Result.Warnings)
	}
}

func hasWarning(r *Result, code string) bool {
	for _, w := range r.Warnings {
		if w.Code == code {
			return true
		}
	}
	return false
}

func TestAScriptThatNeverStepsIsSaidToHaveDoneSo(t *testing.T) {
	for end, lower := range map[string]bool{endScript: false, endTimeout: true} {
		f := newFakeRun(t, "leave main")
		p := trained(f.dir)
		p.result.End, p.result.Steps = end, nil
		f.canned("main", p)
		c, err := f.run()
		if err != nil {
			t.Fatal(err)
		}
		if !hasWarning(c.Result, "no-step") || c.Result.LowerBound != lower {
			t.Errorf("%s: %+v, lower bound %v", end, c.Result.Warnings, c.Result.LowerBound)
		}
	}
}

func TestSeveralProcessesOnOneCardAddUp(t *testing.T) {
	f := newFakeRun(t, "leave a 1; leave b 2")
	for i, name := range []string{"a", "b"} {
		p := trained(f.dir)
		p.result.Rank, p.result.World, p.result.PID = i, 2, i+1
		f.canned(name, p)
	}
	c, err := f.run()
	if err != nil {
		t.Fatal(err)
	}
	r := c.Result
	if want := 2 * (130*unit.MiB + f.options.Card.Context.Typical + librariesOf(2, f.options).typical); r.Peak.Device != want || r.ByCategory.Sum() != want {
		t.Errorf("device %d, categories %d, want %d", r.Peak.Device, r.ByCategory.Sum(), want)
	}
	if len(r.Processes) != 2 || r.Processes[1].Rank != 1 {
		t.Errorf("processes %+v", r.Processes)
	}
}

func TestScratchMemoryOfLibrariesWidensTheInterval(t *testing.T) {
	script := `
log=${PLIMSOLL_VGPU##*log=}; log=${log%%;*}
printf 'note\testimate cudnn_convolution 0 0 104857600\t1\n' >> "$log"
printf 'note\testimate cudnn_convolution 0 0 1048576\t2\n' >> "$log"
printf 'note\testimate cufft_work 4194304 0 8388608\t1\n' >> "$log"
printf 'note\tlower-bound cusparseSpGEMM: a product is counted without entries\t1\n' >> "$log"
printf 'refused\tcudnn\tcudnnFoo\t1\nunknown\tcuBar\t1\nnote\tsomething\t1\n' >> "$log"
leave main`
	for workspace, more := range map[unit.Bytes]unit.Bytes{-1: 104 * unit.MiB, unit.MiB: 4 * unit.MiB} {
		f := newFakeRun(t, script)
		f.canned("main", trained(f.dir))
		f.options.CuDNNWorkspace = workspace
		c, err := f.run()
		if err != nil {
			t.Fatal(err)
		}
		r := c.Result
		context := f.options.Card.Context
		if got, want := r.Peak.High-r.Peak.Device, context.High-context.Typical+more; got != want {
			t.Errorf("workspace %d: %d more are possible, want %d", workspace, got, want)
		}
		if got, want := r.Peak.Device-r.Peak.Low, context.Typical-context.Low+4*unit.MiB; got != want {
			t.Errorf("workspace %d: %d less are possible, want %d", workspace, got, want)
		}
		for _, code := range []string{"lower-bound", "refused-call", "unknown-call", "virtual-gpu"} {
			if !hasWarning(r, code) {
				t.Errorf("no warning %s in %+v", code, r.Warnings)
			}
		}
		if !r.LowerBound || len(r.Estimates) != 2 {
			t.Errorf("lower bound %v, estimates %+v", r.LowerBound, r.Estimates)
		}
	}
}

func TestTheLaunchersProcessesGetADeviceEach(t *testing.T) {
	f := newFakeRun(t, "")
	f.write("bin/torchrun", "#!"+f.dir+"/bin/python\n", 0o755)
	f.options.Argv = []string{"torchrun", "--nproc-per-node=2", "train.py"}
	s, err := prepare(t.Context(), f.options.withDefaults())
	if err != nil || s.options.Card.Count != 2 || !strings.Contains(s.options.Card.Note, "2 of them") {
		t.Errorf("count %d, note %q, %v", s.options.Card.Count, s.options.Card.Note, err)
	}
	f.options.Card.CountGiven = true
	s, err = prepare(t.Context(), f.options.withDefaults())
	if err != nil || s.options.Card.Count != 1 {
		t.Errorf("count %d, %v", s.options.Card.Count, err)
	}
}

func TestASetUpThatCannotWorkIsNamedBeforeTheScriptRuns(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"script missing":    {func(o *Options) { o.Argv = []string{"python", "miss.py"} }, "the script miss.py does not exist"},
		"another backend":   {func(o *Options) { o.AllocConf = "backend:cudaMallocAsync" }, "backend:cudaMallocAsync: PyTorch keeps no history"},
		"bad --alloc-conf":  {func(o *Options) { o.AllocConf = "expandable:yes" }, `--alloc-conf "expandable:yes": PyTorch 2.15.0 refuses it`},
		"no PyTorch":        {func(o *Options) { o.Machine = fakeMachine{&Error{Msg: "no PyTorch"}} }, "no PyTorch"},
		"another maker":     {func(o *Options) { o.Card.Vendor = "AMD" }, "imitates NVIDIA's CUDA"},
		"no such temp":      {func(o *Options) { o.TempDir = "/no/such/dir" }, "make a run folder"},
		"no such interface": {func(o *Options) { o.Python = "/no/python" }, "/no/python does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeRun(t, "touch ran")
			c.change(&f.options)
			_, err := Run(t.Context(), f.options)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
			if _, err := os.Stat(filepath.Join(f.dir, "ran")); err == nil {
				t.Error("the script was run")
			}
		})
	}
}

func TestACaptureStopsWhenItIsInterrupted(t *testing.T) {
	f := newFakeRun(t, "touch ../started 2>/dev/null; touch started; sleep 1000")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for range 1000 {
			if _, err := os.Stat(filepath.Join(f.dir, "started")); err == nil {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	_, err := Run(ctx, f.options)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(f.options.TempDir, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestTwoCapturesAtOnceDoNotMeet(t *testing.T) {
	done := make(chan error, 2)
	f := newFakeRun(t, "sleep 0.1; leave main")
	f.canned("main", trained(f.dir))
	for range 2 {
		go func() {
			c, err := Run(t.Context(), f.options)
			if err == nil && c.Result.Peak.Allocated != 100*unit.MiB {
				err = errors.New("another peak")
			}
			done <- err
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestARunFolderOfAKilledCaptureIsSwept(t *testing.T) {
	dir := t.TempDir()
	old, err := newFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(old.owner(), []byte("999999999 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(old.overlay(), "locked"), 0o500); err != nil {
		t.Fatal(err)
	}
	mine, err := newFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := newFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{old.path: false, mine.path: true, again.path: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: there is %v, want %v", path, err == nil, want)
		}
	}
}

func TestSnapshotsAreKept(t *testing.T) {
	f := newFakeRun(t, "leave a 1; leave b 2")
	for i, name := range []string{"a", "b"} {
		p := trained(f.dir)
		p.result.Rank, p.result.World = i, 2
		f.canned(name, p)
	}
	f.options.Snapshot = filepath.Join(f.dir, "out.pickle")
	if _, err := f.run(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"out.pickle", "out.rank1.pickle"} {
		if info, err := os.Stat(filepath.Join(f.dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
