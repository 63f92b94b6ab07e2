package symbolic

import "maps"

// The dimensions of sharded training (FSDP2). Cards is given; the others follow
// from the parameters, of which a tape has the shards of one card.
const (
	Cards      = "D"
	LayerShard = "Pl" // elements of the shards of one layer
	RestShard  = "Pr" // elements of the shards outside of layers
)

// shards adds the sizes of shards where there are cards to share them.
func (p *player) shards() error {
	if p.env.Dims[Cards] == 0 {
		return nil
	}
	all, err := p.params()
	if err != nil {
		return err
	}
	d := maps.Clone(p.env.Dims)
	d[LayerShard], d[RestShard] = 0, 0
	layer := ""
	for i := range all {
		t := &all[i]
		switch t.Layer {
		case "":
			d[RestShard] += t.Elements()
			continue
		case layer:
		default:
			layer, d[LayerShard] = t.Layer, 0
		}
		d[LayerShard] += t.Elements()
	}
	p.env.Dims = d
	return nil
}
