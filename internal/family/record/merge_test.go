package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// tapesFile writes a file whose tapes differ in so many events from their checks.
func tapesFile(t *testing.T, path, torch string, off map[string]int) {
	t.Helper()
	c := symbolic.NewCollection()
	c.Meta = [][2]string{{"torch", torch}}
	for key, n := range off {
		c.Add(key, checkedTape(n))
	}
	if err := write(path, c); err != nil {
		t.Fatal(err)
	}
}

// What is missing is added, what is closer takes the other's place, and nothing else.
func TestMerge(t *testing.T) {
	t.Parallel()
	into, from := filepath.Join(t.TempDir(), "torch-2.15.0"), filepath.Join(t.TempDir(), "torch-2.15.0")
	name := "llama" + recordings.Extension
	tapesFile(t, filepath.Join(into, name), "2.15.0", map[string]int{"a": 4, "b": 4, "c": 0})
	tapesFile(t, filepath.Join(from, name), "2.15.0", map[string]int{"a": 0, "b": 8, "d": 2})
	var said strings.Builder
	if err := merge(&said, into, from); err != nil || said.String() != name+": 2 tapes\n" {
		t.Fatal(said.String(), err)
	}
	c, err := open(filepath.Join(into, name))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]int{"a": 0, "b": 4, "c": 0, "d": 2} {
		tape, err := c.Tape(key)
		if err != nil {
			t.Fatal(key, err)
		}
		if got, _ := unlike(tape); got != want {
			t.Errorf("%s differs in %d events, not %d", key, got, want)
		}
	}
	tapesFile(t, filepath.Join(from, name), "2.16.0", map[string]int{"e": 0})
	if err := merge(&said, into, from); err == nil || !strings.Contains(err.Error(), "2.16.0") {
		t.Error("tapes of two versions in one file:", err)
	}
	if err := merge(&said, into, t.TempDir()); err == nil {
		t.Error("a folder without tapes is no error")
	}
}
