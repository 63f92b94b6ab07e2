package cli

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/internal/history"
	"github.com/plimsoll-dev/plimsoll/internal/idle"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/words"
	"github.com/plimsoll-dev/plimsoll/series"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// replayReport is the answer about a recording.
func replayReport(o replayOptions, r *replayRange, h *history.History) *report.Report {
	rep := &report.Report{Command: "replay", Subject: o.Name, Data: newReplayDocument(o, r, h)}
	worst := worstOf(h)
	rep.Verdict, rep.Reason = replayVerdict(h, worst)
	if worst != nil {
		for _, m := range worst.cause.Remedies {
			action := m.Action
			if m.Flag != "" {
				action += ": " + m.Flag
			}
			rep.Remedies = append(rep.Remedies, report.Remedy{Action: action, Exactness: report.Exactness(m.Exact)})
		}
	}
	for _, host := range h.Hosts {
		name := ""
		if len(h.Hosts) > 1 {
			name = " of " + host.Name
		}
		rep.Sections = append(rep.Sections, devicesTable(host, name))
		rep.Sections = append(rep.Sections, busyLines(host, name, r.zone)...)
		rep.Sections = append(rep.Sections, causesTable(host, name)...)
		rep.Sections = append(rep.Sections, holesTable(host, name, r.zone)...)
		rep.Sections = append(rep.Sections, problemsTable(host, name)...)
	}
	for _, left := range r.file.left() {
		rep.Warnings = append(rep.Warnings, report.Warning{Code: "unreadable-part", Message: left, Consequence: "what it held is not in the answer"})
	}
	if untimed := r.file.untimed(); untimed != "" {
		rep.Warnings = append(rep.Warnings, report.Warning{Code: "no-times", Message: untimed, Consequence: "the times shown are of no clock"})
	}
	if missing := r.choice.unread(); len(missing) > 0 {
		rep.Warnings = append(rep.Warnings, report.Warning{Code: "gpu-unread", Message: "the recording has no value of GPU " + strings.Join(missing, ", ")})
	}
	host := h.Hosts[0]
	rep.Provenance = []report.Fact{
		{Name: "recorded", Value: recordedIn(host, r.zone)},
		{Name: "read from", Value: r.file.kind},
	}
	if host.Driver != "" {
		rep.Provenance = append(rep.Provenance, report.Fact{Name: "driver", Value: host.Driver})
	}
	return rep
}

func clockOf(t time.Time, zone *time.Location) string {
	return t.In(zone).Format("2006-01-02 15:04:05")
}

// A blamed is a cause on one device.
type blamed struct {
	host   *history.Host
	device *history.Device
	cause  *history.Named
}

// worstOf is what cost most, nil for nothing.
func worstOf(h *history.History) *blamed {
	var worst *blamed
	for _, host := range h.Hosts {
		for _, d := range host.Devices {
			if list := d.Judged.Ranked(); len(list) > 0 && (worst == nil || list[0].Lost > worst.cause.Lost) {
				worst = &blamed{host, d, list[0]}
			}
		}
	}
	return worst
}

// labelOf is what a device is called: "GPU 3", or "GPU 6 1g.10gb".
func labelOf(host *history.Host, d *history.Device) string {
	if d.Parent == "" {
		return fmt.Sprintf("GPU %d", d.Index)
	}
	for _, p := range host.Devices {
		if p.ID == d.Parent {
			return fmt.Sprintf("GPU %d:%d %s", p.Index, d.Index, d.MIG)
		}
	}
	return "instance " + d.MIG
}

func replayVerdict(h *history.History, worst *blamed) (report.Verdict, string) {
	var named, healthy, unsure, all int
	for _, host := range h.Hosts {
		for _, d := range host.Devices {
			all++
			switch j := &d.Judged; {
			case len(j.Causes) > 0:
				named++
			case j.Unsure > 0:
				unsure++
			case j.Healthy > 0:
				healthy++
			}
		}
	}
	switch {
	case all == 0:
		return report.Verdict{Answer: report.No, Word: "no GPU", Sentence: "none could be read while this was recorded"}, ""
	case worst != nil:
		label := labelOf(worst.host, worst.device)
		if len(h.Hosts) > 1 {
			label += " of " + worst.host.Name
		}
		v := report.Verdict{Answer: report.No, Word: label + " idles", Sentence: fmt.Sprintf("%s; it cost %s of %s", titleOf(worst.cause.Cause), words.About(worst.cause.Lost), words.About(worst.host.Watched))}
		if named > 1 {
			v.Sentence += fmt.Sprintf("; %d of %s idle for a cause", named, plural(all, "GPU"))
		}
		return v, evidenceOf(worst.cause)
	case unsure > 0:
		return report.Verdict{Answer: report.Maybe, Word: "not sure", Sentence: fmt.Sprintf("%d of %s idled, and no cause has two signs of it", unsure, plural(all, "GPU"))}, ""
	case healthy > 0:
		return report.Verdict{Answer: report.OK, Word: "used", Sentence: fmt.Sprintf("no cause of idling was found on %s", plural(healthy, "GPU"))}, ""
	}
	return report.Verdict{Word: "nothing to judge", Sentence: fmt.Sprintf("no job was long enough on %s to say how well they were used", plural(all, "GPU"))}, ""
}

// titleOf is what a cause does, in words.
func titleOf(cause string) string {
	for _, c := range idle.Causes() {
		if c.ID == cause {
			return c.Title
		}
	}
	return cause
}

func evidenceOf(n *history.Named) string {
	var facts []string
	for _, e := range n.Evidence {
		facts = append(facts, e.Fact)
	}
	return strings.Join(facts, "; ")
}

// devicesTable is how the devices of a host were used.
func devicesTable(host *history.Host, name string) report.Section {
	t := &report.Table{Columns: []report.Column{
		{Name: "GPU"}, {Name: "name", Elide: report.CutMiddle, Spare: 2}, {Name: "busy", Kind: report.Share}, {Name: "memory, most", Kind: report.Size}, {Name: "of", Kind: report.Size},
		{Name: "power, mean", Spare: 1}, {Name: "hottest", Spare: 3}, {Name: "answered", Kind: report.Share},
	}}
	for _, d := range host.Devices {
		t.Rows = append(t.Rows, []report.Cell{
			report.TextCell(labelOf(host, d)), report.TextCell(d.Name), meanCell(&d.Busy), mostCell(d.MemoryUsed), totalCell(d.MemoryTotal),
			numberCell(d.Power.Mean())("W"), numberCell(d.Temperature.High, d.Temperature.Known())("°C"), answeredCell(host, d),
		})
	}
	return report.Section{Title: "GPUs" + name, Table: t}
}

func meanCell(s *history.Stat) report.Cell {
	if mean, ok := s.Mean(); ok {
		return report.ShareCell(mean)
	}
	return report.Cell{}
}

func mostCell(s history.Stat) report.Cell {
	if s.Known() {
		return report.SizeCell(unit.Bytes(s.High))
	}
	return report.Cell{}
}

func totalCell(bytes float64) report.Cell {
	if bytes > 0 {
		return report.SizeCell(unit.Bytes(bytes))
	}
	return report.Cell{}
}

func numberCell(v float64, ok bool) func(of string) report.Cell {
	return func(of string) report.Cell {
		if ok {
			return report.TextCell(fmt.Sprintf("%.0f %s", v, of))
		}
		return report.Cell{}
	}
}

// answeredCell is the share of the time in which the device answered.
func answeredCell(host *history.Host, d *history.Device) report.Cell {
	if host.Watched <= 0 {
		return report.Cell{}
	}
	c := report.ShareCell(float64(d.Status[series.OK]) / float64(host.Watched))
	if d.Status[series.Lost]+d.Status[series.Stuck]+d.Status[series.Failed] > 0 {
		c.Answer = report.No
	}
	return c
}

// busyLines draw how busy each device was.
func busyLines(host *history.Host, name string, zone *time.Location) []report.Section {
	var out []report.Section
	longest := 0
	for _, d := range host.Devices {
		longest = max(longest, len(d.BusyLine.Means()))
	}
	for _, d := range host.Devices {
		line := d.BusyLine.Means()
		if len(line) < 2 {
			continue
		}
		// All begin with the recording, so that they stand under each other.
		for len(line) < longest && d.BusyLine.Width == longestWidth(host) {
			line = append(line, math.NaN())
		}
		s := report.Section{Spark: &report.Spark{Name: fmt.Sprintf("%-6s", labelOf(host, d)), Shares: line, First: host.First.In(zone).Format("15:04:05"), Last: host.Last.In(zone).Format("15:04:05")}}
		if len(out) == 0 {
			s.Title = "Busy over time" + name
		}
		out = append(out, s)
	}
	return out
}

func longestWidth(host *history.Host) time.Duration {
	var w time.Duration
	for _, d := range host.Devices {
		w = max(w, d.BusyLine.Width)
	}
	return w
}

// causesTable is why the devices idled.
func causesTable(host *history.Host, name string) []report.Section {
	t := &report.Table{Columns: []report.Column{
		{Name: "GPU"}, {Name: "cause"}, {Name: "named for"}, {Name: "cost"}, {Name: "confidence", Spare: 1},
	}}
	for _, d := range host.Devices {
		for _, n := range d.Judged.Ranked() {
			t.Rows = append(t.Rows, []report.Cell{
				report.TextCell(labelOf(host, d)), report.TextCell(titleOf(n.Cause)), report.TextCell(words.About(n.For)), report.TextCell(words.About(n.Lost)), report.TextCell(string(n.Confidence)),
			})
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return []report.Section{{Title: "Why GPUs idled" + name, Table: t}}
}

// holeWords say what a gap is.
var holeWords = map[history.GapKind]string{
	history.Silent: "no sample came", history.Stopped: "the recorder was stopped", history.Restarted: "the machine was restarted",
}

// holesTable is where the recording has no samples, and where its clock jumps.
func holesTable(host *history.Host, name string, zone *time.Location) []report.Section {
	var holes [][]report.Cell
	for _, g := range host.Gaps {
		holes = append(holes, []report.Cell{report.TextCell(clockOf(g.From, zone)), report.TextCell(words.About(g.Lasted)), report.TextCell(holeWords[g.Kind])})
	}
	for _, j := range host.Jumps {
		where := "the clock was put forward"
		if j.By < 0 {
			where = "the clock was put back"
		}
		holes = append(holes, []report.Cell{report.TextCell(clockOf(j.At, zone)), report.TextCell(words.About(j.By.Abs())), report.TextCell(where)})
	}
	if len(holes) == 0 {
		return nil
	}
	const most = 20
	t := &report.Table{Columns: []report.Column{{Name: "at"}, {Name: "for"}, {Name: "what"}}, More: max(len(holes)-most, 0)}
	t.Rows = holes[:min(len(holes), most)]
	return []report.Section{{Title: "Gaps" + name, Table: t}}
}

// problemsTable is what could not be read.
func problemsTable(host *history.Host, name string) []report.Section {
	if len(host.Problems) == 0 {
		return nil
	}
	t := &report.Table{Columns: []report.Column{{Name: "what"}, {Name: "samples", Kind: report.Count}}}
	for _, p := range host.Problems {
		t.Rows = append(t.Rows, []report.Cell{report.TextCell(p.What), report.CountCell(int64(p.Samples))})
	}
	return []report.Section{{Title: "Could not be read" + name, Table: t}}
}

// A replayDocument is the JSON of the command.
type replayDocument struct {
	Schema  string         `json:"schema"` // plimsoll.replay/1
	File    string         `json:"file"`
	Kind    string         `json:"kind"`
	Hosts   []replayedHost `json:"hosts"`
	Left    []string       `json:"unreadable"`        // parts of the file, a sentence each
	Untimed string         `json:"untimed,omitempty"` // that times are assumed
}

type replayedHost struct {
	Name     string            `json:"name"`
	Driver   string            `json:"driver,omitempty"`
	From     time.Time         `json:"from"`
	To       time.Time         `json:"to"`
	Watched  float64           `json:"watched_seconds"` // without gaps
	Samples  int               `json:"samples"`
	Devices  []replayedDevice  `json:"devices"`
	Gaps     []replayedGap     `json:"gaps"`
	Jumps    []replayedJump    `json:"clock_jumps"`
	Problems []replayedProblem `json:"problems"`
}

type replayedDevice struct {
	ID         string             `json:"uuid"`
	Index      int                `json:"index"`
	Label      string             `json:"label"`
	Name       string             `json:"name,omitempty"`
	Busy       *float64           `json:"busy_ratio"`
	SMActive   *float64           `json:"sm_active_ratio"`
	MemoryMost *float64           `json:"memory_most_bytes"`
	Memory     *float64           `json:"memory_total_bytes"`
	Power      *float64           `json:"power_mean_watts"`
	Energy     *float64           `json:"energy_joules"`
	Hottest    *float64           `json:"temperature_most_celsius"`
	PowerLow   *float64           `json:"power_throttled_seconds"`
	HeatLow    *float64           `json:"heat_throttled_seconds"`
	Status     map[string]float64 `json:"status_seconds"`
	Width      float64            `json:"line_step_seconds"`
	BusyLine   []*float64         `json:"busy_line"` // means; null where nothing is known
	MemoryLine []*float64         `json:"memory_line_bytes"`
	Judged     float64            `json:"judged_seconds"`
	Healthy    float64            `json:"healthy_seconds"`
	Unsure     float64            `json:"unsure_seconds"`
	Causes     []replayedCause    `json:"causes"`
}

type replayedCause struct {
	finding.Finding
	For  float64 `json:"named_seconds"`
	Lost float64 `json:"lost_seconds"`
}

type replayedGap struct {
	From    time.Time       `json:"from"`
	To      time.Time       `json:"to"`
	Seconds float64         `json:"seconds"`
	Kind    history.GapKind `json:"kind"`
}

type replayedJump struct {
	At      time.Time `json:"at"`
	Seconds float64   `json:"seconds"`
}

type replayedProblem struct {
	Source  string `json:"source"`
	Status  string `json:"status"`
	What    string `json:"what"`
	Samples int    `json:"samples"`
}

// recordedIn is when and for how long a host was watched: only the latter where a log
// without times was read, which begins in 1970.
func recordedIn(h *history.Host, zone *time.Location) string {
	long := fmt.Sprintf("%s in %s", plural(h.Samples, "sample"), words.About(h.Watched))
	if h.First.Unix() == 0 {
		return long
	}
	return fmt.Sprintf("%s to %s, %s", clockOf(h.First, zone), clockOf(h.Last, zone), long)
}

func newReplayDocument(o replayOptions, r *replayRange, h *history.History) *replayDocument {
	doc := &replayDocument{Schema: "plimsoll.replay/1", File: o.Name, Kind: r.file.kind, Hosts: []replayedHost{}, Left: append([]string{}, r.file.left()...), Untimed: r.file.untimed()}
	for _, host := range h.Hosts {
		out := replayedHost{
			Name: host.Name, Driver: host.Driver, From: host.First, To: host.Last, Watched: host.Watched.Seconds(), Samples: host.Samples,
			Devices: []replayedDevice{}, Gaps: []replayedGap{}, Jumps: []replayedJump{}, Problems: []replayedProblem{},
		}
		for _, d := range host.Devices {
			out.Devices = append(out.Devices, newReplayedDevice(host, d))
		}
		for _, g := range host.Gaps {
			out.Gaps = append(out.Gaps, replayedGap{g.From, g.To, g.Lasted.Seconds(), g.Kind})
		}
		for _, j := range host.Jumps {
			out.Jumps = append(out.Jumps, replayedJump{j.At, j.By.Seconds()})
		}
		for _, p := range host.Problems {
			out.Problems = append(out.Problems, replayedProblem{p.Source, p.Status.String(), p.What, p.Samples})
		}
		doc.Hosts = append(doc.Hosts, out)
	}
	return doc
}

func newReplayedDevice(host *history.Host, d *history.Device) replayedDevice {
	out := replayedDevice{
		ID: d.ID, Index: d.Index, Label: labelOf(host, d), Name: d.Name,
		Busy: orNull(d.Busy.Mean()), SMActive: orNull(d.SMActive.Mean()), MemoryMost: orNull(d.MemoryUsed.High, d.MemoryUsed.Known()), Memory: orNull(d.MemoryTotal, d.MemoryTotal > 0),
		Power: orNull(d.Power.Mean()), Energy: orNull(d.Joules, d.Joules >= 0), Hottest: orNull(d.Temperature.High, d.Temperature.Known()),
		PowerLow: orNull(d.PowerThrottled, d.PowerThrottled >= 0), HeatLow: orNull(d.HeatThrottled, d.HeatThrottled >= 0),
		Status: map[string]float64{}, Width: d.BusyLine.Width.Seconds(), BusyLine: jsonLine(d.BusyLine.Means()), MemoryLine: jsonLine(d.MemoryLine.Means()),
		Judged: d.Judged.Judged.Seconds(), Healthy: d.Judged.Healthy.Seconds(), Unsure: d.Judged.Unsure.Seconds(), Causes: []replayedCause{},
	}
	for status, t := range d.Status {
		out.Status[status.String()] = t.Seconds()
	}
	for _, n := range d.Judged.Ranked() {
		out.Causes = append(out.Causes, replayedCause{n.Finding, n.For.Seconds(), n.Lost.Seconds()})
	}
	return out
}

// orNull is a number for JSON, null where there is none.
func orNull(v float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return &v
}

func jsonLine(line []float64) []*float64 {
	out := make([]*float64, len(line))
	for i, v := range line {
		out[i] = orNull(v, !math.IsNaN(v))
	}
	return out
}
