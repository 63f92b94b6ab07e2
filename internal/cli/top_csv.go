package cli

import (
	"encoding/csv"
	"io"
	"strconv"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/tui/table"
	"github.com/plimsoll-dev/plimsoll/series"
)

// renderTopCSV writes a line for each device, with every counter there is; one
// that is not known is empty.
func renderTopCSV(w io.Writer, s topState, head bool) error {
	out := csv.NewWriter(w)
	if head {
		row := []string{"time", "host", "gpu", "id", "parent", "name", "mig", "status", "stale_seconds", "processes"}
		out.Write(append(row, counterNames(series.ScopeDevice)...)) //nolint:errcheck // kept by the writer, told by Error
	}
	for i := range s.sample.Devices {
		d := &s.sample.Devices[i]
		row := []string{
			s.sample.Wall.Format(time.RFC3339Nano), s.sample.Host.Name, s.labels[d.ID], d.ID, d.Parent, d.Name, d.MIG, d.Status.String(),
			decimal(series.Of(d.StaleFor.Seconds())), strconv.Itoa(s.users(d.ID)),
		}
		out.Write(append(row, decimals(series.ScopeDevice, d.Values)...)) //nolint:errcheck // kept by the writer, told by Error
	}
	out.Flush()
	return out.Error()
}

// renderTopProcessesCSV writes a line for each process on each of its devices; a
// process that is on none has one.
func renderTopProcessesCSV(w io.Writer, s topState, head bool) error {
	out := csv.NewWriter(w)
	if head {
		row := []string{"time", "host", "pid", "parent", "started_ticks", "user", "name", "command", "state", "status", "container", "job", "gpu", "id", "kind", "gpu_memory_used_bytes", "gpu_busy_ratio", "cpu_ratio", "disk_read_bytes_per_second", "disk_written_bytes_per_second"}
		out.Write(append(row, counterNames(series.ScopeProcess)...)) //nolint:errcheck // kept by the writer, told by Error
	}
	for i := range s.rows {
		row := &s.rows[i]
		uses := row.Uses
		if len(uses) == 0 {
			uses = []series.Use{{}}
		}
		for _, u := range uses {
			out.Write(s.useLine(row, u)) //nolint:errcheck // kept by the writer, told by Error
		}
	}
	out.Flush()
	return out.Error()
}

func (s topState) useLine(row *table.Row, u series.Use) []string {
	p := row.Process
	line := []string{
		s.sample.Wall.Format(time.RFC3339Nano), s.sample.Host.Name, strconv.Itoa(p.PID), known(int64(p.Parent)), known(int64(p.Started)), p.User, p.Name, p.Command,
		p.State, p.Status.String(), p.Container, p.Job, s.labels[u.Device], u.Device, string(u.Kind),
		decimal(u.Values.Get(series.UseMemory)), decimal(u.Values.Get(series.UseBusy)), decimal(row.CPU), decimal(row.Read), decimal(row.Written),
	}
	return append(line, decimals(series.ScopeProcess, p.Values)...)
}

func counterNames(scope series.Scope) []string {
	var names []string
	for _, row := range series.Counters(scope) {
		names = append(names, row.Name)
	}
	return names
}

func decimals(scope series.Scope, vs series.Values) []string {
	var out []string
	for _, row := range series.Counters(scope) {
		out = append(out, decimal(vs.Get(row.Counter)))
	}
	return out
}

// decimal is a number without an exponent, "" where there is none.
func decimal(v series.Value) string {
	if x, ok := v.Get(); ok {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return ""
}
