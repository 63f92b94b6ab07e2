package table

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/words"
	"github.com/plimsoll-dev/plimsoll/series"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Column is one thing that is shown of a process, sorted by and asked about in
// filters.
type Column struct {
	Name  string // what --sort and filters call it
	Head  string
	Help  string // one line
	Width int
	Right bool // numbers end at the right
	// Rank says what narrow screens leave out: the highest first.
	Rank int

	// Number is the value of a column of numbers, nil for one of words.
	Number func(*Row) series.Value
	// Text is what the cell shows; "" shows that nothing is known.
	Text func(*Row) string
	// parse reads what a filter compares with, nil for words.
	parse func(string) (float64, error)
}

// Rates reports whether the column needs two samples.
func (c *Column) Rates() bool {
	return c.Name == "cpu" || c.Name == "read" || c.Name == "written" || c.Name == "workers"
}

// Columns are all columns, in their order on the screen; the command comes last.
var Columns = []*Column{
	{Name: "host", Head: "host", Help: "the machine it is on, where there are several", Width: 10, Rank: 1, Text: func(r *Row) string { return r.Host }},
	{Name: "pid", Head: "PID", Help: "number of the process", Width: 7, Right: true, Rank: 0,
		Number: func(r *Row) series.Value { return series.Of(float64(r.PID)) }, Text: func(r *Row) string { return strconv.Itoa(r.PID) }, parse: number},
	{Name: "user", Head: "user", Help: "who runs it", Width: 9, Rank: 2, Text: func(r *Row) string { return r.User }},
	{Name: "gpu", Head: "GPU", Help: "the GPUs it is on", Width: 6, Rank: 1, Text: func(r *Row) string { return r.GPUs }},
	{Name: "memory", Head: "GPU mem", Help: "GPU memory it holds", Width: 9, Right: true, Rank: 0,
		Number: func(r *Row) series.Value { return r.Memory }, Text: func(r *Row) string { return words.Size(r.Memory) }, parse: size},
	{Name: "busy", Head: "busy %", Help: "share of time in which a kernel of it ran", Width: 6, Right: true, Rank: 3,
		Number: func(r *Row) series.Value { return r.Busy }, Text: func(r *Row) string { return words.Percent(r.Busy) }, parse: percent},
	{Name: "cpu", Head: "CPU %", Help: "processors it takes; 100 is one", Width: 5, Right: true, Rank: 4,
		Number: func(r *Row) series.Value { return r.CPU }, Text: func(r *Row) string { return words.Percent(r.CPU) }, parse: percent},
	{Name: "workers", Head: "workers", Help: "its children that are on no GPU, and what processors each takes", Width: 9, Right: true, Rank: 7,
		Number: func(r *Row) series.Value { return series.Of(float64(r.Workers)) }, Text: workers, parse: number},
	{Name: "rss", Head: "RSS", Help: "its memory on the host", Width: 8, Right: true, Rank: 5,
		Number: func(r *Row) series.Value { return r.Values.Get(series.Resident) },
		Text:   func(r *Row) string { return words.Size(r.Values.Get(series.Resident)) }, parse: size},
	{Name: "read", Head: "read/s", Help: "what disks gave it in a second", Width: 8, Right: true, Rank: 8,
		Number: func(r *Row) series.Value { return r.Read }, Text: func(r *Row) string { return words.Size(r.Read) }, parse: size},
	{Name: "written", Head: "write/s", Help: "what disks took from it in a second", Width: 8, Right: true, Rank: 9,
		Number: func(r *Row) series.Value { return r.Written }, Text: func(r *Row) string { return words.Size(r.Written) }, parse: size},
	{Name: "state", Head: "S", Help: "its state: R runs, S sleeps, D waits for a disk or a driver, Z is dead", Width: 1, Rank: 6, Text: func(r *Row) string { return r.State }},
	{Name: "job", Head: "job", Help: "its Slurm job or Kubernetes pod", Width: 14, Rank: 10, Text: func(r *Row) string { return r.Job }},
	{Name: "container", Head: "container", Help: "its container", Width: 12, Rank: 11, Text: func(r *Row) string { return r.Container }},
	{Name: "command", Head: "command", Help: "what was started; secrets are masked", Width: 10, Rank: 0, Text: Command},
}

// ColumnNamed returns the column of this name, nil where there is none.
func ColumnNamed(name string) *Column {
	for _, c := range Columns {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Names are the names of all columns.
func Names() []string {
	names := make([]string, len(Columns))
	for i, c := range Columns {
		names[i] = c.Name
	}
	return names
}

// Command is the command line, or the best that is known instead.
func Command(r *Row) string {
	switch {
	case r.Command != "":
		return r.Command
	case r.Status == series.Lost:
		return "(holds memory, but cannot be seen here: it died, or runs in a container)"
	case r.Name != "" && r.Status == series.NoPermission:
		return r.Name + " (of another user)"
	}
	return r.Name
}

func workers(r *Row) string {
	if r.Workers == 0 {
		return ""
	}
	if v, ok := r.WorkersCPU.Get(); ok {
		return fmt.Sprintf("%d×%s%%", r.Workers, words.Percent(series.Of(v/float64(r.Workers))))
	}
	return strconv.Itoa(r.Workers)
}

func number(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err == nil && math.IsNaN(v) {
		err = fmt.Errorf("%q is no number", s)
	}
	return v, err
}

func percent(s string) (float64, error) {
	v, err := number(strings.TrimSuffix(s, "%"))
	return v / 100, err
}

func size(s string) (float64, error) {
	b, err := unit.Parse(s)
	return float64(b), err
}

// Sorted appends rows to others in the order of a column: numbers from the highest,
// words from A, or the other way round. What is not known comes last either way, and
// equals stay in the order of their hosts and PIDs.
func Sorted(to, rows []Row, by *Column, reverse bool) []Row {
	sign := 1
	if reverse {
		sign = -1
	}
	// Rows are large; pointers to them are moved about, and then the rows once.
	order := make([]*Row, len(rows))
	for i := range rows {
		order[i] = &rows[i]
	}
	slices.SortStableFunc(order, func(a, b *Row) int {
		ka, kb := by.known(a), by.known(b)
		switch {
		case ka && kb:
			if c := sign * by.compare(a, b); c != 0 {
				return c
			}
		case ka:
			return -1
		case kb:
			return 1
		}
		return cmp.Or(strings.Compare(a.Host, b.Host), cmp.Compare(a.PID, b.PID))
	})
	for _, r := range order {
		to = append(to, *r)
	}
	return to
}

func (c *Column) compare(a, b *Row) int {
	if c.Number == nil {
		return strings.Compare(c.Text(a), c.Text(b))
	}
	return cmp.Compare(c.Number(b).V, c.Number(a).V)
}

func (c *Column) known(r *Row) bool {
	if c.Number == nil {
		return c.Text(r) != ""
	}
	return c.Number(r).Status == series.OK
}
