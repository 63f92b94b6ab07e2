package snapshot

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/alloc"
	"github.com/plimsoll-dev/plimsoll/internal/input"
)

// TestEvictedEvents forgets the oldest events of real recordings, as a full
// ring does, and replays the rest: only from the right state before them do
// all addresses come out.
func TestEvictedEvents(t *testing.T) {
	dir := os.Getenv("PLIMSOLL_CASES")
	if dir == "" {
		t.Skip("PLIMSOLL_CASES is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "snapshots", "00[1-4]*.pickle"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s (%v)", dir, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for tenths := range 10 {
			t.Run(fmt.Sprintf("%s without %d tenths", filepath.Base(file), tenths), func(t *testing.T) {
				in := input.NewReader(bytes.NewReader(data), int64(len(data)), file, input.Limits{})
				rec, err := readPickle(in)
				if err != nil {
					t.Fatal(err)
				}
				whole := rec.traces[0]
				skip, kept := whole.count*tenths/10+tenths, &trace{}
				whole.each(whole.chunks, func(e event) {
					if skip--; skip < 0 {
						kept.add(e)
					}
				})
				rec.traces[0] = kept
				s, err := rec.snapshot()
				if err != nil {
					t.Fatal(err)
				}
				c, err := alloc.Verify(s.Tapes[0], alloc.FromSnapshot(s.Settings), s.Final[0])
				if err != nil {
					t.Fatal(err)
				}
				for i, d := range c.Differences {
					if i < 5 {
						t.Error(d)
					}
				}
				if len(c.Differences) > 0 {
					t.Errorf("%d differences in %d events", len(c.Differences), kept.count)
				}
			})
		}
	}
}
