package recordings_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
)

// Every tape can be read, and each of its formulas has a value where recordings
// were made.
func TestTapes(t *testing.T) {
	t.Parallel()
	card := kernel.Device{Capability: 80, Multiprocessors: 108, ThreadsPerMultiprocessor: 2048}
	n, inexact := 0, 0
	for _, torch := range recordings.Versions() {
		for _, family := range recordings.Families(torch) {
			file, err := recordings.Open(torch, family)
			if err != nil {
				t.Fatal(err)
			}
			if v := file.Version("torch"); !strings.HasPrefix(v, torch) {
				t.Errorf("%s in the folder of %s is of PyTorch %q", family, torch, v)
			}
			for _, key := range file.Keys() {
				tp, err := file.Tape(key)
				if err != nil {
					t.Errorf("%s: %v", family, err)
					continue
				}
				n++
				for _, d := range corners(tp) {
					if err := evaluate(tp, d, card); err != nil {
						t.Errorf("%s %s at %v: %v", family, key, d, err)
					}
				}
				if slices.ContainsFunc(tp.Checked, func(c symbolic.Check) bool { return !c.Exact() }) {
					inexact++
					t.Logf("%s %s was not equal to all that it was checked with: %v", family, key, tp.Checked)
				}
			}
		}
	}
	t.Logf("%d tapes, %d of them not exact", n, inexact)
	if n == 0 {
		t.Error("no recordings")
	}
}

// corners are the lowest and the highest dimensions of recordings.
func corners(tp *symbolic.Tape) [2]symbolic.Dims {
	c := [2]symbolic.Dims{{}, {}}
	for _, s := range tp.Seen {
		c[0][s.Name], c[1][s.Name] = s.Low, s.High
	}
	return c
}

func evaluate(tp *symbolic.Tape, d symbolic.Dims, card kernel.Device) error {
	var failed error
	tp.EachOp(func(op *symbolic.Op) {
		_, err1 := op.When.Holds(d, card)
		_, err2 := op.Bytes.Eval(d, card)
		failed = cmp.Or(failed, err1, err2)
	})
	if failed != nil {
		return failed
	}
	for i := range tp.Params {
		for _, e := range tp.Params[i].Shape {
			if v, err := e.Eval(d, card); err != nil || v < 0 {
				return fmt.Errorf("%s has an extent of %d: %w", tp.Params[i].Name, v, err)
			}
		}
	}
	return nil
}

// The binary carries all recordings; a bar says how much they may be.
func TestSize(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("torch-*/*" + recordings.Extension)
	if err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if total > 8<<20 {
		t.Errorf("the recordings take %d bytes, more than 8 MiB", total)
	}
	t.Logf("%d files, %d bytes", len(paths), total)
}

// What is no packed file is an error.
func TestUnpack(t *testing.T) {
	t.Parallel()
	if _, err := recordings.Unpack([]byte("part steady")); err == nil {
		t.Error("a text that is not packed was unpacked")
	}
}
