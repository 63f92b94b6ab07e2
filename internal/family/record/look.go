package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/solve"
)

// look solves the recordings of a file and writes the tape that is behind them,
// or, when there is a second file, how the tape agrees with its recordings. It is
// for whoever works on the solver or on a new way to record.
func look(out io.Writer, solved, checked string) error {
	recs, err := readAll(solved)
	if err != nil {
		return err
	}
	s, err := solve.Solve(recs)
	if err != nil {
		return err
	}
	for _, d := range s.Doubts {
		fmt.Fprintln(out, "doubt:", d)
	}
	if checked == "" {
		c := symbolic.NewCollection()
		c.Add(filepath.Base(solved), s.Tape)
		_, err := c.WriteTo(out)
		return err
	}
	recs, err = readAll(checked)
	if err != nil {
		return err
	}
	for _, r := range recs {
		_, said := check(s.Tape, r)
		fmt.Fprintln(out, r.Job.Dims, said)
	}
	return nil
}

// check says how a tape agrees with a recording; one that cannot be played there
// has nothing that is equal.
func check(t *symbolic.Tape, r *solve.Recording) (symbolic.Check, string) {
	if r.Error != "" {
		return symbolic.Check{}, "not recorded: " + r.Error
	}
	c, err := solve.Verify(t, r)
	switch {
	case err != nil:
		return symbolic.Check{Events: r.Len(), Peak: -1}, "CHECK " + err.Error()
	case c.OK():
		return c.Result(), "equal"
	}
	return c.Result(), fmt.Sprintf("%d of %d equal, peak %+.3f %% [%s]", c.Equal, c.Events, 100*(float64(c.Peak)/float64(c.Want)-1), c.First)
}

// readAll reads a file of recordings, packed or not.
func readAll(path string) (list []*solve.Recording, err error) {
	err = unpack(path, func(in io.Reader) error {
		lines := json.NewDecoder(bufio.NewReaderSize(in, 1<<20))
		for {
			r := &solve.Recording{}
			if err := lines.Decode(r); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return fmt.Errorf("recording %d: %w", len(list)+1, err)
			}
			list = append(list, r)
		}
	})
	return list, err
}

// keep copies what a variant's tape is made of into a folder: the recordings
// that it is solved from, and after them those that it is checked with.
func (r *recorder) keep(rw *row, v variant) error {
	p, err := r.planned(rw, v)
	if err != nil {
		return err
	}
	lines := make([][]string, len(p.units))
	for k, u := range p.units {
		if lines[k], err = linesOf(u.path); err != nil {
			return err
		}
	}
	name := strings.NewReplacer("/", "-", "+", "-").Replace(v.Family + "-" + v.key())
	text := map[string]*strings.Builder{"solve": {}, "check": {}}
	for i, at := range p.at {
		kind := "solve"
		if i >= p.solved {
			kind = "check"
		}
		text[kind].WriteString(lines[at[0]][at[1]])
	}
	for kind, b := range text {
		path := filepath.Join(r.keepIn, name+"."+kind+".jsonl.gz")
		err := pack(path, gzip.BestCompression, func(out io.Writer) error {
			_, err := io.WriteString(out, b.String())
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func linesOf(path string) (lines []string, err error) {
	err = unpack(path, func(in io.Reader) error {
		text, err := io.ReadAll(in)
		lines = strings.SplitAfter(string(text), "\n")
		return err
	})
	return lines, err
}
