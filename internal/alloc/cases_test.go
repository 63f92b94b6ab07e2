package alloc

import (
	"errors"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// sequence is one conformance case of allocator_cases.json.
type sequence struct {
	ID     string         `json:"id"`
	Config string         `json:"config"`
	Total  unit.Bytes     `json:"device_total_bytes"`
	Ops    []operation    `json:"ops"`
	Stated map[string]any `json:"stated_by_source"`
}

type operation struct {
	Op     string           `json:"op"`
	ID     string           `json:"id"`
	Size   unit.Bytes       `json:"size"`
	Stream uint64           `json:"stream"`
	Pool   uint64           `json:"pool"`
	Value  any              `json:"value"`
	Delta  bool             `json:"delta"`
	Expect map[string]int64 `json:"expect"`
	Got    *struct {
		OOM    bool       `json:"oom"`
		Size   unit.Bytes `json:"block_size"`
		Offset uint64     `json:"offset_in_segment"`
	} `json:"got"`
}

func TestSequences(t *testing.T) {
	var file struct {
		Cases []sequence `json:"cases"`
	}
	read(t, "allocator_cases.json", &file)
	if len(file.Cases) != 52 {
		t.Fatalf("%d sequences, want 52", len(file.Cases))
	}
	for _, c := range file.Cases {
		t.Run(c.ID, func(t *testing.T) { play(t, c) })
	}
}

// play runs a sequence and compares everything that it states.
func play(t *testing.T, c sequence) {
	settings, err := ParseSettings(c.Config, Version{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(settings, c.Total)
	if err != nil {
		t.Fatal(err)
	}
	blocks, mark := map[string]Handle{}, map[string]int64{}
	for i, o := range c.Ops {
		var err error
		switch o.Op {
		case "alloc":
			blocks[o.ID] = playAlloc(t, i, m, o)
		case "free":
			err = m.Free(blocks[o.ID])
		case "record_stream":
			err = m.RecordStream(blocks[o.ID], o.Stream)
		case "stream_done":
			err = m.StreamDone(0, o.Stream)
		case "empty_cache":
			m.EmptyCache()
		case "pool_begin":
			err = m.PoolBegin(0, PoolID{o.Pool})
		case "pool_end":
			err = m.PoolEnd(0, PoolID{o.Pool})
		case "pool_release":
			err = m.PoolRelease(0, PoolID{o.Pool})
		case "set_fraction":
			err = m.SetFraction(0, o.Value.(float64))
		case "set_settings":
			err = m.SetSettings(o.Value.(string))
		case "mark":
			mark = m.Stats(0)
		case "check":
			playCheck(t, i, m.Stats(0), mark, o)
		default:
			t.Fatalf("step %d: unknown operation %q", i, o.Op)
		}
		if err != nil {
			t.Fatalf("step %d, %s: %v", i, o.Op, err)
		}
		check(t, m)
	}
	if want, ok := c.Stated["pool_segments"]; ok {
		got := 0
		segments, _ := m.Segments(0)
		for _, s := range segments {
			if s.Pool != (PoolID{}) {
				got++
			}
		}
		if float64(got) != want {
			t.Errorf("%d segments in private pools, want %v", got, want)
		}
	}
}

func playAlloc(t *testing.T, i int, m *Simulator, o operation) Handle {
	t.Helper()
	h, err := m.Alloc(0, o.Stream, o.Size)
	var oom *OOMError
	if o.Got == nil {
		t.Fatalf("step %d says nothing about what it got", i)
	}
	if o.Got.OOM != errors.As(err, &oom) {
		t.Fatalf("step %d: error %v", i, err)
	}
	if o.Got.OOM {
		return Handle{}
	}
	size, _, offset, err := m.Place(h)
	if err != nil || size != o.Got.Size || offset != o.Got.Offset {
		t.Fatalf("step %d: %d bytes at %d (%v), want %d at %d", i, size, offset, err, o.Got.Size, o.Got.Offset)
	}
	return h
}

func playCheck(t *testing.T, i int, got, mark map[string]int64, o operation) {
	t.Helper()
	if len(o.Expect) == 0 {
		t.Fatalf("step %d checks nothing", i)
	}
	for name, want := range o.Expect {
		full := fullName(name, got)
		value, ok := got[full]
		if !ok {
			t.Fatalf("step %d: no counter %q", i, name)
		}
		if o.Delta {
			value -= mark[full]
		}
		if value != want {
			t.Errorf("step %d: %s is %d, want %d", i, name, value, want)
		}
	}
}

// fullName completes a counter's name: no suffix means .all.current, a pool
// means its current value.
func fullName(name string, known map[string]int64) string {
	for _, suffix := range []string{"", ".current", ".all.current"} {
		if _, ok := known[name+suffix]; ok {
			return name + suffix
		}
	}
	return name
}

// TestStatedBySource compares the few numbers that PyTorch's own tests state
// beside the steps of their sequences with the end of those sequences.
func TestStatedBySource(t *testing.T) {
	var file struct {
		Cases []sequence `json:"cases"`
	}
	read(t, "allocator_cases.json", &file)
	seen := 0
	for _, c := range file.Cases {
		if len(c.Stated) == 0 {
			continue
		}
		seen++
		known := map[string]bool{}
		for _, o := range c.Ops {
			for _, n := range o.Expect {
				known[strconv.FormatInt(n, 10)] = true
			}
		}
		for name, want := range c.Stated {
			n, ok := want.(float64)
			if ok && name != "pool_segments" && !known[strconv.FormatInt(int64(n), 10)] {
				t.Errorf("%s: no check of the sequence has %s = %.0f", c.ID, name, n)
			}
		}
	}
	if seen != 11 {
		t.Errorf("%d sequences have stated numbers, want 11", seen)
	}
}

func TestOutOfMemoryText(t *testing.T) {
	var file struct {
		Texts []struct {
			Request unit.Bytes `json:"request"`
			Want    string     `json:"expect_contains"`
		} `json:"oom_text"`
	}
	read(t, "allocator_cases.json", &file)
	if len(file.Texts) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range file.Texts {
		m, err := New(Settings{}, 80*unit.GiB)
		if err != nil {
			t.Fatal(err)
		}
		before := m.Stats(0)
		if _, err = m.Alloc(0, 0, c.Request); err == nil || !strings.Contains(err.Error(), c.Want) {
			t.Errorf("%d bytes: %v, want %q in it", c.Request, err, c.Want)
		}
		if c.Request >= hugeRequest && !maps.Equal(before, m.Stats(0)) {
			t.Errorf("%d bytes: counters changed", c.Request)
		}
	}
}
