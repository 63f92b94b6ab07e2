package alloc

import (
	"slices"
)

// A pool is one of the two halves of the default pool or of a private one.
type pool struct {
	small   bool
	private *private
	calls   int64    // searches while garbage collection is on; the clock of block ages
	shelves []uint32 // by stream handle
	byIndex []uint32 // by the device's index of the stream, 0 where there is none
}

// A PoolID names a private pool: {n, 0} for the graph captured as number n,
// {0, n} for a MemPool. {0, 0} is the default pool.
type PoolID = [2]uint64

// A private pool serves a CUDA graph or a MemPool.
type private struct {
	id       PoolID
	uses     int
	segments int // driver allocations less driver frees
	halves   [2]*pool
	reserved [statPools]counter
}

func newPool(small bool, p *private) *pool { return &pool{small: small, private: p} }

// shelf returns the shelf of a pool for the stream with the given index.
func (d *device) shelf(p *pool, stream int) uint32 {
	if stream < len(p.byIndex) {
		if i := p.byIndex[stream]; i != 0 {
			return i
		}
	}
	return d.newShelf(p, stream)
}

func (d *device) newShelf(p *pool, stream int) uint32 {
	i := uint32(len(d.shelves))
	d.shelves = append(d.shelves, &shelf{pool: p, stream: d.streams[stream], small: p.small})
	if p.private == nil && stream == 0 {
		d.main[half(p.small)] = d.shelves[i]
	}
	for len(p.byIndex) <= stream {
		p.byIndex = append(p.byIndex, 0)
	}
	p.byIndex[stream] = i
	at, _ := slices.BinarySearchFunc(p.shelves, d.streams[stream], func(j uint32, handle uint64) int {
		switch s := d.shelves[j].stream; {
		case s < handle:
			return -1
		case s > handle:
			return 1
		}
		return 0
	})
	p.shelves = slices.Insert(p.shelves, at, i)
	return i
}

// streamIndex returns the device's index for a stream handle.
func (d *device) streamIndex(handle uint64) int {
	if i, ok := d.streamOf[handle]; ok {
		return i
	}
	i := len(d.streams)
	d.streams = append(d.streams, handle)
	d.streamOf[handle] = i
	return i
}

// freeBlocks appends the free blocks of a pool to list in the order of
// PyTorch's set: by stream handle, size and address.
func (d *device) freeBlocks(p *pool, list []uint32) []uint32 {
	for _, i := range p.shelves {
		list = d.all(d.shelves[i], list)
	}
	return list
}

// poolFor returns the pool that serves a request: the private pool that
// allocations are redirected to, or the default one.
func (d *device) poolFor(small bool) *pool {
	if len(d.redirects) > 0 {
		if p := d.redirected(); p != nil {
			return p.halves[half(small)]
		}
	}
	return d.pools[half(small)]
}

// redirected returns the private pool that allocations are redirected to, nil
// for none. Releases up to 2.4 look at the oldest redirect first, later ones~
// at the newest.
func (d *device) redirected() *private {
	switch n := len(d.redirects); {
	case n == 0:
		return nil
	case d.newestFirst:
		return d.redirects[n-1].to
	}
	return d.redirects[0].to
}

func half(small bool) int {
	if small {
		return 0
	}
	return 1
}
