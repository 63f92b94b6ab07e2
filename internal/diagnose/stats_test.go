package diagnose

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/format/memstats"
	"github.com/plimsoll-dev/plimsoll/unit"
)

func TestCounters(t *testing.T) {
	gib := func(n int64) int64 { return n << 30 }
	for _, c := range []struct {
		name                             string
		ooms, retries                    int64
		allocated, requested, res, split int64
		want                             string
	}{
		{"out of memory in pieces", 1, 3, gib(5), gib(4), gib(20), gib(6), "fragmentation"},
		{"out of memory, all live", 2, 3, gib(19), gib(19), gib(20), gib(0), "device_full"},
		{"short", 0, 3, gib(19), gib(19), gib(20), gib(0), "memory_was_short"},
		{"much cached", 0, 0, gib(5), gib(5), gib(20), gib(2), "unused_cache"},
		{"fine", 0, 0, gib(19), gib(19), gib(20), gib(0), "no_shortage"},
	} {
		s := &memstats.Stats{Unit: 1, Values: map[string]int64{
			"num_ooms": c.ooms, "num_alloc_retries": c.retries, "allocated_bytes.all.current": c.allocated, "requested_bytes.all.current": c.requested,
			"reserved_bytes.all.current": c.res, "inactive_split_bytes.all.current": c.split, "allocated_bytes.all.peak": gib(19), "reserved_bytes.all.peak": gib(20),
		}}
		got := OfStats(s)
		if got.Finding.Cause != c.want {
			t.Errorf("%s: %s: %s", c.name, got.Finding.Cause, got.Finding.Verdict)
		}
		sum := unit.Bytes(0)
		for _, p := range got.Parts.Parts {
			sum += p.Bytes
		}
		if sum != got.Parts.Total {
			t.Errorf("%s: parts add up to %d of %d", c.name, sum, got.Parts.Total)
		}
	}
	if got := OfStats(&memstats.Stats{Unit: 1, Values: map[string]int64{"num_ooms": 1}}); got.Finding.Cause != "device_full" || got.Parts != nil {
		t.Errorf("%+v", got)
	}
}
