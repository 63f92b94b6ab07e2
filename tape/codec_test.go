package tape

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/unit"
)

func write(t interface{ Fatal(...any) }, tp *Tape) []byte {
	var buf bytes.Buffer
	n, err := tp.WriteTo(&buf)
	if err != nil {
		t.Fatal(err)
	}
	if int(n) != buf.Len() {
		t.Fatal("WriteTo returned a wrong length")
	}
	return buf.Bytes()
}

// same compares everything that can be seen of two tapes.
func same(t interface{ Fatalf(string, ...any) }, want, got *Tape) {
	if want.Len() != got.Len() || want.Blocks() != got.Blocks() || want.Sites() != got.Sites() || want.Streams() != got.Streams() {
		t.Fatalf("lengths differ: %d events, %d blocks, want %d, %d", got.Len(), got.Blocks(), want.Len(), want.Blocks())
	}
	for i := range want.Len() {
		if want.Event(i) != got.Event(i) {
			t.Fatalf("event %d is %+v, want %+v", i, got.Event(i), want.Event(i))
		}
	}
	for b := range want.Blocks() {
		if want.Block(BlockID(b)) != got.Block(BlockID(b)) {
			t.Fatalf("block %d is %+v, want %+v", b, got.Block(BlockID(b)), want.Block(BlockID(b)))
		}
	}
	for s := 0; s <= want.Sites(); s++ {
		if d := cmp.Diff(want.Site(SiteID(s)), got.Site(SiteID(s))); d != "" {
			t.Fatalf("site %d (-want +got):\n%s", s, d)
		}
	}
	for s := range want.Streams() {
		if want.StreamHandle(StreamID(s)) != got.StreamHandle(StreamID(s)) {
			t.Fatalf("stream %d has another handle", s)
		}
	}
	for _, d := range []string{cmp.Diff(want.Marks, got.Marks), cmp.Diff(want.Meta, got.Meta), cmp.Diff(want.Initial, got.Initial, cmpopts.EquateEmpty())} {
		if d != "" {
			t.Fatalf("(-want +got):\n%s", d)
		}
	}
}

func TestFileGivesBackTheTape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := draw(t)
		file := write(t, want)
		got, err := Read(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		same(t, want, got)
		if !bytes.Equal(write(t, got), file) {
			t.Fatal("writing what was read gives another file")
		}
	})
}

// loop makes a tape of steps like those of training: the same sizes and
// stacks again and again.
func loop(events int) *Tape {
	tp := &Tape{}
	site := tp.InternSite([]Frame{{"forward", "net.py", 3}})
	const perStep = 300
	for step := 0; tp.Len() < events; step++ {
		first := tp.Blocks()
		for i := range perStep {
			tp.Append(Event{Kind: Alloc, Bytes: unit.Bytes(i+1) * 4096, Addr: 0x7f0000000000 + uint64(i)*20<<20, Site: site, Time: int64(tp.Len()) * 13, Phase: Forward})
		}
		for i := range perStep {
			tp.Append(Event{Kind: FreeRequested, Block: BlockID(first + i), Site: site, Time: int64(tp.Len()) * 13, Phase: Backward})
			tp.Append(Event{Kind: Free, Block: BlockID(first + i), Site: site, Time: int64(tp.Len()) * 13, Phase: Backward})
		}
		tp.Marks = append(tp.Marks, Mark{Event: tp.Len(), Kind: MarkStep, Value: int64(step)})
	}
	return tp
}

func TestLongTapeRoundTrip(t *testing.T) {
	want := loop(3*chunkLen + 5)
	file := write(t, want)
	got, err := Read(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	same(t, want, got)
	t.Logf("%.2f bytes an event in the file", float64(len(file))/float64(want.Len()))
}

// small is a tape with every kind of section.
func small(t *testing.T) *Tape {
	var b Builder
	tp := b.Tape()
	tp.SetMeta("torch", "2.15.0")
	site := tp.InternSite([]Frame{{"forward", "net.py", 3}, {"main", "train.py", 12}})
	side := tp.InternStream(0xabc)
	if err := b.Initial(Segment{Addr: 1 << 40, Bytes: 2 * unit.MiB, Small: true, Pool: [2]uint64{0, 3}, Blocks: []SegmentBlock{
		{Addr: 1 << 40, Bytes: 1024, Requested: 1000, State: Active, Site: site},
		{Addr: 1<<40 + 1024, Bytes: 2*unit.MiB - 1024},
	}}); err != nil {
		t.Fatal(err)
	}
	for _, e := range []Event{
		{Kind: SegmentAlloc, Stream: side, Addr: 1 << 41, Bytes: 20 * unit.MiB, Time: 1_700_000_000_000_000},
		{Kind: Alloc, Stream: side, Addr: 1 << 41, Bytes: 3 * unit.MiB, Site: site, Time: 1_700_000_000_000_003, Phase: Forward, Category: Activation},
		{Kind: FreeRequested, Addr: 1 << 40, Phase: Backward},
		{Kind: Free, Addr: 1 << 40, Phase: Backward},
		{Kind: EmptyCache},
	} {
		if _, err := b.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	tp.Marks = []Mark{{Event: 1, Kind: MarkPhase, Value: int64(Forward)}, {Event: 2, Kind: MarkModuleEnter, Name: "layers.0"}, {Event: 5, Kind: MarkStep, Value: 1}}
	return tp
}

// TestFormatIsStable reads a file that was written when the format was fixed.
// It may change only together with the version number.
func TestFormatIsStable(t *testing.T) {
	const path = "testdata/version1.tape"
	want := small(t)
	if os.Getenv("PLIMSOLL_UPDATE") != "" {
		if err := os.WriteFile(path, write(t, want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	same(t, want, got)
}

func TestEveryCutIsAnError(t *testing.T) {
	file := write(t, small(t))
	for n := range file {
		if _, err := Read(bytes.NewReader(file[:n])); err == nil {
			t.Errorf("the first %d of %d bytes are taken for a whole tape", n, len(file))
		} else if n > 0 && !errors.Is(err, ErrTruncated) {
			t.Errorf("cut after %d bytes: %v, want ErrTruncated", n, err)
		}
	}
}

func TestCutTapeGivesWhatCameBefore(t *testing.T) {
	want := loop(2*chunkLen + 9)
	file := write(t, want)
	got, err := Read(bytes.NewReader(file[:len(file)-40]))
	if !errors.Is(err, ErrTruncated) || got == nil || got.Len() == 0 || got.Len()%chunkLen != 0 && got.Len() != want.Len() {
		t.Fatalf("error %v", err)
	}
	if got.Event(17) != want.Event(17) {
		t.Error("events differ")
	}
}

func TestEveryFlippedByteIsAnError(t *testing.T) {
	file := write(t, small(t))
	for n := range file {
		bad := bytes.Clone(file)
		bad[n] ^= 0x10
		if _, err := Read(bytes.NewReader(bad)); err == nil {
			t.Errorf("byte %d flipped and not noticed", n)
		}
	}
}

func TestReadNamesWhatIsWrong(t *testing.T) {
	for name, file := range map[string]string{
		"empty":                        "",
		"another format":               "\x80\x04K\x01.",
		"a newer version":              magic + "\x02",
		"data after the end":           string(write(t, &Tape{})) + "x",
		"a section of all the memory":  magic + "\x01S\x00\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x01",
		"stored bytes that claim more": magic + "\x01S\x01\x80\x80\x80\x04\x10",
		"an unknown storage":           magic + "\x01S\x09\x01\x01",
		"an endless length":            magic + "\x01S\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
	} {
		var bad *SyntaxError
		_, err := Read(bytes.NewReader([]byte(file)))
		if name == "empty" {
			if err == nil {
				t.Error("an empty file is taken for a tape")
			}
			continue
		}
		if !errors.As(err, &bad) {
			t.Errorf("%s: error %v, want a *SyntaxError", name, err)
		}
	}
}

func TestHandMadeInitialIsRefused(t *testing.T) {
	tp := &Tape{Initial: []Segment{{Bytes: 512, Blocks: []SegmentBlock{{Bytes: 512, State: Active}}}}}
	if _, err := tp.WriteTo(&bytes.Buffer{}); !errors.Is(err, ErrInitial) {
		t.Errorf("error %v, want ErrInitial", err)
	}
}

// TestAmplification bounds what a small hostile file can make us hold.
func TestAmplification(t *testing.T) {
	out := bytes.NewBuffer(append([]byte(magic), version))
	s := sectionWriter{w: out}
	content := bytes.Repeat([]byte{0, 0, 1, 0, 0}, maxSection/5) // pieces of a segment are the densest records
	head := []byte{0, 0, 1, 1, 0, 0, 0, 0, 0x80, 0x80, 0x80, 0x01}
	if err := s.write(tagInitial, append(head, content...)[:maxSection-8]); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Read(bytes.NewReader(out.Bytes()))
	runtime.ReadMemStats(&after)
	const most = 1000
	if got := float64(after.TotalAlloc-before.TotalAlloc) / float64(out.Len()); got > most {
		t.Errorf("%d bytes of input allocate %.0f times as much (%v)", out.Len(), got, err)
	}
}

func FuzzRead(f *testing.F) {
	var buf bytes.Buffer
	if _, err := loop(60).WriteTo(&buf); err != nil {
		f.Fatal(err)
	}
	f.Add(buf.Bytes())
	if file, err := os.ReadFile("testdata/version1.tape"); err == nil {
		f.Add(file)
	}
	f.Add([]byte(magic + "\x01"))
	f.Fuzz(func(t *testing.T, file []byte) {
		tp, err := Read(bytes.NewReader(file))
		if err != nil {
			return
		}
		back, err := Read(bytes.NewReader(write(t, tp)))
		if err != nil {
			t.Fatal(err)
		}
		same(t, tp, back)
	})
}

// FuzzSections fuzzes the contents of sections, which FuzzRead hardly
// reaches past the checksums.
func FuzzSections(f *testing.F) {
	f.Add([]byte("MSFTHLIEKZ"), []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Fuzz(func(t *testing.T, tags, content []byte) {
		d := &tapeReader{tape: &Tape{}}
		if len(tags) == 0 {
			return
		}
		piece := len(content)/len(tags) + 1
		for _, tag := range tags {
			n := min(piece, len(content))
			if d.section(tag, &decoder{buf: content[:n]}) != nil {
				return
			}
			content = content[n:]
		}
		back, err := Read(bytes.NewReader(write(t, d.tape)))
		if err != nil {
			t.Fatal(err)
		}
		same(t, d.tape, back)
	})
}
