package alloc

// poolBegin redirects allocations to a private pool, which is made when it
// does not exist. Mirrors beginAllocateToPool.
func (d *device) poolBegin(id PoolID) {
	p := d.privatePool(id)
	if p == nil {
		p = d.newPrivate(id)
	}
	p.uses++
	d.redirects = append(d.redirects, redirect{p})
	d.underway()
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

// underway finds out whether a capture is under way. The use of a MemPool
// outside a capture counts as one up to 2.9~.
func (d *device) underway() {
	d.capturing = false
	for _, r := range d.redirects {
		d.capturing = d.capturing || r.to.id[0] != 0 || !d.settings.Version.since(vPoolFlushes)
	}
}

// poolEnd takes the redirect away. Mirrors endAllocateToPool.
func (d *device) poolEnd(id PoolID) bool {
	for i, r := range d.redirects {
		if r.to.id == id {
			d.redirects = append(d.redirects[:i], d.redirects[i+1:]...)
			d.underway()
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
