package remote

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/series"
)

// Limits of what is asked for.
const (
	mostDeep      = 512    // processes in depth
	mostProcesses = 65_536 // at all
)

// hostFiles are what is read of the host as a whole; the last cannot be written by
// its users, as commands can.
var hostFiles = []string{
	"/proc/stat", "/proc/meminfo", "/proc/vmstat", "/proc/loadavg", "/proc/pressure/cpu", "/proc/pressure/io", "/proc/pressure/memory",
	"/proc/diskstats", "/proc/net/dev", "/proc/sys/kernel/hostname", "/proc/sys/kernel/random/boot_id", "/proc/sys/kernel/task_delayacct", "/etc/passwd",
}

// processFiles are what is read of a process. Command lines are what users like, and
// come behind all others, so that they can stand for no other file.
var (
	processFiles = []string{"statm", "schedstat", "io", "status", "wchan", "cgroup"}
	freeFiles    = []string{"cmdline"}
)

// paths are the files that are asked for, in order.
func paths(pids []int) []string {
	list := append([]string{}, hostFiles...)
	for _, files := range [][]string{processFiles, freeFiles} {
		for _, pid := range pids {
			for _, f := range files {
				list = append(list, fmt.Sprintf("/proc/%d/%s", pid, f))
			}
		}
	}
	return list
}

func words(pids []int) string {
	var list []string
	for _, pid := range pids {
		list = append(list, strconv.Itoa(pid))
	}
	return strings.Join(list, " ")
}

// A tree is a folder laid out like another host's.
type tree struct {
	root  string
	known map[int]bool // processes that have a folder
}

// start makes the folder that /proc is.
func (t *tree) start() string {
	t.known = map[int]bool{}
	_ = os.MkdirAll(filepath.Join(t.root, "proc"), 0o700) // package proc tells when it is not there
	return t.root
}

// put writes a file. What cannot be written is not there for package proc, which
// says so.
func (t *tree) put(path string, text []byte) {
	name := filepath.Join(t.root, path)
	if os.WriteFile(name, text, 0o600) != nil && os.MkdirAll(filepath.Dir(name), 0o700) == nil {
		_ = os.WriteFile(name, text, 0o600)
	}
}

// putProcesses takes the stat of all processes, one line each, and returns their
// parents.
func (t *tree) putProcesses(text []byte) map[int]int {
	parents := map[int]int{}
	for line := range bytes.Lines(text) {
		end := bytes.LastIndexByte(line, ')')
		first, _, ok := bytes.Cut(line, []byte(" ("))
		pid, err := strconv.Atoi(string(first))
		if !ok || end < 0 || err != nil || pid <= 0 || len(parents) >= mostProcesses {
			continue
		}
		rest := bytes.Fields(line[end+1:])
		if len(rest) < 2 {
			continue
		}
		parent, err := strconv.Atoi(string(rest[1]))
		if err != nil {
			continue
		}
		parents[pid] = parent
		t.put(fmt.Sprintf("proc/%d/stat", pid), line)
	}
	for pid := range t.known {
		if _, alive := parents[pid]; !alive {
			_ = os.RemoveAll(filepath.Join(t.root, "proc", strconv.Itoa(pid)))
		}
	}
	t.known = map[int]bool{}
	for pid := range parents {
		t.known[pid] = true
	}
	return parents
}

// around are the processes on GPUs, their descendants, and their launchers.
func around(parents map[int]int, uses map[int][]series.Use) []int {
	children := map[int][]int{}
	for pid, parent := range parents {
		children[parent] = append(children[parent], pid)
	}
	var list []int
	seen := map[int]bool{}
	var add func(pid int)
	add = func(pid int) {
		if _, alive := parents[pid]; !alive || seen[pid] || len(list) >= mostDeep {
			return
		}
		seen[pid] = true
		list = append(list, pid)
		for _, c := range children[pid] {
			add(c)
		}
	}
	for pid := range uses {
		add(pid)
	}
	for pid := range uses {
		for up := parents[pid]; up > 1 && !seen[up] && len(list) < mostDeep; up = parents[up] {
			seen[up] = true
			list = append(list, up)
		}
	}
	return list
}

// putFiles takes what head says of files: a line with the name of each, in the order
// in which they were asked for, and what is in it. A name out of order is content.
func (t *tree) putFiles(text []byte, pids []int) {
	wanted := paths(pids)
	found := map[string]bool{}
	next, now, from := 0, "", 0
	keep := func(to int) {
		if now != "" {
			found[now] = true
			t.put(now, bytes.TrimSuffix(text[from:to], []byte("\n"))) // head parts files by an empty line
		}
	}
	for at := 0; at < len(text); {
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if name, ok := headerOf(text[at:end]); ok {
			for i := next; i < len(wanted); i++ {
				if wanted[i] == name {
					keep(at)
					next, now, from = i+1, name, end
					break
				}
			}
		}
		at = end
	}
	keep(len(text))
	for _, name := range wanted {
		if !found[name] {
			t.missing(name)
		}
	}
}

// headerOf is the name in a line of head, "==> /proc/stat <==".
func headerOf(line []byte) (string, bool) {
	name, ok := bytes.CutPrefix(bytes.TrimSuffix(line, []byte("\n")), []byte("==> "))
	if !ok {
		return "", false
	}
	name, ok = bytes.CutSuffix(name, []byte(" <=="))
	return string(name), ok
}

// missing makes what is not there unreadable, of processes that are: their files are
// other users'.
func (t *tree) missing(path string) {
	name := filepath.Join(t.root, path)
	_ = os.RemoveAll(name)
	if pid, file, ok := strings.Cut(strings.TrimPrefix(path, "/proc/"), "/"); ok && file == "io" {
		if n, err := strconv.Atoi(pid); err == nil && t.known[n] {
			_ = os.Mkdir(name, 0o700)
		}
	}
}

// putNames takes the variables of environments that name ranks and jobs.
func (t *tree) putNames(text []byte) {
	path := ""
	var lines [][]byte
	keep := func() {
		if path != "" {
			t.put(path, bytes.Join(lines, []byte{0}))
		}
		lines = nil
	}
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if name, ok := headerOf(line); ok {
			keep()
			path = ""
			pid, _, _ := strings.Cut(strings.TrimPrefix(name, "/proc/"), "/")
			if n, err := strconv.Atoi(pid); err == nil && t.known[n] && name == fmt.Sprintf("/proc/%d/environ", n) {
				path = name
			}
			continue
		}
		if len(line) > 0 {
			lines = append(lines, line)
		}
	}
	keep()
}
