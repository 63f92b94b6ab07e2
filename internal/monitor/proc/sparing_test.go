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
