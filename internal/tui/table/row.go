// Package table makes rows of what samples say about processes: rates from two
// samples, order, filters, and the tree of parents.
//
// A row whose value is not known sorts after all that are known, whatever the
// order, and no filter on that value lets it pass.
package table

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A Row is one process.
type Row struct {
	*series.Process
	Host string // that it is on
	// GPUs are the labels of the devices that it uses, "0-3"; "" for none.
	GPUs string
	// Memory and Busy are of all its devices together: a sum, and the highest.
	Memory, Busy series.Value
	// CPU is how many processors it took between the last two samples; Read and
	// Written are what a disk gave and took, in bytes a second.
	CPU, Read, Written series.Value
	// Workers are its children that use no device, with their processors.
	Workers    int
	WorkersCPU series.Value
	// Depth is how many ancestors stand above it; 0 where rows are no tree.
	Depth int
}

// Rows are the processes of the sample now, in its order. before is the sample
// that rates are taken against; nil leaves them absent.
func Rows(now, before *series.Sample) []Row { return AppendRows(nil, now, before) }

// AppendRows appends the Rows of a sample to those of others.
func AppendRows(to []Row, now, before *series.Sample) []Row {
	labels := Labels(now.Devices)
	earlier := earlierOf(before)
	to = slices.Grow(to, len(now.Processes))
	rows := to[len(to) : len(to)+len(now.Processes)]
	for i := range now.Processes {
		rows[i] = rowOf(&now.Processes[i], labels)
		rows[i].Host = now.Host.Name
		rates(&rows[i], now, before, earlier)
	}
	addWorkers(rows)
	return to[:len(to)+len(rows)]
}

// earlierOf finds the processes of a sample by PID.
func earlierOf(s *series.Sample) map[int]*series.Process {
	if s == nil {
		return nil
	}
	m := make(map[int]*series.Process, len(s.Processes))
	for i := range s.Processes {
		m[s.Processes[i].PID] = &s.Processes[i]
	}
	return m
}

func rowOf(p *series.Process, labels map[string]string) Row {
	r := Row{Process: p}
	var names []string
	for i, u := range p.Uses {
		names = append(names, labels[u.Device])
		memory, busy := u.Values.Get(series.UseMemory), u.Values.Get(series.UseBusy)
		if i == 0 {
			r.Memory, r.Busy = memory, busy
			continue
		}
		r.Memory = join(r.Memory, memory, func(a, b float64) float64 { return a + b })
		r.Busy = join(r.Busy, busy, func(a, b float64) float64 { return max(a, b) })
	}
	r.GPUs = Span(names)
	return r
}

// join is f of two values, and the first reason why there is none.
func join(a, b series.Value, f func(a, b float64) float64) series.Value {
	switch {
	case a.Status != series.OK:
		return a
	case b.Status != series.OK:
		return b
	}
	return series.Of(f(a.V, b.V))
}

// rates are the differences to an earlier sample of the same process.
func rates(r *Row, now, before *series.Sample, earlier map[int]*series.Process) {
	for _, rate := range []struct {
		of   series.Counter
		into *series.Value
	}{{series.CPUTime, &r.CPU}, {series.BytesRead, &r.Read}, {series.BytesWritten, &r.Written}} {
		v := r.Values.Get(rate.of)
		if v.Status != series.OK {
			*rate.into = v
			continue
		}
		was, ok := earlier[r.PID]
		if !ok || was.Started != r.Started {
			continue // not seen before: absent
		}
		*rate.into = Rate(was.Values.Get(rate.of), v, (now.Since - before.Since).Seconds())
	}
}

// Rate is what a counter that only grows grew by in a second.
func Rate(was, is series.Value, seconds float64) series.Value {
	switch {
	case is.Status != series.OK:
		return is
	case was.Status != series.OK || seconds <= 0 || is.V < was.V:
		return series.Value{}
	}
	return series.Of((is.V - was.V) / seconds)
}

// addWorkers counts, for each process on a device, its children that are on none.
func addWorkers(rows []Row) {
	at := make(map[int]int, len(rows))
	for i := range rows {
		at[rows[i].PID] = i
	}
	for i := range rows {
		p, ok := at[rows[i].Parent]
		if !ok || len(rows[i].Uses) > 0 || len(rows[p].Uses) == 0 {
			continue
		}
		parent := &rows[p]
		if parent.Workers++; parent.Workers == 1 {
			parent.WorkersCPU = rows[i].CPU
			continue
		}
		parent.WorkersCPU = join(parent.WorkersCPU, rows[i].CPU, func(a, b float64) float64 { return a + b })
	}
}

// Labels are short names of devices by ID: the index, and for a MIG instance that
// of its GPU before it, "6:1".
func Labels(devices []series.Device) map[string]string {
	labels := make(map[string]string, len(devices))
	for _, d := range devices {
		if d.Parent == "" {
			labels[d.ID] = strconv.Itoa(d.Index)
		}
	}
	for _, d := range devices {
		if d.Parent == "" {
			continue
		}
		gpu := labels[d.Parent]
		if gpu == "" {
			gpu = "?"
		}
		labels[d.ID] = gpu + ":" + strconv.Itoa(d.Index)
	}
	return labels
}

// Span joins labels, with runs of numbers as one: "0-3,5".
func Span(labels []string) string {
	if len(labels) == 1 {
		return labels[0]
	}
	var numbers []int
	var rest []string
	for _, l := range labels {
		if n, err := strconv.Atoi(l); err == nil {
			numbers = append(numbers, n)
		} else {
			rest = append(rest, l)
		}
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	var out []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		part := strconv.Itoa(numbers[i])
		if j > i {
			part += "-" + strconv.Itoa(numbers[j])
		}
		out, i = append(out, part), j+1
	}
	return strings.Join(append(out, slices.Compact(rest)...), ",")
}
