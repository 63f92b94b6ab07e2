// Package kineto reads traces of torch.profiler with profile_memory: JSON of
// Chrome's trace viewer, plain or compressed by gzip, with an event for each
// allocation and free.
//
// Sizes in them are of blocks, after rounding; there is nothing about
// segments, streams or what was in use before. Who allocated is told by the
// operators and functions that run on the same thread at the time.
//
// A trace is streamed; what is kept are its allocations and the spans of time
// that can be around them.
package kineto

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Trace is what one file says about the memory of devices.
type Trace struct {
	// Tapes holds one tape for each device that allocated, by rising number,
	// Devices their numbers.
	Tapes   []*tape.Tape
	Devices []uint8
	// Capacity is the total memory of the devices, 0 when not known, and
	// Reserved the most that the allocator held; both with the same index.
	Capacity, Reserved []unit.Bytes
	// Ranges are the ends of annotated stretches of time, in the order of
	// the file.
	Ranges   []Range
	Warnings []Warning
	// Truncated reports that the file ends early.
	Truncated bool
}

// A Range is one end of an annotated stretch of time.
type Range struct {
	Name  string
	Begin bool
	Time  int64 // microseconds, of the trace's own clock
}

// A Warning says what a reader of the trace cannot rely on.
type Warning struct {
	Code    string
	Message string
}

// Detect reports whether a file that begins with prefix looks like a trace.
func Detect(prefix []byte) bool {
	text := bytes.TrimLeft(input.Gunzipped(prefix), " \t\r\n")
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return false
	}
	for _, sign := range []string{`"traceEvents"`, `"deviceProperties"`, `"displayTimeUnit"`} {
		if bytes.Contains(text, []byte(sign)) {
			return true
		}
	}
	return text[0] == '[' && bytes.Contains(text, []byte(`"ph"`)) && bytes.Contains(text, []byte(`"ts"`))
}

// Read reads a trace; the name stands in errors. When the file ends early it
// returns what can be told and an error that wraps input.ErrTruncated.
func Read(r io.Reader, name string, lim input.Limits) (*Trace, error) {
	rd := newReader(name, lim)
	src, err := decompressed(r)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	rd.open(src)
	err = rd.top()
	if err = rd.explain(err); err != nil && !errors.Is(err, input.ErrTruncated) {
		return nil, err
	}
	if rd.memories == 0 && err == nil {
		return nil, &input.SyntaxError{File: name, Offset: -1, Msg: "a trace without memory events; record with torch.profiler.profile(profile_memory=True)"}
	}
	t, buildErr := rd.build()
	if buildErr != nil {
		return nil, fmt.Errorf("%s: %w", name, buildErr)
	}
	if t.Truncated = err != nil; t.Truncated {
		t.Warnings = append(t.Warnings, Warning{"cut-short", fmt.Sprintf("the file ends early, at byte %d, after %d allocations and frees; what follows is missing", rd.dec.InputOffset(), rd.memories)})
	}
	return t, err
}

// decompressed looks at the first bytes.
func decompressed(r io.Reader) (io.Reader, error) {
	head := make([]byte, 2)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	whole := io.MultiReader(bytes.NewReader(head[:n]), r)
	if !input.IsGzip(head[:n]) {
		return whole, nil
	}
	return gzip.NewReader(whole)
}

// A number is a JSON number or a string that holds one.
type number float64

// UnmarshalJSON accepts both.
func (n *number) UnmarshalJSON(b []byte) error {
	var f float64
	if err := json.Unmarshal([]byte(strings.Trim(string(b), `"`)), &f); err != nil {
		return &json.UnmarshalTypeError{Value: "time"}
	}
	*n = number(f)
	return nil
}
