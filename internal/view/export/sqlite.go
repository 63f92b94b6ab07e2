package export

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite", in Go alone

	"github.com/plimsoll-dev/plimsoll/internal/view"
	"github.com/plimsoll-dev/plimsoll/tape"
)

//go:embed schema.sql
var schema string

// SQLite writes the drawings into a new database at path. Frames and stacks
// are stored once; schema.sql says what the columns mean.
func SQLite(ctx context.Context, path string, list []*view.Drawing) (err error) {
	// A path in an address of SQLite must not look like its parameters.
	db, err := sql.Open("sqlite", "file:"+strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1) // so that the settings hold for all that is written
	// The file is given its name only when it is whole, so that nothing needs
	// to be kept for a crash in between.
	for _, s := range []string{"PRAGMA journal_mode=OFF", "PRAGMA synchronous=OFF", "PRAGMA locking_mode=EXCLUSIVE", "PRAGMA cache_size=-65536", schema} {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	w := &database{ctx: ctx, tx: tx, frames: map[tape.Frame]int{}}
	for _, d := range list {
		if err := w.device(d); err != nil {
			tx.Rollback() //nolint:errcheck // the first error is told
			return fmt.Errorf("device %d: %w", d.Device, err)
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, indexes)
	return err
}

// indexes are made last: one sort is faster than keeping order all along.
const indexes = `CREATE INDEX blocks_alloc ON blocks(device, alloc_event);
CREATE INDEX blocks_stack ON blocks(stack);
ANALYZE;`

// A database is being filled.
type database struct {
	ctx    context.Context
	tx     *sql.Tx
	frames map[tape.Frame]int
	stacks int // of the devices before
	known  map[tape.SiteID]bool
	err    error
}

// inserts are the statements, by table.
var inserts = map[string]string{
	"devices":      "INSERT INTO devices VALUES (?,?,?,?,?,?,?)",
	"frames":       "INSERT INTO frames VALUES (?,?,?,?)",
	"stacks":       "INSERT INTO stacks VALUES (?,?)",
	"stack_frames": "INSERT INTO stack_frames VALUES (?,?,?)",
	"blocks":       "INSERT INTO blocks VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
	"events":       "INSERT INTO events VALUES (?,?,?,?,?,?,?,?,?,?)",
	"segments":     "INSERT INTO segments VALUES (?,?,?,?,?,?,?,?,?,?)",
	"bands":        "INSERT INTO bands VALUES (?,?,?,?,?)",
}

// into prepares the statement of a table. After the first error it does
// nothing.
func (w *database) into(table string) func(values ...any) {
	s, err := w.tx.PrepareContext(w.ctx, inserts[table])
	if err != nil {
		w.fail(err)
		return func(...any) {}
	}
	return func(values ...any) {
		if w.err == nil {
			_, err := s.ExecContext(w.ctx, values...)
			w.fail(err)
		}
	}
}

func (w *database) fail(err error) {
	if w.err == nil && err != nil {
		w.err = err
	}
}

func (w *database) device(d *view.Drawing) error {
	w.known = map[tape.SiteID]bool{}
	t := &d.Totals
	w.into("devices")(d.Device, d.From, d.To, d.Event(t.Peak.State), t.Peak.Allocated, d.Event(t.PeakReserved.State), known(int64(t.PeakReserved.Reserved), t.HasReserved))
	w.blocks(d)
	w.events(d)
	w.segments(d)
	band := w.into("bands")
	for _, b := range d.Bands() {
		band(d.Device, b.Kind, d.From+b.From, d.From+b.To, b.Name)
	}
	w.writeStacks(d)
	w.stacks += d.Tape.Sites()
	return w.err
}

// known is a number or NULL.
func known(n int64, ok bool) any {
	if !ok {
		return nil
	}
	return n
}

// stack is the number of a stack in the database, NULL for none.
func (w *database) stack(s tape.SiteID) any {
	if s == 0 {
		return nil
	}
	w.known[s] = true
	return w.stacks + int(s)
}

func (w *database) blocks(d *view.Drawing) {
	row := w.into("blocks")
	d.Each(func(id tape.BlockID, b tape.Block, _, _ int) {
		if w.err != nil {
			return
		}
		at, gone := timeOf(d, b.Alloc), timeOf(d, b.Free)
		row(d.Device, int64(id), known(int64(b.Alloc), b.Alloc >= 0), known(int64(b.Free), b.Free >= 0), known(at, at != 0), known(gone, gone != 0),
			int64(b.Bytes), int64(d.Size(b.Bytes)), int64(b.Addr), int64(d.Tape.StreamHandle(b.Stream)), d.Category(id).String(), w.stack(b.Site))
	})
}

func (w *database) events(d *view.Drawing) {
	row := w.into("events")
	w.fail(d.EachState(func(i int, e tape.Event, now view.Moment) error {
		row(d.Device, i, known(e.Time, e.Time != 0), e.Kind.String(), known(int64(e.Block), e.Block != tape.NoBlock), int64(e.Bytes), int64(e.Addr),
			w.stack(e.Site), int64(now.Allocated), known(int64(now.Reserved), d.Totals.HasReserved))
		return w.err
	}))
}

func (w *database) segments(d *view.Drawing) {
	row := w.into("segments")
	for i := range d.Segments {
		s := &d.Segments[i]
		row(d.Device, known(int64(d.Event(s.Start)), s.Start > 0), known(int64(d.Event(s.End)), s.End < d.States()), int64(s.Addr), int64(s.Bytes),
			int64(d.Tape.StreamHandle(s.Stream)), poolName(s.Pool), s.Small, s.Expandable, w.stack(s.Site))
	}
}

// writeStacks writes the stacks that something refers to.
func (w *database) writeStacks(d *view.Drawing) {
	stack, place, frame := w.into("stacks"), w.into("stack_frames"), w.into("frames")
	for site := tape.SiteID(1); int(site) <= d.Tape.Sites() && w.err == nil; site++ {
		if !w.known[site] {
			continue
		}
		id := w.stacks + int(site)
		stack(id, d.Lines.Name(d.Lines.Of(site)))
		for depth, f := range d.Tape.Site(site) {
			n, ok := w.frames[f]
			if !ok {
				n = len(w.frames) + 1
				w.frames[f] = n
				frame(n, f.Name, f.File, f.Line)
			}
			place(id, depth, n)
		}
	}
}
