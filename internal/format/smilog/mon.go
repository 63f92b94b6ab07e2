package smilog

import (
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A monColumn is a column of nvidia-smi dmon or pmon.
type monColumn struct {
	c    series.Counter
	unit string
}

// dmonColumns are those of dmon that are read, by name. Violations are shares or
// flags there, counters count seconds: they are not the same.
var dmonColumns = map[string]monColumn{
	"pwr": {series.Power, "W"}, "gtemp": {series.Temperature, "C"}, "temp": {series.Temperature, "C"}, "sm": {series.Busy, "%"}, "mem": {series.MemoryBusy, "%"},
	"enc": {series.EncoderBusy, "%"}, "dec": {series.DecoderBusy, "%"}, "mclk": {series.ClockMemory, "MHz"}, "pclk": {series.ClockSM, "MHz"},
	"fb": {series.MemoryUsed, "MB"}, "rxpci": {series.PCIeReceived, "MB/s"}, "txpci": {series.PCIeSent, "MB/s"},
}

var pmonColumns = map[string]monColumn{"sm": {series.UseBusy, "%"}, "mem": {series.UseMemoryBusy, "%"}, "fb": {series.UseMemory, "MB"}}

// monHeader is the names of the columns that a line lists, nil for none.
func monHeader(line string) []string {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "#")
	if !ok {
		return nil
	}
	names := strings.FieldsFunc(strings.ToLower(rest), monBlank)
	before := 0 // columns of the time stand before the GPU's
	for before < len(names) && (names[before] == "date" || names[before] == "time") {
		before++
	}
	if before < len(names) && names[before] == "gpu" {
		return names
	}
	return nil
}

// monBlank parts cells: blanks, and commas with --format csv.
func monBlank(r rune) bool { return r == ',' || r == ' ' || r == '\t' }

// has reports whether one of the first lines lists columns, this one among them.
func has(lines []string, column string) bool {
	for _, l := range lines[:min(len(lines), 20)] {
		for _, n := range monHeader(l) {
			if n == column {
				return true
			}
		}
	}
	return false
}

func isDmon(lines []string) bool { return has(lines, "gpu") && !has(lines, "pid") }
func isPmon(lines []string) bool { return has(lines, "pid") }

// monRow is a line as cells by column, with its time.
type monRows struct {
	names []string
	clock clock
	day   string // "20261130", of the last row that had a date
}

// take reads a line: the names of the columns, or cells by name and the time. What
// is beyond the last column belongs to it.
func (m *monRows) take(r *Reader, text string) (map[string]string, time.Time) {
	if names := monHeader(text); names != nil {
		m.names = names
		return nil, time.Time{}
	}
	if m.names == nil || strings.HasPrefix(strings.TrimSpace(text), "#") {
		return nil, time.Time{}
	}
	cells := strings.FieldsFunc(text, monBlank)
	if len(cells) == 0 {
		return nil, time.Time{}
	}
	if p, ok := messageOf(text); ok {
		r.build.problem(p)
		r.tell("message "+p.What, "line %d: %s", r.n, p.What)
		return nil, time.Time{}
	}
	if len(cells) < len(m.names) || !r.whole && m.names[len(m.names)-1] != "command" {
		r.tell("odd", "line %d has %d cells under a header of %d, or its end is cut: it and others like it are left out", r.n, len(cells), len(m.names))
		return nil, time.Time{}
	}
	row := map[string]string{}
	for i, n := range m.names {
		row[n] = cells[i]
	}
	return row, m.time(r, row)
}

// time is the time of a row: none, of the day, or with a date.
func (m *monRows) time(r *Reader, row map[string]string) time.Time {
	clockText, ok := row["time"]
	if !ok {
		r.assume("the log has no times: its samples are taken to be a second apart; -o DT logs them")
		return time.Time{}
	}
	if date, ok := row["date"]; ok {
		m.day = date
	}
	if m.day == "" {
		m.day = "19700101"
		r.assume("the log has no dates: its days are not known; -o DT logs them")
	}
	t := m.clock.read(m.day + " " + clockText)
	if t.IsZero() {
		r.tell("time", "line %d: %q is no time that is known", r.n, clockText)
	}
	return t
}

// A dmon is a log of nvidia-smi dmon.
type dmon struct {
	r    *Reader
	rows monRows
}

func (l *dmon) line(text string) {
	row, when := l.rows.take(l.r, text)
	if row == nil {
		return
	}
	n, err := strconv.Atoi(row["gpu"])
	if err != nil {
		l.r.tell("gpu", "line %d: %q is no number of a GPU", l.r.n, row["gpu"])
		return
	}
	d := l.r.build.device("index:"+row["gpu"], when)
	if d == nil {
		return
	}
	d.Index = n
	for column, c := range dmonColumns {
		if cell, ok := row[column]; ok {
			d.Values.Set(c.c, Number(cell, c.unit))
		}
	}
	settle(d)
}

// A pmon is a log of nvidia-smi pmon.
type pmon struct {
	r     *Reader
	rows  monRows
	last  int  // index of the row before
	empty bool // nobody was on it
}

func (l *pmon) line(text string) {
	row, when := l.rows.take(l.r, text)
	if row == nil {
		return
	}
	n, err := strconv.Atoi(row["gpu"])
	if err != nil {
		return
	}
	if n < l.last || n == l.last && l.empty { // rows of a poll are in order
		l.r.build.flush()
	}
	l.last, l.empty = n, false
	key := "index:" + row["gpu"]
	pid, err := strconv.Atoi(row["pid"])
	if err != nil { // "-"
		l.empty = true
		if d := l.r.build.device(key, when); d != nil {
			d.Index = n
		}
		return
	}
	u := series.Use{Device: key, Kind: series.UseKind(strings.TrimSuffix(row["type"], "+G"))}
	for column, c := range pmonColumns {
		if cell, ok := row[column]; ok {
			u.Values.Set(c.c, Number(cell, c.unit))
		}
	}
	l.r.build.use(key, when, pid, row["command"], u)
	for i := range l.r.build.now.Devices {
		if d := &l.r.build.now.Devices[i]; d.ID == key {
			d.Index = n
		}
	}
}
