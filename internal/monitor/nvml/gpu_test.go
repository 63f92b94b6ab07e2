//go:build cgo && linux

package nvml

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/series"
)

// Rows that are asked at some reads only are each asked that often, and not all at
// the same read.
func TestRowsAreSpread(t *testing.T) {
	for _, sparing := range []bool{false, true} {
		testRowsAreSpread(t, sparing)
	}
}

func testRowsAreSpread(t *testing.T, sparing bool) {
	every := func(p pace) int {
		if sparing {
			return paces[p].sparing
		}
		return paces[p].full
	}
	reads := 4 * every(fewReads)
	asked, calls := make([]int, len(rows)), make([]int, reads+1)
	g := gpu{skip: make([]int, allRows), sparing: sparing}
	for g.reads = 1; g.reads <= reads; g.reads++ {
		for i, r := range rows {
			if g.reads < g.skip[i] {
				continue
			}
			g.skip[i] = g.next(i, r.every)
			asked[i]++
			calls[g.reads]++
		}
	}
	for i, r := range rows {
		if n := reads / every(r.every); asked[i] < n || asked[i] > n+1 {
			t.Errorf("%s is asked at %d reads of %d, want %d", r.symbol, asked[i], reads, n)
		}
	}
	usual := 0.0 // of what is asked for at each read or each second
	for _, r := range rows {
		if n := every(r.every); n <= 2 {
			usual += 1 / float64(n)
		}
	}
	for read, n := range calls[2:] {
		if float64(n) > usual+5 {
			t.Errorf("read %d asks for %d numbers, %.1f are usual", read+2, n, usual)
		}
	}
}

// What is said of a process that goes on as before is held once.
func TestUsesAreShared(t *testing.T) {
	uses := func(memory float64) map[int][]series.Use {
		u := series.Use{Device: "GPU-1", Kind: series.Compute}
		u.Values.Set(series.UseMemory, series.Of(memory))
		return map[int][]series.Use{7: {u}, 8: {u}}
	}
	var s source
	first, second := uses(1), uses(1)
	second[8] = uses(2)[8]
	s.share(first)
	s.share(second)
	if &first[7][0] != &second[7][0] {
		t.Error("the same of a process is held twice")
	}
	if &first[8][0] == &second[8][0] || second[8][0].Values.Get(series.UseMemory) != series.Of(2) {
		t.Errorf("of a process that grew it says %v", second[8])
	}
	third := uses(2)
	delete(third, 7)
	if s.share(third); len(third) != 1 || len(s.uses) != 1 {
		t.Errorf("a process that left is there: %v", third)
	}
}
