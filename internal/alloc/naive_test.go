package alloc

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// naive is a second implementation of the rules, as plain as possible: lists
// that are searched from end to end. It knows streams, splitting limits and
// expandable segments, and serves to find mistakes in the fast one.
type naive struct {
	settings Settings
	total    unit.Bytes
	used     unit.Bytes
	next     uint64
	regions  []*region
	retries  int
}

// A region is a classic segment or the address range of an expandable one.
type region struct {
	addr       uint64
	stream     uint64
	small      bool
	expandable bool
	page       unit.Bytes
	pieces     []*piece // in address order, without gaps
}

type piece struct {
	addr   uint64
	size   unit.Bytes
	used   bool
	mapped bool
	home   *region
}

func (p *piece) idle() bool { return !p.used && p.mapped }

// cached lists the free pieces of a pool in the order of PyTorch's set.
func (n *naive) cached(small bool) []*piece {
	var list []*piece
	for _, r := range n.regions {
		for _, p := range r.pieces {
			if r.small == small && p.idle() {
				list = append(list, p)
			}
		}
	}
	slices.SortFunc(list, func(a, b *piece) int {
		switch {
		case a.home.stream != b.home.stream:
			return sign(a.home.stream < b.home.stream)
		case a.size != b.size:
			return sign(a.size < b.size)
		}
		return sign(a.addr < b.addr)
	})
	return list
}

func sign(less bool) int {
	if less {
		return -1
	}
	return 1
}

func (n *naive) alloc(asked unit.Bytes, stream uint64) *piece {
	size := n.settings.round(asked)
	small := size <= smallLimit
	p := n.find(size, stream, small)
	if p == nil {
		p = n.obtain(size, stream, small)
	}
	if p == nil && n.settings.MaxSplit > 0 && n.releaseSome(size, stream, small) {
		p = n.obtain(size, stream, small)
	}
	if p == nil {
		n.flush()
		n.retries++
		p = n.obtain(size, stream, small)
	}
	if p == nil {
		return nil
	}
	rest := p.size - size
	if small || n.settings.Expandable {
		n.split(p, size, rest >= minBlock)
	} else {
		n.split(p, size, size < n.settings.maxSplit() && rest > smallLimit)
	}
	p.used = true
	return p
}

// split cuts p after size bytes.
func (n *naive) split(p *piece, size unit.Bytes, really bool) {
	if !really {
		return
	}
	rest := &piece{p.addr + uint64(size), p.size - size, false, p.mapped, p.home}
	p.size = size
	at := slices.Index(p.home.pieces, p)
	p.home.pieces = slices.Insert(p.home.pieces, at+1, rest)
}

// room is a piece and the unmapped memory behind it.
func (n *naive) room(p *piece) unit.Bytes {
	at := slices.Index(p.home.pieces, p) + 1
	if at < len(p.home.pieces) && !p.home.pieces[at].mapped {
		return p.size + p.home.pieces[at].size
	}
	return p.size
}

func (n *naive) find(size unit.Bytes, stream uint64, small bool) *piece {
	list := slices.DeleteFunc(n.cached(small), func(p *piece) bool { return p.home.stream != stream })
	i := slices.IndexFunc(list, func(p *piece) bool { return p.size >= size })
	if i < 0 {
		return nil
	}
	if list[i].home.expandable {
		if n.settings.Expandable {
			for list[i].home.expandable && i+1 < len(list) && n.room(list[i+1]) < n.room(list[i]) {
				i++
			}
		} else {
			for i++; i < len(list) && list[i].home.expandable; i++ {
			}
			if i == len(list) {
				return nil
			}
		}
	}
	limit := n.settings.maxSplit()
	if size < limit && list[i].size >= limit || size >= limit && list[i].size >= size+n.settings.maxNonSplitRounding() {
		return nil
	}
	return list[i]
}

func (n *naive) obtain(size unit.Bytes, stream uint64, small bool) *piece {
	if n.settings.Expandable {
		return n.grow(size, stream, small)
	}
	segment := n.settings.segment(size)
	if n.used+segment.RoundUp(granularity) > n.total {
		return nil
	}
	n.used += segment.RoundUp(granularity)
	r := &region{addr: n.next, stream: stream, small: small}
	n.next += uint64(segment.RoundUp(granularity))
	r.pieces = []*piece{{r.addr, segment, false, true, r}}
	n.regions = append(n.regions, r)
	return r.pieces[0]
}

// grow maps pages until a free piece is large enough.
func (n *naive) grow(size unit.Bytes, stream uint64, small bool) *piece {
	r, i := n.place(size, stream, small)
	if r == nil {
		return nil
	}
	if !r.pieces[i].mapped {
		if i = n.mapPiece(r, i, min(size, r.pieces[i].size)); i < 0 {
			return nil
		}
	}
	for r.pieces[i].size < size {
		want := min(size-r.pieces[i].size, r.pieces[i+1].size)
		if i = n.mapPiece(r, i+1, want); i < 0 {
			return nil
		}
	}
	return r.pieces[i]
}

// place finds the lowest address with enough room, in any range of the pool.
func (n *naive) place(size unit.Bytes, stream uint64, small bool) (*region, int) {
	var ranges []*region
	for _, r := range n.regions {
		if r.expandable && r.small == small && r.stream == stream {
			ranges = append(ranges, r)
		}
	}
	slices.SortFunc(ranges, func(a, b *region) int { return sign(a.addr < b.addr) })
	for _, r := range ranges {
		for i, p := range r.pieces {
			if p.mapped {
				continue
			}
			if i > 0 && r.pieces[i-1].idle() {
				i--
			}
			var sum unit.Bytes
			for _, q := range r.pieces[i:] {
				if q.used {
					break
				}
				sum += q.size
			}
			if sum >= size {
				return r, i
			}
		}
	}
	page := smallSegment
	if !small {
		page = n.settings.largeSegment()
	}
	length := (n.total + n.total/8 + page - 1) / page * page
	r := &region{addr: n.next, stream: stream, small: small, expandable: true, page: page}
	r.pieces = []*piece{{r.addr, length, false, false, r}}
	n.next += uint64(length.RoundUp(granularity))
	if length < size {
		return nil, 0
	}
	n.regions = append(n.regions, r)
	return r, 0
}

// mapPiece maps the beginning of piece i and returns the index of the free
// piece that it then is part of, -1 when memory is out.
func (n *naive) mapPiece(r *region, i int, size unit.Bytes) int {
	size = (size + r.page - 1) / r.page * r.page
	if n.used+size > n.total {
		return -1
	}
	n.used += size
	p := r.pieces[i]
	n.split(p, size, size < p.size)
	p.mapped = true
	r.merge()
	return slices.IndexFunc(r.pieces, func(q *piece) bool { return q.addr <= p.addr && p.addr < q.addr+uint64(q.size) })
}

// merge joins neighbours that are not in use.
func (r *region) merge() {
	for i := 0; i+1 < len(r.pieces); {
		a, b := r.pieces[i], r.pieces[i+1]
		if a.used || b.used || a.mapped != b.mapped {
			i++
			continue
		}
		a.size += b.size
		r.pieces = slices.Delete(r.pieces, i+1, i+2)
	}
}

func (n *naive) free(p *piece) {
	p.used = false
	p.home.merge()
}

func (n *naive) releaseSome(size unit.Bytes, stream uint64, small bool) bool {
	need := max(size, n.settings.MaxSplit)
	list := slices.DeleteFunc(n.cached(small), func(p *piece) bool { return p.home.stream != stream })
	if i := slices.IndexFunc(list, func(p *piece) bool { return p.size >= need }); i >= 0 {
		if !list[i].home.expandable {
			n.drop(list[i].home)
		}
		return true
	}
	var sum unit.Bytes
	for i := len(list) - 1; i >= 0 && sum < need && list[i].size >= n.settings.MaxSplit; i-- {
		if !list[i].home.expandable {
			sum += list[i].size
			n.drop(list[i].home)
		}
	}
	return sum >= need
}

func (n *naive) drop(r *region) {
	n.used -= r.pieces[0].size.RoundUp(granularity)
	n.regions = slices.DeleteFunc(n.regions, func(q *region) bool { return q == r })
}

// flush gives back whole classic segments and whole free pages.
func (n *naive) flush() {
	for _, r := range slices.Clone(n.regions) {
		switch {
		case r.expandable:
			n.unmap(r)
		case len(r.pieces) == 1 && !r.pieces[0].used:
			n.drop(r)
		}
	}
}

func (n *naive) unmap(r *region) {
	before := n.used
	for _, p := range slices.Clone(r.pieces) {
		if !p.idle() {
			continue
		}
		offset := unit.Bytes(p.addr - r.addr)
		first := (offset + r.page - 1) / r.page * r.page
		last := (offset + p.size) / r.page * r.page
		if first >= last {
			continue
		}
		n.split(p, last-offset, last < offset+p.size)
		middle := p
		if first > offset {
			n.split(p, first-offset, true)
			middle = r.pieces[slices.Index(r.pieces, p)+1]
		}
		middle.mapped = false
		n.used -= last - first
	}
	r.merge()
	if n.used < before && len(r.pieces) == 1 && !r.pieces[0].mapped { // a range that was never used stays
		n.regions = slices.DeleteFunc(n.regions, func(q *region) bool { return q == r })
	}
}
