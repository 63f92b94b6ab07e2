package smilog

import (
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A builder puts rows about devices together to samples. One begins where a device
// comes again, or where the time is another by more than a poll takes.
type builder struct {
	ready []*series.Sample

	now     *series.Sample
	devices map[string]int
	pids    map[int]int // places in now.Processes
	wall    time.Time   // of now; zero where the log has no times
	last    time.Time   // of the sample before
	since   time.Duration
	began   bool
	host    series.Host
}

// How long one poll of all GPUs may take, since nvidia-smi reads the clock for each,
// and how long one of all processes.
const (
	pollTime = 5 * time.Second
	listTime = 900 * time.Millisecond
)

// assumed is the time between samples of a log without times.
const assumed = time.Second

// device is the device with this key in the sample of a time; it begins another
// sample where it must. Nil where there are too many.
func (b *builder) device(key string, wall time.Time) *series.Device {
	if b.now != nil {
		_, again := b.devices[key]
		if again || !wall.IsZero() && wall.Sub(b.wall).Abs() > pollTime {
			b.flush()
		}
	}
	b.begin(wall)
	if len(b.now.Devices) >= mostDevices {
		return nil
	}
	b.devices[key] = len(b.now.Devices)
	b.now.Devices = append(b.now.Devices, series.Device{ID: key, Index: len(b.now.Devices), Minor: -1, Vendor: "nvidia", Status: series.OK})
	return &b.now.Devices[len(b.now.Devices)-1]
}

// begin begins a sample where there is none.
func (b *builder) begin(wall time.Time) {
	if b.now != nil {
		return
	}
	switch {
	case !b.began:
	case wall.IsZero():
		b.since += assumed
	default:
		b.since += max(wall.Sub(b.last), 0) // a clock that was put back
	}
	b.began = true
	b.wall, b.last = wall, wall
	if wall.IsZero() {
		wall = time.Unix(0, 0).UTC().Add(b.since)
	}
	b.now, b.devices, b.pids = &series.Sample{Wall: wall, Since: b.since}, map[string]int{}, map[int]int{}
}

// problem notes what a log says beside its rows.
func (b *builder) problem(p series.Problem) {
	if b.now != nil && len(b.now.Problems) < mostTold {
		b.now.Problems = append(b.now.Problems, p)
	}
}

// flush ends the sample.
func (b *builder) flush() {
	if b.now == nil {
		return
	}
	b.now.Host = b.host
	b.ready = append(b.ready, b.now)
	b.now = nil
}

// use adds what a process does on a device. One that is there already begins
// another sample.
func (b *builder) use(key string, wall time.Time, pid int, command string, u series.Use) {
	if b.now != nil {
		at, there := b.pids[pid]
		if there && hasUse(&b.now.Processes[at], key) || !wall.IsZero() && wall.Sub(b.wall).Abs() > listTime {
			b.flush()
		}
	}
	b.begin(wall)
	if _, ok := b.devices[key]; !ok && b.device(key, wall) == nil {
		return
	}
	b.addUse(pid, "", command, u)
}

// addUse adds a use to the process of the sample that has it.
func (b *builder) addUse(pid int, user, command string, u series.Use) {
	if at, ok := b.pids[pid]; ok {
		b.now.Processes[at].Uses = append(b.now.Processes[at].Uses, u)
		return
	}
	if len(b.now.Processes) < 16*mostDevices {
		b.pids[pid] = len(b.now.Processes)
		// What the host would say of it is not in the log.
		b.now.Processes = append(b.now.Processes, series.Process{PID: pid, Rank: -1, Status: series.Absent, User: user, Name: base(command), Command: command, Uses: []series.Use{u}})
	}
}

func hasUse(p *series.Process, device string) bool {
	for i := range p.Uses {
		if p.Uses[i].Device == device {
			return true
		}
	}
	return false
}

// base is the name of a program without its folder.
func base(command string) string {
	name, _, _ := strings.Cut(command, " ")
	return name[strings.LastIndexByte(name, '/')+1:]
}
