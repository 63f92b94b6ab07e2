package report

import "github.com/plimsoll-dev/plimsoll/unit"

// A Kind says what the cells of a column hold and how they are aligned.
type Kind uint8

// The kinds of columns. All but Text are numbers and stand to the right.
const (
	Text  Kind = iota
	Size       // bytes, one unit prefix for the whole column
	Count      // a plain integer
	Share      // 0..1, printed as percent
)

// An Elide says which part of a long text goes first when space is short.
type Elide uint8

// Where a text is cut.
const (
	CutEnd    Elide = iota // "a long sentence ab…"
	CutStart               // "…/models/bert.py:112", for paths and modules
	CutMiddle              // "train.py:21 mai…rt.py:112 forward", where both ends tell rows apart
)

// A Column is one column of a table.
type Column struct {
	Name  string
	Kind  Kind
	Elide Elide
	// Of names the whole that a Share column is a part of, "of the peak".
	Of string
	// Spare columns are the first to go when the table is too wide, the
	// highest number first. 0 stays.
	Spare int
}

// A Table is rows under columns. Every row has one cell for each column.
type Table struct {
	Columns []Column
	Rows    [][]Cell
	// More is how many rows were left out, 0 for none.
	More int
}

// A Cell is one value of a table. The zero value is "not known".
type Cell struct {
	Known  bool
	Text   string
	Bytes  unit.Bytes
	Number int64
	Share  float64
	// Answer colours the cell; Neutral leaves it alone.
	Answer Answer
}

// TextCell returns a cell that says s.
func TextCell(s string) Cell { return Cell{Known: true, Text: s} }

// SizeCell returns a cell of b bytes.
func SizeCell(b unit.Bytes) Cell { return Cell{Known: true, Bytes: b} }

// CountCell returns a cell that counts n.
func CountCell(n int64) Cell { return Cell{Known: true, Number: n} }

// ShareCell returns a cell for a share, 0..1.
func ShareCell(s float64) Cell { return Cell{Known: true, Share: s} }
