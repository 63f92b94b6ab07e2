package view

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/attribute"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// sceneMagic begins the data of a page; the last byte is the version.
const sceneMagic = "PLV\x01"

// Bounds of what a page is given, whatever the file holds.
const (
	mostTimes      = 1 << 21 // moments whose time is known; those between are interpolated
	mostStack      = 128     // frames of a stack
	mostReferences = 24 << 20
	shortStack     = 12  // frames of a stack once the references are used up
	mostText       = 300 // bytes of a function's or file's name
)

// A sceneHead is the part of a scene that is not columns.
type sceneHead struct {
	Schema   string      `json:"schema"` // plimsoll.view.scene/1
	File     string      `json:"file"`
	Device   int         `json:"device"`
	From     int         `json:"from"`   // event before state 1
	Events   int         `json:"events"` // of the whole recording
	States   int         `json:"states"`
	Narrowed bool        `json:"narrowed"`
	Blocks   int         `json:"blocks"`
	Shift    int         `json:"shift"`  // addresses of blocks are in units of 1<<shift bytes
	Stride   int         `json:"stride"` // states from one time to the next
	Start    int64       `json:"start"`  // microseconds since the epoch of the first time
	Peak     sceneMoment `json:"peak"`
	Reserved bool        `json:"reserved"` // segments are known
	Capacity unit.Bytes  `json:"capacity"`
	Context  unit.Bytes  `json:"context"`
	Conf     string      `json:"conf"`
	OOMs     []sceneOOM  `json:"ooms"`
	Bands    []Band      `json:"bands"`
	Warnings []Warning   `json:"warnings"`
	Lines    []string    `json:"lines"`
	Modules  []string    `json:"modules"`
	Kinds    []string    `json:"categories"`
	Streams  []string    `json:"streams"`
	Strings  []string    `json:"strings"`
	Columns  []*column   `json:"columns"`
}

type sceneMoment struct {
	State     int        `json:"state"`
	Allocated unit.Bytes `json:"allocated"`
	Reserved  unit.Bytes `json:"reserved"`
}

type sceneOOM struct {
	State     int        `json:"state"`
	Requested unit.Bytes `json:"requested"`
	Free      unit.Bytes `json:"free"`
}

// A Caption is what a page says of a recording that its tape does not.
type Caption struct {
	File              string
	Capacity, Context unit.Bytes // of the card, 0 when unknown
	Conf              string     // allocator settings that were in force
}

// WriteScene writes the drawing as the page reads it: magic, length of the
// head, head as JSON, columns.
func (d *Drawing) WriteScene(w io.Writer, c Caption) error {
	s := &scene{d: d, shapes: map[shape]int{}, sites: map[tape.SiteID]int{}, strings: map[string]int{}, texts: []string{}}
	s.modules = newModules(d)
	s.blocks()
	s.segments()
	s.times()
	s.stacks()
	head := s.head(c)
	for _, col := range s.columns {
		col.Bytes = len(col.data)
	}
	text, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("write the drawing: %w", err)
	}
	out := append([]byte(sceneMagic), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(out[len(sceneMagic):], uint32(len(text)))
	if _, err := w.Write(append(out, text...)); err != nil {
		return err
	}
	for _, col := range s.columns {
		if _, err := w.Write(col.data); err != nil {
			return err
		}
	}
	return nil
}

// A scene collects the columns. A shape is what many blocks have in common, so
// that a block of a loop is four small numbers.
type scene struct {
	d       *Drawing
	columns []*column
	shapes  map[shape]int
	order   []shape
	sites   map[tape.SiteID]int
	stackOf []tape.SiteID
	strings map[string]int
	texts   []string
	modules *modules
	shift   int
	stride  int
	start   int64
}

type shape struct {
	requested unit.Bytes
	site      tape.SiteID
	category  tape.Category
	stream    tape.StreamID
	module    int
}

func (s *scene) column(name string) *column {
	c := &column{Name: name}
	s.columns = append(s.columns, c)
	return c
}

// blocks writes the blocks and their shapes.
func (s *scene) blocks() {
	start, life, kind, addr := s.column("start"), s.column("life"), s.column("shape"), s.column("addr")
	low := uint64(0)
	s.d.Each(func(_ tape.BlockID, b tape.Block, _, _ int) { low |= b.Addr })
	s.shift = 9
	if low&511 != 0 {
		s.shift = 0
	}
	s.d.Each(func(id tape.BlockID, b tape.Block, from, to int) {
		start.step(int64(from))
		if to == s.d.States() {
			life.put(0)
		} else {
			life.put(uint64(to - from))
		}
		kind.put(uint64(s.shape(id, b)))
		addr.step(int64(b.Addr >> s.shift))
	})
	requested, site, category, stream, module := s.column("requested"), s.column("site"), s.column("category"), s.column("stream"), s.column("module")
	for _, h := range s.order {
		requested.put(uint64(max(h.requested, 0)))
		site.put(uint64(s.site(h.site)))
		category.put(uint64(h.category))
		stream.put(uint64(h.stream))
		module.put(uint64(h.module))
	}
}

func (s *scene) shape(id tape.BlockID, b tape.Block) int {
	h := shape{b.Bytes, b.Site, s.d.Category(id), b.Stream, s.modules.at(b.Alloc)}
	n, ok := s.shapes[h]
	if !ok {
		n = len(s.order)
		s.shapes[h] = n
		s.order = append(s.order, h)
	}
	return n
}

// site numbers a stack; 0 is none.
func (s *scene) site(id tape.SiteID) int {
	if id == 0 {
		return 0
	}
	n, ok := s.sites[id]
	if !ok {
		s.stackOf = append(s.stackOf, id)
		n = len(s.stackOf)
		s.sites[id] = n
	}
	return n
}

func (s *scene) segments() {
	cols := map[string]*column{}
	for _, name := range []string{"segmentStart", "segmentEnd", "segmentAddr", "segmentBytes", "segmentFlags", "segmentStream", "segmentSite", "segmentPool"} {
		cols[name] = s.column(name)
	}
	for _, g := range s.d.Segments {
		cols["segmentStart"].put(uint64(g.Start))
		cols["segmentEnd"].put(uint64(g.End))
		cols["segmentAddr"].put(g.Addr)
		cols["segmentBytes"].put(uint64(g.Bytes))
		flags := uint64(0)
		if g.Small {
			flags |= 1
		}
		if g.Expandable {
			flags |= 2
		}
		cols["segmentFlags"].put(flags)
		cols["segmentStream"].put(uint64(g.Stream))
		cols["segmentSite"].put(uint64(s.site(g.Site)))
		pool := ""
		if g.Pool != [2]uint64{} {
			pool = fmt.Sprintf("%d.%d", g.Pool[0], g.Pool[1])
		}
		cols["segmentPool"].put(uint64(s.text(pool)))
	}
}

// times writes when the states began, every stride-th of them.
func (s *scene) times() {
	c := s.column("time")
	n := s.d.To - s.d.From
	if n == 0 || s.d.Tape.Event(s.d.From).Time == 0 {
		return
	}
	s.stride = (n + mostTimes - 1) / mostTimes
	s.start = s.d.Tape.Event(s.d.From).Time
	last := s.start
	for i := 0; i < n; i += s.stride {
		if t := s.d.Tape.Event(s.d.From + i).Time; t > last {
			last = t // clocks of other threads may lag behind
		}
		c.step(last - s.start)
	}
	last = max(last, s.d.Tape.Event(s.d.To-1).Time)
	c.step(last - s.start)
}

// stacks writes the frames of all stacks that something refers to.
func (s *scene) stacks() {
	depth, frames := s.column("stackDepth"), s.column("stackFrames")
	line := s.column("stackLine")
	names, files, lines, dull := s.column("frameName"), s.column("frameFile"), s.column("frameLine"), s.column("frameDull")
	known := map[tape.Frame]int{}
	for _, id := range s.stackOf {
		stack := s.d.Tape.Site(id)
		most := mostStack
		if frames.Count > mostReferences {
			most = shortStack
		}
		stack = stack[:min(len(stack), most)]
		depth.put(uint64(len(stack)))
		for _, f := range stack {
			n, ok := known[f]
			if !ok {
				n = len(known)
				known[f] = n
				names.put(uint64(s.text(f.Name)))
				files.put(uint64(s.text(f.File)))
				lines.put(uint64(max(f.Line, 0)))
				plumbing := uint64(1)
				if attribute.Telling(f) {
					plumbing = 0
				}
				dull.put(plumbing)
			}
			frames.put(uint64(n))
		}
		line.put(uint64(s.d.Lines.Of(id)))
	}
}

// text numbers a string. What is longer than anyone reads is cut.
func (s *scene) text(t string) int {
	if len(t) > mostText {
		t = t[:mostText] + "…"
	}
	n, ok := s.strings[t]
	if !ok {
		n = len(s.texts)
		s.strings[t] = n
		s.texts = append(s.texts, strings.ToValidUTF8(t, "\uFFFD"))
	}
	return n
}

func (s *scene) head(c Caption) sceneHead {
	d := s.d
	h := sceneHead{
		Schema: "plimsoll.view.scene/1", File: c.File, Device: int(d.Device), From: d.From, Events: d.Tape.Len(), States: d.States(),
		Narrowed: d.Narrowed, Blocks: d.BlockCount(), Shift: s.shift, Stride: s.stride, Start: s.start,
		Peak: sceneMoment{d.Totals.Peak.State, d.Totals.Peak.Allocated, d.Totals.PeakReserved.Reserved}, Reserved: d.Totals.HasReserved,
		Capacity: c.Capacity, Context: c.Context, Conf: c.Conf, Bands: d.Bands(), Warnings: d.Warnings,
		Modules: s.modules.names, Strings: s.texts, Columns: s.columns,
	}
	h.OOMs, h.Lines, h.Streams = []sceneOOM{}, []string{}, []string{}
	if h.Bands == nil {
		h.Bands = []Band{}
	}
	if h.Warnings == nil {
		h.Warnings = []Warning{}
	}
	for _, o := range d.Totals.OOMs {
		h.OOMs = append(h.OOMs, sceneOOM(o))
	}
	for i := range d.Lines.Len() {
		h.Lines = append(h.Lines, strings.ToValidUTF8(d.Lines.Name(i), "\uFFFD"))
	}
	for _, k := range tape.Categories() {
		h.Kinds = append(h.Kinds, k.String())
	}
	for i := range d.Tape.Streams() {
		h.Streams = append(h.Streams, fmt.Sprintf("%#x", d.Tape.StreamHandle(tape.StreamID(i))))
	}
	return h
}
