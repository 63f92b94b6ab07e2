package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/view"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A viewDocument is the JSON of the command: the facts of the drawing.
type viewDocument struct {
	Schema  string       `json:"schema"` // plimsoll.view/1
	File    string       `json:"file"`
	Devices []viewDevice `json:"devices"` // the fullest first
}

type viewDevice struct {
	Device       int            `json:"device"`
	Events       int            `json:"events"` // of the recording
	From         int            `json:"from_event"`
	To           int            `json:"to_event"`
	Narrowed     bool           `json:"narrowed"` // the range is smaller than was asked for
	Blocks       int            `json:"blocks"`
	Segments     int            `json:"segments"`
	Actions      map[string]int `json:"actions"` // events of the range by kind
	Peak         viewMoment     `json:"peak"`    // of the allocated bytes
	PeakReserved *viewMoment    `json:"peak_reserved"`
	First        viewMoment     `json:"first"` // before the first event of the range
	Last         viewMoment     `json:"last"`
	OOMs         []viewOOM      `json:"ooms"`
	Lines        []view.Share   `json:"lines"` // at the peak, the largest first
	Warnings     []view.Warning `json:"warnings"`
}

type viewMoment struct {
	Event     int         `json:"event"` // -1 is before the first event of the recording
	Time      int64       `json:"time_us"`
	Allocated unit.Bytes  `json:"allocated_bytes"`
	Requested unit.Bytes  `json:"requested_bytes"`
	Reserved  *unit.Bytes `json:"reserved_bytes"`
	Blocks    int         `json:"blocks"`
}

type viewOOM struct {
	Event     int        `json:"event"`
	Requested unit.Bytes `json:"requested_bytes"`
	Free      unit.Bytes `json:"free_bytes"`
}

// mostLines bounds the lines of the document.
const mostLines = 100

func (o viewOptions) document(list []*view.Drawing) *viewDocument {
	doc := &viewDocument{Schema: "plimsoll.view/1", File: o.Path}
	for _, d := range list {
		doc.Devices = append(doc.Devices, deviceDocument(d))
	}
	return doc
}

func deviceDocument(d *view.Drawing) viewDevice {
	t := &d.Totals
	out := viewDevice{
		Device: int(d.Device), Events: d.Tape.Len(), From: d.From, To: d.To, Narrowed: d.Narrowed, Blocks: d.BlockCount(), Segments: len(d.Segments),
		Actions: map[string]int{}, Peak: momentDocument(d, t.Peak), First: momentDocument(d, t.First), Last: momentDocument(d, t.Last),
		OOMs: []viewOOM{}, Lines: []view.Share{}, Warnings: []view.Warning{},
	}
	for k, n := range t.Kinds {
		out.Actions[k.String()] = n
	}
	if t.HasReserved {
		m := momentDocument(d, t.PeakReserved)
		out.PeakReserved = &m
	}
	for _, e := range t.OOMs {
		out.OOMs = append(out.OOMs, viewOOM{d.Event(e.State), e.Requested, e.Free})
	}
	lines := d.ByLine(t.Peak.State)
	out.Lines = append(out.Lines, lines[:min(len(lines), mostLines)]...)
	out.Warnings = append(out.Warnings, d.Warnings...)
	return out
}

func momentDocument(d *view.Drawing, m view.Moment) viewMoment {
	out := viewMoment{Event: d.Event(m.State), Allocated: m.Allocated, Requested: m.Requested, Blocks: m.Blocks}
	if out.Event >= 0 && out.Event < d.Tape.Len() {
		out.Time = d.Tape.Event(out.Event).Time
	}
	if d.Totals.HasReserved {
		out.Reserved = &m.Reserved
	}
	return out
}

// report is the answer in words.
func (o viewOptions) report(list []*view.Drawing) *report.Report {
	lead := list[0]
	r := &report.Report{Command: "view", Subject: filepath.Base(o.Path), Data: o.document(list), Verdict: viewVerdict(lead), Reason: viewReason(lead)}
	for _, d := range list {
		r.Sections = append(r.Sections, viewSections(d, len(list) > 1)...)
		for _, w := range d.Warnings {
			r.Warnings = append(r.Warnings, report.Warning{Code: w.Code, Message: w.Message})
		}
		if d.Narrowed {
			r.Warnings = append(r.Warnings, report.Warning{
				Code: "narrowed", Message: fmt.Sprintf("device %d: events %d to %d of %d are drawn, those around the peak, since all have too many blocks", d.Device, d.From, d.To, d.Tape.Len()),
				Consequence: "--events FROM:TO draws others",
			})
		}
	}
	r.Notes = []string{"plimsoll view FILE shows the page; plimsoll explain FILE says why, and what would help."}
	return r
}

func viewVerdict(d *view.Drawing) report.Verdict {
	t := &d.Totals
	v := report.Verdict{Word: "peak " + t.Peak.Allocated.String(), Sentence: "allocated " + eventName(d, t.Peak.State)}
	if t.HasReserved {
		v.Sentence += fmt.Sprintf(", at most %s reserved", t.PeakReserved.Reserved)
	}
	if n := t.Kinds[tape.OOM]; n > 0 && len(t.OOMs) > 0 {
		v.Answer = report.No
		v.Sentence += fmt.Sprintf("; out of memory %s, for %s", eventName(d, t.OOMs[0].State), t.OOMs[0].Requested)
	}
	return v
}

func eventName(d *view.Drawing, state int) string {
	switch {
	case d.Tape.Len() == 0:
		return "at the end, as there are no events"
	case d.Event(state) < 0:
		return "before the first event"
	}
	return "at event " + report.Grouped(int64(d.Event(state)))
}

// viewReason names what holds most at the peak.
func viewReason(d *view.Drawing) string {
	var top, nameless view.Share
	for _, l := range d.ByLine(d.Totals.Peak.State) {
		switch {
		case l.Line == view.NoLine:
			nameless = l
		case top.Blocks == 0:
			top = l
		}
	}
	var parts []string
	if top.Blocks > 0 {
		parts = append(parts, fmt.Sprintf("%s of it are of %s, in %s", top.Bytes, top.Line, blocksName(top.Blocks)))
	}
	if nameless.Blocks > 0 {
		parts = append(parts, fmt.Sprintf("%s in %s have no stack", nameless.Bytes, blocksName(nameless.Blocks)))
	}
	return strings.Join(parts, "; ")
}

func blocksName(n int) string {
	if n == 1 {
		return "1 block"
	}
	return report.Grouped(int64(n)) + " blocks"
}

// viewSections are the curves of a device and what its lines hold at the peak.
func viewSections(d *view.Drawing, several bool) []report.Section {
	t := &d.Totals
	name := ""
	if several {
		name = fmt.Sprintf(", device %d", d.Device)
	}
	first, last := fmt.Sprintf("event %d", d.From), fmt.Sprintf("%d", max(d.To-1, d.From))
	var out []report.Section
	if d.States() > 1 {
		allocated := &report.Spark{Name: "allocated", First: first, Last: last}
		reserved := &report.Spark{Name: "reserved ", First: first, Last: last}
		for _, m := range t.Overview {
			allocated.Values = append(allocated.Values, m.Allocated)
			reserved.Values = append(reserved.Values, m.Reserved)
		}
		out = append(out, report.Section{Title: "Memory over the events" + name, Spark: allocated})
		if t.HasReserved {
			out = append(out, report.Section{Spark: reserved})
		}
	}
	table := &report.Table{Columns: []report.Column{
		{Name: "line"}, {Name: "bytes", Kind: report.Size}, {Name: "share", Kind: report.Share, Of: "of the peak"}, {Name: "blocks", Kind: report.Count, Spare: 1},
	}}
	lines := d.ByLine(t.Peak.State)
	for _, l := range lines[:min(len(lines), 12)] {
		table.Rows = append(table.Rows, []report.Cell{
			report.TextCell(l.Line), report.SizeCell(l.Bytes), report.ShareCell(float64(l.Bytes) / float64(max(t.Peak.Allocated, 1))), report.CountCell(int64(l.Blocks)),
		})
	}
	table.More = max(len(lines)-12, 0)
	section := report.Section{Title: "At the peak" + name, Table: table}
	if d.States() > 1 {
		section.Lead = fmt.Sprintf("%s; %s events, %s blocks, %s segments", eventName(d, t.Peak.State), report.Grouped(int64(d.States()-1)), report.Grouped(int64(d.BlockCount())), report.Grouped(int64(len(d.Segments))))
	}
	return append(out, section)
}
