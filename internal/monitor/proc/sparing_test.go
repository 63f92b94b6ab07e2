package proc_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/monitor/proc"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A process that comes onto a GPU is there in the next sample, a child of one that is
// on a GPU within five.
func TestSparingReaderSeesNewProcesses(t *testing.T) {
	files := map[string]string{}
	addProcess(files, 100, "python", 1, 5000, nil)
	root := tree(t, files)
	r := proc.New(proc.Options{Root: root, Sparing: true})
	defer r.Close()
	r.Read(map[int][]series.Use{100: use("GPU-1")})
	more := map[string]string{}
	addProcess(more, 200, "python", 1, 6000, nil)
	addProcess(more, 201, "python", 100, 6001, nil)
	for name, text := range more {
		write(t, root, name, text)
	}
	ps := r.Read(map[int][]series.Use{100: use("GPU-1"), 200: use("GPU-1")}).Processes
	if p := find(t, ps, 200); p.Status != series.OK {
		t.Errorf("the new one is %v", p.Status)
	}
	more = map[string]string{}
	addProcess(more, 202, "python", 100, 6002, nil)
	for name, text := range more {
		write(t, root, name, text)
	}
	for range 5 {
		ps = r.Read(map[int][]series.Use{100: use("GPU-1"), 200: use("GPU-1")}).Processes
	}
	find(t, ps, 202)
}

// BenchmarkSleepers reads the files of fifty processes, as top does once of each.
func BenchmarkSleepers(b *testing.B) {
	files, uses := map[string]string{}, map[int][]series.Use{}
	for pid := 1000; pid < 1050; pid++ {
		addProcess(files, pid, "python", 1, pid, nil)
		uses[pid] = use("GPU-1")
	}
	r := proc.New(proc.Options{Root: tree(b, files), Sparing: true})
	defer r.Close()
	for range 20 {
		r.Read(uses)
	}
	b.ReportAllocs()
	for b.Loop() {
		r.Read(uses)
	}
}

// A sparing reader has every value of the host that is of interest at each sample, and
// sees what changed within its turn.
func TestSparingReaderReadsTheHostInTurn(t *testing.T) {
	files := map[string]string{
		"proc/stat":            "cpu  100 10 20 1000 30 5 6 7 50 0\ncpu0 1 1 1 1\n",
		"proc/meminfo":         "MemTotal: 1000 kB\nMemAvailable: 600 kB\nCached: 300 kB\nShmem: 100 kB\nSwapTotal: 50 kB\nSwapFree: 20 kB\n",
		"proc/pressure/memory": "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\n",
		"dev/shm/x":            "",
	}
	root := tree(t, files)
	r := proc.New(proc.Options{Root: root, Sparing: true})
	defer r.Close()
	r.Read(nil)
	write(t, root, "proc/stat", "cpu  300 10 20 1000 30 5 6 7 50 0\ncpu0 1 1 1 1\n")
	write(t, root, "proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 500 kB\n")
	write(t, root, "proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=3500000\n")
	seen := map[series.Counter]int{}
	for n := 1; n <= 8; n++ {
		vs := r.Read(nil).Host.Values
		for c, want := range map[series.Counter]float64{series.HostCPUTime: 3.48, series.HostMemoryAvailable: 500 << 10, series.HostPressureMemory: 3.5} {
			// A total that was not read has not stood still.
			v, ok := vs.Get(c).Get()
			if isTotal := c.Info().Kind == series.Total; !ok && !isTotal || isTotal && ok && v != want {
				t.Errorf("at sample %d %s is %v", n, c.Info().Name, vs.Get(c))
			}
			if v == want && seen[c] == 0 {
				seen[c] = n
			}
		}
	}
	for c, most := range map[series.Counter]int{series.HostCPUTime: 1, series.HostMemoryAvailable: 2, series.HostPressureMemory: 8} {
		if seen[c] == 0 || seen[c] > most {
			t.Errorf("%s is as it was until sample %d, want %d at most", c.Info().Name, seen[c], most)
		}
	}
	if v := r.Read(nil).Host.Values.Get(series.HostPageCache); v.Status == series.OK {
		t.Errorf("what the kernel tells no more is still %v", v)
	}
}
