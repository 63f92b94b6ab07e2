// Package doctest holds pages of the documentation to the tables in the code that
// they show. It is for tests only.
package doctest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// end closes the place of every table.
const end = "<!-- end -->"

// Page fails t unless the page of docs/ shows each table between <!-- its name -->
// and <!-- end -->. PLIMSOLL_UPDATE=1 writes the tables anew instead. The test's
// package must lie two folders below the root.
func Page(t *testing.T, page string, tables map[string]string) {
	t.Helper()
	name := filepath.Join("..", "..", "docs", page)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	for mark, table := range tables {
		begin := "<!-- " + mark + " -->\n"
		before, rest, found := strings.Cut(got, begin)
		_, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			t.Fatalf("%s has no place for %s", name, mark)
		}
		got = before + begin + table + end + after
	}
	if os.Getenv("PLIMSOLL_UPDATE") != "" {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(text), got); diff != "" {
		t.Errorf("the page is behind the tables; make golden writes it (page -, tables +):\n%s", diff)
	}
}
