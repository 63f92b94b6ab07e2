package tape

// A blockTable holds one row a block.
type blockTable struct {
	bytes        column[uint32]     // cells of the wide table
	addrs        column[uint32]     // cells of the window table
	allocs       column[uint32]     // event index or noEvent
	frees        column[uint32]     // event index or noEvent
	labels       column[uint16]     // lane and category
	initialSites map[BlockID]SiteID // blocks that have no Alloc event to carry their site
}

func (b *blockTable) len() int { return b.bytes.len() }

func (b *blockTable) append(bytes, addr uint32, lane uint16, c Category, alloc uint32) BlockID {
	id := BlockID(b.len())
	b.bytes.append(bytes)
	b.addrs.append(addr)
	b.allocs.append(alloc)
	b.frees.append(noEvent)
	b.labels.append(lane | uint16(c)<<laneBits)
	return id
}

// A label cell has the lane in its low bits and the category above.
const (
	laneBits = 12
	maxLanes = 1 << laneBits
)

func (b *blockTable) lane(n int) uint16 { return b.labels.at(n) & (maxLanes - 1) }

func (b *blockTable) category(n int) Category { return Category(b.labels.at(n) >> laneBits) }

func (b *blockTable) setCategory(n int, c Category) { b.labels.set(n, b.lane(n)|uint16(c)<<laneBits) }

// An asideTable holds one row for each event that has no block.
type asideTable struct {
	bytes column[uint32]
	addrs column[uint32]
	lanes column[uint16]
}

func (a *asideTable) append(bytes, addr uint32, lane uint16) uint32 {
	ref := uint32(a.bytes.len())
	a.bytes.append(bytes)
	a.addrs.append(addr)
	a.lanes.append(lane)
	return ref
}

// A laneTable interns pairs of device and stream.
type laneTable struct {
	lanes []lane
	index map[lane]uint16
	last  lane // the most recent one, which nearly always comes again
	lastN uint16
}

type lane struct {
	device uint8
	stream StreamID
}

func (l *laneTable) at(n uint16) (uint8, StreamID) {
	return l.lanes[n].device, l.lanes[n].stream
}

// intern returns the number of a lane; ok is false when all 4,096
// lanes are taken.
func (l *laneTable) intern(device uint8, stream StreamID) (n uint16, ok bool) {
	key := lane{device, stream}
	if len(l.lanes) > 0 && l.last == key {
		return l.lastN, true
	}
	n, ok = l.index[key]
	if !ok {
		if len(l.lanes) == maxLanes {
			return 0, false
		}
		if l.index == nil {
			l.index = map[lane]uint16{}
		}
		n = uint16(len(l.lanes))
		l.lanes = append(l.lanes, key)
		l.index[key] = n
	}
	l.last, l.lastN = key, n
	return n, true
}

// Devices returns the number of devices on the tape: the highest device of
// an event or initial segment plus one.
func (t *Tape) Devices() int {
	n := 0
	for _, l := range t.lanes.lanes {
		n = max(n, int(l.device)+1)
	}
	return n
}

// DeviceNumbers returns the numbers of the devices on the tape, rising.
func (t *Tape) DeviceNumbers() []uint8 {
	var seen [256]bool
	for _, l := range t.lanes.lanes {
		seen[l.device] = true
	}
	var out []uint8
	for n, there := range seen {
		if there {
			out = append(out, uint8(n))
		}
	}
	return out
}
