package memstats

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// summary is what PyTorch 2.15 prints, with the numbers of dictionary.
const summary = `|===========================================================================|
|                  PyTorch CUDA memory summary, device ID 1                 |
|---------------------------------------------------------------------------|
|            CUDA OOMs: 1            |        cudaMalloc retries: 3         |
|===========================================================================|
|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |
|---------------------------------------------------------------------------|
| Allocated memory      |   5120 MiB |  20480 MiB |   1500 GiB |   1495 GiB |
|       from large pool |   5000 MiB |  20300 MiB |   1490 GiB |   1485 GiB |
|       from small pool |    120 MiB |    180 MiB |     10 GiB |      9 GiB |
|---------------------------------------------------------------------------|
| Requested memory      |   5100 MiB |  20400 MiB |   1499 GiB |   1494 GiB |
|---------------------------------------------------------------------------|
| GPU reserved memory   |  22000 MiB |  22528 MiB |     60 GiB |     38 GiB |
|---------------------------------------------------------------------------|
| Non-releasable memory |   3000 MiB |   9000 MiB |   1200 GiB |   1197 GiB |
|---------------------------------------------------------------------------|
| Allocations           |    1024    |    4096    |     900 K  |     899 K  |
|---------------------------------------------------------------------------|
| GPU reserved segments |     300    |     310    |     900    |     600    |
|---------------------------------------------------------------------------|
| Oversize allocations  |       0    |       0    |       0    |       0    |
|===========================================================================|
`

const (
	python = `OrderedDict([('active.all.allocated', 12), ('allocated_bytes.all.current', 5368709120), ('allocated_bytes.all.peak', 21474836480), ('num_ooms', 1), ('reserved_bytes.all.peak', 23622320128)])`
	json   = `{"active.all.allocated": 12, "allocated_bytes.all.current": 5368709120, "allocated_bytes.all.peak": 21474836480, "num_ooms": 1, "reserved_bytes.all.peak": 23622320128}`
	nested = `{'allocated_bytes': {'all': {'current': 5368709120, 'peak': 21474836480}}, 'num_ooms': 1, 'reserved_bytes': {'all': {'peak': 23622320128}}}`
)

func read(t *testing.T, text string) []*Stats {
	t.Helper()
	list, err := Read(strings.NewReader(text), "stats.txt")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestDictionaries(t *testing.T) {
	for name, text := range map[string]string{
		"Python": python, "JSON": json, "nested": nested, "pretty": strings.ReplaceAll(json, ", ", ",\n  "),
		"in a log": "step 3 [rank0] {x}\nmemory: " + python + "\nstep 4\n", "a dictionary of Python": strings.ReplaceAll(json, `"`, "'"),
	} {
		list := read(t, text)
		if len(list) != 1 || list[0].Source != Dictionary {
			t.Errorf("%s: %d dumps", name, len(list))
			continue
		}
		for key, want := range map[string]int64{"allocated_bytes.all.current": 5368709120, "allocated_bytes.all.peak": 21474836480, "num_ooms": 1, "reserved_bytes.all.peak": 23622320128} {
			if got := list[0].Values[key]; got != want {
				t.Errorf("%s: %s is %d, want %d", name, key, got, want)
			}
		}
		if list[0].Unit != 1 {
			t.Errorf("%s: unit %d", name, list[0].Unit)
		}
	}
}

func TestTables(t *testing.T) {
	for name, text := range map[string]string{
		"as printed": summary, "of an old version": strings.ReplaceAll(strings.ReplaceAll(summary, "MiB", "MB "), "GiB", "GB "),
		"in a log": "step 1\n" + summary + "step 2\n", "with Windows line ends": strings.ReplaceAll(summary, "\n", "\r\n"),
	} {
		list := read(t, text)
		if len(list) != 1 {
			t.Errorf("%s: %d dumps", name, len(list))
			continue
		}
		s := list[0]
		for key, want := range map[string]int64{
			"num_ooms": 1, "num_alloc_retries": 3, "allocated_bytes.all.peak": 20480 << 20, "allocated_bytes.small_pool.current": 120 << 20,
			"reserved_bytes.all.current": 22000 << 20, "inactive_split_bytes.all.current": 3000 << 20, "allocation.all.allocated": 900_000, "segment.all.peak": 310,
			"oversize_allocations.current": 0, "allocated_bytes.all.allocated": 1500 << 30,
		} {
			if got, there := s.Values[key]; got != want || !there {
				t.Errorf("%s: %s is %d, want %d", name, key, got, want)
			}
		}
		if s.Device != 1 || s.Unit != unit.MiB || s.Source != Table {
			t.Errorf("%s: device %d, unit %s", name, s.Device, s.Unit)
		}
	}
	if list := read(t, summary+"\n"+python+"\n"+summary); len(list) != 3 {
		t.Errorf("three dumps: %d", len(list))
	}
}

func TestDetect(t *testing.T) {
	for _, text := range []string{summary, python, json, nested, "\n " + json} {
		if !Detect([]byte(text)) {
			t.Errorf("%.40q: not detected", text)
		}
	}
	for _, text := range []string{"", "hello", `{"a": 1}`, `{"segments": []}`, "step 1 " + python, `{"kind": "x", "allocated_bytes": 12, "reserved_bytes": 14}`} {
		if Detect([]byte(text)) {
			t.Errorf("%.40q: detected", text)
		}
	}
}

func TestNothingToRead(t *testing.T) {
	for _, text := range []string{"", "hello", `{"a": 1}`, "bytes.all.", "'allocated_bytes'"} {
		var syntax *input.SyntaxError
		if _, err := Read(strings.NewReader(text), "x"); !errors.As(err, &syntax) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestCutAnywhere(t *testing.T) {
	for _, text := range []string{summary, python, json, nested} {
		whole := read(t, text)[0]
		end := len(strings.TrimSpace(text)) - 1 // a bracket of Python's may be missing
		if text == summary {
			end = strings.LastIndex(text, "|===") // the frame below the rows
		}
		for n := range end {
			list, err := Read(strings.NewReader(text[:n]), "x")
			if err == nil {
				t.Errorf("%q: no error", text[:n])
			}
			for _, s := range list {
				for key, v := range s.Values {
					if text != summary && v != whole.Values[key] {
						t.Errorf("%q: %s is %d", text[:n], key, v)
					}
				}
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{summary, python, json, nested, "{'allocated_bytes': {{{{{{{{{{{{{{{{{{"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := Read(bytes.NewReader(data), "fuzz")
		if (err == nil) != (len(list) > 0) && !errors.Is(err, input.ErrTruncated) {
			t.Fatalf("%d dumps and %v", len(list), err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	data := []byte(strings.Repeat("step 1 loss 0.5 allocated 3 GiB\n", 100_000) + summary + python)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if list, err := Read(bytes.NewReader(data), "x"); err != nil || len(list) != 2 {
			b.Fatal(err)
		}
	}
}
