package capture

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// copySnapshots copies PyTorch's own recordings to where the user wants them:
// the largest under the name given, those of other processes beside it with
// their rank.
func copySnapshots(c *Capture, to string) error {
	if to == "" {
		return nil
	}
	done := map[string]bool{}
	for _, r := range c.Recordings {
		if done[r.Snapshot] {
			continue
		}
		name := to
		if len(done) > 0 {
			name = c.Beside(to, r)
		}
		if err := copyFile(name, r.Snapshot); err != nil {
			return fmt.Errorf("copy the snapshot: %w", err)
		}
		done[r.Snapshot] = true
	}
	return nil
}

// Beside is a file name for a recording other than the first: "run.rank1.tape"
// or "run.device1.tape" for "run.tape".
func (c *Capture) Beside(name string, r Recording) string {
	ext := filepath.Ext(name)
	base := strings.TrimSuffix(name, ext)
	if len(c.Result.Processes) > 1 {
		base += fmt.Sprintf(".rank%d", c.Result.Processes[r.Process].Rank)
	}
	if len(c.Result.Processes[r.Process].Devices) > 1 {
		base += fmt.Sprintf(".device%d", r.Device)
	}
	return base + ext
}

func copyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := out.Close(); err == nil {
			err = cerr
		}
	}()
	_, err = io.Copy(out, in)
	return err
}
