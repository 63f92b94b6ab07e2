package lint

import (
	"sort"
	"strings"
)

// ProjectImports lists the modules of the project that the file imports, or
// whose parts it imports, as qualified names.
func (f *File) ProjectImports() []string {
	seen := map[string]bool{}
	add := func(q string) {
		if strings.HasPrefix(q, ".") {
			seen[q] = true
		}
	}
	for _, q := range f.Imports {
		add(q)
	}
	for _, q := range f.imported {
		add(q)
	}
	for _, q := range f.stars {
		add(q)
	}
	var out []string
	for q := range seen {
		out = append(out, q)
	}
	sort.Strings(out)
	return out
}
