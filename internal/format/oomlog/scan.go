package oomlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// How much of the log is looked at around a word of a message, in bytes.
const (
	sizeBefore = 24 << 10
	sizeAfter  = 8 << 10
	// A window that grows over this is taken in parts.
	largestWindow = 512 << 10
	readSize      = 256 << 10
	// What a log that is read in one go has at most, and what is kept of
	// others.
	smallLog    = 16 << 10
	largestKept = largestWindow + 2*readSize
)

// Scan reads a log once from front to back, in bounded memory, and returns
// what it says about memory. On an error it returns what it found before.
func Scan(ctx context.Context, r io.Reader, name string) (*Log, error) {
	s := &scanner{buf: make([]byte, 0, smallLog), window: -1, hit: -1, words: table().words, repeats: newRepeats()}
	c := newCollector()
	err := s.run(ctx, r, c)
	if err != nil {
		err = fmt.Errorf("read %s at byte %d: %w", name, s.base+int64(len(s.buf)), err)
	}
	lines := s.lines
	if n := len(s.buf); n > 0 && s.buf[n-1] != '\n' {
		lines++ // the last one has no line break
	}
	return c.finish(s.base+int64(len(s.buf)), lines), err
}

// A scanner keeps the part of the log that may still be needed.
type scanner struct {
	buf   []byte
	base  int64  // offset of buf[0]
	lines int    // line breaks before buf[0]; at the end, in all of the log
	state uint32 // of the automaton
	done  int    // bytes of buf that were scanned

	hit int // where a word ended whose line is not whole yet, -1 for nowhere

	window  int   // where the open window begins in buf, -1 for none
	end     int   // where it ends
	said    int64 // messages that begin before this offset were taken
	looked  int64 // offset of the end of the line that was looked at last
	words   *automaton
	repeats *repeats
}

func (s *scanner) run(ctx context.Context, r io.Reader, c *collector) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.drop()
		n, err := r.Read(s.buf[len(s.buf):min(cap(s.buf), len(s.buf)+readSize)])
		s.buf = s.buf[:len(s.buf)+n]
		s.scan(c, err != nil)
		if err == nil {
			continue
		}
		s.close(c, len(s.buf), len(s.buf))
		s.lines += bytes.Count(s.buf, []byte{'\n'})
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
}

// scan looks at what was read and opens, widens and closes windows. At the end
// of the log a line needs no end.
func (s *scanner) scan(c *collector, end bool) {
	for s.done < len(s.buf) || s.hit >= 0 {
		if s.hit < 0 && !s.next(c) {
			continue
		}
		at := s.hit
		if s.base+int64(at) >= s.looked {
			from, to, whole := lineAround(s.buf, at)
			if !whole && !end && to-from < sizeBefore {
				return // more of the line is to come
			}
			s.looked = s.base + int64(to)
			if to-from < sizeBefore && s.repeated(c, from, at, to) {
				s.hit = -1
				continue
			}
		}
		s.hit = -1
		s.open(c, at)
	}
}

// repeated reports whether the line buf[from:to], with its first words ending
// at buf[at], reads as others that need no window; then it is passed over.
func (s *scanner) repeated(c *collector, from, at, to int) bool {
	p := s.repeats.at(s.base+int64(from), s.buf[at:to])
	if !s.repeats.known(c, p) {
		s.repeats.pending = append(s.repeats.pending, p)
		return false
	}
	if s.window < 0 || to > s.end {
		s.close(c, from, from)
		s.repeats.count(c, p, s.buf[from:to])
		s.said = s.base + int64(to)
	} // else it is read with the window that is open
	s.state, s.done = 0, to
	return true
}

// next goes on to the next word and reports whether there is one before the
// window or the buffer ends.
func (s *scanner) next(c *collector) bool {
	limit := len(s.buf)
	if s.window >= 0 && s.end < limit {
		limit = s.end
	}
	state, at := s.words.scan(s.state, s.buf[s.done:limit])
	s.state = state
	if at >= 0 {
		s.hit = s.done + at
		s.done = s.hit + 1
		return true
	}
	s.done = limit
	if s.window >= 0 && s.done >= s.end {
		s.close(c, s.end, s.end)
	}
	return false
}

// open opens or widens the window for a word that ends at buf[at].
func (s *scanner) open(c *collector, at int) {
	if s.window < 0 {
		s.window = lineStart(s.buf, max(0, at-sizeBefore), at)
	}
	s.end = at + sizeAfter
	if s.done-s.window > largestWindow {
		// The last part is taken again, with what comes after it.
		s.close(c, s.done, s.done-sizeAfter)
		s.window = max(0, s.done-sizeAfter-sizeBefore)
	}
}

// close hands the open window to the collector. Messages that begin at or
// after until are left for the next one.
func (s *scanner) close(c *collector, end, until int) {
	if s.window < 0 {
		return
	}
	end = min(end, len(s.buf))
	first := s.lines + bytes.Count(s.buf[:s.window], []byte{'\n'}) + 1
	c.take(s.buf[s.window:end], s.base+int64(s.window), first, s.said, s.base+int64(until))
	s.repeats.learn(c, s.base+int64(until))
	s.said = s.base + int64(until)
	s.window = -1
}

// drop forgets what no window can need any more.
func (s *scanner) drop() {
	keep := max(0, s.done-sizeBefore-sizeAfter)
	if s.window >= 0 {
		keep = min(keep, s.window)
	}
	if len(s.buf) == smallLog && cap(s.buf) == smallLog {
		s.buf = append(make([]byte, 0, largestKept), s.buf...)
	}
	if len(s.buf) < cap(s.buf) && (cap(s.buf) == smallLog || keep < readSize && len(s.buf)+readSize <= cap(s.buf)) {
		return
	}
	s.lines += bytes.Count(s.buf[:keep], []byte{'\n'})
	n := copy(s.buf[:cap(s.buf)], s.buf[keep:])
	s.buf = s.buf[:n]
	s.base, s.done = s.base+int64(keep), s.done-keep
	if s.window >= 0 {
		s.window, s.end = s.window-keep, s.end-keep
	}
	if s.hit >= 0 {
		s.hit -= keep
	}
}

// lineStart returns the beginning of the first whole line of b[from:at], or
// from when there is none.
func lineStart(b []byte, from, at int) int {
	if from == 0 {
		return 0
	}
	if i := bytes.IndexByte(b[from:at], '\n'); i >= 0 {
		return from + i + 1
	}
	return from
}
