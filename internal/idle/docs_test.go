package idle

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/doctest"
)

func TestDocumentationHasTheCatalogue(t *testing.T) {
	doctest.Page(t, "diagnose-utilisation.md", map[string]string{"causes": catalogue()})
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
