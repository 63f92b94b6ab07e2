package tape

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/unit"
)

func TestEventsComeBackAsTheyWere(t *testing.T) {
	var tp Tape
	site := tp.InternSite([]Frame{{"forward", "net.py", 3}, {"main", "train.py", 9}})
	side := tp.InternStream(0x55aa)
	want := []Event{
		{Kind: SegmentAlloc, Device: 1, Stream: side, Block: NoBlock, Bytes: 20 * unit.MiB, Addr: 0x7f0000000000, Time: 5},
		{Kind: Alloc, Device: 1, Stream: side, Bytes: 3 * unit.GiB, Addr: 0x7f0000000000, Site: site, Time: 1_700_000_000_000_000, Phase: Forward, Category: Activation},
		{Kind: Alloc, Block: 1, Bytes: 7, Addr: 0x10001, Time: 1_600_000_000_000_000},
		{Kind: FreeRequested, Device: 1, Stream: side, Bytes: 3 * unit.GiB, Addr: 0x7f0000000000, Site: site, Category: Activation},
		{Kind: Free, Device: 1, Stream: side, Bytes: 3 * unit.GiB, Addr: 0x7f0000000000, Category: Activation, Phase: Save},
		{Kind: OOM, Block: NoBlock, Bytes: 1 << 61, Addr: 12345},
	}
	for i, e := range want {
		if got := tp.Append(e); got != i {
			t.Fatalf("Append returned %d, want %d", got, i)
		}
	}
	for i, e := range want {
		if d := cmp.Diff(e, tp.Event(i)); d != "" {
			t.Errorf("event %d (-want +got):\n%s", i, d)
		}
	}
	wantBlock := Block{Bytes: 3 * unit.GiB, Addr: 0x7f0000000000, Device: 1, Stream: side, Site: site, Category: Activation, Phase: Forward, Alloc: 1, Free: 3}
	if d := cmp.Diff(wantBlock, tp.Block(0)); d != "" {
		t.Errorf("block 0 (-want +got):\n%s", d)
	}
	if got := tp.Block(1).Free; got != -1 {
		t.Errorf("block 1 lives, but Free is %d", got)
	}
}

func TestInitialBlocksHaveTheLowestIDs(t *testing.T) {
	var b Builder
	site := b.Tape().InternSite([]Frame{{"load", "weights.py", 1}})
	err := b.Initial(Segment{Addr: 0x200000, Bytes: 2 * unit.MiB, Small: true, Blocks: []SegmentBlock{
		{Addr: 0x200000, Bytes: 512, Requested: 4, State: Active, Block: NoBlock, Site: site},
		{Addr: 0x200200, Bytes: 1024, State: Inactive, Block: 77},
		{Addr: 0x200600, Bytes: 2*unit.MiB - 1536, Requested: 1 << 20, State: PendingFree, Block: NoBlock},
	}})
	if err != nil {
		t.Fatal(err)
	}
	got := b.Tape().Initial[0].Blocks
	if got[0].Block != 0 || got[1].Block != NoBlock || got[2].Block != 1 {
		t.Errorf("ids %d, %d, %d", got[0].Block, got[1].Block, got[2].Block)
	}
	if bl := b.Tape().Block(0); bl.Alloc != -1 || bl.Site != site || bl.Bytes != 4 || bl.Addr != 0x200000 {
		t.Errorf("initial block is %+v", bl)
	}
	for _, e := range []Event{{Kind: Alloc, Addr: 0x200200, Bytes: 1}, {Kind: FreeRequested, Addr: 0x200000}, {Kind: Free, Addr: 0x200600}, {Kind: Free, Addr: 0x200000}} {
		if _, err := b.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if b.Tape().AddInitial(Segment{}) {
		t.Error("AddInitial after an event succeeds")
	}
}

func TestBuilderRefusesWhatCannotHappen(t *testing.T) {
	for name, events := range map[string][]Event{
		"alloc where a block lives":     {{Kind: Alloc, Addr: 512}, {Kind: Alloc, Addr: 512}},
		"free of an unknown address":    {{Kind: Free, Addr: 512}},
		"free on another device":        {{Kind: Alloc, Addr: 512}, {Kind: Free, Addr: 512, Device: 1}},
		"a block given up twice":        {{Kind: Alloc, Addr: 512}, {Kind: FreeRequested, Addr: 512}, {Kind: FreeRequested, Addr: 512}},
		"a block freed twice":           {{Kind: Alloc, Addr: 512}, {Kind: Free, Addr: 512}, {Kind: Free, Addr: 512}},
		"alloc where a free is pending": {{Kind: Alloc, Addr: 512}, {Kind: FreeRequested, Addr: 512}, {Kind: Alloc, Addr: 512}},
		"an unknown kind":               {{Kind: kinds}},
		"an unknown phase":              {{Kind: Other, Phase: phases}},
		"an unknown category":           {{Kind: Alloc, Category: categories}},
		"a negative size":               {{Kind: Alloc, Bytes: -1}},
		"a size over every limit":       {{Kind: Alloc, Bytes: 1<<60 + 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var b Builder
			for i, e := range events {
				_, err := b.Add(e)
				if last := i == len(events)-1; (err != nil) != last {
					t.Fatalf("event %d: error %v", i, err)
				}
			}
			if b.Tape().Len() != len(events)-1 {
				t.Errorf("the refused event is on the tape")
			}
		})
	}
}

// draw makes a tape of every kind of event through a Builder.
func draw(t *rapid.T) *Tape {
	var b Builder
	tp := b.Tape()
	streams := []StreamID{0, tp.InternStream(7), tp.InternStream(1 << 60)}
	sites := []SiteID{0}
	for i := range rapid.IntRange(0, 4).Draw(t, "sites") {
		frames := make([]Frame, rapid.IntRange(1, 3).Draw(t, "depth"))
		for j := range frames {
			frames[j] = Frame{rapid.StringN(0, 4, 8).Draw(t, "name"), "f.py", rapid.IntRange(0, 9).Draw(t, "line") + i}
		}
		sites = append(sites, tp.InternSite(frames))
	}
	drawInitial(t, &b, streams, sites)
	var live, pending []place
	for range rapid.IntRange(0, 60).Draw(t, "events") {
		e := drawEvent(t, streams, sites)
		if !find(t, &b, &e, &live, &pending) {
			continue
		}
		if _, err := b.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	drawMarks(t, tp)
	for range rapid.IntRange(0, 3).Draw(t, "meta") {
		tp.SetMeta(rapid.StringN(0, 3, 6).Draw(t, "key"), rapid.StringN(0, 9, 18).Draw(t, "value"))
	}
	return tp
}

func drawEvent(t *rapid.T, streams []StreamID, sites []SiteID) Event {
	e := Event{
		Kind:   Kind(rapid.IntRange(0, int(kinds)-1).Draw(t, "kind")),
		Device: uint8(rapid.IntRange(0, 2).Draw(t, "device")),
		Stream: rapid.SampledFrom(streams).Draw(t, "stream"),
		Phase:  Phase(rapid.IntRange(0, int(phases)-1).Draw(t, "phase")),
		Bytes:  unit.Bytes(rapid.Int64Range(0, 1<<60).Draw(t, "bytes") >> rapid.IntRange(0, 59).Draw(t, "shift")),
		Addr:   rapid.Uint64().Draw(t, "addr") >> rapid.IntRange(0, 63).Draw(t, "shift"),
		Site:   rapid.SampledFrom(sites).Draw(t, "site"),
		Time:   rapid.Int64().Draw(t, "time") >> rapid.IntRange(0, 63).Draw(t, "shift"),
		Block:  NoBlock,
	}
	if e.Kind == Alloc {
		e.Category = Category(rapid.IntRange(0, int(categories)-1).Draw(t, "category"))
	}
	return e
}

// A place is an address of one device.
type place struct {
	device uint8
	addr   uint64
}

// find gives an event about a block the address of one that it can be about;
// false when there is none.
func find(t *rapid.T, b *Builder, e *Event, live, pending *[]place) bool {
	switch e.Kind {
	case Alloc:
		at := place{e.Device, e.Addr}
		if taken(b, at) {
			return false
		}
		*live = append(*live, at)
	case FreeRequested:
		if len(*live) == 0 {
			return false
		}
		at := (*live)[len(*live)-1]
		if h, ok := b.inUse[at.device][at.addr]; !ok || h&givenUp != 0 {
			return false
		}
		*live, *pending = (*live)[:len(*live)-1], append(*pending, at)
		e.Device, e.Addr = at.device, at.addr
	case Free:
		if len(*pending) == 0 {
			return false
		}
		at := (*pending)[rapid.IntRange(0, len(*pending)-1).Draw(t, "which")]
		e.Device, e.Addr = at.device, at.addr
		return taken(b, at)
	}
	return true
}

func taken(b *Builder, at place) bool {
	_, ok := b.Live(at.device, at.addr)
	return ok
}

func drawMarks(t *rapid.T, tp *Tape) {
	last := 0
	for range rapid.IntRange(0, 5).Draw(t, "marks") {
		last = rapid.IntRange(last, tp.Len()).Draw(t, "event")
		tp.Marks = append(tp.Marks, Mark{
			Event: last, Kind: MarkKind(rapid.IntRange(0, int(markKinds)-1).Draw(t, "mark")),
			Device: uint8(rapid.IntRange(0, 255).Draw(t, "device")), Name: rapid.StringN(0, 3, 6).Draw(t, "name"), Value: rapid.Int64().Draw(t, "value"),
		})
	}
}

func drawInitial(t *rapid.T, b *Builder, streams []StreamID, sites []SiteID) {
	for i := range rapid.IntRange(0, 3).Draw(t, "segments") {
		s := Segment{
			Addr: uint64(i+1) << 62, Device: uint8(i), Stream: rapid.SampledFrom(streams).Draw(t, "stream"), Small: rapid.Bool().Draw(t, "small"),
			Expandable: rapid.Bool().Draw(t, "expandable"), Pool: [2]uint64{rapid.Uint64().Draw(t, "pool"), uint64(i)}, Site: rapid.SampledFrom(sites).Draw(t, "site"),
		}
		for range rapid.IntRange(0, 4).Draw(t, "blocks") {
			p := SegmentBlock{Addr: s.Addr + uint64(s.Bytes), Bytes: 512 * unit.Bytes(rapid.Int64Range(1, 1<<30).Draw(t, "size")), State: State(rapid.IntRange(0, int(states)-1).Draw(t, "state")), Block: NoBlock}
			if p.State != Inactive {
				p.Requested, p.Site = p.Bytes-3, rapid.SampledFrom(sites).Draw(t, "site")
			}
			s.Bytes += p.Bytes
			s.Blocks = append(s.Blocks, p)
		}
		first := b.tape.Blocks()
		if err := b.Initial(s); err != nil {
			t.Fatal(err)
		}
		for id := first; id < b.tape.Blocks(); id++ {
			b.tape.SetCategory(BlockID(id), Category(rapid.IntRange(0, int(categories)-1).Draw(t, "category")))
		}
	}
}
