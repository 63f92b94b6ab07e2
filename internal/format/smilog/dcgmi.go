package smilog

import (
	"strconv"
	"strings"
	"time"
)

// dcgmiColumns are the columns of dcgmi dmon that are read, by the short names that
// DCGM gives its fields (dcgm_fields.cpp), and what dcgm-exporter calls them.
var dcgmiColumns = map[string]string{
	"GPUTL": "DCGM_FI_DEV_GPU_UTIL", "MCUTL": "DCGM_FI_DEV_MEM_COPY_UTIL", "POWER": "DCGM_FI_DEV_POWER_USAGE", "TOTEC": "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
	"TMPTR": "DCGM_FI_DEV_GPU_TEMP", "SMCLK": "DCGM_FI_DEV_SM_CLOCK", "MMCLK": "DCGM_FI_DEV_MEM_CLOCK", "FBUSD": "DCGM_FI_DEV_FB_USED",
	"SMACT": "DCGM_FI_PROF_SM_ACTIVE", "SMOCC": "DCGM_FI_PROF_SM_OCCUPANCY", "TENSO": "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DRAMA": "DCGM_FI_PROF_DRAM_ACTIVE",
}

// dcgmiHeader is the names of the columns behind that of the entity, nil for none.
func dcgmiHeader(line string) []string {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "#")
	if !ok {
		return nil
	}
	names := strings.Fields(rest)
	if len(names) < 2 || names[0] != "Entity" {
		return nil
	}
	return names[1:]
}

func isDcgmi(lines []string) bool {
	for _, l := range lines {
		if dcgmiHeader(l) != nil {
			return true
		}
	}
	return false
}

// A dcgmi is a log of dcgmi dmon, which has no times.
type dcgmi struct {
	r     *Reader
	names []string
}

func (l *dcgmi) line(text string) {
	if names := dcgmiHeader(text); names != nil {
		l.names = names
		return
	}
	cells := strings.Fields(text)
	if len(cells) == 0 || l.names == nil || cells[0] == "ID" {
		return
	}
	if len(cells) != len(l.names)+2 || !l.r.whole {
		l.r.tell("odd", "line %d has %d cells under a header of %d, or its end is cut: it and others like it are left out", l.r.n, len(cells)-2, len(l.names))
		return
	}
	n, err := strconv.Atoi(cells[1])
	if cells[0] != "GPU" || err != nil {
		l.r.tell("entity", "line %d is of %s %s: of what is no whole GPU nothing is read", l.r.n, cells[0], cells[1])
		return
	}
	l.r.assume("the log has no times: its samples are taken to be a second apart")
	d := l.r.build.device("index:"+cells[1], time.Time{})
	if d == nil {
		return
	}
	d.Index = n
	for i, name := range l.names {
		metric, known := promMetrics[dcgmiColumns[name]]
		if !known {
			continue
		}
		v := Number(cells[i+2], "")
		if x, ok := v.Get(); ok {
			v = metric.Value(x)
		}
		d.Values.Set(metric.Counter, v)
	}
	settle(d)
}
