package workspace

import (
	"sort"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/lint"
)

// components numbers files so that two have the same number if imports join
// them, in whatever direction and over whatever others: what is known of one
// may then change what is found in the other, and only then. imports are the
// qualified names that each file imports from the project.
func components(names []string, imports [][]string) []int {
	u := newUnion(len(names))
	byModule := map[string]int{} // a file of each module
	var modules []string
	for i, n := range names {
		m := lint.ModuleName(n)
		if j, ok := byModule[m]; ok { // a.py and a/__init__.py have one name
			u.join(i, j)
			continue
		}
		byModule[m] = i
		modules = append(modules, m)
	}
	sort.Strings(modules)
	below := map[string]bool{}
	for i := range names {
		for _, q := range imports[i] {
			for m, whole := q, true; m != ""; whole = false {
				if j, ok := byModule[m]; ok {
					u.join(i, j)
					if !whole {
						break
					}
				}
				if whole && u.joinBelow(modules, byModule, m, i, below) {
					break
				}
				m = m[:max(strings.LastIndexByte(m, '.'), 0)]
			}
		}
	}
	out := make([]int, len(names))
	for i := range out {
		out[i] = u.find(i)
	}
	return out
}

// joinBelow joins a file with all modules in the package that it imports as a
// whole, and reports whether there are any: by "import pkg" it may reach them.
func (u union) joinBelow(modules []string, byModule map[string]int, pkg string, i int, done map[string]bool) bool {
	from := sort.SearchStrings(modules, pkg+".")
	if from == len(modules) || !strings.HasPrefix(modules[from], pkg+".") {
		return false
	}
	u.join(i, byModule[modules[from]])
	if done[pkg] {
		return true
	}
	done[pkg] = true
	for _, m := range modules[from:] {
		if !strings.HasPrefix(m, pkg+".") {
			break
		}
		u.join(i, byModule[m])
	}
	return true
}

// A union is disjoint sets, by their members' leaders.
type union []int

func newUnion(n int) union {
	u := make(union, n)
	for i := range u {
		u[i] = i
	}
	return u
}

func (u union) find(i int) int {
	for u[i] != i {
		u[i] = u[u[i]]
		i = u[i]
	}
	return i
}

func (u union) join(i, j int) { u[u.find(i)] = u.find(j) }
