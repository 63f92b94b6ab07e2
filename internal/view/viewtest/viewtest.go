// Package viewtest makes tapes for the tests of drawings.
package viewtest

import (
	"math/rand/v2"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Random makes a tape of two devices with segments, frees in two parts, and
// stacks.
func Random(seed uint64) *tape.Tape {
	m := &maker{rnd: rand.New(rand.NewPCG(seed, 7)), live: map[uint8][]uint64{}, next: 1 << 40, time: 1_700_000_000_000_000}
	tp := m.b.Tape()
	m.sites = []tape.SiteID{0, tp.InternSite([]tape.Frame{{Name: "forward", File: "net.py", Line: 3}}), tp.InternSite([]tape.Frame{{Name: "step", File: "opt.py", Line: 9}})}
	for i := range m.rnd.IntN(4) {
		addr := uint64(1+i) << 32
		must(m.b.Initial(tape.Segment{Addr: addr, Bytes: 8192, Device: uint8(i % 2), Blocks: []tape.SegmentBlock{
			{Addr: addr, Bytes: 1024, Requested: 1000, State: tape.State(m.rnd.IntN(3)), Block: tape.NoBlock},
			{Addr: addr + 1024, Bytes: 2048, Requested: 2048, State: tape.Active, Block: tape.NoBlock},
			{Addr: addr + 3072, Bytes: 5120, Block: tape.NoBlock},
		}}))
	}
	for range m.rnd.IntN(60) {
		m.event()
	}
	return tp
}

type maker struct {
	b     tape.Builder
	rnd   *rand.Rand
	sites []tape.SiteID
	live  map[uint8][]uint64
	next  uint64
	time  int64
}

// must ends a test whose tape cannot be.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func (m *maker) add(e tape.Event) {
	_, err := m.b.Add(e)
	must(err)
}

func (m *maker) event() {
	device := uint8(m.rnd.IntN(2))
	m.time += int64(m.rnd.IntN(10))
	m.next += 1 << 21
	live := m.live[device]
	e := tape.Event{Device: device, Time: m.time, Site: m.sites[m.rnd.IntN(3)]}
	switch k := m.rnd.IntN(10); {
	case k < 5 || len(live) == 0 && k < 8:
		e.Kind, e.Addr, e.Bytes = tape.Alloc, m.next, unit.Bytes(1+m.rnd.IntN(4096))
		m.live[device] = append(live, m.next)
	case k < 8:
		n := m.rnd.IntN(len(live))
		e.Addr = live[n]
		m.live[device] = append(live[:n], live[n+1:]...)
		if k == 7 {
			e.Kind = tape.FreeRequested
			m.add(e)
		}
		e.Kind = tape.Free
	case k == 8:
		e.Kind, e.Addr, e.Bytes = tape.SegmentAlloc, m.next, 2*unit.MiB
	default:
		e.Kind, e.Bytes = tape.Snapshot, 7
	}
	m.add(e)
}

// Hostile makes a tape whose texts try to be more than text, and whose numbers
// are large.
func Hostile() *tape.Tape {
	const script = `</script><script>document.title='owned'</script><img src=x onerror="document.title='owned'">`
	w := &tape.Writer{}
	t := w.Tape()
	names := []string{script, "=HYPERLINK(\"x\")", "\x00\xff\xfe", "'; DROP TABLE blocks; --", "\u202egnp.exe", string(make([]byte, 5000))}
	for i, n := range names {
		w.Site = t.InternSite([]tape.Frame{{Name: n, File: n + ".py", Line: i}, {Name: "]]>" + n, File: "/x/" + n, Line: -1}})
		w.Mark(tape.MarkModuleEnter, n, 0)
		b := w.Alloc(unit.Bytes(1)<<(10*(i+1)-9), tape.Category(i))
		if i%2 == 0 {
			w.Free(b)
		}
		w.Mark(tape.MarkStep, n, int64(i)<<60)
	}
	t.SetMeta("gpu", script)
	t.SetMeta("capacity_bytes", "99999999999999999999999")
	return t
}
