package cli

import (
	"encoding/json"
	"io"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/idle"
	"github.com/plimsoll-dev/plimsoll/internal/tui/table"
	"github.com/plimsoll-dev/plimsoll/internal/watch"
	"github.com/plimsoll-dev/plimsoll/series"
)

// topDocument is `plimsoll top --format json`, and a line of it with --watch;
// schema/top.schema.json describes it. Numbers are named with their unit; one that
// is not known stands in "unknown" with the reason.
type topDocument struct {
	Schema       string       `json:"schema"`
	Time         time.Time    `json:"time"`
	SinceSeconds float64      `json:"since_seconds"`
	Host         topHost      `json:"host"`
	Devices      []topDevice  `json:"devices"`
	Processes    []topProcess `json:"processes"`
	Problems     []topProblem `json:"problems"`
}

type topHost struct {
	Name          string `json:"name,omitempty"`
	Driver        string `json:"driver,omitempty"`
	CUDA          string `json:"cuda,omitempty"`
	BootID        string `json:"boot_id,omitempty"`
	Unprivileged  bool   `json:"unprivileged"`
	UnifiedMemory bool   `json:"unified_memory"`
	topValues
}

// topValues are counters by their names of package series.
type topValues struct {
	Values  map[string]float64 `json:"values"`
	Unknown map[string]string  `json:"unknown,omitempty"`
}

type topDevice struct {
	Index        int     `json:"index"`
	Label        string  `json:"label"`
	ID           string  `json:"id"`
	Parent       string  `json:"parent,omitempty"`
	Name         string  `json:"name,omitempty"`
	Vendor       string  `json:"vendor,omitempty"`
	PCI          string  `json:"pci,omitempty"`
	Minor        *int    `json:"minor,omitempty"`
	MIG          string  `json:"mig,omitempty"`
	Status       string  `json:"status"`
	Problem      string  `json:"problem,omitempty"`
	StaleSeconds float64 `json:"stale_seconds,omitempty"`
	topValues
	// What follows is known only where the device was watched.
	Remark *topRemark   `json:"remark,omitempty"`
	Idle   *idle.Answer `json:"idle,omitempty"`
	Full   *topFull     `json:"memory_full,omitempty"`
}

type topRemark struct {
	Kind watch.Kind `json:"kind"`
	Text string     `json:"text"`
	More string     `json:"more,omitempty"`
}

// topFull is when memory will be full by its trend.
type topFull struct {
	AfterSeconds    float64 `json:"after_seconds"`
	EarliestSeconds float64 `json:"earliest_seconds"`
	LatestSeconds   float64 `json:"latest_seconds"`
	LoadLineBytes   float64 `json:"load_line_bytes"`
	Trend           float64 `json:"growth_bytes_per_second"`
}

type topProcess struct {
	PID       int                `json:"pid"`
	Parent    int                `json:"parent,omitempty"`
	Started   uint64             `json:"started_ticks,omitempty"`
	Status    string             `json:"status"`
	User      string             `json:"user,omitempty"`
	Name      string             `json:"name,omitempty"`
	Command   string             `json:"command,omitempty"`
	State     string             `json:"state,omitempty"`
	Wait      string             `json:"wait,omitempty"`
	Container string             `json:"container,omitempty"`
	Job       string             `json:"job,omitempty"`
	Rank      *int               `json:"rank,omitempty"`
	WorldSize int                `json:"world_size,omitempty"`
	Visible   string             `json:"cuda_visible_devices,omitempty"`
	Uses      []topUse           `json:"uses"`
	Rates     map[string]float64 `json:"rates,omitempty"`
	topValues
}

type topUse struct {
	Device string `json:"device"` // label
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	topValues
}

type topProblem struct {
	Source string `json:"source"`
	Status string `json:"status"`
	What   string `json:"what"`
}

// renderTopJSON writes the document, in one line where it is one of many.
func renderTopJSON(w io.Writer, s topState, line bool) error {
	enc := json.NewEncoder(w)
	if !line {
		enc.SetIndent("", "  ")
	}
	enc.SetEscapeHTML(false)
	return enc.Encode(documentOfTop(s))
}

func documentOfTop(s topState) topDocument {
	h := s.sample.Host
	doc := topDocument{
		Schema: "plimsoll.top/1", Time: s.sample.Wall, SinceSeconds: s.sample.Since.Seconds(),
		Host:    topHost{h.Name, h.Driver, h.CUDA, h.BootID, h.Unprivileged, h.UnifiedMemory, valuesOf(series.ScopeHost, h.Values)},
		Devices: []topDevice{}, Processes: []topProcess{}, Problems: []topProblem{},
	}
	for i := range s.sample.Devices {
		doc.Devices = append(doc.Devices, s.device(&s.sample.Devices[i]))
	}
	for i := range s.rows {
		doc.Processes = append(doc.Processes, s.process(&s.rows[i]))
	}
	for _, p := range s.sample.Problems {
		doc.Problems = append(doc.Problems, topProblem{p.Source, p.Status.String(), p.What})
	}
	return doc
}

// valuesOf names the values of a scope. What nobody asked for is in neither map.
func valuesOf(scope series.Scope, vs series.Values) topValues {
	out := topValues{Values: map[string]float64{}}
	for _, row := range series.Counters(scope) {
		switch v := vs.Get(row.Counter); v.Status {
		case series.OK:
			out.Values[row.Name] = v.V
		case series.Absent:
		default:
			if out.Unknown == nil {
				out.Unknown = map[string]string{}
			}
			out.Unknown[row.Name] = v.Status.String()
		}
	}
	return out
}

func (s topState) device(d *series.Device) topDevice {
	out := topDevice{
		Index: d.Index, Label: s.labels[d.ID], ID: d.ID, Parent: d.Parent, Name: d.Name, Vendor: d.Vendor, PCI: d.PCI, MIG: d.MIG,
		Status: d.Status.String(), Problem: d.Problem, StaleSeconds: d.StaleFor.Seconds(), topValues: valuesOf(series.ScopeDevice, d.Values),
	}
	if d.Minor >= 0 {
		out.Minor = &d.Minor
	}
	j, ok := s.judged[d.ID]
	if !ok {
		return out
	}
	r := watch.RemarkOn(d, s.users(d.ID), &j)
	out.Remark, out.Idle = &topRemark{r.Kind, r.Text, r.More}, &j.Idle
	if load := watch.LoadOf(d, j.Memory); load.Fills {
		out.Full = &topFull{load.Full.After.Seconds(), load.Full.Earliest.Seconds(), load.Full.Latest.Seconds(), load.Line, j.Memory.PerSecond}
	}
	return out
}

func (s topState) process(row *table.Row) topProcess {
	p := row.Process
	out := topProcess{
		PID: p.PID, Parent: p.Parent, Started: p.Started, Status: p.Status.String(), User: p.User, Name: p.Name, Command: p.Command,
		State: p.State, Wait: p.Wait, Container: p.Container, Job: p.Job, WorldSize: p.WorldSize, Visible: p.Visible,
		Uses: []topUse{}, topValues: valuesOf(series.ScopeProcess, p.Values), Rates: ratesOf(row),
	}
	if p.Rank >= 0 {
		out.Rank = &p.Rank
	}
	for _, u := range p.Uses {
		out.Uses = append(out.Uses, topUse{s.labels[u.Device], u.Device, string(u.Kind), valuesOf(series.ScopeUse, u.Values)})
	}
	return out
}

// ratesOf are the rates of a process by name, those that are known.
func ratesOf(row *table.Row) map[string]float64 {
	out := map[string]float64{}
	for _, r := range []struct {
		name  string
		value series.Value
	}{{"cpu_ratio", row.CPU}, {"disk_read_bytes_per_second", row.Read}, {"disk_written_bytes_per_second", row.Written}} {
		if v, ok := r.value.Get(); ok {
			out[r.name] = v
		}
	}
	return out
}
