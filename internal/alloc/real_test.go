package alloc

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// realRun is what PyTorch's own allocator did on a virtual GPU with random
// operations: after each the address it handed out and two counters, after
// some all counters, at the end the layout.
type realRun struct {
	Version  string           `json:"version"`
	Config   string           `json:"config"`
	Capacity unit.Bytes       `json:"capacity"`
	Handles  []uint64         `json:"handles"` // of the streams
	Ops      [][]any          `json:"ops"`
	Steps    []realStep       `json:"steps"`
	OOM      map[int]string   `json:"oom"`   // texts by step
	Names    []string         `json:"names"` // of the counters
	Stats    map[int][]*int64 `json:"stats"` // by step
	Final    [][]any          `json:"final"`
}

// A realStep is the address, 0 for none, and the bytes reserved and
// allocated afterwards.
type realStep [3]int64

// gapped is a driver with the addresses of the virtual GPU that the runs
// were made on: it leaves 2 MiB between what it hands out.
type gapped struct{ books }

func (g *gapped) alloc(size unit.Bytes) (uint64, bool) {
	if !g.take(size.RoundUp(granularity)) {
		return 0, false
	}
	return g.reserve(size), true
}

func (g *gapped) reserve(size unit.Bytes) uint64 {
	addr := g.next
	g.next += uint64(size.RoundUp(granularity) + granularity)
	return addr
}

// TestRealAllocator replays the runs of PyTorch's own allocator in testdata
// and in the folder PLIMSOLL_REAL, if that is set.
func TestRealAllocator(t *testing.T) {
	files, err := filepath.Glob("testdata/real/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("PLIMSOLL_REAL"); dir != "" {
		more, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	if len(files) == 0 {
		t.Fatal("no runs")
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".json"), func(t *testing.T) {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			var r realRun
			if err := json.Unmarshal(data, &r); err != nil {
				t.Fatal(err)
			}
			(&realPlayer{t: t, run: &r}).play()
		})
	}
}

// A realPlayer feeds a run to the simulator.
type realPlayer struct {
	t      *testing.T
	run    *realRun
	d      *device
	blocks map[int]uint32
	pools  []int // in the order in which they were made
}

func (p *realPlayer) play() {
	v, err := ParseVersion(p.run.Version)
	if err != nil {
		p.t.Fatal(err)
	}
	s, err := ParseSettings(p.run.Config, v)
	if err != nil {
		p.t.Fatal(err)
	}
	drv := &gapped{books{total: p.run.Capacity, next: p.base()}}
	p.d = newDevice(0, s, p.run.Capacity, drv)
	p.blocks = map[int]uint32{}
	if len(p.run.Ops) != len(p.run.Steps) || len(p.run.Stats) == 0 || len(p.run.Final) == 0 {
		p.t.Fatal("the run is not whole")
	}
	for i, op := range p.run.Ops {
		p.step(i, op)
		checkDevice(p.t, p.d)
		p.compare(i, op)
		if p.t.Failed() {
			return
		}
	}
	p.layout()
}

// base is the lowest address that was handed out: the first segment begins
// there, since addresses rise.
func (p *realPlayer) base() uint64 {
	base := int64(0)
	for _, s := range p.run.Steps {
		if s[0] != 0 && (base == 0 || s[0] < base) {
			base = s[0]
		}
	}
	return uint64(base)
}

func number(v any) int { return int(v.(float64)) }

func (p *realPlayer) step(i int, op []any) {
	switch op[0] {
	case "a":
		p.alloc(i, op)
	case "f":
		if b := p.blocks[number(op[1])]; b != 0 {
			p.d.giveUp(b)
			delete(p.blocks, number(op[1]))
		}
	case "r":
		if b := p.blocks[number(op[1])]; b != 0 {
			p.d.recordStream(b, p.run.Handles[number(op[2])])
		}
	case "e":
		p.d.emptyCache()
	case "F":
		p.d.setFraction(op[1].(float64))
	case "s":
		s, err := p.d.settings.Parse(op[1].(string))
		if err != nil {
			p.t.Fatal(err)
		}
		p.d.configure(s)
	case "pb":
		p.d.poolBegin(p.pool(number(op[1])))
	case "pe":
		p.d.poolEnd(p.pool(number(op[1])))
	default:
		p.t.Fatalf("step %d: unknown operation %v", i, op)
	}
}

// pool is the id of a pool; PyTorch numbers them as they are made.
func (p *realPlayer) pool(n int) PoolID {
	i := slices.Index(p.pools, n)
	if i < 0 {
		i = len(p.pools)
		p.pools = append(p.pools, n)
	}
	return PoolID{0, uint64(i) + 1}
}

func (p *realPlayer) alloc(i int, op []any) {
	for _, h := range p.run.Handles { // events of the virtual GPU are over at once
		p.d.streamDone(h)
	}
	b, err := p.d.malloc(unit.Bytes(op[2].(float64)), p.d.streamIndex(p.run.Handles[number(op[3])]))
	var oom *OOMError
	switch {
	case errors.As(err, &oom):
		if want := p.run.OOM[i]; want != err.Error() {
			p.t.Errorf("step %d %v:\n got %s\nwant %s", i, op, err, want)
		}
	case p.run.OOM[i] != "":
		p.t.Errorf("step %d %v: a place at %#x, PyTorch says %s", i, op, p.d.blocks[b].addr, p.run.OOM[i])
	default:
		p.blocks[number(op[1])] = b
		if got, want := int64(p.d.blocks[b].addr), p.run.Steps[i][0]; got != want {
			p.t.Errorf("step %d %v: address %#x, want %#x", i, op, got, want)
		}
	}
}

func (p *realPlayer) compare(i int, op []any) {
	want := p.run.Steps[i]
	if r, a := int64(p.d.reserved), int64(p.d.current(allocatedBytes)); r != want[1] || a != want[2] {
		p.t.Errorf("step %d %v: %d bytes reserved and %d allocated, want %d and %d", i, op, r, a, want[1], want[2])
	}
	if p.run.Stats[i] == nil {
		return
	}
	got := p.d.statistics()
	for n, want := range p.run.Stats[i] {
		name := p.run.Names[n]
		have, ok := got[name]
		if want != nil && (!ok || have != *want) {
			p.t.Errorf("step %d %v: %s is %d, want %d", i, op, name, have, *want)
		}
	}
}

// stateNames are the states as memory_snapshot writes them.
var stateNames = map[tape.State]string{tape.Inactive: "inactive", tape.Active: "active_allocated", tape.PendingFree: "active_pending_free"}

func (p *realPlayer) layout() {
	var got, want []string
	for _, s := range p.d.segments() {
		got = append(got, fmt.Sprintf("segment %d %d %d %t %t", s.Addr, s.Bytes, p.d.streams[s.Stream], s.Small, s.Expandable))
		for _, b := range s.Blocks {
			got = append(got, fmt.Sprintf("block %d %s %d", b.Bytes, stateNames[b.State], b.Requested))
		}
	}
	for _, w := range p.run.Final {
		want = append(want, fmt.Sprintf("segment %.0f %.0f %.0f %t %t", w[:5]...))
		for _, b := range w[5].([]any) {
			b := b.([]any)
			if b[1] == "inactive" {
				b[2] = 0.0
			}
			want = append(want, fmt.Sprintf("block %.0f %s %.0f", b...))
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		p.t.Errorf("at the end (-want +got):\n%s", d)
	}
}
