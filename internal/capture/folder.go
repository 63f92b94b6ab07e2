package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// A folder is the one place that a run writes to. Paths in it are short,
// because sockets are made in its tmp and may not exceed 107 bytes.
type folder struct {
	path string
}

// folderPrefix is what run folders are called, in the temporary folder.
const folderPrefix = "plimsoll-"

// newFolder makes an empty run folder, after removing the ones whose plimsoll
// is gone.
func newFolder(parent string) (*folder, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	sweepStale(parent)
	path, err := os.MkdirTemp(parent, folderPrefix)
	if err != nil {
		return nil, fmt.Errorf("make a run folder: %w", err)
	}
	f := &folder{path}
	err = os.WriteFile(f.owner(), []byte(selfMark()), 0o600)
	for _, dir := range []string{f.helper(), f.results(), f.tmp(), f.overlay()} {
		if err == nil {
			err = os.Mkdir(dir, 0o700)
		}
	}
	if err != nil {
		f.remove()
		return nil, fmt.Errorf("make a run folder: %w", err)
	}
	return f, nil
}

func (f *folder) owner() string    { return filepath.Join(f.path, "owner") }
func (f *folder) helper() string   { return filepath.Join(f.path, "py") }
func (f *folder) results() string  { return filepath.Join(f.path, "out") }
func (f *folder) tmp() string      { return filepath.Join(f.path, "tmp") }
func (f *folder) overlay() string  { return filepath.Join(f.path, "overlay") }
func (f *folder) settings() string { return filepath.Join(f.path, "settings.json") }
func (f *folder) output() string   { return filepath.Join(f.path, "script.log") }
func (f *folder) gpuLog() string   { return filepath.Join(f.path, "vgpu.log") }
func (f *folder) filesLog() string { return filepath.Join(f.path, "files.log") }

// remove deletes the folder, also where the script made folders that may not
// be written to.
func (f *folder) remove() {
	if os.RemoveAll(f.path) == nil {
		return
	}
	filepath.WalkDir(f.path, func(path string, d fs.DirEntry, err error) error { //nolint:errcheck // what cannot be opened is reported by nobody
		if err == nil && d.IsDir() {
			os.Chmod(path, 0o700) //nolint:errcheck // RemoveAll is the judge
		}
		return nil
	})
	os.RemoveAll(f.path)
}

// size is how many bytes the folder's files take on the disk, without
// following links. It stops counting at limit.
func (f *folder) size(limit int64) int64 {
	var total int64
	filepath.WalkDir(f.path, func(_ string, d fs.DirEntry, err error) error { //nolint:errcheck // files come and go meanwhile
		if err != nil {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			total += st.Blocks * 512
		}
		if total > limit {
			return fs.SkipAll
		}
		return nil
	})
	return total
}

// sweepStale removes this user's run folders whose plimsoll is not running.
func sweepStale(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), folderPrefix) {
			continue
		}
		f := &folder{filepath.Join(parent, e.Name())}
		mark, err := os.ReadFile(f.owner())
		if err == nil && !running(string(mark)) {
			f.remove()
		}
	}
}

// selfMark names this process for good: its number and its start time, since
// numbers are used again.
func selfMark() string {
	pid := os.Getpid()
	return fmt.Sprintf("%d %s", pid, startTime(pid))
}

// running reports whether the process of a mark still runs; for a mark that
// nobody wrote it says yes.
func running(mark string) bool {
	number, start, ok := strings.Cut(strings.TrimSpace(mark), " ")
	pid, err := strconv.Atoi(number)
	if !ok || err != nil || pid <= 0 {
		return true
	}
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	return startTime(pid) == start
}

// startTime is when a process started, in ticks since the machine did; "" when
// the process is gone or the system does not tell.
func startTime(pid int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const startField = 22 - 3 // field 22 of proc(5), counted after the name
	if len(fields) <= startField {
		return ""
	}
	return fields[startField]
}
