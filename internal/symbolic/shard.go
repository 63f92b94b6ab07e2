package symbolic

import (
	"maps"
	"math"
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
)

// The dimensions of sharded training (FSDP2). Cards is given; the others follow
// from the parameters, of which a tape has the shards of one card. Each layer is a
// group of parameters, and the rest is one: their names end with f for the first
// layer's, l for the last one's, and r.
const (
	Cards     = "D"
	Elements  = "P" // of a group's shards
	Scattered = "M" // bytes of the table by which gradients are gathered before they are reduced
	Gathered  = "C" // bytes of the table by which gathered parameters of 2 or 4 bytes are copied: Cl2, Cl4
)

// groupNames are those of the groups, as GroupsOf says them.
const (
	firstGroup = "f"
	lastGroup  = "l"
	restGroup  = "r"
)

var (
	groups  = []string{firstGroup, lastGroup, restGroup}
	derived = []string{Elements, Scattered, Gathered}
)

// DerivedFromShards reports whether a dimension is one of those that follow.
func DerivedFromShards(name string) bool {
	return len(name) > 1 && slices.Contains(groups, name[1:2]) && slices.Contains(derived, name[:1])
}

// LastOfGroup is the dimension of the last layer's group that is like one of the first
// layer's.
func LastOfGroup(name string) (string, bool) {
	if !DerivedFromShards(name) || name[1:2] != firstGroup {
		return "", false
	}
	return name[:1] + lastGroup + name[2:], true
}

// A Shard is the part of a parameter that a card has.
type Shard struct {
	Layer    string // "" for none
	Elements int64
}

// GroupsOf are dimensions with those that follow from shards, in the order of the
// model.
func GroupsOf(shards []Shard, d Dims, device kernel.Device) Dims {
	sizes := map[string][]int64{}
	first, last := "", ""
	for _, s := range shards {
		if s.Layer == "" {
			sizes[restGroup] = append(sizes[restGroup], s.Elements)
			continue
		}
		if first == "" {
			first = s.Layer
		}
		if s.Layer == first {
			sizes[firstGroup] = append(sizes[firstGroup], s.Elements)
		}
		if s.Layer != last {
			last, sizes[lastGroup] = s.Layer, nil
		}
		sizes[lastGroup] = append(sizes[lastGroup], s.Elements)
	}
	d = maps.Clone(d)
	for name, elements := range sizes {
		d[Elements+name], d[Scattered+name] = 0, scattered(elements)
		for _, n := range elements {
			d[Elements+name] += n
		}
		d[Gathered+name+"2"] = gathered(device, elements, 2, d[Cards])
		d[Gathered+name+"4"] = gathered(device, elements, 4, d[Cards])
	}
	return d
}

// shards adds the sizes of groups where there are cards to share them.
func (p *player) shards() error {
	if p.env.Dims[Cards] == 0 {
		return nil
	}
	all, err := p.params()
	if err != nil {
		return err
	}
	list := make([]Shard, len(all))
	for i := range all {
		list[i] = Shard{all[i].Layer, all[i].Elements()}
	}
	p.env.Dims = GroupsOf(list, p.env.Dims, p.env.Device)
	if p.w != nil {
		for s := gathers; s < sides; s++ {
			p.streams[s] = p.w.Tape().InternStream(uint64(s))
		}
	}
	return nil
}

// A side is a stream of FSDP2's that blocks are allocated on. They stay apart from
// those of other streams when they are free.
type side uint8

const (
	computes side = iota // the default stream
	gathers              // what a card has of a group in the type that is gathered, and what all have
	reduces              // what is left of gradients
	sides
)

// aside finds the events that allocate on streams of FSDP2's own: foreach_all_gather
// makes its input, if in another type, and its output in one, foreach_reduce its
// output and what that is cast to in another, but not its input, which a table of
// what is gathered in it follows (torch/distributed/fsdp/_fully_shard, 2.15).
func aside(ops []Op, events []event) {
	var next Expr // what is allocated after
	for e := len(events) - 1; e >= 0; e-- {
		if events[e].kind != allocates {
			continue
		}
		size := ops[events[e].op].Bytes
		switch {
		case size.ofGroup(Elements, true) && !next.ofGroup(Scattered, false),
			size.ofGroup(Elements, false) && next.ofGroup(Elements, true):
			events[e].side = gathers
		case size.ofGroup(Elements, false):
			events[e].side = reduces
		}
		next = size
	}
}

// ofGroup reports whether an expression is a multiple of a group's dimension, and of
// the cards or not.
func (e Expr) ofGroup(dim string, cards bool) bool {
	if len(e.Terms) != 1 {
		return false
	}
	group := false
	for _, f := range e.Terms[0].Factors {
		switch {
		case f.Func == "" && f.Dim == Cards && !f.Invert && cards:
			cards = false
		case f.Func == "" && !f.Invert && !group && DerivedFromShards(f.Dim) && f.Dim[:1] == dim:
			group = true
		default:
			return false
		}
	}
	return group && !cards
}

// copyTile is how many bytes a block of threads copies at once, copyThreads how
// many threads it has (aten/src/ATen/native/cuda/TensorShape.cu, 2.15).
const (
	copyTile    = 2048
	copyThreads = 128
)

func tiles(elements []int64, size, tile int64) int64 {
	var n int64
	for _, e := range elements {
		n += -floorDiv(-size*e, tile)
	}
	return n
}

// scattered is the table of _chunk_cat: numbers of 8 bytes, six for each tensor,
// two more, and one for each block of threads. Gradients are reduced in float32.
func scattered(elements []int64) int64 {
	return 8 * (6*int64(len(elements)) + 2 + tiles(elements, 4, copyTile))
}

// gathered is the table of split_with_sizes_copy: four numbers for each tensor, one
// more, and one for each block; blocks copy more where the card has few places.
func gathered(d kernel.Device, elements []int64, size, cards int64) int64 {
	places := max(int64(d.Multiprocessors)*int64(d.ThreadsPerMultiprocessor)/copyThreads*2, 1)
	factor := -floorDiv(-tiles(elements, size, copyTile)*cards, places)
	chunks := max(min(int64(math.Ceil(math.Sqrt(float64(factor)))), cards), 1)
	tile := copyTile * max(-floorDiv(-factor, chunks), 1)
	return 8 * (4*int64(len(elements)) + 1 + tiles(elements, size, tile))
}
