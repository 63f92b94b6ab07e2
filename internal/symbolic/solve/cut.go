package solve

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// A piece is one play of a part in a recording.
type piece struct {
	part   partKey
	index  int // layer, 0 for a part without layers
	run    int // counts the plays of scopes, so that micro-batches are told apart
	from   int // events
	to     int
	allocs []int // numbers of the allocations made in it
}

// A partKey names a part.
type partKey struct{ scope, name, stack string }

// cut divides a recording into pieces and says where each allocation is.
func (r *Recording) cut() (pieces []piece, homes []home, err error) {
	run, scope := -1, ""
	seen := map[string]int{}
	marks := passes(r.marks)
	for i, m := range marks {
		if m.scope != scope {
			run, scope = run+1, m.scope
			clear(seen)
		}
		to := len(r.events)
		if i+1 < len(marks) {
			to = marks[i+1].at
		}
		if to < m.at {
			return nil, nil, fmt.Errorf("mark %d, %s %s, lies after the next", i, m.scope, m.part)
		}
		key := partKey{m.scope, m.part, m.stackOf()}
		if key.stack == "" {
			if seen[m.part]++; seen[m.part] > 1 {
				key.name += strconv.Itoa(seen[m.part])
			}
		}
		pieces = append(pieces, piece{part: key, index: max(m.index, 0), run: run, from: m.at, to: to})
	}
	for p := range pieces {
		for e := pieces[p].from; e < pieces[p].to; e++ {
			if !r.events[e].free {
				homes = append(homes, home{p, len(pieces[p].allocs)})
				pieces[p].allocs = append(pieces[p].allocs, len(homes)-1)
			}
		}
	}
	return pieces, homes, nil
}

// passes are the marks of a recording in which each part comes to a layer once. PEFT
// goes through a model again for the parameters that it adapts without a module of
// their own, so that this is another part; and for one adapter on another it leaves a
// layer in between, which is nothing.
func passes(marks []mark) []mark {
	var list []mark
	pass, met := map[string]int{}, map[string]map[int]bool{}
	for i := 0; i < len(marks); i++ {
		m := marks[i]
		if m.scope != symbolic.Load || m.index < 0 {
			between := i > 0 && i+1 < len(marks) && m.scope == symbolic.Load && marks[i-1].index >= 0
			if between && marks[i+1].part == marks[i-1].part && marks[i+1].index == marks[i-1].index {
				i++
				continue
			}
			list = append(list, m)
			continue
		}
		if met[m.part] == nil || met[m.part][m.index] {
			pass[m.part]++
			met[m.part] = map[int]bool{}
		}
		met[m.part][m.index] = true
		if n := pass[m.part]; n > 1 {
			m.part += strconv.Itoa(n)
		}
		list = append(list, m)
	}
	return list
}

// A home is the piece that made an allocation, and which of its allocations.
type home struct{ piece, ordinal int }

// fates returns for each allocation when it is freed, in words that layers
// share: in its own piece, later in the same pass, in the backward pass, or not
// at all.
func (r *Recording) fates(pieces []piece, homes []home) []string {
	fates := make([]string, len(homes))
	for i := range fates {
		fates[i] = "kept"
	}
	for i, p := range pieces {
		for e := p.from; e < p.to; e++ {
			ev := r.events[e]
			if !ev.free {
				continue
			}
			switch from := pieces[homes[ev.alloc].piece]; {
			case homes[ev.alloc].piece == i:
				fates[ev.alloc] = "own"
			case r.Job.Mode == "infer" && pieces[homes[ev.alloc].piece].run != p.run:
				fates[ev.alloc] = "cache"
			case symbolic.IsBackward(p.part.name) && !symbolic.IsBackward(from.part.name):
				fates[ev.alloc] = "backward"
			case p.part.scope == symbolic.Zero:
				fates[ev.alloc] = "zero"
			default:
				fates[ev.alloc] = "later"
			}
		}
	}
	return fates
}

// owners returns the parameter of each gradient, without the number of its
// layer.
func (r *Recording) owners() map[int]string {
	owner := map[int]string{}
	for _, g := range r.places.Gradients {
		n := 0
		for _, p := range r.places.Parameters {
			if p.trained && n < len(g.Allocs) {
				owner[g.Allocs[n]] = " of " + layerName.ReplaceAllString(p.name, ".")
				n++
			}
		}
	}
	delete(owner, -1)
	return owner
}

// wanted are the scopes that a tape has. The recorder runs more, so that
// a micro-batch finds what it would find.
var wanted = []string{symbolic.Load, symbolic.First, symbolic.Steady, symbolic.Zero, symbolic.Accumulate, symbolic.Decode, symbolic.Script}

func isWanted(scope string) bool { return slices.Contains(wanted, scope) }

// isAligned reports whether a scope's blocks need slots: those of the first
// generated token, which no tape has, are freed by the second.
func isAligned(scope string) bool { return isWanted(scope) || scope == "decode-first" }
