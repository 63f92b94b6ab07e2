package alloc

import (
	"github.com/plimsoll-dev/plimsoll/unit"
)

// check verifies what must be true of a simulator at any time.
func check(t interface{ Fatalf(string, ...any) }, m *Simulator) {
	for _, d := range m.devices {
		checkDevice(t, d)
	}
}

func checkDevice(t interface{ Fatalf(string, ...any) }, d *device) {
	sums := checkBlocks(t, d)
	cached := checkShelves(t, d)
	for _, c := range []struct {
		name string
		s    stat
		want unit.Bytes
	}{
		{"reserved", reservedBytes, sums.held}, {"allocated", allocatedBytes, sums.allocated},
		{"active", activeBytes, sums.active}, {"inactive split", inactiveSplitBytes, sums.splitFree},
	} {
		if got := d.current(c.s); got != c.want {
			t.Fatalf("%s bytes are %d, the blocks have %d", c.name, got, c.want)
		}
	}
	if d.reserved != sums.held || sums.active+cached != sums.held {
		t.Fatalf("active %d + cached %d is not reserved %d", sums.active, cached, sums.held)
	}
	for s := range stats {
		a, l, r := d.stats[allPools][s], d.stats[smallPool][s], d.stats[largePool][s]
		if a.current != l.current+r.current || a.added != l.added+r.added || a.current < 0 || a.peak < a.current {
			t.Fatalf("%s: counters %+v, %+v, %+v", statNames[s], a, l, r)
		}
	}
	if k, ok := d.driver.(*books); ok && k.used < sums.held {
		t.Fatalf("the driver gave %d bytes, the allocator holds %d", k.used, sums.held)
	}
}

// sums are the bytes of the blocks of a device.
type sums struct{ held, allocated, active, splitFree unit.Bytes }

// checkBlocks verifies that neighbours fit together and adds up the blocks.
func checkBlocks(t interface{ Fatalf(string, ...any) }, d *device) sums {
	var s sums
	for i := 1; i < len(d.blocks); i++ {
		b := &d.blocks[i]
		if b.state == vacant {
			continue
		}
		if b.size <= 0 {
			t.Fatalf("block %d has %d bytes", i, b.size)
		}
		if n := b.next; n != 0 && (d.blocks[n].prev != uint32(i) || d.blocks[n].addr != b.addr+uint64(b.size) || d.blocks[n].state == vacant) {
			t.Fatalf("block %d and its neighbour %d do not fit together", i, n)
		}
		if n := b.next; n != 0 && b.state == free && d.blocks[n].state == free && b.unmapped == d.blocks[n].unmapped {
			t.Fatalf("free blocks %d and %d are not merged", i, n)
		}
		switch {
		case b.unmapped:
			continue
		case b.state == live:
			s.allocated += b.size
			s.active += b.size
		case b.state == pending:
			s.active += b.size
		case b.extent == 0 && b.split():
			s.splitFree += b.size
		}
		s.held += b.size
	}
	return s
}

// checkShelves verifies the order of the free sets and adds them up.
func checkShelves(t interface{ Fatalf(string, ...any) }, d *device) unit.Bytes {
	var cached unit.Bytes
	for _, p := range d.everyPool() {
		last := uint32(0)
		for _, i := range d.freeBlocks(p, nil) {
			b := &d.blocks[i]
			if b.state != free || b.unmapped {
				t.Fatalf("block %d is in the free set in state %d", i, b.state)
			}
			if last != 0 && d.blocks[last].shelf == b.shelf && !d.less(last, b.size, b.addr) {
				t.Fatalf("free blocks %d and %d are out of order", last, i)
			}
			last = i
			cached += b.size
		}
	}
	return cached
}

// everyPool lists the default and the private pools.
func (d *device) everyPool() []*pool {
	list := []*pool{d.pools[0], d.pools[1]}
	for _, p := range d.privates {
		list = append(list, p.halves[0], p.halves[1])
	}
	return list
}
