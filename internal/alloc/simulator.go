// Package alloc is a model of PyTorch's CUDA caching allocator that is exact
// to the byte: given the requests, it says which blocks and segments PyTorch
// would make of them, what it would report, and where it would run out.
//
// Sizes are what the allocator sees after rounding, so the sum of a tape's
// requests is always less than the peak reported here. Addresses are not
// PyTorch's, since the driver chooses them: between free blocks of equal size
// in different segments the model takes the lower of its own addresses.
//
// It models devices that one process uses alone; it knows nothing about the
// CUDA context, which the caller takes off the capacity.
package alloc

import (
	"errors"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Simulator is the allocator of one process. It is not safe for use by
// several goroutines.
type Simulator struct {
	devices []*device
}

// A Handle names a block that was handed out.
type Handle struct {
	device uint32
	index  uint32
}

// Errors of a Simulator's methods.
var (
	ErrDevice  = errors.New("no such device")
	ErrHandle  = errors.New("block is not in use")
	ErrPool    = errors.New("no such private pool")
	ErrBackend = errors.New("backend cudaMallocAsync is the driver's allocator, which is not simulated")
)

// New returns the allocator for devices with the given capacities. A
// capacity is what the driver has free for the process; 0 is no limit.
func New(s Settings, capacities ...unit.Bytes) (*Simulator, error) {
	if s.Backend == "cudaMallocAsync" {
		return nil, ErrBackend
	}
	m := &Simulator{}
	for i, c := range capacities {
		k := newBooks(c)
		m.devices = append(m.devices, newDevice(i, s, k.total, k))
	}
	return m, nil
}

func (m *Simulator) device(n int) (*device, error) {
	if n < 0 || n >= len(m.devices) {
		return nil, fmt.Errorf("device %d: %w", n, ErrDevice)
	}
	return m.devices[n], nil
}

// inUse returns the device of a block that is handed out.
func (m *Simulator) inUse(h Handle) (*device, error) {
	d, err := m.device(int(h.device))
	if err == nil && (h.index == 0 || int(h.index) >= len(d.blocks) || d.blocks[h.index].state != live) {
		err = ErrHandle
	}
	return d, err
}

// Alloc hands out a block of at least n bytes on a stream, given by its
// handle. The zero Handle for n = 0 names no block. The error is an
// *OOMError when the device is full.
func (m *Simulator) Alloc(device int, stream uint64, n unit.Bytes) (Handle, error) {
	d, err := m.device(device)
	if err != nil || n <= 0 {
		return Handle{}, err
	}
	i, err := d.malloc(n, d.streamIndex(stream))
	return Handle{uint32(device), i}, err
}

// Free gives a block up.
func (m *Simulator) Free(h Handle) error {
	if h.index == 0 {
		return nil
	}
	d, err := m.inUse(h)
	if err == nil {
		d.giveUp(h.index)
	}
	return err
}

// RecordStream is Tensor.record_stream: the block is used by another stream
// and, when given up, waits until that stream is done.
func (m *Simulator) RecordStream(h Handle, stream uint64) error {
	d, err := m.inUse(h)
	if err == nil {
		d.recordStream(h.index, stream)
	}
	return err
}

// StreamDone says that everything queued on a stream so far is over. The
// allocator notices at the next Alloc.
func (m *Simulator) StreamDone(device int, stream uint64) error {
	d, err := m.device(device)
	if err == nil {
		d.streamDone(stream)
	}
	return err
}

// EmptyCache is torch.cuda.empty_cache.
func (m *Simulator) EmptyCache() {
	for _, d := range m.devices {
		d.emptyCache()
	}
}

// PoolBegin redirects a device's allocations to a private pool, as the
// capture of a CUDA graph and use_mem_pool do.
func (m *Simulator) PoolBegin(device int, pool PoolID) error {
	d, err := m.device(device)
	if err == nil {
		d.poolBegin(pool)
	}
	return err
}

// PoolEnd ends the redirection.
func (m *Simulator) PoolEnd(device int, pool PoolID) error {
	d, err := m.device(device)
	if err == nil && !d.poolEnd(pool) {
		err = ErrPool
	}
	return err
}

// PoolRelease gives up one use of a private pool, as the end of a graph does.
func (m *Simulator) PoolRelease(device int, pool PoolID) error {
	d, err := m.device(device)
	if err == nil && !d.poolRelease(pool) {
		err = ErrPool
	}
	return err
}

// SetFraction is torch.cuda.set_per_process_memory_fraction.
func (m *Simulator) SetFraction(device int, fraction float64) error {
	d, err := m.device(device)
	if err == nil {
		d.setFraction(fraction)
	}
	return err
}

// SetSettings reads a string on top of the settings in force, as
// torch.cuda.memory._set_allocator_settings does.
func (m *Simulator) SetSettings(text string) error {
	for _, d := range m.devices {
		s, err := d.settings.Parse(text)
		if err != nil {
			return err
		}
		d.configure(s)
	}
	return nil
}

// Stats returns the counters of torch.cuda.memory_stats under their names
// there, such as "allocated_bytes.all.peak", and nil for no such device.
func (m *Simulator) Stats(device int) map[string]int64 {
	d, err := m.device(device)
	if err != nil {
		return nil
	}
	return d.statistics()
}

// Place returns where a block lies and how large it is: its size, the
// address, and the offset in its segment or, in an expandable segment, in the
// address range.
func (m *Simulator) Place(h Handle) (size unit.Bytes, addr, offset uint64, err error) {
	d, err := m.inUse(h)
	if err != nil {
		return 0, 0, 0, err
	}
	b := d.blocks[h.index]
	return b.size, b.addr, b.addr - d.base(h.index), nil
}

// base is the address of the segment or range that block i is part of.
func (d *device) base(i uint32) uint64 {
	if e := d.blocks[i].extent; e != 0 {
		return d.extents[e].addr
	}
	for d.blocks[i].prev != 0 {
		i = d.blocks[i].prev
	}
	return d.blocks[i].addr
}
