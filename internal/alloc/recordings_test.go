package alloc_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/alloc"
	"github.com/plimsoll-dev/plimsoll/internal/format/snapshot"
	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// TestRecordings replays snapshots of real GPUs: every address, every
// segment event and the final layout must be equal.
func TestRecordings(t *testing.T) {
	dir := os.Getenv("PLIMSOLL_CASES")
	if dir == "" {
		t.Skip("PLIMSOLL_CASES is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "snapshots", "*.pickle"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s (%v)", dir, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { verify(t, file, recordedCapacity(t)) })
	}
}

// recordedCapacity is the size of the devices of the recordings in
// PLIMSOLL_CASES, where that is known. It decides how long expandable segments
// may grow.
func recordedCapacity(t *testing.T) unit.Bytes {
	text := os.Getenv("PLIMSOLL_CAPACITY")
	if text == "" {
		return 0
	}
	n, err := unit.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestOwnRecordings does the same with snapshots of random operations by
// PyTorch's own allocator on a virtual GPU: several devices and streams,
// private pools, flushes and failures. Their names end in the capacity.
func TestOwnRecordings(t *testing.T) {
	files, err := filepath.Glob("testdata/recordings/*.pickle")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings (%v)", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".pickle")
		capacity, err := unit.Parse(name[strings.LastIndexByte(name, '-')+1:])
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { verify(t, file, capacity) })
	}
}

// verify compares a recording; a capacity of 0 is unknown.
func verify(t *testing.T, file string, capacity unit.Bytes) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	s, err := snapshot.Read(f, info.Size(), file, input.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for i, tp := range s.Tapes {
		if capacity > 0 {
			tp.SetMeta("capacity_bytes", strconv.FormatInt(int64(capacity), 10))
		}
		c, err := alloc.Verify(tp, alloc.FromSnapshot(s.Settings), s.Final[i])
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d allocs, %d segment allocs, %d frees, %d maps, %d unmaps, %d ooms, %d flushes; %d segments with %d blocks at the end",
			c.Allocs, c.SegmentAllocs, c.SegmentFrees, c.Maps, c.Unmaps, c.OOMs, c.Flushes, c.Segments, c.Blocks)
		for _, d := range c.Differences {
			t.Error(d)
		}
		count := map[tape.Kind]int{}
		for n := range tp.Len() {
			count[tp.Event(n).Kind]++
		}
		if c.Allocs != count[tape.Alloc] || c.SegmentAllocs != count[tape.SegmentAlloc] || c.SegmentFrees != count[tape.SegmentFree] ||
			c.Maps != count[tape.SegmentMap] || c.Unmaps != count[tape.SegmentUnmap] || c.OOMs != count[tape.OOM] || c.Segments != len(s.Final[i]) {
			t.Errorf("not everything was compared: %+v of %v", c, count)
		}
	}
}
