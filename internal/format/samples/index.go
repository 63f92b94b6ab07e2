package samples

import (
	"errors"
	"io"
	"time"
)

// A Segment is a part of a file that can be read without those before it.
type Segment struct {
	Offset      int64
	First, Last time.Time // the earliest and latest of its samples by their hosts' clocks
}

// Index are the segments, of the headers alone. It leaves the Reader where it is.
func (r *Reader) Index() ([]Segment, error) {
	var list []Segment
	_, err := r.walk(func(at int64, h header) {
		if h.does == begins {
			list = append(list, Segment{at, h.first, h.last})
		}
		if n := len(list); n > 0 {
			s := &list[n-1]
			if h.first.Before(s.First) {
				s.First = h.first
			}
			if h.last.After(s.Last) {
				s.Last = h.last
			}
		}
	})
	return list, err
}

// walk hops over all whole frames, and returns where the last one ends.
func (r *Reader) walk(visit func(at int64, h header)) (int64, error) {
	at, end := int64(len(magic)), int64(len(magic))
	for {
		h, ok, err := r.header(at)
		if errors.Is(err, io.EOF) {
			return end, nil
		}
		if err != nil {
			return end, err
		}
		if !ok {
			if at, err = r.find(at + 1); err != nil {
				return end, err
			}
			continue
		}
		next := at + headerSize + int64(h.packed)
		if next > r.size {
			return end, nil
		}
		visit(at, h)
		at, end = next, next
	}
}

// End is where the last whole frame ends: who goes on with a file whose writer was
// stopped cuts it there first.
func (r *Reader) End() (int64, error) {
	return r.walk(func(int64, header) {})
}

// Seek goes to the first sample that is not before t by its host's clock. It reads
// the segment that this one is in, and of all others only headers.
func (r *Reader) Seek(t time.Time) error {
	list, err := r.Index()
	if err != nil {
		return err
	}
	r.at, r.from = r.size, t
	for _, s := range list {
		if !s.Last.Before(t) {
			r.at = s.Offset
			break
		}
	}
	r.sch, r.groups, r.queue = nil, nil, nil
	return nil
}
