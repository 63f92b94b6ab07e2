package explain

import (
	"cmp"
	"math/bits"
	"path"
	"regexp"
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/attribute"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Comparison tells the explained moments of two recordings apart.
type Comparison struct {
	A, B *Explanation
	// Places are the call sites of both, the largest difference first; the
	// differences add up to that of what is in use.
	Places     []Difference
	Categories []CategoryDifference
}

// A Difference is one call site in both recordings.
type Difference struct {
	Place            Place // as in B, or in A where B lacks it
	Was              Place // as in A, when the line moved
	Moved            bool
	Category         tape.Category
	A, B             unit.Bytes
	ABlocks, BBlocks int
}

// Change is how much more B holds.
func (d *Difference) Change() unit.Bytes { return d.B - d.A }

// A CategoryDifference is one category in both recordings.
type CategoryDifference struct {
	Category tape.Category
	A, B     unit.Bytes
}

// Compare tells two recordings apart. Call sites are the same when file,
// line and function are; where a line is in one of them only, the same
// function of the same file is taken for it, so that edits above it do not
// tear a site apart. Folders do not count, since machines differ.
func Compare(a, b *Explanation) *Comparison {
	c := &Comparison{A: a, B: b}
	left := map[placeKey]*Difference{}
	var rows []*Difference
	for _, s := range a.Moment.ByPlace {
		k := keyOf(s.Place, true)
		d := left[k]
		if d == nil {
			d = &Difference{Place: s.Place, Category: s.Category}
			left[k] = d
			rows = append(rows, d)
		}
		d.A += s.Bytes
		d.ABlocks += s.Blocks
	}
	var fresh []*Difference
	for _, s := range b.Moment.ByPlace {
		k := keyOf(s.Place, true)
		d := left[k]
		if d == nil {
			d = &Difference{Category: s.Category}
			left[k] = d
			fresh = append(fresh, d)
		}
		d.Place = s.Place
		d.B += s.Bytes
		d.BBlocks += s.Blocks
	}
	rows = append(rows, matchMoved(rows, fresh)...)
	for _, d := range rows {
		c.Places = append(c.Places, *d)
	}
	slices.SortStableFunc(c.Places, func(x, y Difference) int {
		return cmp.Or(cmp.Compare(distance(y), distance(x)), cmp.Compare(y.B, x.B), cmp.Compare(x.Place.String(), y.Place.String()))
	})
	for _, k := range tape.Categories() {
		if x, y := a.Moment.ByCategory[k], b.Moment.ByCategory[k]; x > 0 || y > 0 {
			c.Categories = append(c.Categories, CategoryDifference{k, x, y})
		}
	}
	return c
}

func distance(d Difference) unit.Bytes {
	if c := d.Change(); c < 0 {
		return -c
	}
	return d.Change()
}

// matchMoved gives sites that only A has those that only B has in the same
// function, and returns what is left of the latter.
func matchMoved(rows, fresh []*Difference) []*Difference {
	waiting := map[placeKey]*Difference{}
	for _, d := range rows {
		if d.B == 0 && d.BBlocks == 0 {
			if k := keyOf(d.Place, false); waiting[k] == nil {
				waiting[k] = d
			}
		}
	}
	var left []*Difference
	for _, d := range fresh {
		k := keyOf(d.Place, false)
		old := waiting[k]
		if old == nil || d.Place.File == "" && d.Place.Via == "" {
			left = append(left, d)
			continue
		}
		old.Was, old.Place, old.Moved = old.Place, d.Place, true
		old.B, old.BBlocks = d.B, d.BBlocks
		delete(waiting, k)
	}
	return left
}

// A placeKey is what two recordings must have in common of a place.
type placeKey struct {
	file, function, via, node, library string
	line                               int
}

var lineNumber = regexp.MustCompile(`:\d+`)

func keyOf(p Place, lines bool) placeKey {
	file := attribute.Slashed(p.File)
	k := placeKey{file: path.Join(path.Base(path.Dir(file)), path.Base(file)), function: p.Function, via: p.Via, node: p.Node + p.Symbol, line: p.Line}
	if p.File == "" {
		k.file = ""
	}
	if k.file == "" && k.via == "" && k.node == "" {
		k.library = p.Library
	}
	if !lines {
		k.line, k.via = 0, lineNumber.ReplaceAllString(p.Via, "")
	}
	return k
}

// Likeness is which share of the call sites of two recordings are in both,
// 0..1: near 1 for ranks of one job.
func Likeness(a, b *Explanation) float64 {
	seen := map[placeKey]uint8{}
	for i, e := range []*Explanation{a, b} {
		for _, p := range e.recording.places.places {
			seen[keyOf(p, true)] |= 1 << i
		}
	}
	both := 0
	for _, s := range seen {
		if bits.OnesCount8(s) == 2 {
			both++
		}
	}
	if len(seen) == 0 {
		return 0
	}
	return float64(both) / float64(len(seen))
}

// A Rank is one recording of several of a job.
type Rank struct {
	Name string
	*Explanation
}

// A Spread is how the ranks of one job differ.
type Spread struct {
	Ranks          []Rank // as given
	Fullest, Least int    // index by what was in use at most
	Failed         []int  // ranks in which a request failed
	// Sites are the places that differ the most between the fullest rank and
	// the emptiest.
	Sites []Difference
}

// alike is the share of call sites in common from which on recordings are
// taken to be of one job.
const alike = 0.5

// Spreads looks at recordings as ranks of one job; ok is false when their
// call sites say that they are not.
func Spreads(ranks []Rank) (s *Spread, ok bool) {
	if len(ranks) < 2 {
		return nil, false
	}
	s = &Spread{Ranks: ranks}
	for i, r := range ranks {
		if i > 0 && Likeness(ranks[0].Explanation, r.Explanation) < alike {
			return nil, false
		}
		if r.Levels.Requested > ranks[s.Fullest].Levels.Requested {
			s.Fullest = i
		}
		if r.Levels.Requested < ranks[s.Least].Levels.Requested {
			s.Least = i
		}
		if len(r.Failures) > 0 {
			s.Failed = append(s.Failed, i)
		}
	}
	s.Sites = Compare(ranks[s.Least].Explanation, ranks[s.Fullest].Explanation).Places
	return s, true
}

// Same reports whether the ranks took about the same: within a hundredth.
func (s *Spread) Same() bool {
	most, least := s.Ranks[s.Fullest].Levels.Requested, s.Ranks[s.Least].Levels.Requested
	return (most-least)*100 <= most
}
