package explain_test

import (
	"os"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/explain"
)

// BenchmarkExplain explains the snapshot that PLIMSOLL_SNAPSHOT names, else
// one of testdata, without the time that reading takes. bars/snapshot makes
// large ones.
func BenchmarkExplain(b *testing.B) {
	path := os.Getenv("PLIMSOLL_SNAPSHOT")
	if path == "" {
		path = "testdata/leak.pickle"
	}
	events := 0
	for b.Loop() {
		b.StopTimer()
		list := inputs(read(b, path))
		b.StartTimer()
		for _, in := range list {
			events += explain.Explain(in).Events
		}
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}
