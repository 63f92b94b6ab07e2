package proc

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/series"
)

// sleepers are processes that sleep, and a sparing reader that has read them until
// all were at rest.
func sleepers(t testing.TB, n int) (*Reader, map[int][]series.Use) {
	t.Helper()
	r := New(Options{Sparing: true})
	if r.err != nil || r.clock == nil {
		t.Skip("the processes of this machine have no clocks: ", r.err)
	}
	t.Cleanup(r.Close)
	uses := map[int][]series.Use{}
	for range n {
		uses[start(t, "sleep", "600").Process.Pid] = []series.Use{{Device: "GPU-1"}}
	}
	for range 1000 { // a machine with much else to do may take seconds to start them
		if r.Read(uses); r.listed > 1 && !r.stirred {
			return r, uses
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("they do not come to rest")
	return nil, nil
}

// While none of the processes on GPUs has run, the others are not listed, whoever
// begins; the moment one has, they are.
func TestSleepersCallForNoList(t *testing.T) {
	r, uses := sleepers(t, 2)
	pid := 0
	for pid = range uses {
	}
	start(t, "sleep", "600")
	last := r.listed
	for range refreshEvery - 1 {
		if r.Read(uses); r.listed != last {
			t.Fatalf("they are listed again %d samples later", r.listed-last)
		}
	}
	if r.Read(uses); r.listed == last {
		t.Errorf("they are not listed again after %d samples", refreshEvery)
	}
	last = r.listed
	r.held[pid].ran-- // as if it had run since
	for range listEvery + 1 {
		r.Read(uses)
	}
	start(t, "sleep", "600") // another is there now
	for range listEvery + 1 {
		r.Read(uses)
	}
	if r.listed == last {
		t.Error("one has run, and they are not listed again")
	}
}

// What others do to a process that does not run is seen when it is its turn.
func TestMemoryOfSleepersIsSeen(t *testing.T) {
	r, uses := sleepers(t, 1)
	for pid := range uses {
		was := r.held[pid].last.Values.Get(series.Resident)
		h := r.held[pid]
		h.last.Values = append(series.Values(nil), h.last.Values...)
		h.last.Values.Set(series.Resident, series.Of(1<<40)) // as if it had been so
		r.before = nil
		if (pid+r.tick+1)%r.refresh() == 0 { // it would be its turn
			r.tick++
		}
		for n := range 2*refreshEvery + 1 {
			if got := read(t, r, uses, pid).Values.Get(series.Resident); got == was {
				if n == 0 {
					t.Error("it is read at once")
				}
				return
			}
		}
		t.Errorf("it is not read in %d samples", 2*refreshEvery)
	}
}

// Where nothing has changed, a sample has the processes of the one before; what a
// reader returned it does not change.
func TestProcessesAreShared(t *testing.T) {
	r, uses := sleepers(t, 3)
	pids := slices.Sorted(maps.Keys(uses)) // without those that started them, which run
	next := func() []series.Process {
		r.tick++
		return r.processes(pids, uses)
	}
	last, shared := next(), 0
	for range 20 {
		ps := next()
		for i := range ps {
			if ps[i].PID != pids[i] || ps[i].Status != series.OK || len(ps[i].Uses) != 1 {
				t.Fatalf("process %d is %d, %v, on %v", pids[i], ps[i].PID, ps[i].Status, ps[i].Uses)
			}
		}
		if &ps[0] == &last[0] {
			shared++
		}
		last = ps
	}
	if shared < 15 { // three may have been read
		t.Errorf("%d lists of 20 are those of the sample before", shared)
	}
	uses[pids[1]] = []series.Use{{Device: "GPU-2"}}
	if ps := next(); ps[0].Uses[0].Device != "GPU-1" || ps[1].Uses[0].Device != "GPU-2" || ps[2].Uses[0].Device != "GPU-1" {
		t.Errorf("after one went to another GPU they are %v", ps)
	}
	if last[1].Uses[0].Device != "GPU-1" {
		t.Error("what was returned before has changed")
	}
	pids = pids[:2]
	if ps := next(); len(ps) != 2 || len(r.held) != 2 {
		t.Errorf("after one was of interest no more there are %d, and %d are held", len(ps), len(r.held))
	}
}

// BenchmarkRest reads fifty processes that sleep, as top does each second.
func BenchmarkRest(b *testing.B) {
	r, uses := sleepers(b, 50)
	b.ReportAllocs()
	for b.Loop() {
		r.Read(uses)
	}
}
