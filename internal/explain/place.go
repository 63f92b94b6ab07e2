package explain

import (
	"regexp"

	"github.com/plimsoll-dev/plimsoll/internal/attribute"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// A Place is where an allocation is said to come from.
type Place = attribute.Place

var opName = regexp.MustCompile(`^at::_ops::(\w+)::(?:call|redispatch)|^aten::(\w+)$`)

// operatorOf is the operator of PyTorch that Python called, "embedding"; ""
// when the stack does not tell.
func operatorOf(frames []tape.Frame) string {
	op := ""
	for _, f := range frames {
		if attribute.IsPython(f) {
			break
		}
		if m := opName.FindStringSubmatch(f.Name); m != nil {
			op = m[1] + m[2]
		}
	}
	return op
}

// A placeTable knows the place of each stack of a tape.
type placeTable struct {
	tape   *tape.Tape
	places []Place
	index  map[Place]int32
	of     []int32  // by site; -1 not looked at yet
	who    []string // by site: the library, as far as it was looked at
	// named reports that stacks have Python frames: then what has no stack
	// comes from threads without Python, as autograd's are.
	named bool
}

func newPlaceTable(t *tape.Tape) *placeTable {
	p := &placeTable{tape: t, index: map[Place]int32{}, of: make([]int32, t.Sites()+1), who: make([]string, t.Sites()+1)}
	for i := range p.of {
		p.of[i] = -1
		for _, f := range t.Site(tape.SiteID(i)) {
			p.named = p.named || attribute.IsPython(f)
		}
	}
	return p
}

// number returns the number of the place of a stack.
func (p *placeTable) number(s tape.SiteID) int32 {
	if n := p.of[s]; n >= 0 {
		return n
	}
	place := attribute.PlaceOf(p.tape.Site(s))
	if s == 0 && p.named {
		place = Place{Node: "threads without a Python stack", Library: attribute.PyTorch}
	}
	p.who[s] = place.Library
	if place.File != "" {
		place.Library = "" // one line is one place, whoever allocates there
	}
	p.of[s] = p.intern(place)
	return p.of[s]
}

func (p *placeTable) intern(place Place) int32 {
	n, known := p.index[place]
	if !known {
		n = int32(len(p.places))
		p.places = append(p.places, place)
		p.index[place] = n
	}
	return n
}

// ofBlock returns the number of the place of a block. What was there before
// the recording and has no stack is a place of its own.
func (p *placeTable) ofBlock(b tape.Block) int32 {
	if b.Alloc >= 0 || b.Site != 0 || p.tape.Len() == 0 {
		return p.number(b.Site)
	}
	return p.intern(Place{Library: attribute.BeforeRecording})
}

// library is who allocated a block.
func (p *placeTable) library(b tape.Block) string {
	if n := p.ofBlock(b); p.places[n].Library != "" {
		return p.places[n].Library
	}
	return p.who[b.Site]
}

func (p *placeTable) place(s tape.SiteID) Place { return p.places[p.number(s)] }
