package diagnose

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/doctest"
	"github.com/plimsoll-dev/plimsoll/internal/format/oomlog"
)

func TestDocumentationHasTheTables(t *testing.T) {
	doctest.Page(t, "explain.md", map[string]string{"kinds": kindsTable(), "causes": causesTable(), "rules": rulesTable()})
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
