package alloc

// poolBegin redirects allocations to a private pool, which is made when it
// does not exist. Mirrors beginAllocateToPool.
func (d *device) poolBegin(id PoolID, accepts func(stream uint64) bool) {
	p := d.privatePool(id)
	if p == nil {
		p = d.newPrivate(id)
	}
	p.uses++
	d.redirects = append(d.redirects, redirect{p, accepts})
}

func (d *device) newPrivate(id PoolID) *private {
	p := &private{id: id}
	p.halves = [2]*pool{newPool(true, p), newPool(false, p)}
	d.privates = append(d.privates, p)
	return p
}

func (d *device) privatePool(id PoolID) *private {
	for _, p := range d.privates {
		if p.id == id {
			return p
		}
	}
	return nil
}

// poolEnd takes the redirect away. Mirrors endAllocateToPool.
func (d *device) poolEnd(id PoolID) bool {
	for i, r := range d.redirects {
		if r.to.id == id {
			d.redirects = append(d.redirects[:i], d.redirects[i+1:]...)
			return true
		}
	}
	return false
}

// poolRelease gives up one use; a pool without uses goes with the next
// flush. Mirrors releasePool.
func (d *device) poolRelease(id PoolID) bool {
	p := d.privatePool(id)
	if p == nil || p.uses == 0 {
		return false
	}
	p.uses--
	return true
}
