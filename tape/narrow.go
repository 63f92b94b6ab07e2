package tape

import "github.com/plimsoll-dev/plimsoll/unit"

// wideFlag marks a 32-bit cell that holds an index into the wide table
// instead of the value itself.
const wideFlag = 1 << 31

// A wideTable interns the values that do not fit 31 bits: sizes of 2 GiB and
// more, odd addresses, times far from their neighbours. They are few.
type wideTable struct {
	values []uint64
	index  map[uint64]uint32
}

func (w *wideTable) cell(v uint64) uint32 {
	if i, ok := w.index[v]; ok {
		return wideFlag | i
	}
	if w.index == nil {
		w.index = map[uint64]uint32{}
	}
	i := uint32(len(w.values))
	w.values = append(w.values, v)
	w.index[v] = i
	return wideFlag | i
}

func (w *wideTable) value(cell uint32) uint64 { return w.values[cell&^wideFlag] }

func (w *wideTable) size(cell uint32) unit.Bytes {
	if cell < wideFlag {
		return unit.Bytes(cell)
	}
	return unit.Bytes(w.value(cell))
}

func (w *wideTable) sizeCell(b unit.Bytes) uint32 {
	if b >= 0 && b < wideFlag {
		return uint32(b)
	}
	return w.cell(uint64(b))
}

// A windowTable shortens addresses. Blocks lie on 512-byte boundaries in a
// few regions of 4 GiB, so that 8 bits for the region and 23 for the place in
// it are enough; any other address goes to the wide table.
type windowTable struct {
	regions []uint64 // address >> 32
}

const (
	placeBits  = 23
	placeShift = 9
	regionBits = 32
	maxRegions = 1 << (31 - placeBits)
)

func (w *windowTable) address(cell uint32, wide *wideTable) uint64 {
	if cell >= wideFlag {
		return wide.value(cell)
	}
	if len(w.regions) == 0 {
		return 0
	}
	return w.regions[cell>>placeBits]<<regionBits | uint64(cell&(1<<placeBits-1))<<placeShift
}

func (w *windowTable) cell(addr uint64, wide *wideTable) uint32 {
	if addr&(1<<placeShift-1) != 0 {
		return wide.cell(addr)
	}
	place := uint32(addr>>placeShift) & (1<<placeBits - 1)
	for i, r := range w.regions {
		if r == addr>>regionBits {
			return uint32(i)<<placeBits | place
		}
	}
	if len(w.regions) == maxRegions {
		return wide.cell(addr)
	}
	w.regions = append(w.regions, addr>>regionBits)
	return uint32(len(w.regions)-1)<<placeBits | place
}

// timeBias leaves room for times before the first one of their chunk; clocks
// of different devices need not agree.
const timeBias = 1 << 30

// time is that of event i. A tape without times, as one that was computed, has
// none in its column.
func (t *Tape) time(i int) int64 {
	if i >= t.times.len() {
		return 0
	}
	cell := t.times.at(i)
	switch {
	case cell == 0:
		return 0
	case cell < wideFlag:
		return t.bases[i>>chunkBits] + int64(cell) - timeBias
	default:
		return int64(t.wide.value(cell))
	}
}

func (t *Tape) appendTime(us int64) {
	if t.times.len() == 0 && us == 0 {
		return
	}
	for t.times.len() < t.Len()-1 {
		t.appendTimeCell(0)
	}
	t.appendTimeCell(us)
}

func (t *Tape) appendTimeCell(us int64) {
	chunk := t.times.len() >> chunkBits
	if chunk == len(t.bases) {
		t.bases = append(t.bases, 0)
	}
	if us == 0 {
		t.times.append(0)
		return
	}
	if t.bases[chunk] == 0 {
		t.bases[chunk] = us
	}
	offset := us - t.bases[chunk] + timeBias
	if offset <= 0 || offset >= wideFlag || (us < 0) != (t.bases[chunk] < 0) {
		t.times.append(t.wide.cell(uint64(us)))
		return
	}
	t.times.append(uint32(offset))
}
