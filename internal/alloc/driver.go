package alloc

import "github.com/plimsoll-dev/plimsoll/unit"

// A driver hands out device memory. The simulated one keeps books; the one
// of a recording repeats what the real driver did.
type driver interface {
	// alloc is cudaMalloc.
	alloc(size unit.Bytes) (addr uint64, ok bool)
	// free is cudaFree.
	free(addr uint64, size unit.Bytes)
	// reserve takes an address range for an expandable segment.
	reserve(size unit.Bytes) (addr uint64)
	// mapPages puts memory under a part of a range, all or nothing; size is a
	// multiple of page.
	mapPages(addr uint64, size, page unit.Bytes) bool
	// unmapPages takes it away again.
	unmapPages(addr uint64, size, page unit.Bytes)
	// available is what the driver has free.
	available() unit.Bytes
}

// granularity is the unit in which the driver gives out memory.
const granularity unit.Bytes = 2 << 20

// books is a driver for a device of a given size that nobody else uses. Its
// addresses rise and are never used twice: which addresses a real driver
// gives is unknown, and they matter only between free blocks of equal size.
type books struct {
	total, used unit.Bytes
	next        uint64
}

// firstAddress keeps simulated addresses away from zero.
const firstAddress = 1 << 33

// lastAddress is where memory ends for a tape that gets and gives back
// exabytes.
const lastAddress = 1 << 63

// highAddress is from where on addresses are left out of account: some
// platforms use the top bits, and what comes anew then lies below.
const highAddress = 1 << 62

// above lets further addresses lie above an end of what is there already.
func (k *books) above(end uint64) {
	if end < highAddress {
		k.next = max(k.next, end)
	}
}

func newBooks(total unit.Bytes) *books {
	if total <= 0 || total > unlimited {
		total = unlimited
	}
	return &books{total: total, next: firstAddress}
}

func (k *books) take(size unit.Bytes) bool {
	if size > k.total-k.used {
		return false
	}
	k.used += size
	return true
}

func (k *books) alloc(size unit.Bytes) (uint64, bool) {
	if k.next > lastAddress || !k.take(size.RoundUp(granularity)) {
		return 0, false
	}
	return k.reserve(size), true
}

func (k *books) free(_ uint64, size unit.Bytes) { k.used -= size.RoundUp(granularity) }

func (k *books) reserve(size unit.Bytes) uint64 {
	addr := k.next
	k.next += uint64(size.RoundUp(granularity))
	return addr
}

func (k *books) mapPages(_ uint64, size, page unit.Bytes) bool {
	return k.take(size / page * page.RoundUp(granularity))
}

func (k *books) unmapPages(_ uint64, size, page unit.Bytes) {
	k.used -= size / page * page.RoundUp(granularity)
}

func (k *books) available() unit.Bytes { return k.total - k.used }
