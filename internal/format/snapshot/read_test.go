package snapshot

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/tape"
)

func read(data []byte) (*Snapshot, error) {
	return Read(bytes.NewReader(data), int64(len(data)), "s.pickle", input.Limits{})
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestJSONSaysTheSame(t *testing.T) {
	fromPickle, fromJSON := readFile(t, "testdata/several-devices.pickle"), readFile(t, "testdata/several-devices.json")
	if diff := cmp.Diff(fromPickle.Settings, fromJSON.Settings); diff != "" {
		t.Errorf("settings, -pickle +json\n%s", diff)
	}
	if diff := cmp.Diff(fromPickle.Annotations, fromJSON.Annotations); diff != "" {
		t.Errorf("annotations, -pickle +json\n%s", diff)
	}
	if diff := cmp.Diff(fromPickle.Warnings, fromJSON.Warnings); diff != "" {
		t.Errorf("warnings, -pickle +json\n%s", diff)
	}
	for i := range fromPickle.Tapes {
		a, b := fromPickle.Tapes[i], fromJSON.Tapes[i]
		if diff := cmp.Diff(layoutOf(a, a.Initial), layoutOf(b, b.Initial)); diff != "" {
			t.Errorf("device %d, -pickle +json\n%s", i, diff)
		}
		for n := range a.Len() {
			x, y := a.Event(n), b.Event(n)
			if diff := cmp.Diff(a.Site(x.Site), b.Site(y.Site)); diff != "" {
				t.Fatalf("stack of event %d of device %d, -pickle +json\n%s", n, i, diff)
			}
			x.Site, y.Site = 0, 0
			if x != y {
				t.Fatalf("event %d of device %d: pickle %+v, json %+v", n, i, x, y)
			}
		}
	}
}

func TestNewestKeys(t *testing.T) {
	s := readFile(t, "testdata/newest.pickle")
	tp := s.Tapes[0]
	last := tp.Event(tp.Len() - 1)
	annotate, oom := tp.Event(tp.Len()-2), tp.Event(tp.Len()-3)
	if last.Kind != tape.Other || annotate.Kind != tape.Other {
		t.Errorf("got %v and %v, want other", annotate.Kind, last.Kind)
	}
	if oom.Kind != tape.OOM || oom.Addr != 12345678 || oom.Bytes != 1<<33 {
		t.Errorf("got %+v, want an OOM of 8 GiB with 12345678 bytes free", oom)
	}
	n := tp.Len()
	want := []Context{{n - 4, "0/1", ""}, {n - 3, "", ""}, {n - 2, "", "mine"}, {n - 1, "", ""}}
	if diff := cmp.Diff(s.Contexts[0], want); diff != "" {
		t.Errorf("contexts, -got +want\n%s", diff)
	}
	codes := map[string]string{}
	for _, w := range s.Warnings {
		codes[w.Code] = w.Message
	}
	for _, code := range []string{UnknownAction, HostMemoryLeft, HistoryBegins} {
		if codes[code] == "" {
			t.Errorf("no warning %s in %v", code, s.Warnings)
		}
	}
	if len(codes) != 3 || !strings.Contains(codes[UnknownAction], "teleport") {
		t.Errorf("warnings: %v", s.Warnings)
	}
	if diff := cmp.Diff(s.Settings["novel"], []any{int64(1), 2.5, nil}); diff != "" {
		t.Errorf("settings, -got +want\n%s", diff)
	}
	if got, want := tp.Meta["alloc_conf"], "expandable_segments:False"; got != want {
		t.Errorf("alloc_conf %q, want %q", got, want)
	}
}

func TestSaysWhatAFileIs(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"nothing", "", `the file is empty, as PyTorch leaves it when collecting C++ stacks fails; record with stacks="python"`},
		{"gzip", "\x1f\x8b\x08\x00", "compressed by gzip"},
		{"torch.save", "PK\x03\x04", "it is a ZIP archive, as torch.save writes"},
		{"a page", "<!DOCTYPE html>", "it is a web page"},
		{"text", "hello", "neither a pickle of protocol 2 to 5 nor JSON"},
		{"protocol 0", "(lp0\n.", "neither a pickle of protocol 2 to 5 nor JSON"},
		{"another pickle", "\x80\x04}\x94\x8c\x01a\x94K\x01s.", `neither "segments" nor "device_traces" is in it`},
		{"a number", "\x80\x04K\x01.", `neither "segments" nor "device_traces" is in it`},
		{"a list of numbers", "\x80\x04](K\x01K\x02e.", "a list of something else than segments"},
		{"a list of dicts", "\x80\x04]}\x8c\x01aK\x01sa.", `segment without "address", "total_size" or "blocks"`},
		{"code", "\x80\x02cos\nsystem\n(X\x02\x00\x00\x00lstR.", `opcode GLOBAL of "os.system" is refused`},
		{"other JSON", `{"a": 1}`, `neither "segments" nor "device_traces" is in it`},
		{"a list of JSON numbers", `[1, 2]`, "wrong type"},
		{"bad JSON", `{"segments": [}`, "invalid character"},
		{"JSON segments that are no list", `{"segments": 1}`, "not a list"},
		{"an event without a size", `{"device_traces": [[{"action": "alloc", "addr": 1}]]}`, `without "action", "addr" or "size"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := read([]byte(c.data))
			var syntax *input.SyntaxError
			if s != nil || !errors.As(err, &syntax) || !strings.Contains(syntax.Msg, c.want) {
				t.Errorf("got %v, %v\nwant %s", s, err, c.want)
			}
		})
	}
}

func TestDetect(t *testing.T) {
	for _, name := range []string{"protocol2.pickle", "protocol5.pickle", "cpp-writer.pickle", "first-versions.pickle", "several-devices.json"} {
		if !Detect(fixture(t, name)) {
			t.Errorf("%s: not detected", name)
		}
	}
	for _, other := range []string{"", "hello", "\x80\x04}\x94.", `{"a": 1}`, "PK\x03\x04segments",
		"[rank0]: out of memory, try expandable_segments:True", `{"log":"expandable_segments:True\n","stream":"stderr"}`} {
		if Detect([]byte(other)) {
			t.Errorf("%q: detected", other)
		}
	}
}

func TestTruncatedAtEveryByte(t *testing.T) {
	for _, name := range []string{"one-event.pickle", "cpp-writer.pickle", "protocol4.pickle", "several-devices.json"} {
		t.Run(name, func(t *testing.T) {
			data := fixture(t, name)
			step := max(1, len(data)/1500) // each byte of a large file takes a minute
			events := 0
			for n := 1; n < len(data); n += step {
				s, err := read(data[:n])
				if s == nil || !errors.Is(err, input.ErrTruncated) || !s.Truncated {
					t.Fatalf("%d bytes: %v, %v", n, s, err)
				}
				got := 0
				for i, tp := range s.Tapes {
					got += tp.Len()
					checkSound(t, tp, s.Final[i])
				}
				if got < events {
					t.Fatalf("%d bytes give %d events, fewer bytes gave %d", n, got, events)
				}
				events = got
			}
			if events == 0 {
				t.Error("no cut left an event")
			}
		})
	}
}

// checkSound demands what must hold of any tape, whatever it was read from.
func checkSound(t testing.TB, tp *tape.Tape, final []tape.Segment) {
	t.Helper()
	for _, segments := range [][]tape.Segment{tp.Initial, final} {
		for _, s := range segments {
			at := s.Addr
			for _, b := range s.Blocks {
				if b.Addr != at || b.Bytes <= 0 && s.Bytes > 0 && b.State == tape.Inactive {
					t.Fatalf("segment %#x: piece at %#x of %d bytes, want it at %#x", s.Addr, b.Addr, b.Bytes, at)
				}
				if b.Block != tape.NoBlock && int(b.Block) >= tp.Blocks() {
					t.Fatalf("segment %#x names block %d of %d", s.Addr, b.Block, tp.Blocks())
				}
				at += uint64(b.Bytes)
			}
			if at != s.Addr+uint64(s.Bytes) {
				t.Fatalf("segment %#x of %d bytes ends at %#x", s.Addr, s.Bytes, at)
			}
		}
	}
	live := map[tape.BlockID]bool{}
	for n := range tp.Len() {
		switch e := tp.Event(n); e.Kind {
		case tape.Alloc:
			live[e.Block] = true
		case tape.Free:
			if !live[e.Block] && tp.Block(e.Block).Alloc >= 0 {
				t.Fatalf("event %d frees block %d, which does not live", n, e.Block)
			}
			delete(live, e.Block)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"one-event.pickle", "first-versions.pickle", "no-history.pickle"} {
		f.Add(fixture(f, name))
	}
	f.Add([]byte(`{"segments": [{"device": 0, "address": 4096, "total_size": 1024, "blocks": [{"size": 512, "state": "inactive"}]}],
"device_traces": [[{"action": "free_completed", "addr": 4096, "size": 10, "frames": [{"name": "f", "filename": "x", "line": 1}]},
{"action": "segment_map", "addr": 8192, "size": 4096}, {"action": "segment_unmap", "addr": 10000, "size": 4096}]]}`))
	f.Add([]byte("\x80\x04}(\x8c\x0ddevice_traces]](}(\x8c\x06action\x8c\x05alloc\x8c\x04addrK\x01\x8c\x04sizeK\x01u}(h\x00ee.u."))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Read(bytes.NewReader(data), int64(len(data)), "fuzz", input.Limits{MaxValues: 1 << 16})
		var syntax *input.SyntaxError
		if err != nil && !errors.As(err, &syntax) && !errors.Is(err, input.ErrTruncated) && !errors.Is(err, tape.ErrFull) {
			t.Fatalf("neither a syntax error nor truncated: %v", err)
		}
		if (s == nil) != (err != nil && !errors.Is(err, input.ErrTruncated)) {
			t.Fatalf("got %v with %v", s, err)
		}
		if s == nil {
			return
		}
		for i, tp := range s.Tapes {
			checkSound(t, tp, s.Final[i])
		}
	})
}
