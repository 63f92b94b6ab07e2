package explain_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/explain"
	"github.com/plimsoll-dev/plimsoll/internal/format/snapshot"
	"github.com/plimsoll-dev/plimsoll/internal/input"
)

// FuzzExplain explains whatever the reader makes of a file: no panic, and
// parts that add up.
func FuzzExplain(f *testing.F) {
	for _, pattern := range []string{"testdata/*.pickle", "../format/snapshot/testdata/*.pickle", "../format/snapshot/testdata/*.json"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			if data, err := os.ReadFile(file); err == nil && len(data) < 8<<10 {
				f.Add(data)
			}
		}
	}
	f.Add([]byte(`{"segments":[{"device":0,"address":1024,"total_size":2048,"stream":0,"blocks":[{"address":1024,"size":1024,"requested_size":5,"state":"active_allocated"}]}],
		"device_traces":[[{"action":"alloc","addr":1024,"size":5,"stream":0},{"action":"oom","size":9,"device_free":3,"stream":7}]]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := snapshot.Read(bytes.NewReader(data), int64(len(data)), "f", input.Limits{MaxValues: 10_000})
		if s == nil {
			return
		}
		_ = err
		for _, in := range inputs(s) {
			in.Cut = s.Truncated
			e := explain.Explain(in)
			checkSums(t, e.Moment)
			checkSums(t, e.End)
		}
	})
}

// checkSums holds for whatever a file says.
func checkSums(t *testing.T, m *explain.Moment) {
	t.Helper()
	if s := m.Split; s != nil && s.Requested+s.Rounding+s.Pending+s.Holes+s.WholeFree+s.Private != s.Reserved {
		t.Errorf("parts of the reserved memory do not add up: %+v", s)
	}
}
