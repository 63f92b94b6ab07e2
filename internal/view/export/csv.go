// Package export writes drawings for other programs: CSV, an SQLite database,
// and the trace format of Chrome and Perfetto.
package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/internal/view"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// A Table is what the rows of a CSV are.
type Table struct {
	Name   string
	header []string
	rows   func(c *rowWriter, d *view.Drawing) error
}

// Tables are all of them, the default first.
var Tables = []Table{
	{"blocks", []string{
		"device", "block", "alloc_event", "free_event", "alloc_us", "free_us", "requested_bytes", "bytes", "address", "stream", "category", "line", "stack",
	}, blockRows},
	{"events", []string{
		"device", "event", "time_us", "action", "block", "bytes", "address", "stream", "allocated_bytes", "requested_bytes", "reserved_bytes",
	}, eventRows},
	{"segments", []string{
		"device", "from_event", "to_event", "address", "bytes", "stream", "pool", "small", "expandable",
	}, segmentRows},
}

// CSV writes the rows of a table for every drawing. What is not known is an
// empty field.
func CSV(w io.Writer, t Table, list []*view.Drawing) error {
	c := &rowWriter{w: csv.NewWriter(w)}
	if err := c.w.Write(t.header); err != nil {
		return err
	}
	for _, d := range list {
		if err := t.rows(c, d); err != nil {
			return fmt.Errorf("device %d: %w", d.Device, err)
		}
	}
	c.w.Flush()
	return c.w.Error()
}

// A rowWriter makes rows without making new ones.
type rowWriter struct {
	w   *csv.Writer
	row []string
}

func (c *rowWriter) number(n int64) { c.row = append(c.row, strconv.FormatInt(n, 10)) }
func (c *rowWriter) hex(n uint64)   { c.row = append(c.row, "0x"+strconv.FormatUint(n, 16)) }

// known writes a number, or nothing.
func (c *rowWriter) known(n int64, ok bool) {
	if !ok {
		c.row = append(c.row, "")
		return
	}
	c.number(n)
}

// text writes a text of the recording. A spreadsheet takes what begins like a
// formula for one, so such a text gets an apostrophe.
func (c *rowWriter) text(s string) {
	if s != "" && (s[0] == '=' || s[0] == '+' || s[0] == '-' || s[0] == '@' || s[0] == '\t' || s[0] == '\r') {
		s = "'" + s
	}
	c.row = append(c.row, s)
}

func (c *rowWriter) end() error {
	err := c.w.Write(c.row)
	c.row = c.row[:0]
	return err
}

// timeOf is the time of an event, 0 when unknown or when there is none.
func timeOf(d *view.Drawing, event int) int64 {
	if event < 0 {
		return 0
	}
	return d.Tape.Event(event).Time
}

func blockRows(c *rowWriter, d *view.Drawing) error {
	var err error
	d.Each(func(id tape.BlockID, b tape.Block, _, _ int) {
		if err != nil {
			return
		}
		c.number(int64(d.Device))
		c.number(int64(id))
		c.known(int64(b.Alloc), b.Alloc >= 0)
		c.known(int64(b.Free), b.Free >= 0)
		at, gone := timeOf(d, b.Alloc), timeOf(d, b.Free)
		c.known(at, at != 0)
		c.known(gone, gone != 0)
		c.number(int64(b.Bytes))
		c.number(int64(d.Size(b.Bytes)))
		c.hex(b.Addr)
		c.hex(d.Tape.StreamHandle(b.Stream))
		c.text(d.Category(id).String())
		c.text(d.Lines.Name(d.Lines.Of(b.Site)))
		c.known(int64(b.Site), b.Site != 0)
		err = c.end()
	})
	return err
}

func eventRows(c *rowWriter, d *view.Drawing) error {
	return d.EachState(func(i int, e tape.Event, now view.Moment) error {
		c.number(int64(d.Device))
		c.number(int64(i))
		c.known(e.Time, e.Time != 0)
		c.text(e.Kind.String())
		c.known(int64(e.Block), e.Block != tape.NoBlock)
		c.number(int64(e.Bytes))
		c.hex(e.Addr)
		c.hex(d.Tape.StreamHandle(e.Stream))
		c.number(int64(now.Allocated))
		c.number(int64(now.Requested))
		c.known(int64(now.Reserved), d.Totals.HasReserved)
		return c.end()
	})
}

func segmentRows(c *rowWriter, d *view.Drawing) error {
	for i := range d.Segments {
		s := &d.Segments[i]
		c.number(int64(d.Device))
		c.known(int64(d.Event(s.Start)), s.Start > 0)
		c.known(int64(d.Event(s.End)), s.End < d.States())
		c.hex(s.Addr)
		c.number(int64(s.Bytes))
		c.hex(d.Tape.StreamHandle(s.Stream))
		c.text(poolName(s.Pool))
		c.text(strconv.FormatBool(s.Small))
		c.text(strconv.FormatBool(s.Expandable))
		if err := c.end(); err != nil {
			return err
		}
	}
	return nil
}

// poolName is the name of a private pool, "" for the default one.
func poolName(id [2]uint64) string {
	if id == [2]uint64{} {
		return ""
	}
	return fmt.Sprintf("%d.%d", id[0], id[1])
}
