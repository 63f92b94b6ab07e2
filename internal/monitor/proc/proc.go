// Package proc reads the host side of a sample from /proc: the processes on GPUs
// and those around them, and what the machine as a whole is busy with.
//
// Only the tree of processes on GPUs is read in depth; of all others, however
// many, only who their parent is. A value that this user may not read, or a
// process that is gone, is a status and no error.
//
// It knows nothing of drivers: which PID is on which GPU is told to it.
package proc

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/series"
)

// Options say where to read. The zero value reads this machine.
type Options struct {
	// Root is the folder that holds proc, sys, dev and etc; "" means /.
	Root string
	// Roots are PIDs whose whole tree is read whether they are on a GPU or not.
	Roots []int
	// Sparing is for who looks on for hours: processes are listed at every fifth
	// sample, and what only a recording is asked about later is not read.
	Sparing bool
}

// A Reader reads one machine, again and again. It is a monitor.Host.
type Reader struct {
	root    folder
	proc    folder
	roots   []int
	sparing bool
	// clock is how long a process has run, in nanoseconds; nil where that cannot be
	// told apart from what another process with its PID has.
	clock func(pid int) (int64, bool)

	table    table
	known    map[identity]*static
	held     map[int]*held // folders of processes that stay open, by PID
	mostHeld int
	users    map[uint64]string
	holders  holders
	host     *hostReader
	tick     int
	created  string // what told the newest process at the last listing
	err      error  // why /proc cannot be opened
	// disk is whether the kernel counts waits for block devices.
	disk series.Status
}

// A held is the folder of a process that stays open from sample to sample.
type held struct {
	folder
	tick int // of the last sample that had it
	// ran is how long the process had run when last was read of it; 0 where that
	// is not known.
	ran  int64
	last series.Process
}

// holdable is how many folders of processes may stay open, each with its files: a
// share of the files that this process may have open.
func holdable() int {
	const perProcess, share, most = 7, 4, 512
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(limit.Cur/share/perProcess, most))
}

// An identity tells processes apart that had the same PID.
type identity struct {
	pid     int
	started uint64
}

// ticksPerSecond is USER_HZ, which is 100 on every Linux that NVIDIA or AMD
// support (include/asm-generic/param.h).
const ticksPerSecond = 100

// maxDeep is how many processes are read in depth at most. A hundred thousand
// calls would take longer than the time between samples.
const maxDeep = 4096

// New returns a reader. What cannot be opened is told by each Read.
func New(o Options) *Reader {
	if o.Root == "" {
		o.Root = "/"
	}
	r := &Reader{roots: o.Roots, sparing: o.Sparing, known: map[identity]*static{}, held: map[int]*held{}}
	if o.Root == "/" {
		// A file of another tree may be replaced, which one that is open hides.
		r.mostHeld = holdable()
		r.root.kept = map[string]int{}
	}
	r.root.fd, r.err = unix.Open(o.Root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if r.err == nil {
		r.proc, r.err = r.root.open("proc")
	}
	if r.err != nil {
		r.err = fmt.Errorf("open the folder proc of %s: %w", o.Root, r.err)
		return r
	}
	if o.Root == "/" && r.proc.isOwn() {
		r.clock = processClock
	}
	r.host = newHostReader(&r.root, o.Root, o.Sparing)
	r.disk = r.countsDiskWaits()
	return r
}

// countsDiskWaits tells a wait of 0 from one that is not counted: since Linux 5.14
// delay accounting is off unless asked for. Older kernels have no such file.
func (r *Reader) countsDiskWaits() series.Status {
	if b, err := r.root.read("proc/sys/kernel/task_delayacct"); err == nil && len(b) > 0 && b[0] == '0' {
		return series.NotSupported
	}
	return series.OK
}

// Close gives the folders back.
func (r *Reader) Close() {
	for _, h := range r.held {
		h.close()
	}
	if r.err == nil {
		r.proc.close()
		r.root.close()
	}
}

// Read reads the host, the processes in uses, their descendants and launchers, and
// the trees of Options.Roots.
func (r *Reader) Read(uses map[int][]series.Use) monitor.HostReading {
	if r.err != nil {
		return monitor.HostReading{Problems: []series.Problem{{Source: "proc", Status: why(r.err), What: r.err.Error()}}, Processes: unseen(uses)}
	}
	r.tick++
	out := monitor.HostReading{Host: r.host.read(&r.root)}
	out.Host.Unprivileged = os.Geteuid() != 0
	if err := r.list(uses); err != nil {
		out.Problems = append(out.Problems, series.Problem{Source: "proc", Status: why(err), What: "list the processes: " + err.Error()})
	}
	uses = r.visible(uses)
	deep := 0
	seen := map[identity]bool{}
	pids := r.table.around(uses, r.roots)
	out.Processes = make([]series.Process, 0, min(len(pids), maxDeep)) // those of others are few
	for _, pid := range pids {
		if deep == maxDeep {
			out.Problems = append(out.Problems, series.Problem{Source: "proc", Status: series.Failed, What: fmt.Sprintf("more than %d processes are on GPUs or around them; the others are shown by PID only", maxDeep)})
			break
		}
		deep++
		p, ok := r.process(pid)
		if !ok {
			continue
		}
		p.Uses = uses[pid]
		delete(uses, pid)
		seen[identity{pid, p.Started}] = true
		out.Processes = append(out.Processes, p)
	}
	out.Processes = append(out.Processes, unseen(uses)...)
	slices.SortFunc(out.Processes, func(a, b series.Process) int { return a.PID - b.PID })
	for id := range r.known {
		if !seen[id] {
			delete(r.known, id)
		}
	}
	for pid, h := range r.held {
		if h.tick != r.tick {
			h.close()
			delete(r.held, pid)
		}
	}
	return out
}

// listEvery is how many samples pass from one list of processes to the next of a
// sparing reader.
const listEvery = 5

// list lists the processes, if there may be others than at the last time. A sparing
// reader does so in turn, and for a PID on a GPU that it does not know.
func (r *Reader) list(uses map[int][]series.Use) error {
	due := !r.sparing || r.tick%listEvery == 1
	if due && r.clock != nil && r.tick%refreshEvery != 1 {
		due = r.host.created != r.created || r.created == ""
	}
	for pid := range uses {
		_, known := r.table.parents[pid]
		due = due || !known && !r.holders.driver[pid]
	}
	if !due {
		return nil
	}
	r.created = r.host.created
	return r.table.update(&r.proc, r.tick)
}

// unseen are the processes on GPUs that are none of this machine, as far as can be
// seen.
func unseen(uses map[int][]series.Use) []series.Process {
	var out []series.Process
	for pid, u := range uses {
		out = append(out, series.Process{
			PID: pid, Status: series.Lost, Rank: -1, Uses: u, Values: monitor.WithoutAll(series.ScopeProcess, series.Lost),
		})
	}
	return out
}

// process reads the process pid in depth; false if it is gone. One that has not run
// for a nanosecond since it was last read is as it was: nothing of it can have
// changed but what others do to it. That it was woken shows when it has run, and that
// pages were taken from it when it is its turn.
func (r *Reader) process(pid int) (series.Process, bool) {
	ran := r.ran(pid)
	if h := r.held[pid]; h != nil && ran > 0 && ran == h.ran && (pid+r.tick)%r.refresh() != 0 {
		h.tick = r.tick
		return h.last, true
	}
	p, ok := r.read(pid)
	if h := r.held[pid]; h != nil {
		h.ran, h.last = ran, p
	}
	return p, ok
}

// read reads the files of a process.
func (r *Reader) read(pid int) (series.Process, bool) {
	dir, line, err := r.enter(pid)
	if err != nil {
		return series.Process{}, false
	}
	defer func() { r.proc.buf = dir.buf; r.leave(pid, dir) }()
	st, ok := parseStat(line)
	if !ok {
		return series.Process{}, false
	}
	id := identity{pid, st.started}
	s := r.known[id]
	// A process may become another program under its old PID; a new name shows it
	// at once, the rest is found within a few samples.
	switch {
	case s == nil || s.name != st.name:
		s = r.readStatic(dir, st.name)
		r.known[id] = s
	case (pid+r.tick)%r.refresh() == 0:
		s.process = r.readStatic(dir, st.name).process
	}
	p := s.process
	p.PID, p.Parent, p.Started, p.Name, p.State = pid, st.parent, st.started, s.name, st.state
	p.Wait = waitOf(dir)
	p.Values = make(series.Values, len(series.Counters(series.ScopeProcess)))
	fromStat(st, r.disk, &p.Values)
	dynamic(dir, &p.Values)
	return p, true
}

// refresh is after how many samples what seldom changes of a process is read again.
func (r *Reader) refresh() int {
	if r.sparing {
		return 2 * refreshEvery
	}
	return refreshEvery
}

// enter opens the folder of a process, or takes the one that stayed open, and reads
// its stat. Nothing of a folder whose process has ended can be read, so one that
// can is still of the same process.
func (r *Reader) enter(pid int) (*folder, []byte, error) {
	if h := r.held[pid]; h != nil {
		h.buf = r.proc.buf
		if line, err := h.read("stat"); err == nil {
			h.tick = r.tick
			return &h.folder, line, nil
		}
		h.close()
		delete(r.held, pid)
	}
	dir, err := r.proc.open(strconv.Itoa(pid))
	if err != nil {
		return nil, nil, err
	}
	h := &held{folder: dir, tick: r.tick}
	if len(r.held) < r.mostHeld {
		h.kept = map[string]int{}
		r.held[pid] = h
	}
	line, err := h.read("stat")
	if err != nil {
		r.leave(pid, &h.folder)
		return nil, nil, err
	}
	return &h.folder, line, nil
}

// leave closes a folder that does not stay open.
func (r *Reader) leave(pid int, dir *folder) {
	if h := r.held[pid]; h == nil || &h.folder != dir {
		dir.close()
	}
}

func ticks(n uint64) series.Value { return series.Of(float64(n) / ticksPerSecond) }

func nanoseconds(n uint64) series.Value { return series.Of(time.Duration(n).Seconds()) }
