package export_test

import (
	"bytes"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/internal/view"
	"github.com/plimsoll-dev/plimsoll/internal/view/export"
	"github.com/plimsoll-dev/plimsoll/internal/view/viewtest"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

func draw(t interface{ Fatal(...any) }, tp *tape.Tape, device uint8) *view.Drawing {
	d, err := view.New(view.Recording{Tape: tp, Device: device}, view.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// table writes a CSV and returns its rows by name.
func table(t interface{ Fatal(...any) }, name string, list ...*view.Drawing) []map[string]string {
	var out bytes.Buffer
	for _, x := range export.Tables {
		if x.Name == name {
			if err := export.CSV(&out, x, list); err != nil {
				t.Fatal(err)
			}
		}
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) == 0 {
		t.Fatal(err)
	}
	var named []map[string]string
	for _, r := range rows[1:] {
		m := map[string]string{}
		for i, h := range rows[0] {
			m[h] = r[i]
		}
		named = append(named, m)
	}
	return named
}

func TestCSVAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tp := viewtest.Random(rapid.Uint64().Draw(t, "seed"))
		d := draw(t, tp, 0)
		peak := d.Event(d.Totals.Peak.State)
		var sum int64
		for _, r := range table(t, "blocks", d) {
			alloc, free := number(r["alloc_event"], -1), number(r["free_event"], 1<<40)
			if alloc <= int64(peak) && int64(peak) < free {
				sum += number(r["bytes"], 0)
			}
		}
		if sum != int64(d.Totals.Peak.Allocated) {
			t.Fatalf("the blocks of the peak are %d bytes, want %d", sum, d.Totals.Peak.Allocated)
		}
		for _, r := range table(t, "events", d) {
			if number(r["event"], 0) == int64(peak) && number(r["allocated_bytes"], 0) != sum {
				t.Fatalf("%s bytes at the peak, want %d", r["allocated_bytes"], sum)
			}
		}
	})
}

func number(s string, missing int64) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return missing
	}
	return n
}

func TestCSVHoldsNoFormulas(t *testing.T) {
	for _, r := range table(t, "blocks", draw(t, viewtest.Hostile(), 0)) {
		if strings.HasPrefix(r["line"], "=") {
			t.Errorf("a spreadsheet runs %q", r["line"])
		}
	}
}

func TestPerfetto(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, viewtest.Random(rapid.Uint64().Draw(t, "seed")), 0)
		var out bytes.Buffer
		if err := export.Perfetto(&out, []*view.Drawing{d}, rapid.IntRange(0, 100).Draw(t, "blocks")); err != nil {
			t.Fatal(err)
		}
		var doc struct {
			TraceEvents []struct {
				Ph, ID string
				TS     float64
				Args   struct {
					Allocated unit.Bytes `json:"allocated_bytes"`
				}
			}
		}
		if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		var peak unit.Bytes
		open := map[string]float64{}
		for _, e := range doc.TraceEvents {
			switch e.Ph {
			case "C":
				peak = max(peak, e.Args.Allocated)
			case "b":
				open[e.ID] = e.TS
			case "e":
				if from, ok := open[e.ID]; !ok || e.TS <= from {
					t.Fatalf("slice %s ends at %g", e.ID, e.TS)
				}
				delete(open, e.ID)
			}
		}
		if peak != d.Totals.Peak.Allocated || len(open) > 0 {
			t.Fatalf("peak %d, want %d; %d slices stay open", peak, d.Totals.Peak.Allocated, len(open))
		}
	})
}

func TestPerfettoOfHostileTexts(t *testing.T) {
	var out bytes.Buffer
	if err := export.Perfetto(&out, []*view.Drawing{draw(t, viewtest.Hostile(), 0)}, 100); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(out.Bytes()) {
		t.Error("no JSON")
	}
}

func database(t *testing.T, list ...*view.Drawing) *sql.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a?b#c %.db")
	if err := export.SQLite(t.Context(), path, list); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := os.Rename(path, copied); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", copied)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestSQLite(t *testing.T) {
	tp := viewtest.Hostile()
	d := draw(t, tp, 0)
	db := database(t, d)
	var peak, blocks, sum int64
	if err := db.QueryRow("SELECT peak_allocated_bytes FROM devices").Scan(&peak); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRow("SELECT count(*), sum(bytes) FROM peak_blocks").Scan(&blocks, &sum); err != nil {
		t.Fatal(err)
	}
	if peak != int64(d.Totals.Peak.Allocated) || sum != peak || blocks != int64(d.Totals.Peak.Blocks) {
		t.Errorf("peak %d, the blocks of the peak are %d of %d bytes; want %d of %d", peak, blocks, sum, d.Totals.Peak.Blocks, d.Totals.Peak.Allocated)
	}
	var lost int
	if err := db.QueryRow("SELECT count(*) FROM blocks b LEFT JOIN stack_frames f ON f.stack = b.stack WHERE f.frame IS NULL").Scan(&lost); err != nil || lost != 0 {
		t.Errorf("%d blocks without frames: %v", lost, err)
	}
	var bad string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&bad); err != nil || bad != "ok" {
		t.Errorf("%s: %v", bad, err)
	}
}

// TestDocumentedQueries runs every query of docs/view.md.
func TestDocumentedQueries(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "view.md"))
	if err != nil {
		t.Fatal(err)
	}
	db := database(t, draw(t, viewtest.Hostile(), 0))
	n := 0
	for _, part := range strings.Split(string(text), "```sql\n")[1:] {
		query, _, _ := strings.Cut(part, "```")
		rows, err := db.QueryContext(t.Context(), query)
		if err != nil {
			t.Errorf("%s\n%v", query, err)
			continue
		}
		for rows.Next() {
			n++
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Errorf("%s\n%v", query, err)
		}
	}
	if n == 0 {
		t.Error("no query gave a row")
	}
}
