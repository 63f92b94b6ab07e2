package cli

import (
	"fmt"
	"os"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/format/samples"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A keeper writes the recording. A nil one writes none.
type keeper struct {
	file    *os.File
	w       *samples.Writer
	flushed time.Duration // when what was kept was last written
	failed  error
}

// keptFor is how much of the end a kill may cost. A run may be short, so it is less
// than what makes the smallest files.
const keptFor = 2 * time.Second

// add writes a sample; after one failure no more.
func (k *keeper) add(s *series.Sample) {
	if k == nil || k.failed != nil {
		return
	}
	k.failed = k.w.Write(s)
	if k.failed == nil && (k.flushed == 0 || s.Since-k.flushed >= keptFor) {
		k.failed, k.flushed = k.w.Flush(), max(s.Since, 1)
	}
}

// close ends the recording.
func (k *keeper) close() error {
	err := firstError(k.failed, k.w.Close(), k.file.Close())
	if err != nil {
		return fmt.Errorf("keep the samples: %w", err)
	}
	return nil
}
