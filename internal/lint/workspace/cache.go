package workspace

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/input"
)

// maxCache bounds the file that is read back.
const maxCache = 256 << 20

// loadState reads what an earlier run remembered; nil if there is nothing that
// can be used.
func loadState(name string) *state {
	raw, err := input.ReadFile(name, maxCache)
	if err != nil {
		return nil
	}
	var s state
	if json.Unmarshal(raw, &s) != nil {
		return nil
	}
	return &s
}

// saveState writes it. A cache that cannot be written costs time and no more.
func saveState(name string, s *state) {
	raw, err := json.Marshal(s)
	if err != nil || os.MkdirAll(filepath.Dir(name), 0o755) != nil {
		return
	}
	writeAtomically(name, raw, 0o600) //nolint:errcheck // see above
}

// CacheMax is how long a file of the cache lives without use.
const CacheMax = 30 * 24 * time.Hour

// Tidy removes files of the cache that were not written for CacheMax.
func Tidy(dir string, now time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasSuffix(e.Name(), ".json") && now.Sub(info.ModTime()) > CacheMax {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// writeAtomically writes a file under another name and renames it, so that it
// is whole at every moment.
func writeAtomically(name string, raw []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	for _, step := range []func() error{func() error { return f.Chmod(mode) }, f.Close} {
		if e := step(); err == nil {
			err = e
		}
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
