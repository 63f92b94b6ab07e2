package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/format/samples"
	"github.com/plimsoll-dev/plimsoll/internal/format/smilog"
	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A sampleFile is a recording of machines over time.
type sampleFile struct {
	path string
	name string // what messages call it
	kind string // the tool that wrote it
	file *os.File
	r    *samples.Reader
	next func() (*series.Sample, error)
	left func() []string // what could not be read, a sentence each; once Next said io.EOF
	// untimed says that its times, or their days, are assumed; "" where they are not.
	untimed func() string
}

// openSamples opens a recording, whatever wrote it.
func openSamples(path string) (*sampleFile, error) { return openSamplesAs(path, path) }

// openSamplesAs opens a recording that people know by another name.
func openSamplesAs(path, name string) (*sampleFile, error) {
	f, size, err := input.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read %s: there is no such file", name)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	s := &sampleFile{path: path, name: name, file: f}
	if err := s.open(size); err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

func (s *sampleFile) open(size int64) error {
	prefix := make([]byte, 4<<10)
	n, _ := s.file.ReadAt(prefix, 0) // what is wrong is told by who reads on
	if prefix = prefix[:n]; smilog.Detect(prefix) {
		r, err := smilog.NewReader(s.file, s.name)
		if err != nil {
			return err
		}
		s.kind, s.next, s.left, s.untimed = r.Kind, r.Next, r.Left, r.Untimed
		return nil
	}
	if msg, hint, ok := smilog.Refused(prefix); ok {
		return WithHint(fmt.Errorf("read %w", &input.SyntaxError{File: s.name, Msg: msg}), hint)
	}
	r, err := samples.NewReader(s.file, size, s.name)
	if err != nil {
		if !samples.Detect(prefix) && n > 0 {
			err = &input.SyntaxError{File: s.name, Msg: "this is neither a recording of plimsoll record nor a log of GPUs that is known"}
		}
		return WithHint(fmt.Errorf("read %w", err), "plimsoll record makes a recording; logs of nvidia-smi --query-gpu with a header, dmon, pmon, dcgmi dmon, dcgm-exporter and gpustat --json are read, too")
	}
	s.kind, s.r, s.next, s.left = "plimsoll record", r, r.Next, func() []string { return leftOut(r) }
	s.untimed = func() string { return "" }
	return nil
}

// keepInput writes standard input to a file, since a recording is read more than once
// and from any place. The file is the caller's to remove. Who writes to standard input
// may never end; then ctx does.
func keepInput(ctx context.Context, stdio IO) (path string, err error) {
	f, err := os.CreateTemp("", "plimsoll-*.input")
	if err != nil {
		return "", fmt.Errorf("keep standard input: %w", err)
	}
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(f, stdio.In)
		copied <- err
	}()
	select {
	case err = <-copied:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", fmt.Errorf("keep standard input in %s: %w", f.Name(), err)
	}
	return f.Name(), nil
}

// isSampleFile reports whether a file that begins with prefix is such a recording.
func isSampleFile(prefix []byte) bool { return samples.Detect(prefix) || smilog.Detect(prefix) }

// Close closes the file.
func (s *sampleFile) Close() {
	if s.r != nil {
		s.r.Close()
	}
	s.file.Close()
}

// leftOut says what of a recording could not be read.
func leftOut(r *samples.Reader) []string {
	var list []string
	for _, d := range r.Damage() {
		list = append(list, fmt.Sprintf("byte %d: %s; %d bytes are left out", d.Offset, d.Msg, d.Bytes))
	}
	if n := r.Cut(); n > 0 {
		list = append(list, fmt.Sprintf("the last %d bytes are not a whole frame: it is being written, or the recorder was killed", n))
	}
	return list
}

// seek goes to the first sample that is not before t, without reading those before
// where the file allows it.
func (s *sampleFile) seek(t time.Time) error {
	if s.r != nil {
		return s.r.Seek(t)
	}
	next := s.next
	s.next = func() (*series.Sample, error) {
		for {
			sample, err := next()
			if err != nil || !sample.Wall.Before(t) {
				s.next = next
				return sample, err
			}
		}
	}
	return nil
}

// span is from the earliest sample to the latest; it reads as little as it can and
// leaves the file at its beginning.
func (s *sampleFile) span() (first, last time.Time, err error) {
	if s.r != nil {
		index, err := s.r.Index()
		if err != nil || len(index) == 0 {
			return first, last, err
		}
		first, last = index[0].First, index[0].Last
		for _, seg := range index {
			if seg.Last.After(last) {
				last = seg.Last
			}
		}
		return first, last, nil
	}
	again, err := openSamplesAs(s.path, s.name)
	if err != nil {
		return first, last, err
	}
	defer again.Close()
	for {
		sample, err := again.next()
		if errors.Is(err, io.EOF) {
			return first, last, nil
		}
		if err != nil {
			return first, last, err
		}
		if first.IsZero() {
			first = sample.Wall
		}
		if sample.Wall.After(last) {
			last = sample.Wall
		}
	}
}
