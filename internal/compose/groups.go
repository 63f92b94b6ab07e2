package compose

import "github.com/plimsoll-dev/plimsoll/tape"

// groups sorts parameters by type of element, as _group_tensors_by_device_and_dtype
// does: within a group in their order, the groups in the reverse order of their
// first members, since that is how the hash map of C++'s standard library that
// holds them is walked.
type groups struct {
	elements []int64
	members  [][]int
}

// of returns the groups of the parameters that have a gradient. The result is
// valid until the next call.
func (g *groups) of(params []Param, grads []tape.BlockID) [][]int {
	g.elements = g.elements[:0]
	for i := range g.members {
		g.members[i] = g.members[i][:0]
	}
	for i, b := range grads {
		if b == tape.NoBlock {
			continue
		}
		k := g.index(params[i].Element)
		g.members[k] = append(g.members[k], i)
	}
	n := len(g.elements)
	for i := range n / 2 {
		g.members[i], g.members[n-1-i] = g.members[n-1-i], g.members[i]
	}
	return g.members[:n]
}

func (g *groups) index(element int64) int {
	for k, e := range g.elements {
		if e == element {
			return k
		}
	}
	g.elements = append(g.elements, element)
	if len(g.members) < len(g.elements) {
		g.members = append(g.members, nil)
	}
	return len(g.elements) - 1
}
