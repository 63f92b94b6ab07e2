package child

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"
)

// sharedNames are what Python and PyTorch call their files in /dev/shm:
// torch_PID_RANDOM_N (torch/csrc/.../StorageSharing), psm_XXXXXXXX
// (multiprocessing.shared_memory), sem.mp-XXXXXXXX (multiprocessing locks).
var sharedNames = regexp.MustCompile(`^(torch_(\d+)_\d+_\d+|psm_[0-9a-f]+|sem\.mp-\w+)$`)

const sharedDir = "/dev/shm"

// sweepShared removes the shared memory that killed processes left behind:
// files made since start under such a name, owned by this user, whose maker
// is gone and which no process has mapped.
func sweepShared(start time.Time) {
	entries, err := os.ReadDir(sharedDir)
	if err != nil {
		return
	}
	var candidates []string
	for _, e := range entries {
		m := sharedNames.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		info, err := e.Info()
		if err != nil || info.ModTime().Before(start) {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Getuid() {
			continue
		}
		if pid, err := strconv.Atoi(m[2]); err == nil && syscall.Kill(pid, 0) == nil {
			continue
		}
		candidates = append(candidates, filepath.Join(sharedDir, e.Name()))
	}
	if len(candidates) == 0 {
		return
	}
	for _, path := range unmapped(candidates) {
		os.Remove(path)
	}
}

// unmapped is the paths that no readable process has mapped.
func unmapped(paths []string) []string {
	var maps []byte
	for _, pid := range processes() {
		m, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/maps")
		if err == nil {
			for line := range bytes.Lines(m) {
				if bytes.Contains(line, []byte(sharedDir)) {
					maps = append(maps, line...)
				}
			}
		}
	}
	var free []string
	for _, path := range paths {
		if !bytes.Contains(maps, []byte(path)) {
			free = append(free, path)
		}
	}
	return free
}
