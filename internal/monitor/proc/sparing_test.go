package proc_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/monitor/proc"
	"github.com/plimsoll-dev/plimsoll/series"
)

// Of a process that sleeps, a sparing reader knows what stat says in each sample and
// the rest in every fifth; as soon as it does something all is read again.
func TestSparingReader(t *testing.T) {
	files := map[string]string{}
	addProcess(files, 100, "python", 1, 5000, nil)
	root := tree(t, files)
	r := proc.New(proc.Options{Root: root, Sparing: true})
	defer r.Close()
	read := func() series.Process {
		return find(t, r.Read(map[int][]series.Use{100: use("GPU-1")}).Processes, 100)
	}
	known := func(p series.Process, c series.Counter) bool { return p.Values.Get(c).Status == series.OK }
	first := read()
	seen := 0
	for i := range 60 {
		p := read()
		if p.Values.Get(series.CPUTime) != first.Values.Get(series.CPUTime) || p.Values.Get(series.Resident) != first.Values.Get(series.Resident) {
			t.Fatalf("sample %d: stat's values are %v", i, p.Values)
		}
		switch v := p.Values.Get(series.BytesRead); {
		case v == first.Values.Get(series.BytesRead):
			seen++
		case v.Status != series.Absent || i < 10:
			t.Fatalf("sample %d: bytes read are %v", i, v)
		}
	}
	if seen != 20 { // ten until it is taken to sleep, a fifth of the others
		t.Errorf("all was read in %d samples of 60", seen)
	}
	write(t, root, "proc/100/stat", strings.Replace(files["proc/100/stat"], " 250 50 ", " 251 50 ", 1))
	for range 10 {
		if p := read(); !known(p, series.BytesRead) || !known(p, series.CPUWait) {
			t.Fatalf("it woke up, and is not read: %v", p.Values)
		}
	}
	write(t, root, "proc/100/stat", strings.Replace(files["proc/100/stat"], ") S ", ") D ", 1))
	for range 20 {
		if p := read(); !known(p, series.BytesRead) {
			t.Fatalf("it waits for a disk, and is not read: %v", p.Values)
		}
	}
}

// A process that comes onto a GPU is there in the next sample, a child of one that is
// on a GPU within three.
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
	for range 3 {
		ps = r.Read(map[int][]series.Use{100: use("GPU-1"), 200: use("GPU-1")}).Processes
	}
	find(t, ps, 202)
}

// BenchmarkSleepers reads fifty processes that sleep, as top does each second.
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
