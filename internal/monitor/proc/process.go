package proc

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A static is what seldom changes of a process.
type static struct {
	name    string // by which a change of program is seen
	tick    int    // of the last sample that had it
	process series.Process
}

// fromStat takes the values that stat says; disk is whether the kernel counts waits
// for block devices.
func fromStat(st stat, disk series.Status, vs *series.Values) {
	vs.Set(series.CPUTime, ticks(st.cpu))
	vs.Set(series.Threads, series.Of(float64(st.threads)))
	vs.Set(series.MajorFaults, series.Of(float64(st.faults)))
	vs.Set(series.Resident, pages(st.rss))
	if disk == series.OK {
		vs.Set(series.DiskWait, ticks(st.blocked))
	} else {
		vs.Set(series.DiskWait, series.Without(disk))
	}
}

func pages(n uint64) series.Value { return series.Of(float64(n) * pageSize) }

// dynamic reads the values that change and are not in stat: everything of dir that
// costs one call each.
func dynamic(dir *folder, vs *series.Values) {
	readSchedule(dir, vs)
	readTransfers(dir, vs)
	readMemory(dir, vs)
	readSwitches(dir, vs)
}

// dynamicSince is dynamic for a sparing reader: what changes slowly is as it was
// before, and switches nobody asks for.
func dynamicSince(dir *folder, vs *series.Values, before series.Values) {
	readSchedule(dir, vs)
	readTransfers(dir, vs)
	for _, c := range []series.Counter{series.SharedMemory, series.CPUsAllowed} {
		vs.Set(c, before.Get(c))
	}
}

// switchesEvery is at which reads a sparing reader reads all of what changes of a
// process.
const switchesEvery = 4

// readSchedule reads schedstat: time on a processor, time in its queue, both of
// the main thread.
func readSchedule(dir *folder, vs *series.Values) {
	line, err := dir.read("schedstat")
	if err != nil || len(line) == 0 {
		vs.Set(series.MainCPUTime, series.Without(why(err)))
		vs.Set(series.CPUWait, series.Without(why(err)))
		return
	}
	fields(line, func(i int, word []byte) bool {
		n, ok := number(word)
		if ok && i == 0 {
			vs.Set(series.MainCPUTime, nanoseconds(n))
		}
		if ok && i == 1 {
			vs.Set(series.CPUWait, nanoseconds(n))
		}
		return i < 1
	})
}

var pageSize = float64(os.Getpagesize())

// readMemory reads statm: shared pages.
func readMemory(dir *folder, vs *series.Values) {
	line, err := dir.read("statm")
	if err != nil {
		vs.Set(series.SharedMemory, series.Without(why(err)))
		return
	}
	fields(line, func(i int, word []byte) bool {
		if n, ok := number(word); ok && i == 2 {
			vs.Set(series.SharedMemory, pages(n))
		}
		return i < 2
	})
}

// transfers are the lines of /proc/PID/io.
var transfers = map[string]series.Counter{
	"rchar": series.BytesAsked, "wchar": series.BytesGiven, "read_bytes": series.BytesRead, "write_bytes": series.BytesWritten,
}

func readTransfers(dir *folder, vs *series.Values) {
	text, err := dir.read("io")
	if err != nil {
		for _, c := range transfers {
			vs.Set(c, series.Without(why(err)))
		}
		return
	}
	lines(text, func(line []byte) {
		name, rest, _ := bytes.Cut(line, []byte(": "))
		if c, ok := transfers[string(name)]; ok {
			if n, ok := number(rest); ok {
				vs.Set(c, series.Of(float64(n)))
			}
		}
	})
}

// readSwitches reads the end of status, which has nothing else that changes.
func readSwitches(dir *folder, vs *series.Values) {
	text, err := dir.read("status")
	if err != nil {
		vs.Set(series.SwitchesVoluntary, series.Without(why(err)))
		vs.Set(series.SwitchesForced, series.Without(why(err)))
		vs.Set(series.CPUsAllowed, series.Without(why(err)))
		return
	}
	for _, row := range []struct {
		name string
		c    series.Counter
	}{{"\nvoluntary_ctxt_switches:", series.SwitchesVoluntary}, {"\nnonvoluntary_ctxt_switches:", series.SwitchesForced}} {
		if word := after(text, row.name); word != nil {
			n, _ := number(word)
			vs.Set(row.c, series.Of(float64(n)))
		}
	}
	if word := after(text, "\nCpus_allowed_list:"); word != nil {
		if n := countList(string(word)); n > 0 {
			vs.Set(series.CPUsAllowed, series.Of(float64(n)))
		}
	}
}

// after is the word that follows name in text, or nil.
func after(text []byte, name string) []byte {
	i := bytes.Index(text, []byte(name))
	if i < 0 {
		return nil
	}
	var out []byte
	fields(text[i+len(name):], func(_ int, word []byte) bool { out = word; return false })
	return out
}

// countList counts the members of a list as "0-3,8,10-11".
func countList(list string) int {
	n := 0
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(from)
		b := a
		if isRange && err == nil {
			b, err = strconv.Atoi(to)
		}
		if err != nil || b < a {
			return 0
		}
		n += b - a + 1
	}
	return n
}

// waitOf is the function of the kernel that a process waits in. "0" is none, or
// none that this user may know.
func waitOf(dir *folder) string {
	b, err := dir.read("wchan")
	if err != nil || string(b) == "0" {
		return ""
	}
	return string(b)
}

// readStatic reads what seldom changes.
func (r *Reader) readStatic(dir *folder, name string) *static {
	p := series.Process{Status: series.OK, Rank: -1, User: r.user(dir)}
	if b, err := dir.read("cmdline"); err == nil {
		p.Command = commandLine(b)
	}
	if b, err := dir.read("cgroup"); err == nil {
		p.Container, p.Job = fromCgroup(string(b))
	}
	switch b, err := dir.read("environ"); {
	case err == nil:
		fromEnviron(b, &p)
	case why(err) == series.NoPermission:
		p.Status = series.NoPermission
	}
	return &static{name: name, process: p}
}

// user is the name of the owner of dir.
func (r *Reader) user(dir *folder) string {
	text, err := dir.read("status")
	if err != nil {
		return ""
	}
	word := after(text, "\nUid:")
	uid, ok := number(word)
	if !ok {
		return ""
	}
	if r.users == nil {
		r.users = r.readUsers()
	}
	if name, ok := r.users[uid]; ok {
		return name
	}
	return strconv.FormatUint(uid, 10)
}

// readUsers reads etc/passwd only. Asking the system's directory service could
// wait for a network.
func (r *Reader) readUsers() map[uint64]string {
	users := map[uint64]string{}
	b, err := r.root.read("etc/passwd")
	if err != nil {
		return users
	}
	lines(b, func(line []byte) {
		parts := bytes.SplitN(line, []byte(":"), 4)
		if len(parts) < 4 {
			return
		}
		uid, ok := number(parts[2])
		if _, twice := users[uid]; ok && !twice {
			users[uid] = string(parts[0])
		}
	})
	return users
}
