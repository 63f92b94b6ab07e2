package pyast

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
)

// A Splice replaces the bytes Start to End of a source.
type Splice struct {
	Start, End int
	Text       string
}

// Write makes edits of n.Source in the notebook that n was read from, and
// leaves every other byte of the file as it is.
func (n *Notebook) Write(raw []byte, edits []Splice) ([]byte, error) {
	places, err := cellSources(raw)
	if err != nil {
		return nil, err
	}
	byCell := map[int][]Splice{}
	for _, e := range edits {
		i := sort.Search(len(n.cells), func(i int) bool { return n.cells[i].start > e.Start }) - 1
		if i < 0 || e.End > n.cells[i].start+len(n.cells[i].text) {
			return nil, errors.New("an edit goes over the end of a cell")
		}
		at := n.cells[i].start
		byCell[i] = append(byCell[i], Splice{e.Start - at, e.End - at, e.Text})
	}
	var out []byte
	done := 0
	for i, c := range n.cells {
		if len(byCell[i]) == 0 {
			continue
		}
		if c.number > len(places) {
			return nil, errors.New("the notebook is not the one that was read")
		}
		p := places[c.number-1]
		if p.start < done {
			return nil, errors.New("the notebook is not the one that was read")
		}
		out = append(out, raw[done:p.start]...)
		out = append(out, rewriteSource(raw[p.start:p.end], splice(c.text, byCell[i]))...)
		done = p.end
	}
	return append(out, raw[done:]...), nil
}

// splice makes edits that do not overlap.
func splice(text string, edits []Splice) string {
	sort.SliceStable(edits, func(i, j int) bool { return edits[i].Start < edits[j].Start })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		if e.Start < at || e.End > len(text) {
			continue
		}
		b.WriteString(text[at:e.Start])
		b.WriteString(e.Text)
		at = e.End
	}
	b.WriteString(text[at:])
	return b.String()
}

// rewriteSource writes a cell's text in the form of the JSON value that it
// replaces: a string, or a list of lines in the same layout, whose lines that
// did not change stay byte by byte.
func rewriteSource(old []byte, text string) []byte {
	var lines []json.RawMessage
	if json.Unmarshal(old, &lines) != nil || len(lines) == 0 {
		return quote(text)
	}
	open := bytes.IndexByte(old, '"')
	before := string(old[1:open])
	after := string(old[bytes.LastIndexByte(old, '"')+1 : len(old)-1])
	between := before
	if len(lines) > 1 {
		end := open + len(lines[0])
		between = strings.Replace(string(old[end:end+bytes.IndexByte(old[end:], '"')]), ",", "", 1)
	}
	same := map[string]json.RawMessage{}
	for _, l := range lines {
		var s string
		if json.Unmarshal(l, &s) == nil {
			same[s] = l
		}
	}
	out := append([]byte{'['}, before...)
	for i, line := range strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n") {
		if i > 0 {
			out = append(out, ',')
			out = append(out, between...)
		}
		if l, ok := same[line]; ok {
			out = append(out, l...)
		} else {
			out = append(out, quote(line)...)
		}
	}
	if strings.HasSuffix(text, "\n") { // as it was, in the last line
		out = append(out[:len(out)-1], `\n"`...)
	}
	return append(append(out, after...), ']')
}

func quote(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return []byte(`""`) // a string always encodes
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// A place is where a value is in a JSON text.
type place struct{ start, end int }

// cellSources finds the source of each cell, in the order of ReadNotebook.
func cellSources(raw []byte) ([]place, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	var places, sheets []place
	err := object(d, func(key string) error {
		switch key {
		case "cells":
			return cellList(d, raw, &places)
		case "worksheets":
			return array(d, func() error {
				return object(d, func(key string) error {
					if key == "cells" {
						return cellList(d, raw, &sheets)
					}
					return skip(d)
				})
			})
		}
		return skip(d)
	})
	if err != nil {
		return nil, fmt.Errorf("find the notebook's cells: %w", err)
	}
	return append(places, sheets...), nil
}

func cellList(d *json.Decoder, raw []byte, places *[]place) error {
	return array(d, func() error {
		var at, input place
		err := object(d, func(key string) error {
			var value json.RawMessage
			if err := d.Decode(&value); err != nil {
				return err
			}
			end := int(d.InputOffset())
			p := place{end - len(value), end}
			if p.start < 0 || !bytes.Equal(raw[p.start:p.end], value) {
				return errors.New("a value is not where it should be")
			}
			switch key {
			case "source":
				at = p
			case "input":
				input = p
			}
			return nil
		})
		if at == (place{}) {
			at = input
		}
		*places = append(*places, at)
		return err
	})
}

func object(d *json.Decoder, visit func(key string) error) error {
	return inside(d, '{', '}', func() error {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, ok := t.(string)
		if !ok {
			return errors.New("an object has a key that is no string")
		}
		return visit(key)
	})
}

func array(d *json.Decoder, visit func() error) error { return inside(d, '[', ']', visit) }

// inside visits what is in brackets.
func inside(d *json.Decoder, open, end json.Delim, visit func() error) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	if t != open {
		return fmt.Errorf("there is %v where %v should be", t, open)
	}
	for d.More() {
		if err := visit(); err != nil {
			return err
		}
	}
	t, err = d.Token()
	if err == nil && t != end {
		err = fmt.Errorf("there is %v where %v should be", t, end)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func skip(d *json.Decoder) error {
	var v json.RawMessage
	return d.Decode(&v)
}
