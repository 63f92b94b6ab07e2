package snapshot

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/input"
)

// BenchmarkRead reads the file that PLIMSOLL_SNAPSHOT names, else a fixture.
// testdata/large.py makes large ones. It reports bytes and events a second,
// and what an event costs in memory once the file is read.
func BenchmarkRead(b *testing.B) {
	path := os.Getenv("PLIMSOLL_SNAPSHOT")
	if path == "" {
		path = "testdata/protocol4.pickle"
	}
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	b.ReportAllocs()
	events, held := 0, uint64(0)
	for b.Loop() {
		b.StopTimer()
		before := heap()
		b.StartTimer()
		s, err := Read(f, info.Size(), path, input.Limits{})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		held = heap() - before
		events = 0
		for _, tp := range s.Tapes {
			events += tp.Len()
		}
		runtime.KeepAlive(s)
		b.StartTimer()
	}
	b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(held)/float64(max(events, 1)), "heap-B/event")
}

// BenchmarkCPython reads the same file with Python's own unpickler, for
// comparison.
func BenchmarkCPython(b *testing.B) {
	path := os.Getenv("PLIMSOLL_SNAPSHOT")
	if path == "" {
		b.Skip("PLIMSOLL_SNAPSHOT is not set")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		b.Skip("no python3")
	}
	for b.Loop() {
		cmd := exec.CommandContext(b.Context(), python, "-c", "import pickle, sys; pickle.load(open(sys.argv[1], 'rb'))", path)
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(cmd.ProcessState.UserTime().Seconds()+cmd.ProcessState.SystemTime().Seconds(), "cpu-s")
		if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			b.ReportMetric(float64(usage.Maxrss)/1024, "peak-MiB")
		}
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
