package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/plimsoll-dev/plimsoll/bars/bare"
	"github.com/plimsoll-dev/plimsoll/bars/proctree"
	"github.com/plimsoll-dev/plimsoll/unit"
)

//go:embed loops.py
var loopsPy []byte

//go:embed watch.py
var watchPy []byte

// version is the release that is compared with.
const version = "1.5.5"

type bench struct {
	plimsoll, python string
	checkout, dir    string
	env              []string // in which PyTorch loads, for FakeGPU
}

// A side is what one of the two said and took.
type side struct {
	proctree.Use
	allocated, reserved unit.Bytes
	live                moment
}

type result struct {
	name       string
	ours, fake side
}

// prepare finds the programs, checks the version and writes the files that
// both sides run.
func (b *bench) prepare(checkout string) error {
	for _, p := range []*string{&b.plimsoll, &b.python} {
		found, err := exec.LookPath(*p)
		if err != nil {
			return err
		}
		if *p, err = filepath.Abs(found); err != nil {
			return err
		}
	}
	var err error
	if b.checkout, err = filepath.Abs(checkout); err != nil {
		return err
	}
	stated, err := os.ReadFile(filepath.Join(b.checkout, "fakegpu", "_version.py"))
	if err != nil {
		return err
	}
	if !bytes.Contains(stated, []byte(`"`+version+`"`)) {
		return fmt.Errorf("%s is not FakeGPU %s", checkout, version)
	}
	if b.env, err = bare.Environ(context.Background(), b.python); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "fakegpu-"); err != nil {
		return err
	}
	for name, data := range map[string][]byte{"loops.py": loopsPy, "watch/sitecustomize.py": watchPy} {
		path := filepath.Join(b.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compare runs a loop under both, and once more under a watched FakeGPU, whose
// time does not count.
func (b *bench) compare(l loop) (result, error) {
	r := result{name: l.name}
	var err error
	if r.ours, err = b.capture(l); err != nil {
		return r, fmt.Errorf("capture: %w", err)
	}
	if r.fake, err = b.preflight(l, ""); err != nil {
		return r, fmt.Errorf("run FakeGPU's preflight: %w", err)
	}
	path := filepath.Join(b.dir, "watch.json")
	watched, err := b.preflight(l, path)
	if err != nil {
		return r, fmt.Errorf("watch FakeGPU's preflight: %w", err)
	}
	if watched.allocated != r.fake.allocated || watched.reserved != r.fake.reserved {
		return r, errors.New("FakeGPU's peaks were not the same twice")
	}
	r.fake.live, err = readWatch(path)
	return r, err
}

// run starts a command in the checkout and measures it.
func (b *bench) run(env []string, name string, args ...string) (proctree.Use, []byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = b.checkout
	cmd.Env = append(env, "HF_HUB_OFFLINE=1", "PYTHONDONTWRITEBYTECODE=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	use, err := proctree.Run(cmd)
	if err != nil {
		tail := errs.Bytes()
		return use, nil, fmt.Errorf("%w: %s", err, tail[max(0, len(tail)-2000):])
	}
	return use, out.Bytes(), nil
}

func (b *bench) capture(l loop) (side, error) {
	tapeFile := filepath.Join(b.dir, "run.tape")
	args := []string{"capture", "--gpu", card, "--format", "json", "-o", tapeFile, "--", b.python}
	use, out, err := b.run(append(os.Environ(), "PYTHONPATH="+b.checkout), b.plimsoll, append(args, l.real(b.dir)...)...)
	if err != nil {
		return side{}, err
	}
	var answer struct {
		Peak struct {
			Allocated unit.Bytes `json:"allocated_bytes"`
			Reserved  unit.Bytes `json:"reserved_bytes"`
		} `json:"peak"`
		Replay struct {
			Equal bool `json:"equal"`
		} `json:"replay"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return side{}, err
	}
	if !answer.Replay.Equal {
		return side{}, errors.New("the replay differs from PyTorch's own peaks")
	}
	live, err := readTape(tapeFile)
	return side{use, answer.Peak.Allocated, answer.Peak.Reserved, live}, err
}

// preflight runs FakeGPU as its documentation says; watch is the file for
// what its tracker counts, if that is wanted.
func (b *bench) preflight(l loop, watch string) (side, error) {
	report := filepath.Join(b.dir, "report")
	if err := os.RemoveAll(report); err != nil {
		return side{}, err
	}
	env := append(b.env, "PYTHONPATH="+b.checkout)
	if watch != "" {
		env = append(b.env, "PYTHONPATH="+filepath.Join(b.dir, "watch")+":"+b.checkout, "PLIMSOLL_WATCH="+watch)
	}
	args := []string{
		"-m", "fakegpu", "preflight", "--runtime", "fakecuda", "--profile", profile, "--device-count", "1",
		"--stage", "loop", "--report-dir", report, "--strict", "--", b.python,
	}
	use, _, err := b.run(env, b.python, append(args, l.fake(b.dir)...)...)
	if err != nil {
		return side{}, err
	}
	data, err := os.ReadFile(filepath.Join(report, "preflight_report.json"))
	if err != nil {
		return side{}, err
	}
	var said struct {
		Status  string `json:"status"`
		Devices []struct {
			Allocated unit.Bytes `json:"allocated_peak_memory"`
			Reserved  unit.Bytes `json:"peak_reserved_memory"`
		} `json:"devices"`
	}
	if err := json.Unmarshal(data, &said); err != nil {
		return side{}, err
	}
	if len(said.Devices) == 0 {
		return side{}, fmt.Errorf("its status is %s and it names no device", said.Status)
	}
	return side{Use: use, allocated: said.Devices[0].Allocated, reserved: said.Devices[0].Reserved}, nil
}
