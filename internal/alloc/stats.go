package alloc

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// A stat is one of PyTorch's counters with a current and a peak value.
type stat int

const (
	allocation stat = iota
	allocatedBytes
	activeCount
	activeBytes
	requestedBytes
	segmentCount
	reservedBytes
	inactiveSplit
	inactiveSplitBytes
	stats
)

// statNames are the names in torch.cuda.memory_stats.
var statNames = [stats]string{
	"allocation", "allocated_bytes", "active", "active_bytes", "requested_bytes", "segment", "reserved_bytes",
	"inactive_split", "inactive_split_bytes",
}

// A pool of blocks as the counters see it.
const (
	allPools = iota
	smallPool
	largePool
	statPools
)

var statPoolNames = [statPools]string{"all", "small_pool", "large_pool"}

// A counter is the current value, the peak and what was added in all. What
// was taken away is the difference of the sum and the current value.
type counter struct{ current, peak, added int64 }

func (c *counter) add(n int64) {
	c.current += n
	c.added += n
	c.peak = max(c.peak, c.current)
}

// A scalar counts events; the oversize ones have a current and a peak value.
type scalars struct {
	retries, ooms, rejections, syncs, deviceAllocs, deviceFrees int64
	oversizeAllocations, oversizeSegments                       counter
}

func (d *device) raise(s stat, pool int, n unit.Bytes) {
	d.stats[allPools][s].add(int64(n))
	d.stats[pool][s].add(int64(n))
}

// handed counts block b as handed out; it is in the given pool.
func (d *device) handed(b *block, pool int) {
	size, asked := int64(b.size), int64(b.requested)
	all, own := &d.stats[allPools], &d.stats[pool]
	all[allocation].add(1)
	all[allocatedBytes].add(size)
	all[activeCount].add(1)
	all[activeBytes].add(size)
	all[requestedBytes].add(asked)
	own[allocation].add(1)
	own[allocatedBytes].add(size)
	own[activeCount].add(1)
	own[activeBytes].add(size)
	own[requestedBytes].add(asked)
	if b.size >= d.maxSplit {
		d.scalars.oversizeAllocations.add(1)
	}
}

// givenUp counts block b as given up.
func (d *device) givenUp(b *block, pool int) {
	all, own := &d.stats[allPools], &d.stats[pool]
	all[allocation].current--
	all[allocatedBytes].current -= int64(b.size)
	own[allocation].current--
	own[allocatedBytes].current -= int64(b.size)
	if b.size >= d.maxSplit {
		d.scalars.oversizeAllocations.current--
	}
}

// inactive counts block b as no longer active.
func (d *device) inactive(b *block, pool int) {
	all, own := &d.stats[allPools], &d.stats[pool]
	all[activeCount].current--
	all[activeBytes].current -= int64(b.size)
	all[requestedBytes].current -= int64(b.requested)
	own[activeCount].current--
	own[activeBytes].current -= int64(b.size)
	own[requestedBytes].current -= int64(b.requested)
}

func (d *device) lower(s stat, pool int, n unit.Bytes) {
	d.stats[allPools][s].current -= int64(n)
	d.stats[pool][s].current -= int64(n)
}

// change adds a signed difference.
func (d *device) change(s stat, pool int, n unit.Bytes) {
	if n < 0 {
		d.lower(s, pool, -n)
		return
	}
	d.raise(s, pool, n)
}

// gain counts memory of a shelf that was got from the driver.
func (d *device) gain(s *shelf, n unit.Bytes) {
	d.reserved += n
	d.raise(reservedBytes, s.statPool(), n)
	if p := s.pool.private; p != nil {
		p.reserved[allPools].add(int64(n))
		p.reserved[s.statPool()].add(int64(n))
	}
}

// lose counts memory of a shelf that was given back.
func (d *device) lose(s *shelf, n unit.Bytes) {
	d.reserved -= n
	d.lower(reservedBytes, s.statPool(), n)
	if p := s.pool.private; p != nil {
		p.reserved[allPools].current -= int64(n)
		p.reserved[s.statPool()].current -= int64(n)
	}
}

// current is the value of a counter for all pools.
func (d *device) current(s stat) unit.Bytes { return unit.Bytes(d.stats[allPools][s].current) }

// statPool is the index of the counters for a shelf.
func (s *shelf) statPool() int {
	if s.small {
		return smallPool
	}
	return largePool
}

// Stats returns the counters of torch.cuda.memory_stats under their names
// there, such as "allocated_bytes.all.peak".
func (d *device) statistics() map[string]int64 {
	out := map[string]int64{
		"num_alloc_retries": d.scalars.retries, "num_ooms": d.scalars.ooms, "num_sync_all_streams": d.scalars.syncs,
		"num_oom_rejections": d.scalars.rejections,
		"num_device_alloc":   d.scalars.deviceAllocs, "num_device_free": d.scalars.deviceFrees, "max_split_size": int64(d.firstMaxSplit),
	}
	if d.firstMaxSplit == 0 {
		out["max_split_size"] = -1
	}
	show := func(name string, c counter) {
		out[name+".current"], out[name+".peak"] = c.current, c.peak
		out[name+".allocated"], out[name+".freed"] = c.added, c.added-c.current
	}
	for s := range stats {
		for p := range statPools {
			show(statNames[s]+"."+statPoolNames[p], d.stats[p][s])
		}
	}
	for _, p := range d.privates {
		for i, c := range p.reserved {
			show(fmt.Sprintf("reserved_bytes_by_private_pools.%d_%d.%s", p.id[0], p.id[1], statPoolNames[i]), c)
		}
	}
	show("oversize_allocations", d.scalars.oversizeAllocations)
	show("oversize_segments", d.scalars.oversizeSegments)
	return out
}
