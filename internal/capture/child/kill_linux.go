package child

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

const (
	// trackerGrace is how long Python's own cleaners get to remove shared
	// memory after the processes that they serve are gone.
	trackerGrace = 500 * time.Millisecond
	killTimeout  = 10 * time.Second
	killPoll     = 5 * time.Millisecond
)

// cleaners end by themselves when the last process that they serve is gone,
// and remove its shared memory and semaphores. Sources: CPython
// Lib/multiprocessing/resource_tracker.py, PyTorch torch/bin/torch_shm_manager.
var cleaners = [][]byte{[]byte("multiprocessing.resource_tracker"), []byte("torch_shm_manager")}

// killAll kills every descendant of root, cleaners last, until none is left
// or killTimeout has passed. It returns how many it killed at first sight.
func killAll(root int) int {
	begin := time.Now()
	left := 0
	for first := true; time.Since(begin) < killTimeout; first = false {
		pids := descendants(root)
		if len(pids) == 0 {
			break
		}
		spare := time.Since(begin) < trackerGrace
		for _, pid := range pids {
			if spare && isCleaner(pid) {
				continue
			}
			if first {
				left++
			}
			syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // gone already, which is the aim
		}
		time.Sleep(killPoll)
	}
	return left
}

// descendants lists the live processes below root. Zombies do not count: the
// reaper takes them.
func descendants(root int) []int {
	children := map[int][]int{}
	for _, pid := range processes() {
		if parent, state, ok := parentOf(pid); ok && state != 'Z' {
			children[parent] = append(children[parent], pid)
		} else if ok {
			// A zombie's children were given to the reaper, but one that is
			// only the thread leader may still have some.
			children[parent] = append(children[parent], -pid)
		}
	}
	var found []int
	queue := []int{root}
	for len(queue) > 0 {
		pid := queue[0]
		queue = queue[1:]
		for _, c := range children[pid] {
			if c > 0 {
				found = append(found, c)
				queue = append(queue, c)
			} else {
				queue = append(queue, -c)
			}
		}
	}
	return found
}

func processes() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parentOf reads the parent and the state of a process. The program's name
// before them may hold anything, so the last parenthesis counts.
func parentOf(pid int) (parent int, state byte, ok bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0, 0, false
	}
	parent, err = strconv.Atoi(string(fields[1]))
	return parent, fields[0][0], err == nil
}

func isCleaner(pid int) bool {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return false
	}
	for _, c := range cleaners {
		if bytes.Contains(line, c) {
			return true
		}
	}
	return false
}
