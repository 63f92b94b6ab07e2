package vgpu

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Builds that nobody has used for this long are removed; the folder of a build
// that was cut short, after an hour.
const (
	keepUnused  = 30 * 24 * time.Hour
	keepPartial = time.Hour
)

// prune removes what a cache no longer needs. It is called when something is
// added, so that a cache does not grow with every version that was ever used.
// What cannot be removed stays: a later call tries again.
func prune(cacheDir string, now time.Time) {
	entries, err := os.ReadDir(cacheDir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		age := now.Sub(info.ModTime())
		partial := strings.HasPrefix(e.Name(), "build-") || strings.HasPrefix(e.Name(), "part-")
		if age > keepUnused || partial && age > keepPartial {
			_ = os.RemoveAll(filepath.Join(cacheDir, e.Name()))
		}
	}
}

// touch notes that a file or folder of the cache was used.
func touch(path string, now time.Time) { _ = os.Chtimes(path, now, now) }
