package smilog

import (
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/dcgm"
	"github.com/plimsoll-dev/plimsoll/series"
)

// promMetrics are the metrics that are read, by name.
var promMetrics = func() map[string]dcgm.Metric {
	m := map[string]dcgm.Metric{}
	for _, row := range dcgm.Metrics {
		m[dcgm.Prefix+row.Name] = row
	}
	return m
}()

func isProm(lines []string) bool {
	for _, l := range lines {
		l = strings.TrimPrefix(strings.TrimPrefix(l, "# HELP "), "# TYPE ")
		if strings.HasPrefix(l, dcgm.Prefix) {
			return true
		}
	}
	return false
}

// A prom is one or more scrapes of dcgm-exporter, one behind the other.
type prom struct {
	r    *Reader
	seen map[string]bool // metric and device, in this scrape
	at   map[string]int
}

func (p *prom) line(text string) {
	if text == "" || strings.HasPrefix(text, "#") {
		return
	}
	name, labels, rest, ok := promLine(text)
	if !ok {
		p.r.tell("odd", "line %d is no metric: it and others like it are left out", p.r.n)
		return
	}
	row, known := promMetrics[name]
	if !known {
		return
	}
	words := strings.Fields(rest)
	if len(words) == 0 || len(words) == 1 && !p.r.whole {
		p.r.tell("cut", "line %d is cut and left out", p.r.n)
		return
	}
	v, err := strconv.ParseFloat(words[0], 64)
	if err != nil {
		p.r.tell("odd", "line %d: %q is no number", p.r.n, words[0])
		return
	}
	var when time.Time
	if len(words) > 1 {
		when = epoch(words[1])
	} else {
		p.r.assume("the log has no times: its samples are taken to be a second apart")
	}
	if d := p.device(name, labels, when); d != nil {
		value := row.Value(v)
		if row.Counter == series.XID && v == 0 {
			value = series.Value{} // none was told
		}
		d.Values.Set(row.Counter, value)
	}
}

// device is the device of a line; a metric that comes again begins another scrape.
func (p *prom) device(metric string, labels map[string]string, when time.Time) *series.Device {
	b := &p.r.build
	key := labels["UUID"]
	if key == "" {
		key = "index:" + labels["gpu"]
	}
	if id := labels["GPU_I_ID"]; id != "" {
		key += "/" + id
	}
	if p.seen[metric+"\x00"+key] {
		b.flush()
	}
	if b.now == nil {
		b.begin(when)
		p.seen, p.at = map[string]bool{}, map[string]int{}
	}
	p.seen[metric+"\x00"+key] = true
	if at, ok := p.at[key]; ok {
		return &b.now.Devices[at]
	}
	d := b.device(key, time.Time{})
	if d == nil {
		return nil
	}
	p.at[key] = len(b.now.Devices) - 1
	if n, err := strconv.Atoi(labels["gpu"]); err == nil {
		d.Index = n
	}
	d.Name, d.PCI, d.MIG = labels["modelName"], labels["pci_bus_id"], labels["GPU_I_PROFILE"]
	if labels["GPU_I_ID"] != "" {
		d.Parent = labels["UUID"]
	}
	if h := labels["Hostname"]; h != "" {
		b.host.Name = h
	}
	if v := labels["DCGM_FI_DRIVER_VERSION"]; v != "" {
		b.host.Driver = v
	}
	return d
}

// promLine parts a line of the text format: name, labels and what follows.
func promLine(text string) (name string, labels map[string]string, rest string, ok bool) {
	i := strings.IndexAny(text, "{ ")
	if i <= 0 {
		return "", nil, "", false
	}
	name, rest = text[:i], text[i:]
	labels = map[string]string{}
	if rest[0] != '{' {
		return name, labels, rest, true
	}
	rest = rest[1:]
	for len(labels) < mostColumns {
		rest = strings.TrimLeft(rest, ", ")
		if after, end := strings.CutPrefix(rest, "}"); end {
			return name, labels, after, true
		}
		key, after, found := strings.Cut(rest, `="`)
		if !found {
			return "", nil, "", false
		}
		var value strings.Builder
		j := 0
		for ; j < len(after) && after[j] != '"'; j++ {
			if after[j] == '\\' && j+1 < len(after) {
				j++
			}
			value.WriteByte(after[j])
		}
		if j >= len(after) {
			return "", nil, "", false
		}
		labels[key] = value.String()
		rest = after[j+1:]
	}
	return "", nil, "", false
}
