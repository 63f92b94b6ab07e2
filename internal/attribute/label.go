package attribute

import (
	"slices"
	"sort"
	"strings"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// label gives blocks the categories that the helper saw. A block that holds
// several tensors (a flat parameter, a bucket) takes the category of the
// largest; a block labelled twice keeps the first.
func (r *Recording) label(labels []Label, counts counter) {
	labels = slices.Clone(labels)
	slices.SortStableFunc(labels, func(a, b Label) int { return a.Count - b.Count })
	largest := map[tape.BlockID]unit.Bytes{}
	live := liveSet{tape: r.Tape, covering: map[uint64]tape.BlockID{}}
	for len(labels) > 0 {
		count := labels[0].Count
		n := sort.Search(len(labels), func(i int) bool { return labels[i].Count > count })
		// What is labelled was live when the last allocation was made: the
		// frees that follow may come before the label or after it.
		live.advance(counts.last(count) + 1)
		for _, l := range labels[:n] {
			b, ok := live.find(l.Addr)
			if !ok {
				r.Unknown++
				continue
			}
			if had, seen := largest[b]; seen && had >= l.Bytes {
				continue
			}
			if l.Category == tape.Gradient && isBucket(r.Tape.Site(r.Tape.Block(b).Site)) {
				r.Tape.SetCategory(b, tape.Communication)
				continue
			}
			largest[b] = l.Bytes
			r.Tape.SetCategory(b, l.Category)
			if module := l.owner(); module != "" {
				r.modules.set(b, module)
			}
		}
		labels = labels[n:]
	}
}

// owner is the module that owns a tensor: "layers.0.mlp" for
// "layers.0.mlp.weight", and for that parameter's state in an optimizer,
// "layers.0.mlp.weight.exp_avg".
func (l Label) owner() string {
	name := l.Name
	if l.Category == tape.OptimizerState || l.Category == tape.MasterWeight {
		name = parent(name)
	}
	return parent(name)
}

func parent(name string) string { return name[:max(0, strings.LastIndexByte(name, '.'))] }

// A liveSet knows which blocks are in use before an event. It moves forward
// only.
type liveSet struct {
	tape     *tape.Tape
	at       int
	started  bool
	covering map[uint64]tape.BlockID // by the block's own address
	sorted   []uint64                // the same addresses, nil when out of date
}

// advance moves to just before event e.
func (l *liveSet) advance(e int) {
	if !l.started {
		l.started = true
		for b := range l.tape.Blocks() {
			if block := l.tape.Block(tape.BlockID(b)); block.Alloc < 0 {
				l.covering[block.Addr] = tape.BlockID(b)
			} else {
				break
			}
		}
	}
	for ; l.at < e; l.at++ {
		ev := l.tape.Event(l.at)
		switch ev.Kind {
		case tape.Alloc:
			l.covering[ev.Addr] = ev.Block
			l.sorted = nil
		case tape.FreeRequested, tape.Free:
			if l.covering[ev.Addr] == ev.Block {
				delete(l.covering, ev.Addr)
				l.sorted = nil
			}
		}
	}
}

// find returns the live block that covers an address.
func (l *liveSet) find(addr uint64) (tape.BlockID, bool) {
	if b, ok := l.covering[addr]; ok {
		return b, true
	}
	if l.sorted == nil {
		for a := range l.covering {
			l.sorted = append(l.sorted, a)
		}
		slices.Sort(l.sorted)
	}
	i := sort.Search(len(l.sorted), func(i int) bool { return l.sorted[i] > addr })
	if i == 0 {
		return 0, false
	}
	b := l.covering[l.sorted[i-1]]
	if addr-l.sorted[i-1] >= uint64(l.tape.Block(b).Bytes) {
		return 0, false
	}
	return b, true
}
