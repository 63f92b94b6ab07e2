package alloc

import (
	"github.com/plimsoll-dev/plimsoll/tape"
)

// A guess is what may have happened at a request that the recording does not
// tell.
type guess struct {
	emptied bool   // the cache was emptied before
	private bool   // it went to a private pool
	pool    PoolID // to this one
	silent  bool   // which could not flush, as during a capture
}

// guesses lists the possibilities for a request, the likeliest first.
func (v *verifier) guesses(e tape.Event) []guess {
	list := []guess{{}}
	if e.Kind == tape.Alloc {
		p, known := v.poolAt(e)
		if p != nil {
			list = []guess{{private: true, pool: p.id}, {private: true, pool: p.id, silent: true}}
		}
		if known {
			return v.emptied(list)
		}
	}
	for _, p := range v.device.privates {
		list = append(list, guess{private: true, pool: p.id}, guess{private: true, pool: p.id, silent: true})
	}
	return v.emptied(list)
}

// emptied adds the possibilities with an emptied cache.
func (v *verifier) emptied(list []guess) []guess {
	if v.givesBack() {
		for _, g := range list[:len(list):len(list)] {
			g.emptied = true
			list = append(list, g)
		}
	}
	return list
}

// request repeats a request that was served or failed.
func (v *verifier) request(e tape.Event) {
	list := v.guesses(e)
	best := list[0]
	if len(list) > 1 {
		fewest := -1
		for _, g := range list {
			trial := v.trial()
			trial.perform(e, g)
			if n := trial.out.Total; fewest < 0 || n < fewest {
				best, fewest = g, n
			}
			if fewest == 0 {
				break
			}
		}
	}
	v.perform(e, best)
	v.forget()
}

// trial returns a verifier in the same state whose deeds do not count.
func (v *verifier) trial() *verifier {
	t := *v
	t.out = &Comparison{}
	drv := *v.driver
	t.driver = &drv
	t.device = v.device.clone(t.driver)
	t.driver.device, t.driver.out = t.device, t.out
	t.indices = nil
	return &t
}

// perform repeats a request under a guess and compares.
func (v *verifier) perform(e tape.Event, g guess) {
	d := v.device
	if g.emptied {
		v.out.Flushes++
		v.noteEmptied()
		d.releaseCached()
	}
	if g.pool != v.pool {
		v.pool = g.pool
		v.out.Marks = append(v.out.Marks, tape.Mark{Event: v.driver.end, Device: uint8(d.number), Kind: tape.MarkPool, Name: poolName(g.pool)})
	}
	if g.private {
		d.redirects = append(d.redirects[:0], redirect{to: d.privatePool(g.pool)})
		d.capturing = g.silent
	}
	retries := d.scalars.retries
	i, err := d.malloc(max(e.Bytes, 1), d.streamIndex(v.tape.StreamHandle(e.Stream)))
	d.redirects, d.capturing = d.redirects[:0], false
	if d.scalars.retries > retries && e.Kind != tape.OOM {
		v.out.Retried = append(v.out.Retried, Cut{Event: v.driver.end, Device: uint8(d.number), EmptyCache: true})
	}
	if e.Kind == tape.OOM {
		v.out.OOMs++
		if err == nil {
			v.out.differ(v.driver.end, "a request of %d bytes failed, the simulator finds a place", e.Bytes)
			d.giveUp(i)
		}
	} else {
		v.served(e, i, err)
	}
	v.leftover()
}

// served compares the block that a request got.
func (v *verifier) served(e tape.Event, i uint32, err error) {
	v.out.Allocs++
	if err != nil {
		v.out.differ(v.driver.end, "%d bytes were had at %#x, the simulator finds no place", e.Bytes, e.Addr)
		return
	}
	b := &v.device.blocks[i]
	if b.addr != e.Addr {
		v.out.differ(v.driver.end, "%d bytes were had at %#x, the simulator takes %#x", e.Bytes, e.Addr, b.addr)
	}
	b.owner = uint32(e.Block) + 1
	if v.indices != nil {
		v.indices[e.Block] = i
	}
}
