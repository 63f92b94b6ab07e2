package capture

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/gpu"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A scripted is a script under testdata/scripts and what its capture must say.
type scripted struct {
	name    string
	command string // after the interpreter's folder; "python plain.py" when empty
	card    string // "3090" when empty
	change  func(*Options)
	check   func(t *testing.T, dir string, c *Capture)
}

// scripts are the kinds of scripts that must work. Each file is a few lines
// of our own.
var scripts = []scripted{
	{name: "a plain loop", check: checkPlain},
	{name: "a plain loop with expandable segments", change: func(o *Options) { o.AllocConf = "expandable_segments:True" }, check: checkPlain},
	{name: "mixed precision with a GradScaler", command: "python amp_scaler.py", check: checkSteps},
	{name: "a script that saves each step", command: "python saves_each_step.py", check: checkSaves},
	{name: "out of memory", command: "python oom.py", check: checkOOM},
	{name: "transforms, TorchScript and sparse tensors", command: "python transforms.py", check: checkSteps},
	{name: "DataParallel on four devices", command: "python data_parallel.py", card: "a100x4", check: checkDataParallel},
	{name: "DDP under torchrun", command: "torchrun --nproc-per-node 2 ddp.py", card: "a100", check: checkRanks},
	{name: "DDP as the last rank of eight", command: "python ddp.py", card: "a100", change: func(o *Options) { o.World, o.Rank = 8, 7 }, check: checkSteps},
}

// python is the interpreter that the tests with PyTorch use.
func python(t testing.TB) string {
	t.Helper()
	path := os.Getenv("PLIMSOLL_PYTHON")
	if path == "" {
		t.Skip("PLIMSOLL_PYTHON names no interpreter with PyTorch; make test does")
	}
	return path
}

func TestScriptsUnderPyTorch(t *testing.T) {
	bin := filepath.Dir(python(t))
	for _, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS("testdata/scripts")); err != nil {
				t.Fatal(err)
			}
			words := strings.Fields(s.command)
			if len(words) == 0 {
				words = []string{"python", "plain.py"}
			}
			words[0] = filepath.Join(bin, words[0])
			c, err := Run(t.Context(), realOptions(t, s, dir, words))
			if err != nil {
				if e, ok := errors.AsType[*Error](err); ok {
					t.Log(e.Output)
				}
				t.Fatal(err)
			}
			checkAny(t, c)
			s.check(t, dir, c)
		})
	}
}

func realOptions(t *testing.T, s scripted, dir string, argv []string) Options {
	t.Helper()
	name := s.card
	if name == "" {
		name = "3090"
	}
	choice, err := gpu.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Argv: argv, Dir: dir, Environ: os.Environ(), Timeout: 3 * time.Minute, CuDNNWorkspace: -1,
		Card: Card{Card: choice.Card, Count: choice.Count, CountGiven: choice.Count > 1},
	}
	if s.change != nil {
		s.change(&o)
	}
	return o
}

// checkAny holds for every capture.
func checkAny(t *testing.T, c *Capture) {
	t.Helper()
	r := c.Result
	if !r.Replay.Equal {
		t.Errorf("the replay differs: %+v", r.Replay)
	}
	if r.ByCategory.Sum() != r.Peak.Device {
		t.Errorf("categories sum to %d, the device peak is %d", r.ByCategory.Sum(), r.Peak.Device)
	}
	for _, rec := range c.Recordings {
		if rec.Unknown > 0 {
			t.Errorf("%d labels of device %d lie in no block", rec.Unknown, rec.Device)
		}
	}
	if c.Unlimited == nil && len(r.Sites) > 0 && !r.Sites[0].User && r.Sites[0].File != "" && r.Sites[0].Bytes > r.Peak.Requested/2 {
		t.Errorf("most is held by a line that is not the user's: %+v", r.Sites[0])
	}
}

func checkSteps(t *testing.T, _ string, c *Capture) {
	t.Helper()
	r := c.Result
	if r.Verdict != Fits || r.End != endSteps || len(r.Steps) != DefaultSteps {
		t.Errorf("verdict %s, end %s, steps %+v", r.Verdict, r.End, r.Steps)
	}
	if r.ByCategory.Parameter == 0 {
		t.Errorf("no parameters in %+v", r.ByCategory)
	}
}

// checkPlain knows the net: two layers of 1,024 x 4,096, AdamW.
func checkPlain(t *testing.T, dir string, c *Capture) {
	t.Helper()
	checkSteps(t, dir, c)
	const weights = 2*1024*4096*4 + (4096+1024)*4
	b := c.Result.ByCategory
	if b.Parameter != weights {
		t.Errorf("parameters %d, want %d", b.Parameter, weights)
	}
	if b.Optimizer < 2*weights || b.Optimizer > 2*weights+unit.KiB {
		t.Errorf("optimizer state %d, want %d and the step counters", b.Optimizer, 2*weights)
	}
	if b.Unknown > unit.MiB {
		t.Errorf("%d bytes are not named", b.Unknown)
	}
}

func checkSaves(t *testing.T, dir string, c *Capture) {
	t.Helper()
	checkSteps(t, dir, c)
	for _, name := range []string{"checkpoint.pt", "log.txt"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if len(c.Result.Writes) == 0 {
		t.Error("no write is listed")
	}
}

func checkOOM(t *testing.T, _ string, c *Capture) {
	t.Helper()
	r := c.Result
	if r.Verdict != DoesNotFit || r.OOM == nil || r.OOM.Caught || !strings.Contains(r.OOM.Message, "CUDA out of memory") {
		t.Fatalf("verdict %s, %+v", r.Verdict, r.OOM)
	}
	if r.OOM.Phase != "forward" || !strings.HasSuffix(r.OOM.Site, "oom.py:13 in forward") {
		t.Errorf("in %s at %s", r.OOM.Phase, r.OOM.Site)
	}
	if r.OOM.Needs < 64*unit.GiB || c.Unlimited == nil {
		t.Errorf("needs %d", r.OOM.Needs)
	}
}

func checkDataParallel(t *testing.T, dir string, c *Capture) {
	t.Helper()
	checkSteps(t, dir, c)
	devices := c.Result.Processes[0].Devices
	if len(devices) != 4 || c.Result.Peak.Index != 0 {
		t.Fatalf("%d devices, the fullest is %d", len(devices), c.Result.Peak.Index)
	}
	for _, d := range devices {
		if d.Allocated < 64*unit.MiB {
			t.Errorf("device %d holds no replica: %d bytes", d.Index, d.Allocated)
		}
	}
}

func checkRanks(t *testing.T, dir string, c *Capture) {
	t.Helper()
	checkSteps(t, dir, c)
	r := c.Result
	if len(r.Processes) != 2 || r.Processes[1].Rank != 1 || r.Processes[1].Devices[0].Index != 1 {
		t.Fatalf("processes %+v", r.Processes)
	}
	if r.ByCategory.Communication == 0 {
		t.Errorf("no buckets in %+v", r.ByCategory)
	}
}

// hopeless are set-ups that cannot work, each with its sentence.
func TestPythonsThatCannotBeCaptured(t *testing.T) {
	python(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "train.py"), []byte("print()"), 0o644); err != nil {
		t.Fatal(err)
	}
	bare := filepath.Join(dir, "python3")
	if err := os.WriteFile(bare, []byte("#!/bin/sh\nexec python3 -S \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Run(t.Context(), realOptions(t, scripted{}, dir, []string{bare, "train.py"}))
	if err == nil || !strings.Contains(err.Error(), "PyTorch is not installed there") {
		t.Errorf("without PyTorch: %v", err)
	}
}
