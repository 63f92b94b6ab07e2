package idle

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDocumentationHasTheCatalogue holds the page to the rows in the code.
// PLIMSOLL_UPDATE=1 writes them anew.
func TestDocumentationHasTheCatalogue(t *testing.T) {
	name := filepath.Join("..", "..", "docs", "diagnose-utilisation.md")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), "<!-- causes -->\n")
	_, after, closed := strings.Cut(rest, "<!-- end -->")
	if !found || !closed {
		t.Fatalf("%s has no place for the causes", name)
	}
	got := before + "<!-- causes -->\n" + catalogue() + "<!-- end -->" + after
	if os.Getenv("PLIMSOLL_UPDATE") != "" {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(text), got); diff != "" {
		t.Errorf("the page is behind the rows; make golden writes it (page -, rows +):\n%s", diff)
	}
}

// catalogue writes the rows as sections.
func catalogue() string {
	var b strings.Builder
	for _, c := range Causes() {
		fmt.Fprintf(&b, "\n### %s\n\n%s%s.\n\n", c.ID, string(upper(c.Title[0])), c.Title[1:])
		for _, any := range c.Needs {
			var words []string
			for _, id := range any {
				words = append(words, signalByID[id].Words)
			}
			fmt.Fprintf(&b, "- %s: %s\n", signalByID[any[0]].Side, strings.Join(words, "; or "))
		}
		var not []string
		for _, id := range c.Excludes {
			not = append(not, signalByID[id].Words)
		}
		if len(not) > 0 {
			fmt.Fprintf(&b, "- not where: %s\n", strings.Join(not, "; "))
		}
		fmt.Fprintf(&b, "- looks alike: %s. To decide: %s\n", c.Else, c.Decide)
		for _, r := range c.Remedies {
			fmt.Fprintf(&b, "- remedy: %s", r.Action)
			if r.Flag != "" {
				fmt.Fprintf(&b, " (`%s`)", r.Flag)
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\n")
	return b.String()
}
