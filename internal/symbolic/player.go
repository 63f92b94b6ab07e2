package symbolic

import (
	"fmt"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Bounds of one play. What recordings and configurations give is far below them;
// a file that somebody else wrote may not be.
const (
	maxLayers = 1 << 16
	maxWork   = 1 << 26 // events, and slots of layers
)

// A player is the state of a play.
type player struct {
	tape  *Tape
	env   Env
	plan  Plan
	w     *tape.Writer
	parts []compiledPart // of the tape's
	names map[string]int // number of a part's name
	slots []int          // by number of a name: most slots of the parts with it
	values
	mold  *Mold // of what is played, nil for none
	keys  map[stackLevel][]string
	sites sites
	// streams are those of sides, the default one first.
	streams [sides]tape.StreamID
	runs    [ofNone]run
	work    int // what may still be done
	// doubted are the blocks whose size is not exact, and off their sum.
	doubted map[tape.BlockID]unit.Bytes
	off     unit.Bytes
	played  Played
	// firstMicro is the run whose gradients the step has.
	firstMicro run
}

// The runs that a ref may mean.
const (
	ofOwn    = iota // of the scope that is being played
	ofLoad          // of the load
	ofFirst         // of the first micro-batch, or pass
	ofBefore        // of the token before
	ofNone          // there is no such run
)

// A run holds the blocks of one play of a scope, by the number of a part's name.
type run []grid

// A grid holds the blocks of a part, by layer and slot.
type grid struct {
	layers, slots int
	blocks        []tape.BlockID
}

func (g *grid) at(layer, slot int) *tape.BlockID { return &g.blocks[layer*g.slots+slot] }

func (t *Tape) newPlayer(env Env, plan Plan, w *tape.Writer) (*player, error) {
	p := &player{
		tape: t, env: env, plan: plan, w: w,
		parts:  make([]compiledPart, len(t.Parts)),
		names:  make(map[string]int, len(t.Parts)),
		values: values{at: map[*Term]int32{}},
		keys:   map[stackLevel][]string{},
		work:   maxWork,
	}
	for stack, kinds := range env.Kinds {
		if len(kinds) > maxLayers {
			return nil, fmt.Errorf("%d layers of %s, more than %d", len(kinds), stack, maxLayers)
		}
	}
	for i := range t.Parts {
		part := &t.Parts[i]
		n, ok := p.names[part.Name]
		if !ok {
			n = len(p.slots)
			p.names[part.Name] = n
			p.slots = append(p.slots, 0)
		}
		p.parts[i].name = n
		p.slots[n] = max(p.slots[n], part.Slots)
	}
	p.runs[ofOwn] = p.newRun()
	p.runs[ofLoad] = p.runs[ofOwn]
	p.firstMicro = p.newRun()
	if plan.Decode > 0 {
		p.env.Dims = promptDims(env.Dims)
	}
	return p, p.shards()
}

func (p *player) newRun() run { return make(run, len(p.slots)) }

// play plays the parts of a scope.
func (p *player) play(scope string) error {
	for i := range p.tape.Parts {
		if p.tape.Parts[i].Scope != scope {
			continue
		}
		if err := p.part(i); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) part(number int) error {
	part, c := &p.tape.Parts[number], &p.parts[number]
	if err := p.compile(part, c); err != nil {
		return err
	}
	n := len(c.class)
	if err := p.room(c.name, n); err != nil {
		return err
	}
	p.w.Phase = phaseOf(part)
	layers := part.Scope == First && part.Stack != "" && part.Name == part.Stack+".forward"
	for k := range n {
		i := k
		if part.Down {
			i = n - 1 - k
		}
		first := tape.BlockID(p.w.Tape().Blocks())
		if err := p.body(part, c, i); err != nil {
			return err
		}
		if layers {
			last := tape.BlockID(p.w.Tape().Blocks())
			p.played.Layers = append(p.played.Layers, Layer{p.layerName(part.Stack, i), first, last})
		}
	}
	return nil
}

// room makes an empty grid for a part that begins.
func (p *player) room(name, n int) error {
	slots := p.slots[name]
	if err := p.count(n * slots); err != nil {
		return err
	}
	g := grid{n, slots, make([]tape.BlockID, n*slots)}
	for i := range g.blocks {
		g.blocks[i] = tape.NoBlock
	}
	p.runs[ofOwn][name] = g
	return nil
}

// count takes work off what may still be done.
func (p *player) count(n int) error {
	if p.work -= n; p.work < 0 {
		return fmt.Errorf("the run has more than %d events", maxWork)
	}
	return nil
}

// body plays the events of a layer, or of a part without layers.
func (p *player) body(part *Part, c *compiledPart, i int) error {
	ops, events := part.Classes[c.class[i]].Ops, c.events[c.class[i]]
	if err := p.count(len(events)); err != nil {
		return err
	}
	var row []tape.SiteID
	if p.plan.Sites {
		row = p.row(part, i)
	}
	g := &p.runs[ofOwn][c.name]
	for e := range events {
		ev := &events[e]
		if row != nil {
			p.w.Site = p.site(row, part, i, ev.label)
		}
		switch ev.kind {
		case allocates:
			p.w.Stream = p.streams[ev.side]
			b := p.w.Alloc(ev.bytes, ev.category)
			p.w.Stream = 0
			if p.mold != nil {
				p.mold.fill(int(b))
				p.mold.of = append(p.mold.of, ev.value)
			}
			*g.at(i, ev.slot) = b
			if ev.error > 0 {
				p.doubt(b, ev.error)
			}
			if p.plan.Trace != nil {
				p.plan.Trace(b, part, &ops[ev.op])
			}
		case freesOwn:
			p.free(g.at(i, ev.slot))
		case freesOther:
			if err := p.release(ev.target, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// doubt notes what a block may be off by, and the most that those of a moment are.
func (p *player) doubt(b tape.BlockID, off unit.Bytes) {
	if p.doubted == nil {
		p.doubted = map[tape.BlockID]unit.Bytes{}
	}
	p.doubted[b] = off
	p.off += off
	p.played.Error = max(p.played.Error, p.off)
}

func (p *player) free(b *tape.BlockID) {
	if *b != tape.NoBlock {
		p.w.Free(*b)
		if len(p.doubted) > 0 {
			p.off -= p.doubted[*b]
			delete(p.doubted, *b)
		}
		*b = tape.NoBlock
	}
}

// A target is a ref whose names are numbers.
type target struct {
	run, name, slot int
	which           Which
	at              int
}

// target looks the names of a ref up; run is ofNone where there is no such part.
func (p *player) target(r Ref) target {
	t := target{run: ofNone, slot: r.Slot, which: r.Which, at: r.At}
	n, ok := p.names[r.Part]
	if !ok {
		return t
	}
	t.name = n
	switch r.Scope {
	case "":
		t.run = ofOwn
	case Load:
		t.run = ofLoad
	case First:
		t.run = ofFirst
	case Before:
		t.run = ofBefore
	}
	return t
}

// grid is the grid of a target; it is empty where its part was not played.
func (p *player) grid(t target) *grid {
	if t.run == ofNone || t.name >= len(p.runs[t.run]) {
		return &grid{}
	}
	return &p.runs[t.run][t.name]
}

// release frees what a target of layer i means.
func (p *player) release(t target, i int) error {
	if t.which != Every {
		if b := p.find(t, i); b != nil {
			p.free(b)
		}
		return nil
	}
	g := p.grid(t)
	for k := range max(g.layers-t.at, 0) {
		p.free(g.at(k, t.slot))
	}
	return p.count(g.layers)
}

// find returns the place of the block that a target of layer i means, nil for
// none.
func (p *player) find(t target, i int) *tape.BlockID {
	g := p.grid(t)
	at := i + t.at
	switch t.which {
	case Nth:
		at = t.at
	case NthLast:
		at = g.layers - 1 - t.at
	case Near, Every:
		if g.layers == 1 && t.at == 0 {
			at = 0
		}
	}
	if at < 0 || at >= g.layers {
		return nil
	}
	return g.at(at, t.slot)
}

// layerName is "model.layers.3".
func (p *player) layerName(stack string, i int) string {
	if path, ok := p.plan.Paths[stack]; ok {
		stack = path
	}
	return stack + "." + strconv.Itoa(i)
}

// approximate is what bytes may be off by.
func approximate(relative float64, bytes int64) unit.Bytes {
	return unit.Bytes(min(relative*float64(bytes), limit))
}
