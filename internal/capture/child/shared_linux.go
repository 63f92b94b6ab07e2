package child

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// sharedNames are what Python and PyTorch call their files in /dev/shm:
// torch_PID_RANDOM_N (torch/csrc/.../StorageSharing), psm_XXXXXXXX
// (multiprocessing.shared_memory), sem.mp-XXXXXXXX (multiprocessing locks).
var sharedNames = regexp.MustCompile(`^(torch_\d+_\d+_\d+|psm_[0-9a-f]+|sem\.mp-\w+)$`)

const sharedDir = "/dev/shm"

// A file is a file by its device and its number. Its name says little: libc
// makes a semaphore under another name than it has later, and that name is
// what the processes' maps show.
type file struct{ dev, inode uint64 }

// shared is the set of files in /dev/shm that processes hold, in their memory
// or open. Processes that are not this user's cannot be asked.
func shared(pids []int) map[file]bool {
	held := map[file]bool{}
	for _, pid := range pids {
		dir := "/proc/" + strconv.Itoa(pid)
		addMapped(held, dir+"/maps")
		links, _ := filepath.Glob(dir + "/fd/*") // the pattern is well formed
		for _, link := range links {
			if target, err := os.Readlink(link); err != nil || !strings.HasPrefix(target, sharedDir+"/") {
				continue
			}
			if info, err := os.Stat(link); err == nil {
				held[fileOf(info)] = true
			}
		}
	}
	return held
}

// addMapped reads the lines of a process's map: address, rights, offset,
// device, number, path.
func addMapped(held map[file]bool, path string) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) < 6 || !strings.HasPrefix(words[5], sharedDir+"/") {
			continue
		}
		var major, minor uint32
		inode, err := strconv.ParseUint(words[4], 10, 64)
		if _, scan := fmt.Sscanf(words[3], "%x:%x", &major, &minor); scan == nil && err == nil {
			held[file{unix.Mkdev(major, minor), inode}] = true
		}
	}
}

func fileOf(info os.FileInfo) file {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return file{}
	}
	return file{st.Dev, st.Ino}
}

// sweepShared removes the shared memory that killed processes left behind: of
// the files that they held, those which no process holds any more. Nothing
// else in /dev/shm is ours to judge: other programs hand such files over by
// name, and may live where this process cannot see them.
func sweepShared(held map[file]bool) {
	if len(held) == 0 {
		return
	}
	entries, err := os.ReadDir(sharedDir)
	if err != nil {
		return
	}
	still := shared(processes())
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !sharedNames.MatchString(e.Name()) {
			continue
		}
		if f := fileOf(info); held[f] && !still[f] {
			os.Remove(filepath.Join(sharedDir, e.Name()))
		}
	}
}
