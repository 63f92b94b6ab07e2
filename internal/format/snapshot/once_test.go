package snapshot

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/internal/pickle"
)

// TestOnePassReadsWhatTwoDo reads what PyTorch and Python write in one pass,
// which must be enough, and in two, which must say the same.
func TestOnePassReadsWhatTwoDo(t *testing.T) {
	patterns := []string{filepath.Join("testdata", "*.pickle")}
	if dir := os.Getenv("PLIMSOLL_CASES"); dir != "" {
		patterns = append(patterns, filepath.Join(dir, "snapshots", "*.pickle"))
	}
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files, %v", pattern, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, size := range []int{len(data), len(data) * 2 / 3} {
				once, err1 := passes(data[:size], (*pickle.Machine).RunOnce)
				twice, err2 := passes(data[:size], (*pickle.Machine).Run)
				if (err1 == nil) != (err2 == nil) || err1 != nil && err1.Error() != err2.Error() {
					t.Errorf("%s, %d bytes: one pass says %v, two say %v", file, size, err1, err2)
				}
				if diff := cmp.Diff(once, twice); diff != "" {
					t.Errorf("%s, %d bytes: -one pass, +two\n%.1000s", file, size, diff)
				}
			}
		}
	}
}

// passes is what the passes of run find: the events of each device, the
// segments, and how many stacks there are.
func passes(data []byte, run func(*pickle.Machine) (pickle.Value, error)) (found []any, err error) {
	r := newRecording(input.NewReader(bytes.NewReader(data), int64(len(data)), "file", input.Limits{}))
	defer r.wait()
	err = r.fill(run)
	for _, tr := range r.traces {
		var events []string
		tr.each(tr.chunks, func(e event) { events = append(events, fmt.Sprint(e)) })
		found = append(found, events)
	}
	for _, s := range r.segments {
		found = append(found, fmt.Sprint(s))
	}
	return append(found, len(r.stacks.ends), len(r.annotations)), err
}
