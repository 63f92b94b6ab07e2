package samples

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A Reader reads a file, one sample after the other, in the order in which they
// were written. A file may grow while it is read.
type Reader struct {
	src  io.ReaderAt
	name string
	size int64

	at   int64 // of the next frame
	from time.Time

	feed feed
	z    *zstd.Decoder

	// Of the segment; sch is nil before the first whole frame of one.
	sch     *schema
	texts   []string
	room    int // bytes that its strings may still take
	streams []*stream
	held    int // cells of all streams

	groups []group
	queue  []place // samples of the frame that Next has not returned yet

	damage []Damage
}

// A place is where a sample of a frame stands.
type place struct{ order, group, row int }

// A Damage is a part of a file that could not be read.
type Damage struct {
	Offset, Bytes int64
	Msg           string
}

// mostDamage is how many damaged parts are told apart.
const mostDamage = 100

// NewReader begins to read the first size bytes of src. The name is the one that
// the user gave; it stands in errors. A file that is no recording is an
// *input.SyntaxError.
func NewReader(src io.ReaderAt, size int64, name string) (*Reader, error) {
	var line [len(magic)]byte
	n, err := src.ReadAt(line[:min(int64(len(magic)), max(size, 0))], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	switch got := string(line[:n]); {
	case got == magic:
	case len(got) < len(magic) && got == magic[:len(got)]:
		return nil, fmt.Errorf("%s: byte %d: %w", name, n, input.ErrTruncated)
	case Detect([]byte(got)):
		return nil, &input.SyntaxError{File: name, Offset: 0, Msg: "this recording is of another version of the format than this program knows"}
	default:
		return nil, &input.SyntaxError{File: name, Offset: 0, Msg: "this is no recording of samples: it does not begin with " + family}
	}
	r := &Reader{src: src, name: name, size: size, at: int64(len(magic))}
	r.z, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8*window), zstd.WithDecoderLowmem(true))
	return r, err
}

// Close gives memory back. It leaves closing the file to who opened it.
func (r *Reader) Close() { r.z.Close() }

// Grow tells that the file has size bytes by now; Next goes on where it ended.
func (r *Reader) Grow(size int64) { r.size = max(r.size, size) }

// Damage are the parts that could not be read so far, without a cut end.
func (r *Reader) Damage() []Damage { return r.damage }

// Cut is how many bytes of a frame stand at the end that is not whole: it is being
// written, or its writer was stopped. It holds once Next said io.EOF.
func (r *Reader) Cut() int64 { return r.size - r.at }

// Next returns the next sample, io.EOF where there is none (yet). Parts that are
// damaged are left out, see Damage.
func (r *Reader) Next() (*series.Sample, error) {
	for {
		for len(r.queue) > 0 {
			p := r.queue[0]
			r.queue = r.queue[1:]
			s := r.sample(&r.groups[p.group], p.row)
			if s.Wall.Before(r.from) {
				continue
			}
			r.from = time.Time{}
			return s, nil
		}
		if err := r.frame(); err != nil {
			return nil, err
		}
	}
}

// frame reads the next frame into the queue.
func (r *Reader) frame() error {
	h, ok, err := r.header(r.at)
	if err != nil {
		return err
	}
	if !ok {
		return r.resync()
	}
	from, end := r.at+headerSize, r.at+headerSize+int64(h.packed)
	if end > r.size {
		return io.EOF
	}
	if h.does == continues && r.sch == nil {
		r.damaged(r.at, end, "the beginning of its segment is missing")
		r.at = end
		return nil
	}
	content, err := io.ReadAll(io.NewSectionReader(r.src, from, int64(h.packed)))
	if err != nil {
		return fmt.Errorf("read %s at byte %d: %w", r.name, from, err)
	}
	if len(content) < int(h.packed) {
		return io.EOF // shorter than it was said to be
	}
	if err := r.unpack(h, content); err != nil {
		r.damaged(r.at, end, err.Error())
		r.sch, r.queue = nil, nil
	}
	r.at = end
	return nil
}

// header is the header at an offset: io.EOF where the file ends before it does,
// not ok where something else stands there.
func (r *Reader) header(at int64) (header, bool, error) {
	var b [headerSize]byte
	if at+headerSize > r.size {
		return header{}, false, io.EOF
	}
	if n, err := r.src.ReadAt(b[:], at); n < headerSize {
		if errors.Is(err, io.EOF) {
			return header{}, false, io.EOF
		}
		return header{}, false, fmt.Errorf("read %s at byte %d: %w", r.name, at, err)
	}
	h, ok := readHeader(b[:])
	return h, ok, nil
}

// damaged notes a part that is left out; parts that touch are one.
func (r *Reader) damaged(from, to int64, msg string) {
	if n := len(r.damage); n > 0 && (r.damage[n-1].Offset+r.damage[n-1].Bytes == from || n == mostDamage) {
		r.damage[n-1].Bytes = to - r.damage[n-1].Offset
		return
	}
	r.damage = append(r.damage, Damage{from, to - from, msg})
}

// resync goes to the next frame that begins a segment, after something that is no
// frame.
func (r *Reader) resync() error {
	at, err := r.find(r.at + 1)
	if err != nil {
		return err
	}
	r.damaged(r.at, at, "no frame stands here")
	r.sch, r.at = nil, at
	return nil
}

// find is the offset of the first header at or after an offset; the size of the
// file where there is none.
func (r *Reader) find(at int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for at+headerSize <= r.size {
		n, err := r.src.ReadAt(buf[:min(int64(len(buf)), r.size-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("read %s at byte %d: %w", r.name, at, err)
		}
		if n < headerSize {
			break
		}
		for i := 0; i+headerSize <= n; i++ {
			if buf[i] == sync[0] {
				if _, ok := readHeader(buf[i:n]); ok {
					return at + int64(i), nil
				}
			}
		}
		at += int64(n - headerSize + 1)
	}
	return r.size, nil
}

// A feed hands the content of frames to the decoder of a segment.
type feed struct{ rest []byte }

// Read reads from the frame at hand.
func (f *feed) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// unpack checks and reads the content of a frame.
func (r *Reader) unpack(h header, content []byte) error {
	if crc32.Checksum(content, castagnoli) != h.sum {
		return errors.New("its checksum is wrong")
	}
	r.feed.rest = content
	if h.does == begins {
		if err := r.z.Reset(&r.feed); err != nil {
			return err
		}
	}
	raw, err := io.ReadAll(io.LimitReader(r.z, int64(h.raw)))
	if err != nil {
		return err
	}
	if len(raw) < int(h.raw) {
		return errors.New("it holds less than it says")
	}
	return r.content(h.does, raw)
}

// content reads the unpacked content of a frame.
func (r *Reader) content(does byte, raw []byte) error {
	d := &decoder{b: raw}
	if does == begins {
		sch := readSchema(d)
		r.sch, r.texts, r.room, r.streams, r.held = &sch, []string{""}, 2*mostRaw, nil, 0
	}
	r.readTexts(d)
	r.readGroups(d)
	return d.bad
}

func (r *Reader) readTexts(d *decoder) {
	for range d.count(mostTexts, "strings") {
		s := d.string(mostString)
		r.room -= len(s)
		if r.room < 0 || len(r.texts) >= mostTexts {
			d.fail("the strings of a segment take more than they may")
			return
		}
		r.texts = append(r.texts, s)
	}
}

// readGroups reads the samples of a frame and puts them in order.
func (r *Reader) readGroups(d *decoder) {
	r.groups, r.queue = nil, nil
	room := mostCells
	for range d.count(mostCells, "groups") {
		number := d.uvarint()
		if number > uint64(len(r.streams)) || number >= mostStreams {
			d.fail("host %d comes before host %d", number, len(r.streams))
			return
		}
		if number == uint64(len(r.streams)) {
			r.streams = append(r.streams, &stream{})
		}
		st := r.streams[number]
		r.held -= len(st.last)
		g := st.readGroup(d, r.sch, room)
		r.held += len(st.last)
		if d.bad == nil && (r.held > mostCells || len(r.queue)+g.rows() > 16*mostRows) {
			d.fail("the samples of a frame take more than they may")
		}
		if d.bad != nil {
			return
		}
		room -= len(g.cells)
		order := r.orderColumn(&g)
		for row := range g.rows() {
			p := place{len(r.queue), len(r.groups), row}
			if order >= 0 {
				p.order = int(g.cells[row*g.width+order].v)
			}
			r.queue = append(r.queue, p)
		}
		r.groups = append(r.groups, g)
	}
	slices.SortStableFunc(r.queue, func(a, b place) int { return a.order - b.order })
}

// orderColumn is where rows of a group say their place in the frame, -1 for
// nowhere.
func (r *Reader) orderColumn(g *group) int {
	for _, t := range g.things {
		l := &r.sch.kinds[t.kind]
		if l.kind != kindSample {
			continue
		}
		for j, c := range l.fields {
			if c.field >= 0 && sampleFields[c.field].name == "place" {
				return t.from + j
			}
		}
	}
	return -1
}

// sample makes the sample of a row.
func (r *Reader) sample(g *group, row int) *series.Sample {
	m := &moment{}
	cells := g.cells[row*g.width : (row+1)*g.width]
	var process *series.Process
	for _, t := range g.things {
		l := &r.sch.kinds[t.kind]
		at := cells[t.from : t.from+l.width()]
		switch l.kind {
		case kindSample:
			r.fill(l, m, at)
		case kindDevice:
			d := &series.Device{}
			r.fill(l, d, at)
			m.Devices = append(m.Devices, *d)
		case kindProcess:
			m.Processes = append(m.Processes, series.Process{})
			process = &m.Processes[len(m.Processes)-1]
			r.fill(l, process, at)
		case kindUse:
			u := &series.Use{}
			r.fill(l, u, at)
			if process != nil {
				process.Uses = append(process.Uses, *u)
			}
		case kindProblem:
			p := &series.Problem{}
			r.fill(l, p, at)
			m.Problems = append(m.Problems, *p)
		}
	}
	return &m.Sample
}

// fill puts cells into a thing.
func (r *Reader) fill(l *layout, what any, cells []cell) {
	k := &kinds[l.kind]
	for j, c := range l.fields {
		if c.field < 0 {
			continue
		}
		v, text := cells[j].v, ""
		if c.text && v > 0 && v < int64(len(r.texts)) {
			text = r.texts[v]
		}
		store(k.fields[c.field].at(what), v, text, r.sch.statuses)
	}
	if k.values == nil {
		return
	}
	values := k.values(what)
	for j, c := range l.values {
		if !c.known {
			continue
		}
		got := cells[len(l.fields)+j]
		switch status := statusOf(int64(got.status), r.sch.statuses); status {
		case series.Absent:
		case series.OK:
			values.Set(c.counter, series.Of(c.res.value(got.v)))
		default:
			values.Set(c.counter, series.Without(status))
		}
	}
}
