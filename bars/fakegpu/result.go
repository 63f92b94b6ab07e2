package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/unit"
)

const columns = "%-32s %-9s %14s %14s %8s %8s %10s"

func heading() string {
	return fmt.Sprintf(columns, "loop", "by", "allocated", "reserved", "wall s", "cpu s", "host")
}

// lines are what both sides say and take, and how they compare.
func (r result) lines(l loop) string {
	row := func(by string, s side) string {
		return fmt.Sprintf(columns, l.name, by, fmt.Sprint(int64(s.allocated)), fmt.Sprint(int64(s.reserved)),
			fmt.Sprintf("%.1f", s.Wall.Seconds()), fmt.Sprintf("%.1f", s.CPU.Seconds()), s.Peak)
	}
	return strings.Join([]string{row("plimsoll", r.ours), row("FakeGPU", r.fake), fmt.Sprintf(columns, "", "", share(r.fake.allocated, r.ours.allocated), share(r.fake.reserved, r.ours.reserved),
		times(r.ours.Wall.Seconds(), r.fake.Wall.Seconds()), times(r.ours.CPU.Seconds(), r.fake.CPU.Seconds()), times(float64(r.ours.Peak), float64(r.fake.Peak)))}, "\n")
}

// share is how far FakeGPU's peak is from PyTorch's own.
func share(theirs, ours unit.Bytes) string {
	return fmt.Sprintf("%+.1f %%", 100*(float64(theirs)/float64(ours)-1))
}

func times(ours, theirs float64) string { return fmt.Sprintf("x %.2f", ours/theirs) }

// trace takes the difference of both peaks apart. What each side had at its
// own peak is compared block by block, so the parts add up to the difference.
func (r result) trace() string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	say("%s: allocated %+d bytes beside FakeGPU's", r.name, int64(r.ours.allocated-r.fake.allocated))
	rest := r.ours.allocated - r.fake.allocated
	rounding := unit.Bytes(0)
	for _, b := range r.ours.live.blocks {
		rounding += b.rounding
	}
	say("  %+14d  rounding of %d blocks, which FakeGPU leaves out of its peak", int64(rounding), len(r.ours.live.blocks))
	rest -= rounding
	for _, part := range []struct {
		sign   unit.Bytes
		blocks []block
		only   string
	}{
		{1, only(r.ours.live.blocks, r.fake.live.blocks), "only PyTorch"},
		{-1, only(r.fake.live.blocks, r.ours.live.blocks), "only FakeGPU"},
	} {
		for _, g := range grouped(part.blocks) {
			say("  %+14d  %s: %d %s, largest %d bytes (%s)", int64(part.sign*g.sum), part.only, g.count, g.kind, int64(g.largest.bytes), g.largest.origin)
			rest -= part.sign * g.sum
		}
	}
	if rest != 0 {
		say("  %+14d  not explained", int64(rest))
	}
	say("  reserved %+d bytes: PyTorch has %s; FakeGPU has %s", int64(r.ours.reserved-r.fake.reserved), segments(r.ours.live.segments), segments(r.fake.live.segments))
	return strings.Join(out, "\n")
}

// A group is blocks of one category.
type group struct {
	kind    string
	sum     unit.Bytes
	count   int
	largest block
}

func grouped(blocks []block) []group {
	var out []group
	for _, b := range blocks { // largest first
		i := slices.IndexFunc(out, func(g group) bool { return g.kind == b.kind })
		if i < 0 {
			i = len(out)
			out = append(out, group{kind: b.kind, largest: b})
		}
		out[i].sum += b.bytes
		out[i].count++
	}
	slices.SortStableFunc(out, func(a, b group) int { return cmp.Compare(b.sum, a.sum) })
	return out
}

// segments counts the sizes, "3 x 2.00 MiB + 1 x 20.0 MiB".
func segments(sizes []unit.Bytes) string {
	counts := map[unit.Bytes]int{}
	for _, s := range sizes {
		counts[s]++
	}
	var parts []string
	for _, size := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d x %s", counts[size], size))
	}
	return strings.Join(parts, " + ")
}
