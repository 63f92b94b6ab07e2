package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/view"
	"github.com/plimsoll-dev/plimsoll/internal/view/export"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// csvRows are the tables that a CSV can hold.
func csvRows() []string {
	var names []string
	for _, t := range export.Tables {
		names = append(names, t.Name)
	}
	return names
}

// export writes the drawings for other programs.
func (o viewOptions) export(ctx context.Context, stdio IO, list []*view.Drawing) error {
	switch o.Format {
	case "sqlite":
		return o.database(ctx, list)
	case "perfetto":
		return o.write(stdio, func(w io.Writer) error { return export.Perfetto(w, list, o.Blocks) })
	}
	table := export.Tables[0]
	for _, t := range export.Tables {
		if t.Name == o.Rows {
			table = t
		}
	}
	return o.write(stdio, func(w io.Writer) error { return export.CSV(w, table, list) })
}

// database writes an SQLite file, which appears under its name when it is
// whole.
func (o viewOptions) database(ctx context.Context, list []*view.Drawing) (err error) {
	if info, statErr := os.Stat(o.File); statErr == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("write %s: it is no ordinary file", o.File)
	}
	f, err := os.CreateTemp(filepath.Dir(o.File), "."+filepath.Base(o.File)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", o.File, err)
	}
	name := f.Name()
	defer func() {
		if err != nil {
			os.Remove(name)
			err = fmt.Errorf("write %s: %w", o.File, err)
		}
	}()
	if err := firstError(f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	if err := export.SQLite(ctx, name, list); err != nil {
		return err
	}
	return os.Rename(name, o.File)
}

// events is the range that the flags choose; to is 0 for the end.
func (o viewOptions) events(r *view.Recording) (from, to int, err error) {
	switch {
	case o.Events != "":
		f, t, err := splitRange("--events", o.Events)
		if err != nil {
			return 0, 0, err
		}
		if f != math.Trunc(f) || t != math.Trunc(t) && !math.IsInf(t, 1) {
			return 0, 0, fmt.Errorf("--events %s: events are whole numbers", o.Events)
		}
		return clampEvent(f, r.Tape), clampEvent(t, r.Tape), nil
	case o.Time != "":
		f, t, err := splitRange("--time", o.Time)
		if err != nil {
			return 0, 0, err
		}
		n := r.Tape.Len()
		if n == 0 || r.Tape.Event(0).Time == 0 {
			return 0, 0, WithHint(fmt.Errorf("--time %s: the events have no times", o.Time), "--events FROM:TO chooses by number")
		}
		return eventAt(r.Tape, f), eventAt(r.Tape, t), nil
	}
	return 0, 0, nil
}

// splitRange reads FROM:TO; a missing TO is without end.
func splitRange(flag, text string) (from, to float64, err error) {
	a, b, ok := strings.Cut(text, ":")
	to = math.Inf(1)
	if ok && a != "" {
		from, err = strconv.ParseFloat(a, 64)
	}
	if ok && err == nil && b != "" {
		to, err = strconv.ParseFloat(b, 64)
	}
	if !ok || err != nil || !(from >= 0) || !(to > from) {
		return 0, 0, WithHint(fmt.Errorf("%s %q is no range", flag, text), flag+" takes FROM:TO, as 1000:2000, 1000: or :2000")
	}
	return from, to, nil
}

func clampEvent(v float64, t *tape.Tape) int { return int(min(v, float64(t.Len()))) }

// eventAt is the first event that is at least so many seconds after the first.
func eventAt(t *tape.Tape, seconds float64) int {
	if math.IsInf(seconds, 1) {
		return t.Len()
	}
	first := t.Event(0).Time
	low, high := 0, t.Len()
	for low < high {
		mid := (low + high) / 2
		if float64(t.Event(mid).Time-first) < seconds*1e6 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}
