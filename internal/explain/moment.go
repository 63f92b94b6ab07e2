package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/attribute"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Moment is what was in use right after an event, -1 being the state before
// the first. Sums of its parts are exact.
type Moment struct {
	Event int
	Phase tape.Phase
	Step  int // from 1, 0 when steps are not known

	Requested  unit.Bytes // of blocks in use
	Blocks     int
	ByPlace    []PlaceShare // largest first
	ByLibrary  []LibraryShare
	ByCategory map[tape.Category]unit.Bytes
	// Before is what of it was there before the recording began, Nameless what
	// has no stack, and Unseen what is both.
	Before, Nameless, Unseen unit.Bytes
	// Reserved is what the allocator held, as far as the recording tells.
	Reserved unit.Bytes
	// Split tells where the reserved memory is; nil when the layout is not
	// certain.
	Split *Split
}

// A PlaceShare is what one place holds at a moment.
type PlaceShare struct {
	Place    Place
	Operator string        // of its largest block
	Category tape.Category // the largest
	Bytes    unit.Bytes
	Blocks   int
	Largest  unit.Bytes // block
	Before   int        // blocks from before the recording
}

// A LibraryShare is what one library holds at a moment.
type LibraryShare struct {
	Library string
	Bytes   unit.Bytes
	Blocks  int
}

// at tells what is in use right after event e.
func (r *Recording) at(e int) *Moment {
	m := &Moment{Event: e, ByCategory: map[tape.Category]unit.Bytes{}}
	if e >= 0 && e < r.Tape.Len() {
		m.Phase = r.Tape.PhaseOf(e)
		if len(r.ends) > 0 {
			m.Step = r.stepAt(e)
		}
	}
	tallies := map[int32]*tally{}
	libraries := map[string]*LibraryShare{}
	for i := range r.Tape.Blocks() {
		b := r.Tape.Block(tape.BlockID(i))
		if b.Device != r.Device || b.Alloc > e || b.Free >= 0 && b.Free <= e {
			continue
		}
		m.Requested += b.Bytes
		m.Blocks++
		m.ByCategory[b.Category] += b.Bytes
		n := r.places.ofBlock(b)
		t := tallies[n]
		if t == nil {
			t = &tally{}
			tallies[n] = t
		}
		t.add(b)
		who := r.places.library(b)
		l := libraries[who]
		if l == nil {
			l = &LibraryShare{Library: who}
			libraries[who] = l
		}
		l.Bytes += b.Bytes
		l.Blocks++
		if b.Alloc < 0 {
			m.Before += b.Bytes
		}
		if b.Site == 0 {
			m.Nameless += b.Bytes
			if b.Alloc < 0 {
				m.Unseen += b.Bytes
			}
		}
	}
	for n, t := range tallies {
		m.ByPlace = append(m.ByPlace, t.share(r, n))
	}
	for _, l := range libraries {
		m.ByLibrary = append(m.ByLibrary, *l)
	}
	slices.SortFunc(m.ByPlace, func(a, b PlaceShare) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Place.String(), b.Place.String()))
	})
	slices.SortFunc(m.ByLibrary, func(a, b LibraryShare) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Library, b.Library))
	})
	return m
}

// A tally adds up the blocks of one place.
type tally struct {
	bytes, largest unit.Bytes
	site           tape.SiteID // of the largest
	blocks, before int
	categories     [16]unit.Bytes
}

func (t *tally) add(b tape.Block) {
	t.bytes += b.Bytes
	t.blocks++
	if b.Bytes > t.largest {
		t.largest, t.site = b.Bytes, b.Site
	}
	if b.Alloc < 0 {
		t.before++
	}
	t.categories[b.Category] += b.Bytes
}

func (t *tally) share(r *Recording, place int32) PlaceShare {
	s := PlaceShare{
		Place: r.places.places[place], Operator: operatorOf(r.Tape.Site(t.site)), Bytes: t.bytes, Blocks: t.blocks, Largest: t.largest, Before: t.before,
	}
	for c, bytes := range t.categories {
		if bytes > t.categories[s.Category] {
			s.Category = tape.Category(c)
		}
	}
	return s
}

func pathHas(file, part string) bool { return strings.Contains(attribute.Slashed(file), part) }
