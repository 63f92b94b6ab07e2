package compose

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// recordings is a file that testdata/record.py wrote.
type recordings struct {
	Torch  string
	Device kernel.Device
	Lists  map[string][][]int64
	Cases  []recording
}

// recording is one case. Spans are words: "a512" takes 512 bytes, "f3" gives the
// block back that was taken fourth.
type recording struct {
	ID        string
	Optimizer string
	List      string
	Elements  []int64 // of the parameters, in turn
	Missing   []int
	Clip      bool
	Scaler    bool
	Shards    int64
	Error     string
	Construct string
	Scale     []string
	Steps     []string
}

func load(t *testing.T) []recordings {
	t.Helper()
	paths, err := filepath.Glob("testdata/torch-*.json.gz")
	if err != nil || len(paths) == 0 {
		t.Fatal("no recordings", err)
	}
	all := make([]recordings, len(paths))
	for i, path := range paths {
		unpack(t, path, &all[i])
	}
	return all
}

// unpack reads a file of recordings into v.
func unpack(t *testing.T, path string, v any) {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(path, err)
	}
	if err := json.NewDecoder(z).Decode(v); err != nil {
		t.Fatal(path, err)
	}
}

func (r recording) params(lists map[string][][]int64) []Param {
	var params []Param
	for i, shape := range lists[r.List] {
		params = append(params, Param{Shape: shape, Element: r.Elements[i%len(r.Elements)]})
	}
	return params
}

// TestRecordings plays every recorded case and compares event by event.
func TestRecordings(t *testing.T) {
	for _, file := range load(t) {
		for _, c := range file.Cases {
			t.Run(fmt.Sprintf("%s/%d/%s", file.Torch, file.Device.Capability, c.ID), func(t *testing.T) {
				if c.Error != "" {
					t.Fatal(c.Error)
				}
				replay(t, c, c.params(file.Lists), file.Device, strings.HasPrefix(file.Torch, "2.6."))
			})
		}
	}
}

func replay(t *testing.T, c recording, params []Param, d kernel.Device, padded bool) {
	grads := make([]tape.BlockID, len(params))
	for _, i := range c.Missing {
		grads[i] = tape.NoBlock
	}
	var w tape.Writer
	o, err := NewOptimizer(c.Optimizer, params, d)
	if err != nil {
		t.Fatal(err)
	}
	f := Finish{Optimizer: o}
	if c.Clip {
		f.Clip = NewClip(params)
		f.Clip.Sharded, f.Clip.Padded = c.Shards > 0, padded
	}
	if c.Scaler {
		f.Scaler = &Scaler{}
	}
	span := spans{t: t, tape: w.Tape()}
	o.Construct(&w)
	span.check("construct", c.Construct)
	for i, want := range c.Steps {
		var loss tape.BlockID
		if c.Scaler {
			if i == 0 { // the scale and its growth tracker
				w.Alloc(scalarBytes, tape.OptimizerState)
				w.Alloc(scalarBytes, tape.OptimizerState)
			}
			loss = temporary(&w, scalarBytes)
			span.check("scale", c.Scale[i])
		}
		f.Step(&w, grads)
		span.check(fmt.Sprintf("step %d", i+1), want)
		if c.Scaler {
			w.Free(loss)
			span.at++
		}
	}
}

// spans compares a tape with recorded spans, one after another.
type spans struct {
	t    *testing.T
	tape *tape.Tape
	at   int // where the next one begins
}

func (s *spans) check(what, want string) {
	s.t.Helper()
	got := words(s.tape, s.at)
	s.at = s.tape.Len()
	if got, want := settle(got), settle(strings.Fields(want)); !slices.Equal(got, want) {
		s.t.Errorf("%s: %s", what, difference(got, want))
	}
}

// words are the events from one on, as recordings write them.
func words(t *tape.Tape, from int) []string {
	var out []string
	for i := from; i < t.Len(); i++ {
		if e := t.Event(i); e.Kind == tape.Alloc {
			out = append(out, "a"+strconv.FormatInt(int64(e.Bytes), 10))
		} else {
			out = append(out, "f"+strconv.Itoa(int(e.Block)))
		}
	}
	return out
}

// settle sorts each run of frees: no allocator can tell their order.
func settle(events []string) []string {
	for i := 0; i < len(events); {
		j := i
		for j < len(events) && events[j][0] == 'f' {
			j++
		}
		slices.Sort(events[i:j])
		i = j + 1
	}
	return events
}

func difference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			return fmt.Sprintf("event %d: got %v, want %v", i, got[min(i, len(got)):min(i+8, len(got))], want[min(i, len(want)):min(i+8, len(want))])
		}
	}
	return "equal"
}
