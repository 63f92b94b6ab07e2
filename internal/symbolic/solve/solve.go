package solve

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// A Solved is a symbolic tape and how well it is known.
type Solved struct {
	Tape *symbolic.Tape
	// Doubts are what could not be solved exactly, for whoever records.
	Doubts []string
}

// Solve finds the tape behind recordings of one kind: the same family, task,
// mode, precision, attention and structure.
func Solve(recordings []*Recording) (*Solved, error) {
	s := &solver{parts: map[partKey]*part{}, unions: map[partKey]*union{}, fits: map[string]*fitter{}, made: map[slotKey][]bool{}}
	for _, r := range recordings {
		if r.Error != "" {
			return nil, fmt.Errorf("recording at %v: %s", r.Job.Dims, r.Error)
		}
		if err := s.add(r); err != nil {
			return nil, fmt.Errorf("recording at %v: %w", r.Job.Dims, err)
		}
	}
	sites := make([]site, len(recordings))
	for i, r := range recordings {
		sites[i] = site{r.Job.Dims, r.Job.Device}
	}
	s.fit = newFitter(sites, atomsOf(recordings), 4)
	s.align()
	if s.recs[0].isScript() {
		s.orderScript()
		s.fit.constants = s.constants()
	}
	if extentsOf(recordings) != nil {
		s.fit.pixels = s.pixelsOf()
		s.fit.pixels.premises = premises(recordings)
	}
	if err := s.classify(); err != nil {
		return nil, err
	}
	t := &symbolic.Tape{}
	for _, p := range s.inOrder() {
		out, err := s.solvePart(p)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", p.key.scope, p.key.name, err)
		}
		t.Parts = append(t.Parts, out)
	}
	var err error
	if t.Params, err = s.params(); err != nil {
		return nil, err
	}
	if recordings[0].Job.Dims[symbolic.Cards] > 0 {
		s.fit.roundShards(t)
	}
	if t.Ceiling, err = ceiling(recordings); err != nil {
		return nil, err
	}
	t.Seen = s.seen()
	slices.Sort(s.doubts)
	return &Solved{t, slices.Compact(s.doubts)}, nil
}

// A solver holds the recordings while they are solved.
type solver struct {
	recs     []*cutRecording
	parts    map[partKey]*part
	unions   map[partKey]*union
	fit      *fitter
	fits     map[string]*fitter       // among some recordings
	made     map[slotKey][]bool       // the recordings that make an allocation
	siblings map[string][]symbolic.Op // by place, in classes of the part that are solved
	among    []asked                  // in the body that is being solved
	doubts   []string
	before   symbolic.Expr // of a script: what the allocation before asks for
	turn     string        // function that the present call of an operator asked for last, of those that are asked for once
}

// A cutRecording is a recording in pieces.
type cutRecording struct {
	*Recording
	n       int
	pieces  []piece
	homes   []home
	owner   map[int]string // of a gradient: its parameter
	fates   []string
	slots   []int // by allocation
	ofRun   map[int]string
	eventOf []int // by allocation
	freedAt []int // by allocation: the event, or the number of events where none is
}

// A part is what several recordings have of it.
type part struct {
	key   partKey
	order int
	down  bool
	union *union // shared by the scopes of micro-batches, so that a slot means the same in all
	level int
}

func (s *solver) add(r *Recording) error {
	pieces, homes, err := r.cut()
	if err != nil {
		return err
	}
	c := &cutRecording{Recording: r, n: len(s.recs), pieces: pieces, homes: homes, ofRun: map[int]string{}}
	c.fates = r.fates(pieces, homes)
	c.owner = r.owners()
	if r.Job.Dims[symbolic.Cards] > 0 {
		r.Job.Dims = symbolic.GroupsOf(s.shards(c), r.Job.Dims, r.Job.Device)
	}
	c.slots = make([]int, len(homes))
	for i, e := range r.events {
		if e.free {
			c.freedAt[e.alloc] = i
			continue
		}
		c.eventOf = append(c.eventOf, i)
		c.freedAt = append(c.freedAt, len(r.events))
	}
	zeros := 0
	for i := range pieces {
		p := &pieces[i]
		if p.part.scope == symbolic.Zero {
			// Only the dropping of a steady step's gradients is wanted.
			if zeros++; zeros != 2 {
				p.part.scope = "unwanted"
			}
		}
		c.ofRun[p.run] = p.part.scope
	}
	s.recs = append(s.recs, c)
	return nil
}

// align gives each allocation its slot, the same in all recordings and layers.
func (s *solver) align() {
	type sequence struct {
		tokens []string
		users  [][]int // slices of slots to fill, by allocation numbers
		rec    []*cutRecording
	}
	byPart := map[*union]map[string]*sequence{}
	for _, r := range s.recs {
		last := map[partKey]int{}
		for i := range r.pieces {
			p := &r.pieces[i]
			if !isAligned(p.part.scope) {
				continue
			}
			s.note(p, last)
			tokens := r.tokens(p)
			key := strings.Join(tokens, "\n")
			u := s.parts[p.part].union
			if byPart[u] == nil {
				byPart[u] = map[string]*sequence{}
			}
			seq := byPart[u][key]
			if seq == nil {
				seq = &sequence{tokens: tokens}
				byPart[u][key] = seq
			}
			seq.users = append(seq.users, p.allocs)
			seq.rec = append(seq.rec, r)
		}
	}
	for common, seqs := range byPart {
		list := slices.Collect(maps.Values(seqs))
		slices.SortFunc(list, func(a, b *sequence) int {
			return cmp.Or(len(b.tokens)-len(a.tokens), strings.Compare(strings.Join(a.tokens, "\n"), strings.Join(b.tokens, "\n")))
		})
		for _, seq := range list {
			ids := common.merge(seq.tokens)
			for u, allocs := range seq.users {
				for k, a := range allocs {
					seq.rec[u].slots[a] = ids[k]
				}
			}
		}
	}
}

// note makes the part of a piece known, and its direction.
func (s *solver) note(p *piece, last map[partKey]int) {
	known := s.parts[p.part]
	if known == nil {
		common := p.part
		if common.scope != symbolic.Load && common.scope != symbolic.Zero {
			common.scope = ""
		}
		if s.unions[common] == nil {
			s.unions[common] = &union{}
		}
		known = &part{key: p.part, order: len(s.parts), union: s.unions[common]}
		s.parts[p.part] = known
	}
	if before, ok := last[p.part]; ok && p.index < before {
		known.down = true
	}
	last[p.part] = p.index
}

// tokens are what allocations of a piece have in common with those of others
// that are the same: the operator, when they are freed, and how many like them
// it made just before.
func (r *cutRecording) tokens(p *piece) []string {
	var list []string
	label, before, cached := -1, map[string]int{}, map[int]int{}
	for i, e := range r.events[p.from:p.to] {
		if e.free {
			// The buffers of a reduction in parts follow one another.
			if r.Job.Model == "" || label < 0 || !strings.HasSuffix(r.Labels[label], " raw") {
				label = -1
			}
			continue
		}
		if e.label != label {
			label = e.label
			clear(before)
		}
		fate := r.fates[e.alloc] + r.owner[e.alloc]
		if r.isSeed(p.from + i) {
			fate += ", seed"
		}
		if fate == "cache" { // a key and a value follow with frees between or without
			before[fate] = cached[label]
			cached[label]++
		}
		if r.Job.Model != "" && before[fate] == 0 && r.isAccumulation(p, p.from+i) {
			list = append(list, fmt.Sprintf("%s|%s|in 32 bits", r.Labels[label], fate))
			continue
		}
		alike := fate
		if isByPlace(r.Labels[label]) {
			alike = ""
		}
		list = append(list, fmt.Sprintf("%s|%s|%d", unpadded(r.Labels[label]), fate, before[alike]))
		before[alike]++
	}
	return list
}

// isByPlace reports whether what an operator allocates is told by its place, whenever
// it is freed: autocast's of attention's arguments, mask first, since a mask whose rows
// are padded next does not stay; and attention's gradients, since that of a mask stays
// where it needs no further sum and no padding taken off.
func isByPlace(label string) bool {
	return strings.HasPrefix(label, "_to_copy to_dtype scaled_dot_product_attention") ||
		strings.HasPrefix(label, "_efficient_attention_backward ")
}

// unpadded is a label without the word that a padding by nothing has more: it is a
// copy, but the same event.
func unpadded(label string) string {
	if strings.HasPrefix(label, "clone constant_pad_nd ") {
		return strings.TrimPrefix(label, "clone ")
	}
	return label
}

// isSeed reports whether an event makes the state of random numbers that flash
// attention returns last, 16 bytes and 8, after buffers that it may need or not.
func (r *cutRecording) isSeed(i int) bool {
	e := r.events[i]
	if e.free || !strings.Contains(r.Labels[e.label], "_flash_attention_forward") {
		return false
	}
	if e.bytes == 16 && i+1 < len(r.events) {
		next := r.events[i+1]
		return !next.free && next.label == e.label && next.bytes == 8
	}
	return e.bytes == 8
}

// inOrder returns the wanted parts, scope by scope, in the order of time.
func (s *solver) inOrder() []*part {
	list := slices.DeleteFunc(slices.Collect(maps.Values(s.parts)), func(p *part) bool { return !isWanted(p.key.scope) })
	slices.SortFunc(list, func(a, b *part) int {
		return cmp.Or(slices.Index(wanted, a.key.scope)-slices.Index(wanted, b.key.scope), a.order-b.order)
	})
	return list
}

// seen are the ranges of the recordings' dimensions.
func (s *solver) seen() []symbolic.Span {
	spans := map[string]symbolic.Span{}
	for _, r := range s.recs {
		for name, v := range r.Job.Dims {
			sp, ok := spans[name]
			if !ok {
				sp = symbolic.Span{Name: name, Low: v, High: v}
			}
			sp.Low, sp.High, sp.Step = min(sp.Low, v), max(sp.High, v), max(symbolic.GCD(sp.Step, v), 1)
			spans[name] = sp
		}
	}
	list := slices.Collect(maps.Values(spans))
	slices.SortFunc(list, func(a, b symbolic.Span) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func (s *solver) doubt(format string, args ...any) {
	s.doubts = append(s.doubts, fmt.Sprintf(format, args...))
}
