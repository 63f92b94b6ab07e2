package explain

import (
	"sort"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A sizes counts blocks by what was asked for.
type sizes map[unit.Bytes]int

func (s sizes) bytes() unit.Bytes {
	var sum unit.Bytes
	for size, n := range s {
		sum += size * unit.Bytes(n)
	}
	return sum
}

// judgeBefore tells parameters and optimizer states among the blocks that
// were there before the recording began. They have no stack, but each
// parameter has a gradient of its size, and each state too: where one block
// for nearly every gradient of a step is found, these are the parameters, and
// what matches once more are states.
func (r *Recording) judgeBefore() {
	gradients := r.gradients()
	if len(gradients) == 0 {
		return
	}
	unknown := map[unit.Bytes][]tape.BlockID{}
	for i := range r.Tape.Blocks() {
		b := r.Tape.Block(tape.BlockID(i))
		if b.Alloc >= 0 {
			break
		}
		if b.Device == r.Device && b.Category == tape.Unknown && b.Free < 0 {
			unknown[b.Bytes] = append(unknown[b.Bytes], tape.BlockID(i))
		}
	}
	for _, category := range []tape.Category{tape.Parameter, tape.OptimizerState, tape.OptimizerState} {
		if !r.match(gradients, unknown, category) {
			return
		}
	}
}

// match gives one block for each gradient a category, if nine tenths of them
// find one.
func (r *Recording) match(gradients sizes, unknown map[unit.Bytes][]tape.BlockID, c tape.Category) bool {
	var found unit.Bytes
	for size, n := range gradients {
		found += size * unit.Bytes(min(n, len(unknown[size])))
	}
	if found*10 < gradients.bytes()*9 {
		return false
	}
	for size, n := range gradients {
		list := unknown[size]
		n = min(n, len(list))
		for _, b := range list[:n] {
			r.Tape.SetCategory(b, c)
		}
		unknown[size] = list[n:]
	}
	return true
}

// gradients are the sizes of one step's gradients: of the step that has the
// most.
func (r *Recording) gradients() sizes {
	byStep := map[int]sizes{}
	for i := range r.Tape.Blocks() {
		b := r.Tape.Block(tape.BlockID(i))
		if b.Device != r.Device || b.Alloc < 0 || b.Category != tape.Gradient {
			continue
		}
		step := sort.SearchInts(r.ends, b.Alloc+1)
		if byStep[step] == nil {
			if len(byStep) == mostSteps {
				continue
			}
			byStep[step] = sizes{}
		}
		byStep[step][b.Bytes]++
	}
	var best sizes
	for _, s := range byStep {
		if s.bytes() > best.bytes() {
			best = s
		}
	}
	return best
}
