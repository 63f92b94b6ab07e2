package alloc

import (
	"errors"
	"testing"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

func newSimulator(t *testing.T, config string, v Version, capacity unit.Bytes) *Simulator {
	t.Helper()
	s, err := ParseSettings(config, v)
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(s, capacity)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestUsesNotedDuringACaptureAreDropped: a use by another stream that was
// noted before the capture is waited for, one of the capture itself is not.
func TestUsesNotedDuringACaptureAreDropped(t *testing.T) {
	for _, c := range []struct {
		name   string
		before bool
		active unit.Bytes // after the capture and one more request
	}{{"noted before", true, 1024}, {"noted during", false, 512}} {
		t.Run(c.name, func(t *testing.T) {
			m := newSimulator(t, "", Version{}, unit.GiB)
			h := must[Handle](t)(m.Alloc(0, 0, 512))
			note := func() {
				if err := m.RecordStream(h, 5); err != nil {
					t.Fatal(err)
				}
			}
			if c.before {
				note()
			}
			if err := m.PoolBegin(0, PoolID{1, 0}); err != nil {
				t.Fatal(err)
			}
			if !c.before {
				note()
			}
			if err := m.Free(h); err != nil {
				t.Fatal(err)
			}
			if err := m.PoolEnd(0, PoolID{1, 0}); err != nil {
				t.Fatal(err)
			}
			must[Handle](t)(m.Alloc(0, 0, 512))
			if got := unit.Bytes(m.Stats(0)["active_bytes.all.current"]); got != c.active {
				t.Errorf("%d bytes active, want %d", got, c.active)
			}
		})
	}
}

func TestNestedPoolsByVersion(t *testing.T) {
	outer, inner := PoolID{0, 1}, PoolID{0, 2}
	for v, want := range map[Version]PoolID{{2, 4}: outer, {2, 15}: inner} {
		m := newSimulator(t, "", v, unit.GiB)
		for _, p := range []PoolID{outer, inner} {
			if err := m.PoolBegin(0, p); err != nil {
				t.Fatal(err)
			}
		}
		must[Handle](t)(m.Alloc(0, 0, 512))
		segments, _ := m.Segments(0)
		if len(segments) != 1 || segments[0].Pool != want {
			t.Errorf("%s: segments %+v, want one in pool %v", v, segments, want)
		}
	}
}

// TestFlushOrder: the default large pool goes first, then the small one, each
// in the order of stream and size.
func TestFlushOrder(t *testing.T) {
	var tp tape.Tape
	var final []tape.Segment
	add := func(addr uint64, size unit.Bytes, stream uint64) {
		tp.AddInitial(tape.Segment{Addr: addr, Bytes: size, Stream: tp.InternStream(stream), Small: size == smallSegment,
			Blocks: []tape.SegmentBlock{{Addr: addr, Bytes: size}}})
	}
	add(1<<30, smallSegment, 0)
	add(2<<30, largeSegment, 9)
	add(3<<30, 30*unit.MiB, 0)
	add(4<<30, largeSegment, 0)
	for _, s := range []struct {
		addr   uint64
		size   unit.Bytes
		stream uint64
	}{{4 << 30, largeSegment, 0}, {3 << 30, 30 * unit.MiB, 0}, {2 << 30, largeSegment, 9}, {1 << 30, smallSegment, 0}} {
		tp.Append(tape.Event{Kind: tape.SegmentFree, Addr: s.addr, Bytes: s.size, Stream: tp.InternStream(s.stream), Block: tape.NoBlock})
	}
	c := must[*Comparison](t)(Verify(&tp, Settings{}, final))
	if !c.Equal() || c.SegmentFrees != 4 || c.Flushes != 1 {
		t.Errorf("%+v", c)
	}
}

// TestVerifyFindsTheHoleBeforeARange: pages that are mapped below the first
// run of an expandable segment show that its range begins there.
func TestVerifyFindsTheHoleBeforeARange(t *testing.T) {
	const base = uint64(1) << 40
	page := 20 * unit.MiB
	run := base + uint64(page)
	var tp tape.Tape
	tp.AddInitial(tape.Segment{Addr: run, Bytes: page, Expandable: true, Blocks: []tape.SegmentBlock{{Addr: run, Bytes: page, Requested: page, State: tape.Active}}})
	tp.Append(tape.Event{Kind: tape.SegmentMap, Addr: base, Bytes: page, Block: tape.NoBlock})
	tp.Append(tape.Event{Kind: tape.Alloc, Addr: base, Bytes: page})
	final := []tape.Segment{{Addr: base, Bytes: 2 * page, Expandable: true, Blocks: []tape.SegmentBlock{
		{Addr: base, Bytes: page, Requested: page, State: tape.Active, Block: 1}, {Addr: run, Bytes: page, Requested: page, State: tape.Active},
	}}}
	c := must[*Comparison](t)(Verify(&tp, Settings{Expandable: true}, final))
	if !c.Equal() || c.Maps != 1 || c.Blocks != 2 {
		t.Errorf("%+v", c)
	}
}

// TestVerifySeesDifferences: a comparison that cannot fail is worth nothing.
func TestVerifySeesDifferences(t *testing.T) {
	page := 20 * unit.MiB
	good := func() (*tape.Tape, []tape.Segment) {
		tp := &tape.Tape{}
		tp.Append(tape.Event{Kind: tape.SegmentAlloc, Addr: 1 << 40, Bytes: page, Block: tape.NoBlock})
		tp.Append(tape.Event{Kind: tape.Alloc, Addr: 1 << 40, Bytes: 3 * unit.MiB})
		return tp, []tape.Segment{{Addr: 1 << 40, Bytes: page, Blocks: []tape.SegmentBlock{
			{Addr: 1 << 40, Bytes: 3 * unit.MiB, Requested: 3 * unit.MiB, State: tape.Active, Block: 0}, {Addr: 1<<40 + 3<<20, Bytes: 17 * unit.MiB, Block: tape.NoBlock},
		}}}
	}
	for name, change := range map[string]func(*tape.Tape, []tape.Segment) *tape.Tape{
		"":                     func(tp *tape.Tape, _ []tape.Segment) *tape.Tape { return tp },
		"another state":        func(tp *tape.Tape, s []tape.Segment) *tape.Tape { s[0].Blocks[0].State = tape.PendingFree; return tp },
		"another size":         func(tp *tape.Tape, s []tape.Segment) *tape.Tape { s[0].Blocks[1].Bytes++; return tp },
		"another request":      func(tp *tape.Tape, s []tape.Segment) *tape.Tape { s[0].Blocks[0].Requested++; return tp },
		"another segment size": func(tp *tape.Tape, s []tape.Segment) *tape.Tape { s[0].Bytes++; return tp },
		"another pool":         func(tp *tape.Tape, s []tape.Segment) *tape.Tape { s[0].Small = true; return tp },
		"another place":        func(tp *tape.Tape, s []tape.Segment) *tape.Tape { s[0].Addr++; return tp },
		"an extra segment": func(tp *tape.Tape, _ []tape.Segment) *tape.Tape {
			tp.Append(tape.Event{Kind: tape.SegmentAlloc, Addr: 1 << 41, Bytes: page})
			return tp
		},
		"an extra free": func(tp *tape.Tape, _ []tape.Segment) *tape.Tape {
			tp.Append(tape.Event{Kind: tape.SegmentFree, Addr: 1 << 40, Bytes: page})
			return tp
		},
		"another block": func(tp *tape.Tape, _ []tape.Segment) *tape.Tape {
			tp.Append(tape.Event{Kind: tape.Alloc, Addr: 1 << 40, Bytes: 1024 * unit.KiB * 2})
			return tp
		},
		"a failure that is none": func(tp *tape.Tape, _ []tape.Segment) *tape.Tape {
			tp.Append(tape.Event{Kind: tape.OOM, Bytes: 2 * unit.MiB})
			return tp
		},
	} {
		tp, final := good()
		tp = change(tp, final)
		c := must[*Comparison](t)(Verify(tp, Settings{}, final))
		if c.Equal() != (name == "") {
			t.Errorf("%q: %+v", name, c)
		}
	}
}

func TestMisuseIsAnError(t *testing.T) {
	m := newSimulator(t, "", Version{}, unit.GiB)
	h := must[Handle](t)(m.Alloc(0, 0, 5))
	if _, err := m.Alloc(1, 0, 5); !errors.Is(err, ErrDevice) {
		t.Errorf("Alloc on device 1: %v", err)
	}
	if err := m.Free(h); err != nil {
		t.Error(err)
	}
	if err := m.Free(h); !errors.Is(err, ErrHandle) {
		t.Errorf("second Free: %v", err)
	}
	if err := m.PoolEnd(0, PoolID{0, 8}); !errors.Is(err, ErrPool) {
		t.Errorf("PoolEnd: %v", err)
	}
	if err := m.PoolRelease(0, PoolID{0, 8}); !errors.Is(err, ErrPool) {
		t.Errorf("PoolRelease: %v", err)
	}
	if err := m.SetSettings("nonsense:1"); err == nil {
		t.Error("SetSettings accepts nonsense")
	}
	if h, err := m.Alloc(0, 0, 0); err != nil || h != (Handle{}) || m.Free(h) != nil {
		t.Errorf("zero bytes give %v, %v", h, err)
	}
}

func TestParseVersion(t *testing.T) {
	for s, want := range map[string]Version{"2.6.0+cu124": {2, 6}, "2.15.0": {2, 15}, "1.13": {1, 13}, "2.1.0a0+git": {2, 1}} {
		if got, err := ParseVersion(s); err != nil || got != want {
			t.Errorf("ParseVersion(%q) = %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "2", "two.one", "2.", "-1.3", "0.4.1"} {
		if got, err := ParseVersion(s); err == nil {
			t.Errorf("ParseVersion(%q) = %v", s, got)
		}
	}
	if (Version{}).String() != Newest.String() {
		t.Error("the zero version is not the newest")
	}
}
