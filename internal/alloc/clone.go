package alloc

import (
	"maps"
	"slices"
)

// clone returns a copy of the device on another driver, to try things on.
// Cross-stream events and redirects are not copied; a replay has none.
func (d *device) clone(drv driver) *device {
	c := *d
	c.driver = drv
	c.blocks, c.slots, c.extents = slices.Clone(d.blocks), slices.Clone(d.slots), slices.Clone(d.extents)
	c.streams, c.streamOf = slices.Clone(d.streams), maps.Clone(d.streamOf)
	c.queues, c.deferred, c.uses, c.captured, c.redirects = nil, nil, nil, nil, nil
	c.early, c.scratch = slices.Clone(d.early), nil
	c.privates = nil
	known := map[*pool]*pool{}
	for i, p := range d.pools {
		c.pools[i] = p.clone(known, nil)
	}
	for _, p := range d.privates {
		q := *p
		for i, h := range p.halves {
			q.halves[i] = h.clone(known, &q)
		}
		c.privates = append(c.privates, &q)
	}
	c.shelves = make([]*shelf, len(d.shelves))
	for i, s := range d.shelves {
		if s != nil {
			t := *s
			t.unmapped = slices.Clone(s.unmapped)
			t.pool = known[s.pool]
			c.shelves[i] = &t
		}
	}
	for i, p := range c.pools {
		if c.main[i] = nil; len(p.byIndex) > 0 {
			c.main[i] = c.shelves[p.byIndex[0]]
		}
	}
	return &c
}

func (p *pool) clone(known map[*pool]*pool, owner *private) *pool {
	q := *p
	q.private = owner
	q.shelves, q.byIndex = slices.Clone(p.shelves), slices.Clone(p.byIndex)
	known[p] = &q
	return &q
}
