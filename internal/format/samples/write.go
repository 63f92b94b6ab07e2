package samples

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/plimsoll-dev/plimsoll/series"
)

// KeepFor is how long a Writer keeps samples before it writes them: what a kill
// loses at most.
const KeepFor = 10 * time.Second

// How much a segment holds at most. Long ones pack better, since each begins with
// all names and numbers anew; short ones lose less to damage and are found faster.
const (
	segmentFor   = 10 * time.Minute
	segmentTexts = 4 << 20
	pendingCells = 1 << 18
)

// A Writer writes samples to a file as they come. A frame is one call of Write of
// what it writes to.
type Writer struct {
	w   io.Writer
	sch schema
	z   *zstd.Encoder
	out bytes.Buffer

	// Of the segment.
	fresh     bool // nothing of it is written yet
	began     time.Time
	streams   map[string]*pending
	order     []*pending
	written   int // hosts with a number
	texts     map[string]int64
	textSize  int
	textFirst int // of the first sample: another segment would begin with as much

	// Of the frame.
	newTexts []byte
	newCount int
	groups   []byte
	count    int // groups
	cells    int // not written yet
	samples  int
	first    time.Time
	last     time.Time
	oldest   time.Duration // Since of the first sample
	err      error
}

// A pending is the open group of a host.
type pending struct {
	stream
	number int // as the file counts hosts, by their first group; -1 before
	shape  []thing
	byID   map[ident]int // of stream.things
	rows   [][]cell
}

// NewWriter begins a file.
func NewWriter(w io.Writer) (*Writer, error) {
	if _, err := io.WriteString(w, magic); err != nil {
		return nil, err
	}
	return Continue(w)
}

// Continue goes on with a file whose end is the end of a frame; see End.
func Continue(w io.Writer) (*Writer, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, err
	}
	return &Writer{w: w, sch: ours(), z: z}, nil
}

// window is how far back packing looks.
const window = 1 << 20

// Write keeps a sample, and writes those that it has once the oldest has waited
// for KeepFor. After an error the file is whole up to the last frame.
func (w *Writer) Write(s *series.Sample) error {
	if w.err != nil {
		return w.err
	}
	if w.samples > 0 && (s.Since-w.oldest >= KeepFor || s.Since < w.oldest) {
		if err := w.Flush(); err != nil {
			return err
		}
	}
	if w.streams == nil || w.samples == 0 && (s.Wall.Sub(w.began).Abs() >= segmentFor || w.textSize-w.textFirst > segmentTexts || len(w.texts) > mostTexts/4 || len(w.order) >= mostStreams-1) {
		w.begin(s.Wall)
	}
	if err := w.add(s); err != nil {
		return err
	}
	if w.textFirst == 0 {
		w.textFirst = w.textSize
	}
	if w.cells >= pendingCells || w.samples >= mostRows || w.textSize-w.textFirst > segmentTexts {
		return w.Flush()
	}
	return nil
}

// begin starts a segment.
func (w *Writer) begin(at time.Time) {
	w.began, w.fresh = at, true
	w.streams, w.order, w.written = map[string]*pending{}, nil, 0
	w.texts, w.textSize, w.textFirst = map[string]int64{"": 0}, 0, 0
	for i := range w.sch.kinds {
		w.sch.kinds[i].forget()
	}
	w.out.Reset()
	w.z.Reset(&w.out)
}

// add puts a sample into the group of its host.
func (w *Writer) add(s *series.Sample) error {
	p := w.streams[s.Host.Name]
	if p == nil {
		p = &pending{number: -1}
		w.streams[s.Host.Name] = p
		w.order = append(w.order, p)
	}
	shape, row := w.flatten(s)
	if len(row) > mostCells {
		return fmt.Errorf("a sample of %d numbers is too large for a recording", len(row))
	}
	if len(p.rows) > 0 && !sameIdents(p.shape, shape) {
		w.close(p)
	}
	if len(p.rows) == 0 {
		p.begin(shape)
	}
	p.rows = append(p.rows, row)
	w.cells += len(row)
	if w.samples == 0 {
		w.first, w.last, w.oldest = s.Wall, s.Wall, s.Since
	}
	if s.Wall.Before(w.first) {
		w.first = s.Wall
	}
	if s.Wall.After(w.last) {
		w.last = s.Wall
	}
	w.samples++
	return nil
}

func sameIdents(a, b []thing) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].id != b[i].id {
			return false
		}
	}
	return true
}

// begin opens a group: it finds each thing in the group before.
func (p *pending) begin(shape []thing) {
	p.shape = shape
	for i := range shape {
		shape[i].previous = -1
		if at, ok := p.byID[shape[i].id]; ok {
			shape[i].previous = at
		}
	}
}

// close packs the open group of a host.
func (w *Writer) close(p *pending) {
	if len(p.rows) == 0 {
		return
	}
	if p.number < 0 {
		p.number = w.written
		w.written++
	}
	w.groups = binary.AppendUvarint(w.groups, uint64(p.number))
	w.groups = p.appendGroup(w.groups, &w.sch, p.shape, p.rows)
	w.count++
	p.rows = p.rows[:0]
	p.byID = make(map[ident]int, len(p.things))
	for i, t := range p.things {
		p.byID[t.id] = i
	}
}

// flatten is a sample as a row, and the things whose numbers it has.
func (w *Writer) flatten(s *series.Sample) ([]thing, []cell) {
	f := flattener{w: w}
	f.add(kindSample, ident{}, &moment{Sample: *s, Place: w.samples})
	for i := range s.Devices {
		f.add(kindDevice, ident{a: w.intern(s.Devices[i].ID)}, &s.Devices[i])
	}
	for i := range s.Processes {
		p := &s.Processes[i]
		f.add(kindProcess, ident{a: int64(p.PID), b: int64(p.Started)}, p)
		for j := range p.Uses {
			f.add(kindUse, ident{a: int64(p.PID), b: int64(p.Started), c: w.intern(p.Uses[j].Device)}, &p.Uses[j])
		}
	}
	for i := range s.Problems {
		f.add(kindProblem, ident{a: int64(i)}, &s.Problems[i])
	}
	return f.things, f.row
}

// A flattener makes the row of a sample.
type flattener struct {
	w      *Writer
	things []thing
	row    []cell
}

func (f *flattener) add(kind int, id ident, what any) {
	id.kind = kind
	f.things = append(f.things, thing{kind: kind, id: id, from: len(f.row)})
	k, l := &kinds[kind], &f.w.sch.kinds[kind]
	for _, c := range l.fields {
		f.row = append(f.row, cell{v: load(k.fields[c.field].at(what), f.w.intern)})
	}
	if k.values == nil {
		return
	}
	values := *k.values(what)
	for _, c := range l.values {
		v := values.Get(c.counter)
		out := cell{status: v.Status}
		if n, ok := v.Get(); ok {
			if out.v, ok = c.res.steps(n); !ok {
				out.status = series.Failed
			}
		}
		f.row = append(f.row, out)
	}
}

// intern is the number of a string; new ones go into the frame.
func (w *Writer) intern(s string) int64 {
	if len(s) > mostString {
		s = s[:mostString]
	}
	n, ok := w.texts[s]
	if !ok {
		n = int64(len(w.texts))
		w.texts[s] = n
		w.textSize += len(s)
		w.newTexts = appendString(w.newTexts, s)
		w.newCount++
	}
	return n
}

// Flush writes what is kept, as a frame.
func (w *Writer) Flush() error {
	if w.err != nil || w.samples == 0 {
		return w.err
	}
	for _, p := range w.order {
		w.close(p)
	}
	h := header{does: continues, first: w.first, last: w.last}
	var raw []byte
	if w.fresh {
		h.does, w.fresh = begins, false
		raw = w.sch.append(raw)
	}
	raw = binary.AppendUvarint(raw, uint64(w.newCount))
	raw = append(raw, w.newTexts...)
	raw = binary.AppendUvarint(raw, uint64(w.count))
	raw = append(raw, w.groups...)
	w.err = w.frame(h, raw)
	w.newTexts, w.newCount, w.groups, w.count, w.cells, w.samples = w.newTexts[:0], 0, w.groups[:0], 0, 0, 0
	return w.err
}

// frame packs a frame and writes it in one call.
func (w *Writer) frame(h header, raw []byte) error {
	if len(raw) > mostRaw {
		return fmt.Errorf("samples of %d bytes are too large for a recording", len(raw))
	}
	w.out.Reset()
	if _, err := w.z.Write(raw); err != nil {
		return err
	}
	if err := w.z.Flush(); err != nil {
		return err
	}
	content := w.out.Bytes()
	h.packed, h.raw, h.sum = uint32(len(content)), uint32(len(raw)), crc32.Checksum(content, castagnoli)
	_, err := w.w.Write(append(h.append(make([]byte, 0, headerSize+len(content))), content...))
	return err
}

// Close writes what is kept. It leaves closing the file to who opened it.
func (w *Writer) Close() error {
	err := w.Flush()
	w.z.Reset(nil) // its end has nothing to say; frames say how long they are
	return err
}
