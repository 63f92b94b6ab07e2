package symbolic

import (
	"maps"
	"math"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
)

// The dimensions of sharded training (FSDP2). Cards is given; the others follow
// from the parameters, of which a tape has the shards of one card. Each layer is a
// group of parameters, and the rest is one: their names end with l or r.
const (
	Cards     = "D"
	Elements  = "P" // of a group's shards
	Scattered = "M" // bytes of the table by which gradients are gathered before they are reduced
	Gathered  = "C" // bytes of the table by which gathered parameters of 2 or 4 bytes are copied: Cl2, Cl4
)

// DerivedFromShards reports whether a dimension is one of those that follow.
func DerivedFromShards(name string) bool {
	return len(name) > 1 && (name[1] == 'l' || name[1] == 'r') && (name[:1] == Elements || name[:1] == Scattered || name[:1] == Gathered)
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
	groups := map[string][]int64{}
	layer := ""
	for i := range all {
		t := &all[i]
		if t.Layer == "" {
			groups["r"] = append(groups["r"], t.Elements())
			continue
		}
		if t.Layer != layer {
			layer, groups["l"] = t.Layer, nil
		}
		groups["l"] = append(groups["l"], t.Elements())
	}
	d := maps.Clone(p.env.Dims)
	for name, elements := range groups {
		d[Elements+name], d[Scattered+name] = 0, scattered(elements)
		for _, n := range elements {
			d[Elements+name] += n
		}
		d[Gathered+name+"2"] = gathered(p.env.Device, elements, 2, d[Cards])
		d[Gathered+name+"4"] = gathered(p.env.Device, elements, 4, d[Cards])
	}
	p.env.Dims = d
	return nil
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
