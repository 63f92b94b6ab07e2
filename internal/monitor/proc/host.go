package proc

import (
	"bytes"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A hostReader reads what the machine as a whole does.
type hostReader struct {
	name, boot string
	path       string // of the root folder
	groups     []string
	real       bool // the root is this machine's, so that its affinity counts
	sparing    bool
	reads      int
	values     series.Values // as last read
	// What seldom changes is kept for some reads: which block devices are disks,
	// which interfaces have hardware, the least quota of the groups (0 for none),
	// and the file that counts how long they were throttled, "" where none does.
	disks, hardware map[string]bool
	quota           float64
	throttledIn     string
	parts           []part
}

// A part is a file of the host with one or several of its counters.
type part struct {
	file   string
	parse  func(text []byte, vs *series.Values)
	values []series.Counter
	// every is at which reads a sparing reader reads it; 0 is never.
	every int
}

// At which reads a sparing reader reads a file: at each, what is shown as a rate; at
// every second, what is shown and goes slowly; at every eighth, sums of which only the
// growth over minutes is of interest, and what somebody sets; never, what nobody who
// looks on for hours looks at.
const (
	eachRead = 1
	twoReads = 2
	fewReads = 8
	noRead   = 0
)

func newHostReader(root *folder, at string, sparing bool) *hostReader {
	h := &hostReader{path: at, real: at == "/", sparing: sparing}
	h.parts = []part{
		{"proc/stat", parseCPU, []series.Counter{series.HostCPUs, series.HostCPUTime, series.HostIOWaitTime}, eachRead},
		{"proc/meminfo", parseMeminfo, []series.Counter{series.HostMemoryTotal, series.HostMemoryAvailable, series.HostPageCache, series.HostSwapUsed}, twoReads},
		{"proc/vmstat", parseVmstat, []series.Counter{series.HostMajorFaults}, noRead},
		{"proc/loadavg", parseLoad, []series.Counter{series.HostLoad}, noRead},
		{"proc/pressure/cpu", pressure(series.HostPressureCPU, none), []series.Counter{series.HostPressureCPU}, noRead},
		{"proc/pressure/io", pressure(series.HostPressureIO, series.HostPressureIOFull), []series.Counter{series.HostPressureIO, series.HostPressureIOFull}, eachRead},
		{"proc/pressure/memory", pressure(series.HostPressureMemory, none), []series.Counter{series.HostPressureMemory}, fewReads},
		{"proc/diskstats", h.parseDisks, []series.Counter{series.HostDiskRead, series.HostDiskWritten, series.HostDiskBusyTime}, eachRead},
		{"proc/net/dev", h.parseNet, []series.Counter{series.HostNetReceived, series.HostNetSent}, eachRead},
	}
	h.name = h.line(root, "proc/sys/kernel/hostname")
	h.boot = h.line(root, "proc/sys/kernel/random/boot_id")
	h.groups = ownGroups(root)
	return h
}

func (h *hostReader) line(root *folder, name string) string {
	b, err := root.read(name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// read reads the values of the host. None of them waits.
func (h *hostReader) read(root *folder) series.Host {
	if h.reads%refreshEvery == 0 {
		h.learn(root)
	}
	for _, part := range h.parts {
		if !h.due(part.every) {
			h.forgetTotals(part)
			continue
		}
		text, err := root.read(part.file)
		before := series.Value{}
		if err != nil {
			before = series.Without(why(err))
		}
		for _, c := range part.values {
			h.values.Set(c, before)
		}
		if err == nil {
			part.parse(text, &h.values)
		}
	}
	if h.due(twoReads) {
		h.readShared(&h.values)
	}
	if h.due(fewReads) {
		h.readAllowed(root, &h.values)
	} else {
		h.values.Set(series.HostThrottledTime, series.Value{})
	}
	h.reads++
	return series.Host{Name: h.name, BootID: h.boot, Values: slices.Clone(h.values)}
}

// forgetTotals says of totals that nobody asked for them now, so that their growth is
// of the whole time from one answer to the next.
func (h *hostReader) forgetTotals(p part) {
	for _, c := range p.values {
		if c.Info().Kind == series.Total {
			h.values.Set(c, series.Value{})
		}
	}
}

// due reports whether it is the turn of what a sparing reader reads at every so many
// reads.
func (h *hostReader) due(every int) bool {
	return !h.sparing || every > 0 && h.reads%every == 0
}

// learn reads what seldom changes.
func (h *hostReader) learn(root *folder) {
	h.disks, h.hardware = map[string]bool{}, map[string]bool{}
	h.quota, h.throttledIn = 0, ""
	for _, group := range h.groups {
		if q, limited := quota(root, group); limited && (h.quota == 0 || q < h.quota) {
			h.quota = q
		}
		if h.throttledIn != "" {
			continue
		}
		file := path.Join(group, "cpu.stat")
		if text, err := root.read(file); err == nil && throttledTime(text).Status == series.OK {
			h.throttledIn = file
		}
	}
}

// parseCPU reads the line of all processors and counts the others. Time of guests
// is part of user time already.
func parseCPU(text []byte, vs *series.Values) {
	cpus := 0
	lines(text, func(line []byte) {
		rest, ok := bytes.CutPrefix(line, []byte("cpu"))
		if !ok {
			return
		}
		if len(rest) > 0 && rest[0] != ' ' {
			cpus++
			return
		}
		var busy, wait uint64
		fields(rest, func(i int, word []byte) bool {
			n, _ := number(word)
			switch i {
			case 0, 1, 2, 5, 6, 7: // user, nice, system, irq, softirq, steal
				busy += n
			case 4:
				wait = n
			}
			return i < 7
		})
		vs.Set(series.HostCPUTime, ticks(busy))
		vs.Set(series.HostIOWaitTime, ticks(wait))
	})
	if cpus > 0 {
		vs.Set(series.HostCPUs, series.Of(float64(cpus)))
	}
}

func parseMeminfo(text []byte, vs *series.Values) {
	const (
		total = iota
		available
		cached
		shared
		swap
		swapFree
	)
	names := [...]string{"MemTotal", "MemAvailable", "Cached", "Shmem", "SwapTotal", "SwapFree"}
	var kib [len(names)]float64
	for i := range kib {
		kib[i] = math.NaN()
	}
	lines(text, func(line []byte) {
		name, rest, _ := bytes.Cut(line, []byte(":"))
		for i, known := range names {
			if string(name) != known {
				continue
			}
			if n, ok := number(bytes.TrimLeft(rest, " ")); ok {
				kib[i] = float64(n)
			}
		}
	})
	set := func(c series.Counter, kib float64) {
		if math.IsNaN(kib) {
			vs.Set(c, series.Without(series.NotSupported))
			return
		}
		vs.Set(c, series.Of(kib*1024))
	}
	set(series.HostMemoryTotal, kib[total])
	set(series.HostMemoryAvailable, kib[available])
	set(series.HostPageCache, kib[cached]-kib[shared])
	set(series.HostSwapUsed, kib[swap]-kib[swapFree])
}

func parseVmstat(text []byte, vs *series.Values) {
	if word := after(append([]byte("\n"), text...), "\npgmajfault "); word != nil {
		n, _ := number(word)
		vs.Set(series.HostMajorFaults, series.Of(float64(n)))
	}
}

// parseLoad reads the load of the last minute.
func parseLoad(text []byte, vs *series.Values) {
	word, _, _ := bytes.Cut(text, []byte(" "))
	if v, err := strconv.ParseFloat(string(word), 64); err == nil {
		vs.Set(series.HostLoad, series.Of(v))
	}
}

// newest is the newest process or thread of the host, as loadavg has it; "" where that
// is not known.
func newest(root *folder) (pid string) {
	text, _ := root.read("proc/loadavg")
	fields(text, func(i int, word []byte) bool {
		if i == 4 {
			pid = string(word)
		}
		return i < 4
	})
	return pid
}

// none is no counter of the host.
const none = series.Busy

// pressure reads a file of pressure stall information: total= are microseconds.
func pressure(some, full series.Counter) func([]byte, *series.Values) {
	return func(text []byte, vs *series.Values) {
		lines(text, func(line []byte) {
			i := bytes.Index(line, []byte("total="))
			if i < 0 {
				return
			}
			n, ok := number(line[i+len("total="):])
			switch {
			case !ok:
			case bytes.HasPrefix(line, []byte("some ")):
				vs.Set(some, series.Of(float64(n)/1e6))
			case bytes.HasPrefix(line, []byte("full ")) && full != none:
				vs.Set(full, series.Of(float64(n)/1e6))
			}
		})
	}
}

// sector is the unit of /proc/diskstats whatever the disk's own sectors are.
const sector = 512

// parseDisks sums whole disks; a partition or a volume is part of one.
func (h *hostReader) parseDisks(text []byte, vs *series.Values) {
	var read, written, busy uint64
	disks := 0
	lines(text, func(line []byte) {
		var name string
		var r, w, ms uint64
		n := 0
		fields(line, func(i int, word []byte) bool {
			n = i
			switch i {
			case 2:
				name = string(word)
			case 5:
				r, _ = number(word)
			case 9:
				w, _ = number(word)
			case 12:
				ms, _ = number(word)
			}
			return i < 12
		})
		if n < 12 || !kept(h.disks, name, h.isDisk) {
			return
		}
		disks++
		read, written, busy = read+r, written+w, max(busy, ms)
	})
	if disks == 0 {
		return // a machine without disks of its own, as in some containers
	}
	vs.Set(series.HostDiskRead, series.Of(float64(read)*sector))
	vs.Set(series.HostDiskWritten, series.Of(float64(written)*sector))
	vs.Set(series.HostDiskBusyTime, series.Of(float64(busy)/1000))
}

// kept is what is known of a name, or found out once.
func kept(known map[string]bool, name string, find func(string) bool) bool {
	is, ok := known[name]
	if !ok {
		is = find(name)
		known[name] = is
	}
	return is
}

// isDisk says whether a block device is one that data comes from at last.
func (h *hostReader) isDisk(name string) bool {
	for _, prefix := range []string{"loop", "ram", "zram", "dm-", "md", "sr", "fd"} {
		if strings.HasPrefix(name, prefix) {
			return false
		}
	}
	// A partition has no folder of its own in /sys/block.
	return unix.Access(filepath.Join(h.path, "sys/block", path.Base(name)), unix.F_OK) == nil
}

// hasHardware says whether an interface is more than a name.
func (h *hostReader) hasHardware(device string) bool {
	return unix.Access(filepath.Join(h.path, "sys/class/net", path.Base(device), "device"), unix.F_OK) == nil
}

// parseNet sums the interfaces that have hardware; where none has, as in
// containers, all but the loopback.
func (h *hostReader) parseNet(text []byte, vs *series.Values) {
	var hard, soft struct {
		n              int
		received, sent uint64
	}
	lines(text, func(line []byte) {
		name, rest, ok := bytes.Cut(line, []byte(":"))
		device := strings.TrimSpace(string(name))
		if !ok || device == "lo" {
			return
		}
		into := &soft
		if kept(h.hardware, device, h.hasHardware) {
			into = &hard
		}
		into.n++
		fields(rest, func(i int, word []byte) bool {
			n, _ := number(word)
			if i == 0 {
				into.received += n
			}
			if i == 8 {
				into.sent += n
			}
			return i < 8
		})
	})
	if hard.n == 0 {
		hard = soft
	}
	if hard.n == 0 {
		return
	}
	vs.Set(series.HostNetReceived, series.Of(float64(hard.received)))
	vs.Set(series.HostNetSent, series.Of(float64(hard.sent)))
}

func (h *hostReader) readShared(vs *series.Values) {
	var st unix.Statfs_t
	if err := unix.Statfs(filepath.Join(h.path, "dev/shm"), &st); err != nil {
		vs.Set(series.HostSharedTotal, series.Without(why(err)))
		vs.Set(series.HostSharedUsed, series.Without(why(err)))
		return
	}
	vs.Set(series.HostSharedTotal, series.Of(float64(st.Blocks)*float64(st.Bsize)))
	vs.Set(series.HostSharedUsed, series.Of(float64(st.Blocks-st.Bfree)*float64(st.Bsize)))
}

// readAllowed reads how many processors this user's processes may take: the fewest
// of the machine, the affinity, and the quotas of all groups above.
func (h *hostReader) readAllowed(root *folder, vs *series.Values) {
	allowed, ok := vs.Get(series.HostCPUs).Get()
	if h.real {
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(0, &set); err == nil {
			allowed, ok = float64(set.Count()), true
		}
	}
	if h.quota > 0 && (!ok || h.quota < allowed) {
		allowed, ok = h.quota, true
	}
	throttled := series.Without(series.NotSupported)
	if h.throttledIn != "" {
		if text, err := root.read(h.throttledIn); err == nil {
			throttled = throttledTime(text)
		}
	}
	if ok {
		vs.Set(series.HostCPUsAllowed, series.Of(allowed))
	}
	vs.Set(series.HostThrottledTime, throttled)
}

// throttledTime is in microseconds in version 2 of cgroups, in nanoseconds in
// version 1.
func throttledTime(text []byte) series.Value {
	text = append([]byte("\n"), text...)
	if word := after(text, "\nthrottled_usec "); word != nil {
		n, _ := number(word)
		return series.Of(float64(n) / 1e6)
	}
	if word := after(text, "\nthrottled_time "); word != nil {
		n, _ := number(word)
		return nanoseconds(n)
	}
	return series.Without(series.NotSupported)
}

// quota is how many processors a group may take.
func quota(root *folder, group string) (float64, bool) {
	if text, err := root.read(path.Join(group, "cpu.max")); err == nil {
		used, period, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
		return ratio(used, period)
	}
	used, err := root.read(path.Join(group, "cpu.cfs_quota_us"))
	if err != nil {
		return 0, false
	}
	quota := strings.TrimSpace(string(used)) // read overwrites what it returned
	period, err := root.read(path.Join(group, "cpu.cfs_period_us"))
	if err != nil {
		return 0, false
	}
	return ratio(quota, strings.TrimSpace(string(period)))
}

// ratio is a/b; "max" and -1 are no quota.
func ratio(a, b string) (float64, bool) {
	x, err := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if err != nil || err2 != nil || x <= 0 || y <= 0 {
		return 0, false
	}
	return x / y, true
}

// ownGroups are the folders of the groups that this process is in, innermost
// first, for processor time. In a container the outermost is mounted at the top.
func ownGroups(root *folder) []string {
	text, err := root.read("proc/self/cgroup")
	if err != nil {
		return nil
	}
	var out []string
	for line := range strings.SplitSeq(string(text), "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) != 3 {
			continue
		}
		var base string
		switch {
		case parts[0] == "0" && parts[1] == "":
			base = "sys/fs/cgroup"
		case strings.Contains(","+parts[1]+",", ",cpu,"):
			base = "sys/fs/cgroup/cpu"
		default:
			continue
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			out = append(out, base+strings.TrimSuffix(group, "/"))
			if group == "/" {
				break
			}
		}
	}
	return out
}
