package capture

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/capture/child"
	"github.com/plimsoll-dev/plimsoll/internal/gpu"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// TestMain lets the test binary supervise the scripts that it runs.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == child.Verb {
		os.Exit(child.Supervise())
	}
	os.Exit(m.Run())
}

// The fake interpreter is a shell that runs "train.py" as shell script. What
// a real process would leave, its recording and the helper's files, is made
// here beforehand and copied by the script with "leave NAME".
const fakePython = `#!/bin/sh
OUT=$(sed 's/.*"out":"\([^"]*\)".*/\1/' "$PLIMSOLL_CAPTURE")
RUN=$(dirname "$PLIMSOLL_CAPTURE")
leave() { cp -r "$CANNED/$1" "$OUT/p$$.tmp$1" && mv "$OUT/p$$.tmp$1" "$OUT/p${2:-$$}"; }
. "./$1"
`

// fakeMachine needs no PyTorch.
type fakeMachine struct{ err error }

func (m fakeMachine) Prepare(context.Context, string, string, func(string)) (Shims, error) {
	return Shims{Torch: "2.15.0", CUDA: "13.2", Dir: "/nowhere"}, m.err
}

// A fakeRun is a script, and what its processes leave.
type fakeRun struct {
	t       *testing.T
	dir     string
	options Options
}

func newFakeRun(t *testing.T, script string) *fakeRun {
	t.Helper()
	dir := t.TempDir()
	f := &fakeRun{t: t, dir: dir}
	f.write("bin/python", fakePython, 0o755)
	f.write("train.py", script, 0o644)
	if err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	card, err := gpu.Lookup("3090")
	if err != nil {
		t.Fatal(err)
	}
	f.options = Options{
		Argv: []string{"python", "train.py"}, Dir: dir,
		Environ: []string{"PATH=" + dir + "/bin:" + os.Getenv("PATH"), "CANNED=" + dir + "/canned"},
		Card:    Card{Card: card.Card, Count: 1}, Machine: fakeMachine{}, TempDir: dir + "/tmp", Timeout: time.Minute,
		CuDNNWorkspace: -1,
	}
	return f
}

func (f *fakeRun) write(name, text string, mode os.FileMode) {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		f.t.Fatal(err)
	}
}

// canned stores what one process leaves, under a name for "leave".
func (f *fakeRun) canned(name string, p fakeProcess) {
	f.t.Helper()
	dir := "canned/" + name + "/"
	f.write(dir+"marks.tsv", p.marks, 0o644)
	f.write(dir+"labels.tsv", p.labels, 0o644)
	result, err := json.Marshal(p.result)
	if err != nil {
		f.t.Fatal(err)
	}
	f.write(dir+"result.json", string(result), 0o644)
	snapshot, err := json.Marshal(p.snapshot())
	if err != nil {
		f.t.Fatal(err)
	}
	f.write(dir+"snapshot.pickle", string(snapshot), 0o644)
}

// run captures, and checks that nothing is left behind.
func (f *fakeRun) run() (*Capture, error) {
	f.t.Helper()
	c, err := Run(f.t.Context(), f.options)
	left, globErr := filepath.Glob(filepath.Join(f.options.TempDir, "*"))
	if globErr != nil || len(left) > 0 {
		f.t.Errorf("left behind: %v, %v", left, globErr)
	}
	return c, err
}

// A fakeProcess is what one process did: its allocations and frees in short
// hand, marks and labels as the helper writes them.
type fakeProcess struct {
	device        int
	events        string // "+w 20MiB file:line:function" and "-w", a line each
	marks, labels string
	result        helperResult
}

// fakeBase is where the first block stands; they are a GiB apart.
const fakeBase = 1 << 44

type fakeEvent map[string]any

// snapshot gives each block a segment of its own and reuses the segment of a
// freed block of the same size, as the allocator does with sizes from 10 MiB.
func (p fakeProcess) snapshot() any {
	type block struct {
		addr  uint64
		bytes unit.Bytes
	}
	live := map[string]block{}
	var cached []block
	var events []fakeEvent
	var segments []fakeEvent
	next := uint64(fakeBase)
	add := func(action string, b block, frames []fakeEvent) {
		e := fakeEvent{"action": action, "addr": b.addr, "size": b.bytes, "stream": 0, "time_us": 1_000_000 + len(events)}
		if frames != nil {
			e["frames"] = frames
		}
		events = append(events, e)
	}
	for line := range strings.Lines(p.events) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		name := words[0][1:]
		if words[0][0] == '-' {
			b := live[name]
			add("free_requested", b, nil)
			add("free_completed", b, nil)
			cached = append(cached, b)
			delete(live, name)
			continue
		}
		size, err := unit.Parse(words[1])
		if err != nil {
			panic(err)
		}
		b := block{next, size}
		found := false
		for i, c := range cached {
			if c.bytes == size {
				b, found = c, true
				cached = append(cached[:i], cached[i+1:]...)
				break
			}
		}
		if !found {
			next += 1 << 30
			add("segment_alloc", b, nil)
			segments = append(segments, fakeEvent{"device": p.device, "address": b.addr, "total_size": b.bytes, "stream": 0, "segment_type": "large", "segment_pool_id": []int{0, 0}, "is_expandable": false})
		}
		var frames []fakeEvent
		for _, f := range words[2:] {
			var number int
			part := strings.Split(f, ":")
			if _, err := fmt.Sscan(part[1], &number); err != nil {
				panic(err)
			}
			frames = append(frames, fakeEvent{"filename": part[0], "line": number, "name": part[2]})
		}
		add("alloc", b, frames)
		live[name] = b
	}
	active := map[uint64]bool{}
	for _, b := range live {
		active[b.addr] = true
	}
	for _, s := range segments {
		state := "inactive"
		if active[s["address"].(uint64)] {
			state = "active_allocated"
		}
		s["blocks"] = []fakeEvent{{"address": s["address"], "size": s["total_size"], "requested_size": s["total_size"], "state": state, "frames": []any{}}}
	}
	traces := make([][]fakeEvent, p.device+1)
	for i := range traces {
		traces[i] = []fakeEvent{}
	}
	traces[p.device] = events
	return fakeEvent{"segments": segments, "device_traces": traces, "allocator_settings": fakeEvent{}}
}

// trained is two steps of a small net: 20 MiB of parameters, 30 and then 40 of
// activations, 20 of gradients, 20 of optimizer state. The peak is in the
// second backward, with 30 MiB in the cache.
func trained(dir string) fakeProcess {
	site := func(line int, name string) string { return fmt.Sprintf(" %s/train.py:%d:%s", dir, line, name) }
	return fakeProcess{
		events: "+w 20MiB" + site(3, "build") + "\n+a1 30MiB" + site(7, "forward") + "\n+g1 20MiB\n+m 20MiB" + site(9, "main") +
			"\n-a1\n-g1\n+a2 40MiB" + site(7, "forward") + "\n+g2 20MiB\n-a2\n",
		marks: "0\t0\tphase\tload\n0\t1\tphase\tforward\n0\t1\tenter\tf\tnet.0\n0\t2\texit\tf\tnet.0\n0\t2\tphase\tbackward\n0\t2\tenter\tb\tnet.0\n0\t3\texit\tb\tnet.0\n" +
			"0\t3\tphase\tstep\n0\t4\tstep\t1\n0\t4\tphase\tforward\n0\t4\tenter\tf\tnet.0\n0\t5\texit\tf\tnet.0\n0\t5\tphase\tbackward\n0\t6\tphase\tstep\n0\t6\tstep\t2\n",
		labels: fmt.Sprintf("0\t1\tparameter\t%x\t20971520\tnet.0.weight\n", fakeBase),
		result: helperResult{
			End: endSteps, Torch: "2.15.0", CUDA: "13.2", Python: "3.11.4", PID: 1, World: 1,
			Devices: []helperDevice{{AllocatedPeak: 100 * unit.MiB, ReservedPeak: 130 * unit.MiB, DriverPeak: 130 * unit.MiB,
				Stats: map[string]json.RawMessage{"allocation.all.allocated": json.RawMessage("6")}}},
			Steps: []helperStep{{Step: 1, Allocated: 90 * unit.MiB, Reserved: 90 * unit.MiB}, {Step: 2, Allocated: 100 * unit.MiB, Reserved: 130 * unit.MiB}},
		},
	}
}
