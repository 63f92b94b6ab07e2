package kineto

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// text is a trace of testdata, unpacked.
func text(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Each prefix of the events sums up to what PyTorch says is allocated.
func TestSumsAreThoseOfPyTorch(t *testing.T) {
	for _, name := range []string{"plain.json.gz", "stacks.json.gz"} {
		t.Run(name, func(t *testing.T) {
			data := text(t, name)
			var want struct {
				Events []struct {
					Name string
					TS   float64
					Args struct {
						Type      int   `json:"Device Type"`
						Allocated int64 `json:"Total Allocated"`
						Reserved  int64 `json:"Total Reserved"`
					}
				} `json:"traceEvents"`
			}
			if err := json.Unmarshal(data, &want); err != nil {
				t.Fatal(err)
			}
			var peak, reserved int64
			n := 0
			for _, e := range want.Events {
				if e.Name == "[memory]" && e.Args.Type == 1 {
					peak, reserved = max(peak, e.Args.Allocated), max(reserved, e.Args.Reserved)
					n++
				}
			}
			got, err := Read(bytes.NewReader(data), name, input.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Tapes) != 1 || got.Devices[0] != 0 || got.Tapes[0].Len() != n || got.Reserved[0] != unit.Bytes(reserved) || got.Capacity[0] != 84987740160 {
				t.Fatalf("%d tapes, %d events, want %d; reserved %d, want %d", len(got.Tapes), got.Tapes[0].Len(), n, got.Reserved[0], reserved)
			}
			if most := highest(got.Tapes[0]); most != unit.Bytes(peak) {
				t.Errorf("in use at most %d, PyTorch says %d", most, peak)
			}
			for _, w := range got.Warnings {
				if w.Code != "block-sizes" {
					t.Errorf("%s: %s", w.Code, w.Message)
				}
			}
		})
	}
}

func highest(t *tape.Tape) unit.Bytes {
	var now, most unit.Bytes
	for i := range t.Initial {
		now += t.Initial[i].Bytes
	}
	most = now
	for i := range t.Len() {
		e := t.Event(i)
		if e.Kind == tape.Alloc {
			now += e.Bytes
		} else {
			now -= e.Bytes
		}
		most = max(most, now)
	}
	return most
}

// The weights are made in train, by code of PyTorch that it calls.
func TestFramesNameTheLine(t *testing.T) {
	got, err := Read(bytes.NewReader(text(t, "stacks.json.gz")), "stacks", input.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]bool{}
	for s := 1; s <= got.Tapes[0].Sites(); s++ {
		for _, f := range got.Tapes[0].Site(tape.SiteID(s)) {
			if f.File == "make.py" && f.Name == "train" {
				found[f.Line] = true
			}
		}
	}
	for _, line := range []int{21, 24, 25, 27} { // .cuda(), randn, the forward pass, step
		if !found[line] {
			t.Errorf("no allocation in line %d; there are some in %v", line, found)
		}
	}
}

// What was in use before is known by its sum and, where it is given up, by
// block.
func TestATraceThatBeginsInTheMiddle(t *testing.T) {
	got, err := Read(bytes.NewReader([]byte(`{"traceEvents":[
		{"ph":"i","name":"[memory]","tid":1,"ts":1.5,"args":{"Device Type":1,"Device Id":0,"Addr":4096,"Bytes":512,"Total Allocated":2048,"Total Reserved":2097152}},
		{"ph":"i","name":"[memory]","tid":"1","ts":2.5,"args":{"Device Type":1,"Device Id":0,"Addr":8192,"Bytes":-1024,"Total Allocated":1024,"Total Reserved":2097152}},
		{"ph":"i","name":"[memory]","tid":1,"ts":"3.5","args":{"Device Type":0,"Device Id":-1,"Addr":8192,"Bytes":-1024}},
		{"ph":"X","name":7}
	]}`)), "t", input.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	tp := got.Tapes[0]
	if tp.Len() != 2 || len(tp.Initial) != 2 || tp.Initial[0].Addr != 8192 || tp.Initial[0].Bytes != 1024 || tp.Initial[1].Bytes != 512 {
		t.Errorf("%d events, initial %+v", tp.Len(), tp.Initial)
	}
	if highest(tp) != 2048 || tp.Event(1).Bytes != 1024 {
		t.Errorf("in use at most %d", highest(tp))
	}
}

func TestACutTraceTellsWhatItCan(t *testing.T) {
	data := text(t, "plain.json.gz")
	told := 0
	for n := 0; n < len(data); n += 1777 {
		got, err := Read(bytes.NewReader(data[:n]), "cut", input.Limits{})
		if err == nil || got == nil && !errors.Is(err, input.ErrTruncated) {
			t.Fatalf("cut at %d: %v", n, err)
		}
		if got != nil && len(got.Tapes) > 0 {
			told++
		}
	}
	if told < 10 {
		t.Errorf("%d cuts tell something", told)
	}
}

func TestDetect(t *testing.T) {
	raw, err := os.ReadFile("testdata/plain.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data string
		want bool
	}{
		"compressed": {string(raw[:4096]), true},
		"plain":      {string(text(t, "plain.json.gz")[:4096]), true},
		"a list":     {`[{"ph":"X","ts":1}]`, true},
		"a snapshot": {`{"segments": [], "device_traces": []}`, false},
		"a log":      {`{"level":"info"}`, false},
		"nothing":    {"", false},
		"cut gzip":   {"\x1f\x8b", false},
	} {
		if got := Detect([]byte(c.data)); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"deviceProperties":[{"id":0,"totalGlobalMem":5}],"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::empty","tid":1,"ts":1,"dur":9},
		{"ph":"i","name":"[memory]","tid":1,"ts":2,"args":{"Device Type":1,"Device Id":0,"Addr":1,"Bytes":512,"Total Allocated":512}}]}`))
	f.Add([]byte(`[{"ph":"i","name":"[memory]","args":{"Device Type":1,"Bytes":-9}}]`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		Detect(data)
		_, _ = Read(bytes.NewReader(data), "f", input.Limits{MaxValues: 1000})
	})
}

func BenchmarkRead(b *testing.B) {
	data := text(b, "stacks.json.gz")
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := Read(bytes.NewReader(data), "b", input.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
