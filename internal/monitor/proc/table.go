package proc

import (
	"maps"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/plimsoll-dev/plimsoll/series"
)

// refreshEvery is after how many samples what is known of a process is read again
// even if nothing seems to have changed.
const refreshEvery = 32

// A table knows the parent of every process. It reads those that are new and, in
// turn, a share of the others, so that ten thousand cost as little as a listing.
type table struct {
	parents  map[int]entry
	children map[int][]int
	names    []byte // buffer of listings
}

type entry struct {
	parent int
	name   string
	tick   int // of the last listing that had it
}

// update lists the processes below dir.
func (t *table) update(dir *folder, tick int) error {
	if t.parents == nil {
		t.parents = map[int]entry{}
		t.names = make([]byte, 1<<14)
	}
	if _, err := unix.Seek(dir.fd, 0, 0); err != nil {
		return err
	}
	var listed []int
	for {
		n, err := unix.ReadDirent(dir.fd, t.names)
		if err != nil {
			return err
		}
		if n <= 0 {
			break
		}
		_, _, names := unix.ParseDirent(t.names[:n], -1, nil)
		for _, name := range names {
			if pid, err := strconv.Atoi(name); err == nil && pid > 0 {
				listed = append(listed, pid)
			}
		}
	}
	for _, pid := range listed {
		e, known := t.parents[pid]
		if !known || (pid+tick)%refreshEvery == 0 {
			t.learn(dir, pid, tick)
			continue
		}
		e.tick = tick
		t.parents[pid] = e
	}
	t.link(dir, tick)
	return nil
}

// learn reads who the parent of pid is.
func (t *table) learn(dir *folder, pid, tick int) {
	line, err := dir.read(strconv.Itoa(pid) + "/stat")
	if err != nil {
		delete(t.parents, pid)
		return
	}
	if st, ok := parseStat(line); ok {
		t.parents[pid] = entry{parent: st.parent, name: st.name, tick: tick}
	}
}

// link forgets who is gone, asks again about orphans, and joins children to
// parents.
func (t *table) link(dir *folder, tick int) {
	gone := map[int]bool{}
	for pid, e := range t.parents {
		if e.tick != tick {
			delete(t.parents, pid)
			gone[pid] = true
		}
	}
	for pid, e := range t.parents {
		if gone[e.parent] {
			t.learn(dir, pid, tick)
		}
	}
	t.children = make(map[int][]int, len(t.children))
	for pid, e := range t.parents {
		t.children[e.parent] = append(t.children[e.parent], pid)
	}
}

// outside are programs that start others without being part of their work.
var outside = map[string]bool{
	"systemd": true, "init": true, "sshd": true, "login": true, "su": true, "sudo": true, "cron": true, "crond": true, "atd": true,
	"bash": true, "sh": true, "dash": true, "zsh": true, "fish": true, "tcsh": true, "csh": true, "ksh": true,
	"tmux: server": true, "tmux": true, "screen": true, "SCREEN": true, "tini": true, "dumb-init": true, "catatonit": true, "docker-init": true,
	"containerd-shim": true, "containerd": true, "dockerd": true, "conmon": true, "podman": true, "runc": true, "crun": true,
	"slurmstepd": true, "slurmd": true, "jupyter-lab": true, "jupyter-noteboo": true, "jupyterhub-sing": true, "code": true, "node": true,
}

// around are the processes that uses names, with their launchers and all
// descendants, and the trees of roots, in order; which of them are launchers alone.
func (t *table) around(uses map[int][]series.Use, roots []int) (pids []int, launchers map[int]bool) {
	in := map[int]bool{}
	var down func(pid int)
	down = func(pid int) {
		if _, ok := t.parents[pid]; !ok || in[pid] {
			return
		}
		in[pid] = true
		for _, c := range t.children[pid] {
			down(c)
		}
	}
	for pid := range uses {
		down(pid)
	}
	for _, pid := range roots {
		down(pid)
	}
	launchers = map[int]bool{}
	for pid := range uses {
		for up := t.parents[pid].parent; up > 1 && !in[up]; up = t.parents[up].parent {
			e, ok := t.parents[up]
			if !ok || outside[e.name] {
				break
			}
			in[up], launchers[up] = true, true
		}
	}
	return slices.Sorted(maps.Keys(in)), launchers
}
