package diagnose

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/internal/format/oomlog"
)

// TestDocumentationHasTheTables holds the page to the tables in the code.
// PLIMSOLL_UPDATE=1 writes them anew.
func TestDocumentationHasTheTables(t *testing.T) {
	name := filepath.Join("..", "..", "docs", "explain.md")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	for mark, table := range map[string]string{"kinds": kindsTable(), "causes": causesTable(), "rules": rulesTable()} {
		before, rest, found := strings.Cut(got, "<!-- "+mark+" -->\n")
		_, after, closed := strings.Cut(rest, "<!-- end -->")
		if !found || !closed {
			t.Fatalf("%s has no place for %s", name, mark)
		}
		got = before + "<!-- " + mark + " -->\n" + table + "<!-- end -->" + after
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

func kindsTable() string {
	var b strings.Builder
	b.WriteString("| kind | printed by | versions | what it is |\n| --- | --- | --- | --- |\n")
	for _, k := range oomlog.Kinds() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Name, k.Framework, k.Versions, k.About)
	}
	return b.String()
}

func causesTable() string {
	var b strings.Builder
	b.WriteString("| cause | memory | what it is |\n| --- | --- | --- |\n")
	for _, c := range Causes() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.ID, c.Memory, c.Words)
	}
	return b.String()
}

func rulesTable() string {
	var b strings.Builder
	b.WriteString("| rule | cause | holds when |\n| --- | --- | --- |\n")
	for _, r := range Rules() {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", r.ID, r.Cause, r.Why)
	}
	return b.String()
}
