package kernel_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
)

// A recording is what PyTorch asked for on a virtual card: see testdata/record.py.
type recording struct {
	Torch           string `json:"torch"`
	Capability      int    `json:"capability"`
	Multiprocessors int    `json:"multiprocessors"`
	Threads         int    `json:"threads_per_multiprocessor"`

	// Rows are the arguments of a function and, last, the bytes.
	Rows map[string][][]int64 `json:"rows"`
}

func recordings(t *testing.T) map[string]recording {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings:", err)
	}
	all := map[string]recording{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var r recording
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatal(name, err)
		}
		all[filepath.Base(name)] = r
	}
	return all
}

func TestRecordings(t *testing.T) {
	t.Parallel()
	recorded := map[string]int{}
	for name, rec := range recordings(t) {
		d := kernel.Device{Capability: rec.Capability, Multiprocessors: rec.Multiprocessors, ThreadsPerMultiprocessor: rec.Threads}
		for function, rows := range rec.Rows {
			f, ok := kernel.Lookup(function)
			if !ok {
				t.Errorf("%s: no function %q", name, function)
				continue
			}
			recorded[function] += len(rows)
			wrong := 0
			for _, r := range rows {
				args, want := r[:len(r)-1], r[len(r)-1]
				if got := f.Eval(d, args); got != want {
					if wrong++; wrong <= 5 {
						t.Errorf("%s: %s%v = %d, recorded %d", name, function, args, got, want)
					}
				}
			}
			if wrong > 0 {
				t.Errorf("%s: %s: %d of %d rows differ", name, function, wrong, len(rows))
			}
		}
	}
	for _, f := range kernel.All() {
		if recorded[f.Name] < 20 && len(f.Args) > 1 || recorded[f.Name] == 0 {
			t.Errorf("%s has %d rows only", f.Name, recorded[f.Name])
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range kernel.All() {
		if seen[f.Name] {
			t.Errorf("%s stands twice", f.Name)
		}
		seen[f.Name] = true
		if f.Source == "" || f.Doc == "" || len(f.Operators) == 0 || f.Eval == nil {
			t.Errorf("%s lacks its source, documentation, operators or rule", f.Name)
		}
	}
	if _, ok := kernel.Lookup("no such function"); ok {
		t.Error("Lookup finds what does not exist")
	}
}

// No arguments may make a function panic, hang or return a negative amount.
func TestAnyArguments(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	values := []int64{0, 1, 2, 3, 4, 7, 8, 31, 32, 33, 512, 3072, 1 << 20, math.MaxInt32, math.MaxInt32 + 1, 1 << 40, math.MaxInt64 - 1, math.MaxInt64, -1, math.MinInt64}
	devices := []kernel.Device{{}, {80, 108, 2048}, {75, 40, 1024}, {120, 170, 1536}, {-1, -1, -1}}
	for _, f := range kernel.All() {
		for range 3000 {
			args := make([]int64, rng.IntN(len(f.Args)+2))
			for i := range args {
				args[i] = values[rng.IntN(len(values))]
				if rng.IntN(2) == 0 {
					args[i] = rng.Int64N(1 << rng.IntN(63))
				}
			}
			d := devices[rng.IntN(len(devices))]
			if got := f.Eval(d, args); got < 0 {
				t.Fatalf("%s%v on %v = %d", f.Name, args, d, got)
			}
		}
	}
}
