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
	// sample at most, of the host some files are read in turn, and what only a
	// recording is asked about later is not read.
	Sparing bool
}

// A Reader reads one machine, again and again. It is a monitor.Host.
type Reader struct {
	root         folder
	proc         folder
	roots        []int
	sparing      bool
	unprivileged bool
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
	listed   int    // sample of the last listing; 0 before the first
	created  string // what told the newest process then
	// stirred says that one of the processes that are no launchers has run since
	// then, or that one has ended.
	stirred bool
	circle  circle
	before  []series.Process // those of this machine, as last returned
	err     error            // why /proc cannot be opened
	// disk is whether the kernel counts waits for block devices.
	disk series.Status
}

// A held is the folder of a process that stays open from sample to sample.
type held struct {
	folder
	tick int // of the last sample that had it
	// ran is how long the process had run when last was read of it; 0 where that
	// is not known.
	ran    int64
	last   series.Process
	static *static
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
	r := &Reader{roots: o.Roots, sparing: o.Sparing, unprivileged: os.Geteuid() != 0, known: map[identity]*static{}, held: map[int]*held{}}
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
		return monitor.HostReading{Problems: []series.Problem{{Source: "proc", Status: why(r.err), What: r.err.Error()}}, Processes: appendUnseen(nil, uses)}
	}
	r.tick++
	out := monitor.HostReading{Host: r.host.read(&r.root)}
	out.Host.Unprivileged = r.unprivileged
	if err := r.list(uses); err != nil {
		out.Problems = append(out.Problems, series.Problem{Source: "proc", Status: why(err), What: "list the processes: " + err.Error()})
	}
	uses = r.visible(uses)
	pids := r.around(uses)
	if len(pids) > maxDeep {
		pids = pids[:maxDeep]
		out.Problems = append(out.Problems, series.Problem{Source: "proc", Status: series.Failed, What: fmt.Sprintf("more than %d processes are on GPUs or around them; the others are shown by PID only", maxDeep)})
	}
	out.Processes = r.processes(pids, uses)
	out.Processes = appendUnseen(out.Processes, uses)
	return out
}

// processes reads the processes with these PIDs, which are in order. Where nothing of
// any of them has changed they are those of the last sample.
func (r *Reader) processes(pids []int, uses map[int][]series.Use) []series.Process {
	before, same := r.before, 0 // how many are as they were
	var out []series.Process
	for _, pid := range pids {
		p, rests, ok := r.process(pid)
		if !ok {
			continue
		}
		if out == nil && rests && same < len(before) && before[same].PID == pid && isSame(before[same].Uses, uses[pid]) {
			same++
			continue
		}
		if out == nil {
			out = append(make([]series.Process, 0, len(pids)), before[:same]...)
		}
		out = append(out, *p)
		out[len(out)-1].Uses = uses[pid]
	}
	if out == nil && same == len(before) {
		return before
	}
	if out == nil {
		out = before[:same]
	}
	r.forget()
	r.before = slices.Clip(out) // who appends to it copies it
	return r.before
}

// isSame reports whether a source has said the same of a process twice: it says so by
// the same list.
func isSame(a, b []series.Use) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// forget closes and forgets what is known of processes that the last sample has not.
func (r *Reader) forget() {
	for id, s := range r.known {
		if s.tick != r.tick {
			delete(r.known, id)
		}
	}
	for pid, h := range r.held {
		if h.tick != r.tick {
			h.close()
			delete(r.held, pid)
		}
	}
}

// appendUnseen appends the processes on GPUs that are none of ps, which is in the order
// of PIDs: none of this machine, as far as can be seen.
func appendUnseen(ps []series.Process, uses map[int][]series.Use) []series.Process {
	byPID := func(p series.Process, pid int) int { return p.PID - pid }
	out := ps
	for pid, u := range uses {
		if _, seen := slices.BinarySearchFunc(ps, pid, byPID); !seen {
			out = append(out, series.Process{
				PID: pid, Status: series.Lost, Rank: -1, Uses: u, Values: monitor.WithoutAll(series.ScopeProcess, series.Lost),
			})
		}
	}
	if len(out) > len(ps) {
		slices.SortFunc(out, func(a, b series.Process) int { return a.PID - b.PID })
	}
	return out
}

// read reads the files of a process.
func (r *Reader) read(pid int) (*static, series.Process, bool) {
	dir, line, err := r.enter(pid)
	if err != nil {
		return nil, series.Process{}, false
	}
	defer func() { r.proc.buf = dir.buf; r.leave(pid, dir) }()
	st, ok := parseStat(line)
	if !ok {
		return nil, series.Process{}, false
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
	s.tick = r.tick
	p := s.process
	p.PID, p.Parent, p.Started, p.Name, p.State = pid, st.parent, st.started, s.name, st.state
	p.Wait = waitOf(dir)
	p.Values = make(series.Values, len(series.Counters(series.ScopeProcess)))
	fromStat(st, r.disk, &p.Values)
	if h := r.held[pid]; r.sparing && h != nil && h.last.Started == st.started && (pid+r.tick)%switchesEvery != 0 {
		dynamicSince(dir, &p.Values, h.last.Values)
	} else {
		dynamic(dir, &p.Values)
	}
	return s, p, true
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
