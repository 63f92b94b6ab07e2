package idle

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/series"
)

func askNoWorkers(v *view) (State, string) {
	if len(v.mains) == 0 {
		return Unknown, ""
	}
	var loaders []*proc
	for _, p := range v.workers {
		if !helps(p) {
			loaders = append(loaders, p)
		}
	}
	return judge(v.alive(loaders) < 0.5, "the training process has no child that could load data")
}

// workerDemand is how much of a processor the middle one of the active workers
// took or waited for.
func (v *view) workerDemand() (float64, int, bool) {
	a := v.active()
	l := v.room.line(len(a))
	for i, p := range a {
		if d, ok := p.demand().mean(v.train); ok {
			l[i] = d
		}
	}
	d, ok := l.quantile(nil, 0.5)
	return d, len(a), ok
}

// askSaturated sees workers without a pause. Time in which they wait for a
// processor counts, as long as it is their work that is waited for: with
// processors to themselves they would still need longer for a batch than the GPU.
func askSaturated(v *view) (State, string) {
	if len(v.mains) == 0 {
		return Unknown, ""
	}
	d, n, ok := v.workerDemand()
	if !ok {
		return No, ""
	}
	ran, known := v.rate(v.active(), series.CPUTime)
	busy, _ := v.busy().mean(v.train)
	if cpus, ok := v.cpus(); known && ok && ran/min(float64(n), max(1, cpus)) < busy*saturated {
		return No, ""
	}
	return judge(d >= saturated, fmt.Sprintf("its workers (%d) compute or wait for a processor for %s of the time", n, percent(min(d, 1))))
}

// askDiskWait takes a training process that loads by itself to wait in gaps only.
func askDiskWait(v *view) (State, string) {
	w, ok := meanOver(v.loaders(), func(p *proc) (float64, bool) { return p.diskWait(v.train) })
	idle, known := v.idleShare()
	if !ok {
		return Unknown, ""
	}
	need := waiting
	if known && len(v.active()) == 0 {
		need = max(little, waiting*idle)
	}
	return judge(w >= need, fmt.Sprintf("those who load wait for input for %s of the time", percent(w)))
}

func askDiskReads(v *view) (State, string) {
	r, ok := v.rate(v.procs, series.BytesRead)
	if !ok {
		return Unknown, ""
	}
	return judge(r >= flowing, fmt.Sprintf("the job reads %s/s from disks", size(r)))
}

func askIOPressure(v *view) (State, string) {
	p, ok := v.host.of(series.HostPressureIO).mean(v.train)
	if !ok {
		return Unknown, ""
	}
	return judge(p >= pressed, fmt.Sprintf("tasks wait for input or output for %s of the time (PSI)", percent(p)))
}

func askMainReads(v *view) (State, string) {
	if s, _ := askNoWorkers(v); s == No {
		return No, "" // what it reads comes from them, through pipes
	}
	asked, ok := v.rate(v.mains, series.BytesAsked)
	disk, known := v.rate(v.mains, series.BytesRead)
	if !ok && !known {
		return Unknown, ""
	}
	r := max(asked, disk)
	return judge(r >= flowing, fmt.Sprintf("the training process reads %s/s", size(r)))
}

// waits is the share of the samples in which the kernel said that a process
// waits in a function with one of the words in its name.
func (v *view) waits(list []*proc, words ...string) (float64, bool) {
	in, n := 0, 0
	wait, is := "", false // the last one, which most samples repeat
	for _, p := range list {
		for i, s := range p.seen {
			if s == nil || s.Wait == "" || !v.train.has(i) {
				continue
			}
			if s.Wait != wait {
				wait, is = s.Wait, slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s.Wait, w) })
			}
			n++
			if is {
				in++
			}
		}
	}
	if n == 0 {
		return 0, false
	}
	return float64(in) / float64(n), true
}

// What the kernel calls the functions in which it waits for a file server, and for the
// other end of a connection.
var (
	fileServers = []string{"nfs", "rpc_", "ceph", "fuse", "request_wait_answer", "lustre", "ptlrpc", "cl_", "cifs", "smb", "gpfs", "9p"}
	connections = []string{"sk_wait_data", "wait_woken", "inet_csk", "tcp_"}
)

// askFileWait sees who loads wait for a file server.
func askFileWait(v *view) (State, string) {
	w, ok := v.waits(v.loaders(), fileServers...)
	if !ok {
		return Unknown, ""
	}
	return judge(w >= waiting, fmt.Sprintf("those who load wait for a file server in %s of the samples", percent(w)))
}

// askRemoteWait takes connections for data that comes only where something was done
// with it: a server that nobody asks waits for one, too.
func askRemoteWait(v *view) (State, string) {
	words := fileServers
	if idles, _ := askNoWork(v); idles != Yes {
		words = slices.Concat(fileServers, connections)
	}
	w, ok := v.waits(v.loaders(), words...)
	if !ok {
		return Unknown, ""
	}
	return judge(w >= waiting, fmt.Sprintf("those who load wait in network code in %s of the samples", percent(w)))
}

func askNetReads(v *view) (State, string) {
	r, ok := v.host.of(series.HostNetReceived).mean(v.train)
	asked, known := v.rate(v.procs, series.BytesAsked)
	if !ok || !known {
		return Unknown, ""
	}
	return judge(min(r, asked) >= flowing, fmt.Sprintf("the host receives %s/s and the job reads %s/s", size(r), size(asked)))
}

func askNoDiskReads(v *view) (State, string) {
	r, ok := v.rate(v.procs, series.BytesRead)
	if !ok {
		return Unknown, ""
	}
	return judge(r < flowing, fmt.Sprintf("the job reads %s/s from local disks", size(r)))
}

// manyFaults is a rate of major faults at which waiting for them takes a tenth of
// the time or more: one costs about a tenth of a millisecond on a fast disk and
// ten on a slow one.
const manyFaults = 50

func askFaults(v *view) (State, string) {
	r, ok := v.rate(v.procs, series.MajorFaults)
	if !ok {
		return Unknown, ""
	}
	return judge(r >= manyFaults, fmt.Sprintf("%.0f page faults a second wait for a disk", r))
}

// askCacheFull compares what disks give with how the page cache grows: what is
// read and does not stay pushes out what was read before.
func askCacheFull(v *view) (State, string) {
	c := v.host.of(series.HostPageCache)
	first, last := -1, -1
	for i, x := range c {
		if math.IsNaN(x) || !v.train.has(i) {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
	}
	r, ok := v.rate(v.procs, series.BytesRead)
	if !ok || last <= first {
		return Unknown, ""
	}
	grows := (c[last] - c[first]) / (v.times[last] - v.times[first])
	return judge(r >= flowing && grows < r/4, fmt.Sprintf("the job reads %s/s from disks and the page cache grows by %s/s", size(r), size(max(0, grows))))
}

// memoryPressed is the share of the time: any wait for memory is a sign that
// pages are fetched again that were just thrown out.
const memoryPressed = 0.05

func askMemoryPressure(v *view) (State, string) {
	p, ok := v.host.of(series.HostPressureMemory).mean(v.train)
	if !ok {
		return Unknown, ""
	}
	return judge(p >= memoryPressed, fmt.Sprintf("tasks wait for memory for %s of the time (PSI)", percent(p)))
}
