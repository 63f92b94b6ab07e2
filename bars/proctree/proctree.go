// Package proctree runs a command and measures what it takes: the clock, the
// processors' time and the host memory of the process with all that it starts.
//
// Host memory is looked at every twentieth of a second and counts a page that
// two processes share for both. Time and memory of a process that outlives
// the command are not seen. It reads /proc, so it works on Linux only.
package proctree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// every is how often memory is looked at.
const every = 50 * time.Millisecond

// A Use is what a command took.
type Use struct {
	Wall time.Duration
	CPU  time.Duration // user and system time of all processes
	Peak unit.Bytes    // resident memory of all processes together, at the most
}

// Run runs the command to its end. The error is the command's.
func Run(cmd *exec.Cmd) (Use, error) {
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return Use{}, err
	}
	done, peak := make(chan struct{}), make(chan unit.Bytes)
	go func() { peak <- watch(cmd.Process.Pid, done) }()
	err := cmd.Wait()
	close(done)
	u := Use{Wall: time.Since(begin), Peak: <-peak}
	u.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return u, err
}

func watch(root int, done <-chan struct{}) (peak unit.Bytes) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return peak
		case <-tick.C:
			peak = max(peak, resident(root))
		}
	}
}

// resident adds up what root and its descendants hold now.
func resident(root int) (sum unit.Bytes) {
	parents, pages := map[int]int{}, map[int]int{}
	found, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0
	}
	for _, path := range found {
		if pid, parent, rss, ok := stat(path); ok {
			parents[pid], pages[pid] = parent, rss
		}
	}
	for pid := range parents {
		for p, depth := pid, 0; p > 0 && depth < 100; p, depth = parents[p], depth+1 {
			if p == root {
				sum += unit.Bytes(pages[pid]) * unit.Bytes(os.Getpagesize())
				break
			}
		}
	}
	return sum
}

// stat reads a process's number, its parent's and its resident pages: fields 1,
// 4 and 24 of proc(5). The second field may hold spaces.
func stat(path string) (pid, parent, pages int, ok bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, 0, false
	}
	text := string(data)
	close := strings.LastIndexByte(text, ')')
	first, _, _ := strings.Cut(text, " ")
	if close < 0 {
		return 0, 0, 0, false
	}
	rest := strings.Fields(text[close+1:])
	if len(rest) < 22 {
		return 0, 0, 0, false
	}
	var numbers [3]int
	for i, field := range []string{first, rest[1], rest[21]} {
		if numbers[i], err = strconv.Atoi(field); err != nil {
			return 0, 0, 0, false
		}
	}
	return numbers[0], numbers[1], numbers[2], true
}
