//go:build cgo && linux

package nvml

import "testing"

// Rows that are asked at some reads only are each asked that often, and not all at
// the same read.
func TestRowsAreSpread(t *testing.T) {
	const reads = 4 * fewReads
	asked, calls := make([]int, len(rows)), make([]int, reads+1)
	g := gpu{skip: map[int]int{}}
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
		if n := reads / r.every; asked[i] < n || asked[i] > n+1 {
			t.Errorf("%s is asked at %d reads of %d, want %d", r.symbol, asked[i], reads, n)
		}
	}
	always := 0
	for _, r := range rows {
		if r.every == eachRead {
			always++
		}
	}
	for read, n := range calls[2:] {
		if n > always+5 {
			t.Errorf("read %d asks for %d numbers, %d are asked for at each", read+2, n, always)
		}
	}
}
