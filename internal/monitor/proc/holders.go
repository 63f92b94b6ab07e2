package proc

import (
	"bytes"
	"maps"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/plimsoll-dev/plimsoll/series"
)

// holders finds the process behind a PID that a driver tells and that is none
// here, as happens in containers and where processes have PIDs of their own.
type holders struct {
	found  map[int]int // PID of the driver to PID here; 0 for nobody
	asked  int         // sample of the last search
	driver map[int]bool
}

// searchEvery is the least number of samples from one search to the next: each
// looks at the open files of every process.
const searchEvery = 5

// visible is uses with PIDs that are none here replaced by those of the processes
// they belong to, where that can be told.
func (r *Reader) visible(uses map[int][]series.Use) map[int][]series.Use {
	var strange []int
	for pid := range uses {
		if _, ok := r.table.parents[pid]; !ok {
			strange = append(strange, pid)
		}
	}
	if len(strange) == 0 {
		return uses
	}
	out := maps.Clone(uses)
	for _, pid := range strange {
		delete(out, pid)
	}
	h := &r.holders
	isNew := slices.ContainsFunc(strange, func(pid int) bool { return !h.driver[pid] })
	if since := r.tick - h.asked; h.driver == nil || isNew && since >= searchEvery || since >= refreshEvery {
		h.search(r, strange, out)
		h.asked = r.tick
	}
	for _, pid := range strange {
		here := h.found[pid]
		if _, alive := r.table.parents[here]; here == 0 || !alive {
			here = pid
		}
		out[here] = append(out[here], uses[pid]...)
	}
	return out
}

// search looks through all processes for those that have a GPU open and are not
// told of. A driver's PID is one of them if the kernel lists it among that
// process's PIDs, or if there is one PID and one process.
func (h *holders) search(r *Reader, strange []int, told map[int][]series.Use) {
	h.found, h.driver = map[int]int{}, map[int]bool{}
	byInner := map[int][]int{}
	var unclaimed []int
	for pid := range r.table.parents {
		if _, ok := told[pid]; ok {
			continue
		}
		dir, err := r.proc.open(strconv.Itoa(pid))
		if err != nil {
			continue
		}
		if dir.holdsGPU() {
			unclaimed = append(unclaimed, pid)
			for _, inner := range dir.innerPIDs() {
				byInner[inner] = append(byInner[inner], pid)
			}
		}
		r.proc.buf = dir.buf
		dir.close()
	}
	var left []int
	for _, pid := range strange {
		h.driver[pid] = true
		if here := byInner[pid]; len(here) == 1 {
			h.found[pid] = here[0]
			unclaimed = slices.DeleteFunc(unclaimed, func(p int) bool { return p == here[0] })
			continue
		}
		left = append(left, pid)
	}
	if len(left) == 1 && len(unclaimed) == 1 {
		h.found[left[0]] = unclaimed[0]
	}
}

// maxHandles is how many open files of one process are looked at.
const maxHandles = 4096

// holdsGPU says whether a process has a GPU's device file open.
func (f *folder) holdsGPU() bool {
	dir, err := f.open("fd")
	if err != nil {
		return false
	}
	defer dir.close()
	names, target := make([]byte, 1<<14), make([]byte, 256)
	for range maxHandles / 256 {
		n, err := unix.ReadDirent(dir.fd, names)
		if err != nil || n <= 0 {
			return false
		}
		_, _, list := unix.ParseDirent(names[:n], -1, nil)
		for _, name := range list {
			n, err := unix.Readlinkat(dir.fd, name, target)
			if err == nil && isGPU(target[:n]) {
				return true
			}
		}
	}
	return false
}

// isGPU says whether path is the device file of one GPU. nvidiactl and nvidia-uvm
// are not: monitors have them open, too.
func isGPU(path []byte) bool {
	if rest, ok := bytes.CutPrefix(path, []byte("/dev/nvidia")); ok {
		return len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9'
	}
	return bytes.HasPrefix(path, []byte("/dev/dri/renderD")) || bytes.HasPrefix(path, []byte("/dev/kfd"))
}

// innerPIDs are the PIDs that the process has in namespaces of processes.
func (f *folder) innerPIDs() []int {
	text, err := f.read("status")
	if err != nil {
		return nil
	}
	i := bytes.Index(text, []byte("\nNSpid:"))
	if i < 0 {
		return nil
	}
	line, _, _ := bytes.Cut(text[i+len("\nNSpid:"):], []byte("\n"))
	var out []int
	fields(line, func(_ int, word []byte) bool {
		if n, ok := number(word); ok {
			out = append(out, int(n))
		}
		return true
	})
	return out
}
