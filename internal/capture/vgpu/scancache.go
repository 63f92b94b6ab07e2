package vgpu

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
)

// scanCache remembers what shared objects import, by path, size and time of
// change: reading the symbols of a large library takes a tenth of a second.
type scanCache struct {
	path    string
	changed bool
	Files   map[string]scanEntry `json:"files"`
}

type scanEntry struct {
	Size    int64       `json:"size"`
	Time    int64       `json:"time"` // of the last change, ns since the epoch
	Imports fileImports `json:"imports"`
}

// openScanCache reads a cache; a missing or damaged one is empty.
func openScanCache(path string) *scanCache {
	c := &scanCache{path: path}
	if text, err := os.ReadFile(path); err == nil {
		_ = json.Unmarshal(text, c)
	}
	if c.Files == nil {
		c.Files = map[string]scanEntry{}
	}
	return c
}

func (c *scanCache) get(path string, info fs.FileInfo) (fileImports, bool) {
	e, ok := c.Files[path]
	return e.Imports, ok && e.Size == info.Size() && e.Time == info.ModTime().UnixNano()
}

func (c *scanCache) put(path string, info fs.FileInfo, imports fileImports) {
	c.Files[path] = scanEntry{info.Size(), info.ModTime().UnixNano(), imports}
	c.changed = true
}

// save writes the cache through a temporary file, so that a reader never sees
// half of one.
func (c *scanCache) save() error {
	if !c.changed {
		return nil
	}
	text, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("save scan cache: %w", err)
	}
	return writeWhole(c.path, text)
}
