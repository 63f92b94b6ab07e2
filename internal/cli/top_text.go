package cli

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/tui/table"
	"github.com/plimsoll-dev/plimsoll/internal/watch"
	"github.com/plimsoll-dev/plimsoll/internal/words"
	"github.com/plimsoll-dev/plimsoll/series"
)

// renderTopText writes one line a GPU and one a process.
func renderTopText(w io.Writer, s topState) error {
	head := []string{s.sample.Wall.Format("2006-01-02 15:04:05")}
	for _, f := range []struct{ name, value string }{{"", s.sample.Host.Name}, {"driver ", s.sample.Host.Driver}, {"CUDA ", s.sample.Host.CUDA}} {
		if f.value != "" {
			head = append(head, f.name+report.Printable(f.value))
		}
	}
	fmt.Fprintln(w, strings.Join(head, "  "))
	gpus := aligned{right: []bool{true, true, true, true, true, true, true, false}}
	gpus.add("GPU", "busy", "memory", "power", "temp", "clock", "procs", "")
	for i := range s.sample.Devices {
		d := &s.sample.Devices[i]
		busy := words.PercentOf(watch.BusyOf(d))
		if d.Status != series.OK {
			busy = d.Status.String()
		}
		gpus.add(s.labels[d.ID], busy,
			words.MemoryOf(d.Values.Get(series.MemoryUsed), d.Values.Get(series.MemoryTotal)),
			words.OfMost(d.Values.Get(series.Power), d.Values.Get(series.PowerLimit), "W"),
			words.Whole(d.Values.Get(series.Temperature), 1, "°C"),
			words.Whole(d.Values.Get(series.ClockSM), 1e6, "MHz"),
			strconv.Itoa(s.users(d.ID)), s.remark(d))
	}
	if s.silent != nil {
		gpus.add("?", s.silent.Status.String(), words.Unknown, words.Unknown, words.Unknown, words.Unknown, words.Unknown, report.Printable(s.silent.What))
	}
	if err := gpus.write(w); err != nil || len(s.rows) == 0 {
		return err
	}
	fmt.Fprintln(w)
	return s.processTable().write(w)
}

// processTable has a line for each process.
func (s topState) processTable() *aligned {
	columns := s.columns()
	t := &aligned{}
	line := make([]string, len(columns))
	for i, c := range columns {
		t.right = append(t.right, c.Right)
		line[i] = c.Head
	}
	t.add(line...)
	for i := range s.rows {
		row := &s.rows[i]
		for j, c := range columns {
			line[j] = dash(report.Printable(c.Text(row)))
			if c.Name == "command" && row.Depth > 0 {
				line[j] = strings.Repeat("  ", row.Depth-1) + "└ " + line[j]
			}
		}
		t.add(line...)
	}
	return t
}

// An aligned table has columns that are as wide as their widest cell.
type aligned struct {
	right  []bool // which columns end at the right
	lines  [][]string
	widths []int
}

func (t *aligned) add(cells ...string) {
	t.lines = append(t.lines, slices.Clone(cells))
	for i, cell := range cells {
		if i == len(t.widths) {
			t.widths = append(t.widths, 0)
		}
		t.widths[i] = max(t.widths[i], ansi.StringWidth(cell))
	}
}

func (t *aligned) write(w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, line := range t.lines {
		text := ""
		for i, cell := range line {
			pad := strings.Repeat(" ", t.widths[i]-ansi.StringWidth(cell))
			if t.right[i] {
				text += pad + cell + "  "
			} else {
				text += cell + pad + "  "
			}
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n") //nolint:errcheck // told by Flush
	}
	return b.Flush()
}

// columns are those of processes of which there is something to say.
func (s topState) columns() []*table.Column {
	var out []*table.Column
	for _, c := range table.Columns {
		if c.Rates() && !s.rates || c.Name == "host" {
			continue
		}
		for i := range s.rows {
			if c.Text(&s.rows[i]) != "" {
				out = append(out, c)
				break
			}
		}
	}
	return out
}

// users is how many processes are on a device.
func (s topState) users(id string) int {
	n := 0
	for i := range s.sample.Processes {
		for _, u := range s.sample.Processes[i].Uses {
			if u.Device == id {
				n++
				break
			}
		}
	}
	return n
}

// remark is what is to say of a device: why it could not be read, or, where it was
// watched, what it does; else what it is.
func (s topState) remark(d *series.Device) string {
	if d.Status == series.OK && s.judged == nil {
		return report.Printable(strings.TrimPrefix(d.Name, "NVIDIA "))
	}
	j, ok := s.judged[d.ID]
	r := watch.RemarkOn(d, s.users(d.ID), nil)
	if ok {
		r = watch.RemarkOn(d, s.users(d.ID), &j)
	}
	return report.Printable(strings.TrimSpace(r.Text + " " + r.More))
}
