package lint

import (
	"bytes"
	"errors"
	"fmt"
	"sort"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// ErrBroken says that fixes would have left a file that does not parse.
var ErrBroken = errors.New("the fixed file would not parse; it was left as it is")

// Fixed makes fixes in a file. raw is the file as it was read. It returns the
// file's new bytes and the fixes that were made: of two that touch the same
// bytes the first in the source is made, one that breaks the file is not, and
// each is made whole or not at all.
func Fixed(f *File, raw []byte, fixes []*Fix) ([]byte, []*Fix, error) {
	sorted := append([]*Fix(nil), fixes...)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].start() < sorted[j].start() })
	edits, made := compatible(sorted, len(f.Module.Source))
	if len(made) == 0 {
		return raw, nil, nil
	}
	out, err := f.write(raw, edits)
	if !errors.Is(err, ErrBroken) || len(made) == 1 {
		if err != nil {
			return raw, nil, err
		}
		return out, made, nil
	}
	// One of them breaks it: those that parse with all before them are made.
	var good []*Fix
	out = raw
	for _, x := range made {
		edits, _ := compatible(append(good[:len(good):len(good)], x), len(f.Module.Source))
		if next, err := f.write(raw, edits); err == nil {
			out, good = next, append(good, x)
		}
	}
	if len(good) == 0 {
		return raw, nil, err
	}
	return out, good, nil
}

func (x *Fix) start() int {
	start := -1
	for _, e := range x.Edits {
		if start < 0 || e.Start < start {
			start = e.Start
		}
	}
	return start
}

// compatible takes the fixes whose edits touch nothing that an earlier one
// edits. An edit that an earlier fix makes as well is made once: both may need
// the same import.
func compatible(fixes []*Fix, size int) (edits []Edit, made []*Fix) {
	for _, x := range fixes {
		var fresh []Edit
		fits := len(x.Edits) > 0
		for _, e := range x.Edits {
			if e.Start < 0 || e.End < e.Start || e.End > size {
				fits = false
			}
			if same(edits, e) {
				continue
			}
			fits = fits && !touches(edits, e) && !touches(fresh, e)
			fresh = append(fresh, e)
		}
		if fits {
			edits, made = append(edits, fresh...), append(made, x)
		}
	}
	return edits, made
}

func same(edits []Edit, e Edit) bool {
	for _, o := range edits {
		if o == e {
			return true
		}
	}
	return false
}

// touches reports whether e shares a byte, or the place of an insertion, with
// an edit.
func touches(edits []Edit, e Edit) bool {
	for _, o := range edits {
		if e.Start < o.End && o.Start < e.End || e.Start == o.Start && (e.Start == e.End || o.Start == o.End) {
			return true
		}
	}
	return false
}

// write makes edits and reads the result again: it has to parse as well as
// before.
func (f *File) write(raw []byte, edits []Edit) ([]byte, error) {
	text, _ := Apply(f.Module.Source, edits)
	m, err := pyast.Parse(text)
	if err != nil {
		return nil, err
	}
	if len(m.Errors) > len(f.Module.Errors) {
		return nil, ErrBroken
	}
	if f.Notebook == nil {
		return pyast.Encode(text, f.Encoding)
	}
	var splices []pyast.Splice
	for _, e := range edits {
		splices = append(splices, pyast.Splice(e))
	}
	out, err := f.Notebook.Write(raw, splices)
	if err != nil {
		return nil, err
	}
	again, err := pyast.ReadNotebook(out)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	if !bytes.Equal(bytes.TrimRight(again.Source, "\n"), bytes.TrimRight(text, "\n")) {
		return nil, ErrBroken
	}
	return out, nil
}
