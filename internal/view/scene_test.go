package view_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/internal/format/snapshot"
	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/internal/view"
	"github.com/plimsoll-dev/plimsoll/internal/view/viewtest"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// signed are the columns of differences, as in decode.js.
var signed = map[string]bool{"start": true, "addr": true, "time": true}

type head struct {
	States, Blocks, Shift int
	Strings, Lines        []string
	Columns               []struct {
		Name         string
		Count, Bytes int
	}
}

// read decodes a scene, as the page does.
func read(t interface{ Fatal(...any) }, file []byte) (head, map[string][]int64) {
	var h head
	if !bytes.HasPrefix(file, []byte("PLV\x01")) {
		t.Fatal("no magic")
	}
	size := int(binary.LittleEndian.Uint32(file[4:]))
	if err := json.Unmarshal(file[8:8+size], &h); err != nil {
		t.Fatal(err)
	}
	file = file[8+size:]
	columns := map[string][]int64{}
	for _, c := range h.Columns {
		data, sum := file[:c.Bytes], int64(0)
		file = file[c.Bytes:]
		for range c.Count {
			if signed[c.Name] {
				v, n := binary.Varint(data)
				sum += v
				columns[c.Name] = append(columns[c.Name], sum)
				data = data[n:]
				continue
			}
			v, n := binary.Uvarint(data)
			columns[c.Name] = append(columns[c.Name], int64(v))
			data = data[n:]
		}
		if len(data) > 0 {
			t.Fatal("column " + c.Name + " has bytes to spare")
		}
	}
	if len(file) > 0 {
		t.Fatal("bytes to spare behind the columns")
	}
	return h, columns
}

func TestSceneIsTheDrawing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tp := viewtest.Random(rapid.Uint64().Draw(t, "seed"))
		d, err := view.New(view.Recording{Tape: tp, Device: uint8(rapid.IntRange(0, 1).Draw(t, "device"))}, view.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := d.WriteScene(&out, view.Caption{}); err != nil {
			t.Fatal(err)
		}
		h, c := read(t, out.Bytes())
		if h.States != d.States() || h.Blocks != len(c["start"]) {
			t.Fatalf("%d states and %d blocks", h.States, h.Blocks)
		}
		i := 0
		d.Each(func(id tape.BlockID, b tape.Block, start, end int) {
			shape := c["shape"][i]
			life := c["life"][i]
			if end == d.States() {
				end = start
			}
			if c["start"][i] != int64(start) || life != int64(end-start) || unit.Bytes(c["requested"][shape]) != b.Bytes || uint64(c["addr"][i])<<h.Shift != b.Addr {
				t.Fatalf("block %d is not as drawn", id)
			}
			if site := c["site"][shape]; (site == 0) != (b.Site == 0) {
				t.Fatalf("block %d has stack %d", id, site)
			} else if site > 0 && h.Lines[c["stackLine"][site-1]] != d.Lines.Name(d.Lines.Of(b.Site)) {
				t.Fatalf("block %d has another line", id)
			}
			i++
		})
		if i != h.Blocks || len(c["segmentStart"]) != len(d.Segments) {
			t.Fatalf("%d blocks and %d segments", i, len(d.Segments))
		}
	})
}

// TestGivenSnapshots compares drawings with facts that CPython's own unpickler
// gave.
func TestGivenSnapshots(t *testing.T) {
	cases := os.Getenv("PLIMSOLL_CASES")
	if cases == "" {
		t.Skip("PLIMSOLL_CASES is not set")
	}
	text, err := os.ReadFile(filepath.Join(cases, "snapshots", "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected map[string]struct {
		Segments int                       `json:"segments"`
		Reserved unit.Bytes                `json:"reserved_bytes"`
		Events   map[string]map[string]int `json:"devices_with_events"`
		Peak     map[string]struct {
			Rise unit.Bytes `json:"peak_rise_above_first_event_bytes"`
			At   int        `json:"at_event"`
		} `json:"trace_peak"`
	}
	if err := json.Unmarshal(text, &expected); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]tape.Kind{
		"alloc": tape.Alloc, "free_requested": tape.FreeRequested, "free_completed": tape.Free,
		"segment_alloc": tape.SegmentAlloc, "segment_free": tape.SegmentFree, "segment_map": tape.SegmentMap, "segment_unmap": tape.SegmentUnmap,
	}
	for name, want := range expected {
		d := open(t, filepath.Join(cases, "snapshots", name))
		at := d.States() - 1
		segments := 0
		for _, s := range d.Segments {
			if s.Start <= at && at < s.End {
				segments++
			}
		}
		if segments != want.Segments || d.Totals.Last.Reserved != want.Reserved {
			t.Errorf("%s: %d segments of %d bytes at the end, want %d of %d", name, segments, d.Totals.Last.Reserved, want.Segments, want.Reserved)
		}
		for kind, n := range want.Events["0"] {
			if got := d.Totals.Kinds[kinds[kind]]; got != n {
				t.Errorf("%s: %d events %s, want %d", name, got, kind, n)
			}
		}
		if p, ok := want.Peak["0"]; ok && d.Event(d.Totals.Peak.State) != p.At {
			t.Errorf("%s: the peak is at event %d, want %d", name, d.Event(d.Totals.Peak.State), p.At)
		} else if rise := d.Totals.Peak.Requested - d.Totals.First.Requested; ok && rise != p.Rise {
			t.Errorf("%s: the peak is %d above the beginning, want %d", name, rise, p.Rise)
		}
	}
}

func open(t *testing.T, path string) *view.Drawing {
	t.Helper()
	f, size, err := input.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := snapshot.Read(f, size, path, input.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := view.New(view.Recording{Tape: s.Tapes[0], Device: s.Devices[0], Final: s.Final[0]}, view.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestHostileTextsAreBounded(t *testing.T) {
	d, err := view.New(view.Recording{Tape: viewtest.Hostile()}, view.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := d.WriteScene(&out, view.Caption{File: "\xff</script>"}); err != nil {
		t.Fatal(err)
	}
	h, _ := read(t, out.Bytes())
	for _, s := range h.Strings {
		if len(s) > 1000 {
			t.Errorf("a text of %d bytes", len(s))
		}
	}
	if bytes.Contains(out.Bytes()[:8+int(binary.LittleEndian.Uint32(out.Bytes()[4:]))], []byte("</script>")) {
		t.Error("a text ends the script element")
	}
}

// TestMemoryOfADrawing bounds what a drawing keeps beside its tape, and what it
// takes while it is written.
func TestMemoryOfADrawing(t *testing.T) {
	tp := long(600_000)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	d, err := view.New(view.Recording{Tape: tp}, view.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if kept := float64(heap()-before) / float64(tp.Len()); kept > 1 {
		t.Errorf("a drawing keeps %.2f bytes an event", kept)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	total := m.TotalAlloc
	if err := d.WriteScene(io.Discard, view.Caption{}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&m)
	if taken := float64(m.TotalAlloc-total) / float64(tp.Len()); taken > 40 {
		t.Errorf("writing takes %.1f bytes an event", taken)
	}
	runtime.KeepAlive(d)
}

func BenchmarkDraw(b *testing.B) {
	t := long(200_000)
	b.ReportAllocs()
	for b.Loop() {
		d, err := view.New(view.Recording{Tape: t}, view.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := d.WriteScene(&bytes.Buffer{}, view.Caption{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(t.Len())*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// long makes a tape of so many events, as a training loop does.
func long(events int) *tape.Tape {
	w := &tape.Writer{}
	for w.Tape().Len() < events {
		var kept []tape.BlockID
		for i := range 200 {
			kept = append(kept, w.Alloc(unit.Bytes(i+1)*64*unit.KiB, tape.Activation))
			w.Free(w.Alloc(unit.MiB, tape.Temporary))
		}
		for i := range kept {
			w.Free(kept[len(kept)-1-i])
		}
	}
	return w.Tape()
}
