package export

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/attribute"
	"github.com/plimsoll-dev/plimsoll/internal/view"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// mostCounters bounds the points of a counter: beyond it a trace viewer gets
// slow. Each point then is the highest value of a stretch.
const mostCounters = 250_000

// Bounds of the stack of a slice, which stands there as text.
const (
	mostFrames = 16
	mostName   = 100 // bytes of a function's name
)

// Perfetto writes the drawings as JSON that ui.perfetto.dev and
// chrome://tracing open: counters of the allocated and reserved bytes, the
// given number of largest blocks as slices, and steps, phases and ranges.
// Times are microseconds after the first event, or the numbers of events where
// times are not known.
func Perfetto(w io.Writer, list []*view.Drawing, blocks int) error {
	t := &trace{w: bufio.NewWriterSize(w, 1<<16)}
	t.text(`{"displayTimeUnit":"ms","traceEvents":[`)
	note := map[string]string{"tool": "plimsoll view"}
	for _, d := range list {
		t.device(d, blocks)
		note[fmt.Sprintf("device %d", d.Device)] = fmt.Sprintf("%d of %d blocks are shown one by one, the largest; the counters count all", min(blocks, d.BlockCount()), d.BlockCount())
	}
	t.text("\n],\"otherData\":")
	t.value(note)
	t.text("}\n")
	if t.err != nil {
		return t.err
	}
	return t.w.Flush()
}

// A traceEvent is one line of the format. Source: "Trace Event Format" of the
// Chromium project.
type traceEvent struct {
	Name  string         `json:"name"`
	Cat   string         `json:"cat,omitempty"`
	Phase string         `json:"ph"`
	ID    string         `json:"id,omitempty"`
	Time  int64          `json:"ts"`
	Dur   int64          `json:"dur,omitempty"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	Scope string         `json:"s,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

type trace struct {
	w     *bufio.Writer
	count int
	err   error
}

func (t *trace) text(s string) {
	if t.err == nil {
		_, t.err = t.w.WriteString(s)
	}
}

func (t *trace) value(v any) {
	if t.err != nil {
		return
	}
	text, err := json.Marshal(v)
	if t.err = err; err == nil {
		_, t.err = t.w.Write(text)
	}
}

func (t *trace) event(e traceEvent) {
	if t.count > 0 {
		t.text(",")
	}
	t.count++
	t.text("\n")
	t.value(e)
}

func (t *trace) device(d *view.Drawing, blocks int) {
	pid := int(d.Device)
	at := clock(d)
	t.event(traceEvent{Name: "process_name", Phase: "M", PID: pid, Args: map[string]any{"name": fmt.Sprintf("device %d", pid)}})
	t.counters(d, at)
	for _, o := range d.Totals.OOMs {
		t.event(traceEvent{Name: "out of memory", Phase: "i", Scope: "p", Time: at(o.State), PID: pid, Args: map[string]any{"requested_bytes": o.Requested, "free_bytes": o.Free}})
	}
	tracks := map[string]int{}
	for _, b := range d.Bands() {
		track := b.Kind + strconv.Itoa(b.Row)
		tid, ok := tracks[track]
		if !ok {
			tid = len(tracks) + 1
			tracks[track] = tid
			t.event(traceEvent{Name: "thread_name", Phase: "M", PID: pid, TID: tid, Args: map[string]any{"name": b.Kind}})
		}
		t.event(traceEvent{Name: b.Name, Cat: b.Kind, Phase: "X", Time: at(b.From), Dur: max(at(b.To)-at(b.From), 1), PID: pid, TID: tid})
	}
	t.blocks(d, at, blocks)
}

// clock gives the times of states.
func clock(d *view.Drawing) func(state int) int64 {
	if d.From == d.To || d.Tape.Event(d.From).Time == 0 {
		return func(state int) int64 { return int64(state) }
	}
	end := d.TimeOf(d.States() - 1)
	return func(state int) int64 {
		if state >= d.States() {
			return end
		}
		return max(d.TimeOf(state), 0)
	}
}

// counters writes the levels whenever they change, or the highest of even
// stretches.
func (t *trace) counters(d *view.Drawing, at func(int) int64) {
	stretch := (d.States() + mostCounters - 1) / mostCounters
	point := func(m view.Moment) {
		args := map[string]any{"allocated_bytes": m.Allocated}
		if d.Totals.HasReserved {
			args["reserved_bytes"] = m.Reserved
		}
		t.event(traceEvent{Name: "memory", Phase: "C", Time: at(m.State), PID: int(d.Device), Args: args})
	}
	point(d.Totals.First)
	var high view.Moment
	open, last := false, d.Totals.First
	err := d.EachState(func(_ int, _ tape.Event, now view.Moment) error {
		if !open || now.Allocated > high.Allocated {
			now.Reserved = max(now.Reserved, high.Reserved)
			high, open = now, true
		}
		high.Reserved = max(high.Reserved, now.Reserved)
		if now.State%stretch == 0 {
			if high.Allocated != last.Allocated || high.Reserved != last.Reserved {
				point(high)
				last = high
			}
			high, open = view.Moment{}, false
		}
		return t.err
	})
	if t.err == nil {
		t.err = err
	}
	if open {
		point(high)
	}
}

// blocks writes the largest blocks as slices from their beginning to their
// end.
func (t *trace) blocks(d *view.Drawing, at func(int) int64, most int) {
	least := leastShown(d, most)
	shown := 0
	d.Each(func(id tape.BlockID, b tape.Block, start, end int) {
		size := d.Size(b.Bytes)
		if size < least || shown >= most || t.err != nil {
			return
		}
		shown++
		args := map[string]any{"requested_bytes": b.Bytes, "bytes": size, "address": fmt.Sprintf("%#x", b.Addr), "stream": fmt.Sprintf("%#x", d.Tape.StreamHandle(b.Stream))}
		if c := d.Category(id); c != tape.Unknown {
			args["category"] = c.String()
		}
		if stack := stackText(d, b.Site); stack != "" {
			args["stack"] = stack
		}
		e := traceEvent{
			Name: size.String() + " " + strings.ToValidUTF8(d.Lines.Name(d.Lines.Of(b.Site)), "\uFFFD"), Cat: "block", Phase: "b", ID: fmt.Sprintf("%d.%d", d.Device, id),
			Time: at(start), PID: int(d.Device), Args: args,
		}
		t.event(e)
		e.Phase, e.Time, e.Args = "e", max(at(end), e.Time+1), nil
		t.event(e)
	})
}

// leastShown is the size from which at most about so many blocks are.
func leastShown(d *view.Drawing, most int) unit.Bytes {
	if d.BlockCount() <= most {
		return 0
	}
	counts := map[unit.Bytes]int{}
	d.Each(func(_ tape.BlockID, b tape.Block, _, _ int) { counts[d.Size(b.Bytes)]++ })
	sizes := make([]unit.Bytes, 0, len(counts))
	for s := range counts {
		sizes = append(sizes, s)
	}
	slices.SortFunc(sizes, func(a, b unit.Bytes) int { return cmp.Compare(b, a) })
	n := 0
	for _, s := range sizes {
		if n += counts[s]; n >= most {
			return s
		}
	}
	return 0
}

// stackText is a stack in lines, without what every stack has.
func stackText(d *view.Drawing, site tape.SiteID) string {
	var b strings.Builder
	n := 0
	for _, f := range d.Tape.Site(site) {
		if !attribute.Telling(f) {
			continue
		}
		if n++; n > mostFrames {
			break
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(f.Name[:min(len(f.Name), mostName)])
		if f.Line > 0 {
			fmt.Fprintf(&b, " %s:%d", f.File, f.Line)
		}
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}
