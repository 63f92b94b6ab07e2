package alloc

import (
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A device is the allocator of one GPU. It mirrors DeviceCachingAllocator of
// c10/cuda/CUDACachingAllocator.cpp; the names of its steps are those there.
type device struct {
	number   int
	settings Settings
	total    unit.Bytes // what CUDA reports as total
	limit    unit.Bytes
	limited  bool
	driver   driver

	// Settings and version, prepared for the fast path.
	maxSplit      unit.Bytes
	firstMaxSplit unit.Bytes // at the start; what the statistics show
	simple        bool       // no split limit and no garbage collection
	clocked       bool       // garbage collection was possible at some time, so that ages matter
	divided       bool       // the rounding table is not empty
	expandable    bool
	private       bool // expandable segments serve private pools too
	splitByOption bool // expandable splitting follows the option, not the request
	collecting    bool // garbage collection can happen
	newestFirst   bool
	rejecting     bool // throw_on_cudamalloc_oom is on and no limit set

	blocks    []block // index 0 is no block
	slots     []uint32
	shelves   []*shelf  // index 0 is no shelf
	main      [2]*shelf // of the default pools and the default stream, nil before their first use
	pools     [2]*pool
	privates  []*private
	redirects []redirect
	capturing bool              // of a CUDA graph: PyTorch neither looks at events nor flushes
	extents   []extent          // index 0 is no expandable segment
	bases     map[uint64]uint64 // where the range of an initial run begins, by the run's address

	streams  []uint64 // handles
	streamOf map[uint64]int

	queues   []queue // cross-stream events, by stream
	awaited  int     // events in all queues
	deferred []uint32
	uses     map[uint32][]uint64 // streams other than its own that use a block
	captured map[uint32][]uint64 // those of them noted during a capture
	held     int                 // pending blocks in no queue
	early    []uint32            // owners of pending blocks that a flush freed

	reserved unit.Bytes // held from the driver
	stats    [statPools][stats]counter
	scalars  scalars

	scratch []uint32
}

// A redirect sends allocations to a private pool, whatever their stream:
// which of them a capture filters, no tape tells.
type redirect struct{ to *private }

func newDevice(number int, s Settings, total unit.Bytes, drv driver) *device {
	d := &device{
		number: number, total: total, driver: drv, blocks: make([]block, 1, 64), shelves: make([]*shelf, 1),
		pools: [2]*pool{newPool(true, nil), newPool(false, nil)}, extents: make([]extent, 1), streamOf: map[uint64]int{},
	}
	d.limit, d.limited = s.limit(total)
	d.configure(s)
	d.firstMaxSplit = s.MaxSplit
	d.streamIndex(0)
	return d
}

// configure puts settings in force; a limit set before stays.
func (d *device) configure(s Settings) {
	v := s.Version
	d.settings = s
	d.maxSplit = s.maxSplit()
	d.divided = s.Divisions != [intervals]uint64{}
	d.expandable = s.Expandable && v.since(v21)
	d.private = v.since(vPrivateExpandable)
	d.splitByOption = !v.since(v29)
	d.newestFirst = v.since(vNewestFirst)
	d.react()
}

// setFraction is torch.cuda.set_per_process_memory_fraction.
func (d *device) setFraction(f float64) { d.limitTo(f, d.total) }

// limitTo limits the allocator to a share of total; an unknown total, or what
// is no share, changes nothing.
func (d *device) limitTo(f float64, total unit.Bytes) {
	if total <= 0 || !(f >= 0 && f <= 1) {
		return
	}
	s := d.settings
	s.Fraction = &f
	d.limit, d.limited = s.limit(total)
	d.react()
}

// react prepares what depends on both the settings and the limit.
func (d *device) react() {
	d.collecting = d.limited && d.settings.GCThreshold > 0
	d.clocked = d.clocked || d.collecting
	d.simple = d.settings.MaxSplit == 0 && !d.collecting
	d.rejecting = !d.limited && d.settings.ThrowOnOOM && d.total < unlimited
}
