package tape

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// Detect reports whether a file that begins so is a tape file. It needs
// eight bytes.
func Detect(prefix []byte) bool {
	return len(prefix) >= len(magic) && string(prefix[:len(magic)]) == magic
}

// Read reads a tape file. Damage is a *SyntaxError; a file that ends early
// gives the tape up to there and ErrTruncated. Memory grows only with what
// the file really holds.
func Read(r io.Reader) (*Tape, error) {
	d := &tapeReader{tape: &Tape{}, in: sectionReader{r: bufio.NewReaderSize(r, 64<<10)}}
	if err := d.header(); err != nil {
		return nil, err
	}
	for {
		start := d.in.off
		tag, content, err := d.in.next()
		if err != nil {
			if errors.Is(err, ErrTruncated) {
				return d.tape, err
			}
			return nil, err
		}
		c := content
		if err = d.section(tag, &decoder{buf: c}); err != nil {
			return nil, &SyntaxError{start, err.Error()}
		}
		if tag == tagEnd {
			return d.finish()
		}
	}
}

// A tapeReader builds the tape section by section.
type tapeReader struct {
	in      sectionReader
	tape    *Tape
	strings []string
	ended   []uint64 // two bits a block: given up, free
	marked  int      // event of the last mark
}

func (d *tapeReader) header() error {
	head, err := readAll(nil, d.in.r, len(magic)+1)
	if !Detect(head) {
		if err != nil && !errors.Is(truncated(err), ErrTruncated) {
			return err
		}
		if len(head) < len(magic) && len(head) > 0 && magic[:len(head)] == string(head) {
			return ErrTruncated
		}
		return &SyntaxError{0, "not a tape file"}
	}
	if err != nil {
		return truncated(err)
	}
	if v := head[len(magic)]; v != version {
		return &SyntaxError{int64(len(magic)), fmt.Sprintf("tape version %d, this program reads version %d", v, version)}
	}
	d.in.off = int64(len(head))
	return nil
}

func (d *tapeReader) finish() (*Tape, error) {
	switch _, err := d.in.r.ReadByte(); {
	case errors.Is(err, io.EOF):
		return d.tape, nil
	case err != nil:
		return nil, err
	}
	return nil, &SyntaxError{d.in.off, "data after the end"}
}

var errUnknownTag = errors.New("unknown section")

func (d *tapeReader) section(tag byte, c *decoder) error {
	var err error
	switch tag {
	case tagMeta:
		err = each(c, d.meta)
	case tagStrings:
		err = each(c, d.string)
	case tagFrames:
		err = each(c, d.frame)
	case tagStacks:
		err = each(c, d.stack)
	case tagStreams:
		err = each(c, d.stream)
	case tagLanes:
		err = each(c, d.lane)
	case tagInitial:
		err = each(c, d.segment)
	case tagEvents:
		err = d.events(c)
	case tagMarks:
		err = each(c, d.mark)
	case tagEnd:
		err = d.end(c)
	default:
		if tag >= 'a' && tag <= 'z' {
			return nil
		}
		return fmt.Errorf("%w %q", errUnknownTag, tag)
	}
	if err == nil {
		err = c.err
	}
	if err == nil && len(c.buf) > 0 {
		err = errors.New("section is too long")
	}
	if err != nil {
		return fmt.Errorf("section %q: %w", tag, err)
	}
	return nil
}

// each reads records until the section is used up.
func each(c *decoder, record func(*decoder) error) error {
	for c.err == nil && len(c.buf) > 0 {
		if err := record(c); err != nil {
			return err
		}
	}
	return nil
}

func (d *tapeReader) meta(c *decoder) error {
	k, v := c.text(), c.text()
	if c.err == nil {
		d.tape.SetMeta(k, v)
	}
	return nil
}

func (d *tapeReader) string(c *decoder) error {
	d.strings = append(d.strings, c.text())
	return nil
}

func (d *tapeReader) frame(c *decoder) error {
	name, file, line := c.below(len(d.strings)), c.below(len(d.strings)), c.int()
	if c.err != nil {
		return nil
	}
	n := len(d.tape.frames.frames)
	if int(d.tape.frames.intern(Frame{d.strings[name], d.strings[file], int(line)})) != n {
		return errors.New("frame given twice")
	}
	return nil
}

func (d *tapeReader) stack(c *decoder) error {
	n := c.below(len(c.buf) + 1)
	stack := make([]uint32, 0, min(n, 1024))
	for range n {
		stack = append(stack, uint32(c.below(len(d.tape.frames.frames))))
		if c.err != nil {
			return nil
		}
	}
	if _, fresh := d.tape.names.intern(stack); !fresh && c.err == nil {
		return errors.New("stack empty or given twice")
	}
	return nil
}

func (d *tapeReader) stream(c *decoder) error {
	n := d.tape.Streams()
	handle := c.uint()
	if n == maxStreams || c.err == nil && int(d.tape.InternStream(handle)) != n {
		return errors.New("stream given twice or too many")
	}
	return nil
}

func (d *tapeReader) lane(c *decoder) error {
	device, stream := c.byte(), StreamID(c.below(maxStreams))
	n := len(d.tape.lanes.lanes)
	if got, ok := d.tape.lanes.intern(device, stream); c.err == nil && (!ok || int(got) != n) {
		return errors.New("lane given twice or too many")
	}
	return nil
}

func (d *tapeReader) mark(c *decoder) error {
	event := c.uint()
	m := Mark{Device: c.byte(), Kind: MarkKind(c.byte())}
	name := c.below(len(d.strings))
	m.Value = c.int()
	if c.err != nil {
		return nil
	}
	if event > uint64(d.tape.Len()-d.marked) || m.Kind >= markKinds {
		return errors.New("mark out of range")
	}
	d.marked += int(event)
	m.Event, m.Name = d.marked, d.strings[name]
	d.tape.Marks = append(d.tape.Marks, m)
	return nil
}

func (d *tapeReader) end(c *decoder) error {
	events, blocks, marks := c.uint(), c.uint(), c.uint()
	t := d.tape
	if c.err == nil && (events != uint64(t.Len()) || blocks != uint64(t.Blocks()) || marks != uint64(len(t.Marks))) {
		return errors.New("counts do not match")
	}
	return nil
}

func (d *tapeReader) segment(c *decoder) error {
	flags := c.byte()
	s := Segment{Device: c.byte(), Addr: c.uint(), Bytes: c.size(), Small: flags&flagSmall != 0, Expandable: flags&flagExpandable != 0}
	s.Stream = StreamID(c.below(maxStreams))
	s.Pool = [2]uint64{c.uint(), c.uint()}
	s.Site = SiteID(c.below(d.tape.Sites() + 1))
	n := c.below(len(c.buf) + 1)
	end, first := s.Addr, d.tape.Blocks()
	var labels []Category
	for range n {
		b := SegmentBlock{State: State(c.byte()), Block: NoBlock}
		b.Addr = end + uint64(c.int())
		b.Bytes, b.Requested, b.Site = c.size(), c.size(), SiteID(c.below(d.tape.Sites()+1))
		if b.State != Inactive {
			labels = append(labels, Category(c.byte()))
		}
		if c.err != nil {
			return nil
		}
		if b.State >= states {
			return fmt.Errorf("state %d", b.State)
		}
		end = b.Addr + uint64(b.Bytes)
		s.Blocks = append(s.Blocks, b)
	}
	if c.err != nil {
		return nil
	}
	if !d.tape.AddInitial(s) {
		return errors.New("initial segment after the first event")
	}
	for i, label := range labels {
		if label >= categories {
			return fmt.Errorf("category %d", label)
		}
		d.tape.SetCategory(BlockID(first+i), label)
	}
	return nil
}

// maxCount keeps counts inside the range of an event index.
const maxCount = math.MaxUint32

func (c *decoder) size() unit.Bytes { return unit.Bytes(c.uint() & math.MaxInt64) }
