package alloc

import (
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// size draws a request: often one of the sizes at which the rules change.
var size = rapid.Custom(func(t *rapid.T) unit.Bytes {
	edges := []unit.Bytes{1, 512, 513, unit.MiB, unit.MiB + 1, 2 * unit.MiB, 10*unit.MiB - 512, 10 * unit.MiB, 10*unit.MiB + 1, 19 * unit.MiB, 20 * unit.MiB, 64 * unit.MiB}
	if rapid.Bool().Draw(t, "edge") {
		return rapid.SampledFrom(edges).Draw(t, "size")
	}
	return unit.Bytes(rapid.Int64Range(1, 1<<rapid.IntRange(1, 27).Draw(t, "log2")).Draw(t, "size"))
})

// configs are settings that change where blocks go.
var configs = []string{
	"", "expandable_segments:True", "max_split_size_mb:32", "expandable_segments:True,max_split_size_mb:32",
	"roundup_power2_divisions:4", "large_segment_size_mb:32", "expandable_segments:True,large_segment_size_mb:30",
	"max_split_size_mb:24,max_non_split_rounding_mb:40",
}

func settings(t interface{ Fatal(...any) }, config string) Settings {
	s, err := ParseSettings(config, Version{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAgainstNaive compares the fast allocator with the plain one after every
// step of random programs.
func TestAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		config := rapid.SampledFrom(configs).Draw(t, "config")
		total := unit.MiB * unit.Bytes(rapid.Int64Range(10, 400).Draw(t, "MiB")) &^ (2*unit.MiB - 1)
		s := settings(t, config)
		m, err := New(s, total)
		if err != nil {
			t.Fatal(err)
		}
		n := &naive{settings: s, total: total, next: firstAddress}
		var handles []Handle
		var pieces []*piece
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "action") {
			default:
				stream := uint64(rapid.SampledFrom([]int{0, 0, 0, 7}).Draw(t, "stream"))
				request := size.Draw(t, "request")
				h, err := m.Alloc(0, stream, request)
				p := n.alloc(request, stream)
				if (err != nil) != (p == nil) {
					t.Fatalf("%d bytes: %v, the plain one says %v", request, err, p)
				}
				if p != nil {
					handles, pieces = append(handles, h), append(pieces, p)
				}
			case 6, 7, 8:
				if len(handles) == 0 {
					continue
				}
				i := rapid.IntRange(0, len(handles)-1).Draw(t, "which")
				if err := m.Free(handles[i]); err != nil {
					t.Fatal(err)
				}
				n.free(pieces[i])
				handles, pieces = append(handles[:i:i], handles[i+1:]...), append(pieces[:i:i], pieces[i+1:]...)
			case 9:
				m.EmptyCache()
				n.flush()
			}
			check(t, m)
			agree(t, m, n, handles, pieces)
		}
	})
}

func agree(t *rapid.T, m *Simulator, n *naive, handles []Handle, pieces []*piece) {
	d := m.devices[0]
	if d.driver.(*books).used != n.used || int(d.scalars.retries) != n.retries {
		t.Fatalf("%d bytes held after %d retries, the plain one has %d after %d", d.driver.(*books).used, d.scalars.retries, n.used, n.retries)
	}
	for i, p := range pieces {
		if size, addr, _, err := m.Place(handles[i]); err != nil || size != p.size || addr != p.addr {
			t.Fatalf("block %d has %d bytes at %#x (%v), the plain one %d at %#x", i, size, addr, err, p.size, p.addr)
		}
	}
}

// program draws a tape with allocs and frees on one or two devices.
func program(t *rapid.T) *tape.Tape {
	tp := &tape.Tape{}
	devices := rapid.IntRange(1, 2).Draw(t, "devices")
	side := tp.InternStream(99)
	var blocks []tape.BlockID
	for range rapid.IntRange(1, 80).Draw(t, "events") {
		switch n := rapid.IntRange(0, 9).Draw(t, "action"); {
		case n < 6 || len(blocks) == 0:
			e := tape.Event{Kind: tape.Alloc, Bytes: size.Draw(t, "bytes"), Device: uint8(rapid.IntRange(0, devices-1).Draw(t, "device"))}
			if rapid.IntRange(0, 4).Draw(t, "side") == 0 {
				e.Stream = side
			}
			blocks = append(blocks, tp.Event(tp.Append(e)).Block)
		case n < 9:
			i := rapid.IntRange(0, len(blocks)-1).Draw(t, "which")
			b := blocks[i]
			blocks = append(blocks[:i:i], blocks[i+1:]...)
			if rapid.Bool().Draw(t, "requested") {
				tp.Append(tape.Event{Kind: tape.FreeRequested, Block: b})
			}
			if rapid.IntRange(0, 9).Draw(t, "pending") > 0 {
				tp.Append(tape.Event{Kind: tape.Free, Block: b})
			}
		default:
			tp.Append(tape.Event{Kind: tape.EmptyCache, Block: tape.NoBlock})
		}
	}
	return tp
}

func replayed(t *rapid.T, tp *tape.Tape, s Settings, capacity unit.Bytes) *Timeline {
	tl, err := Replay(tp, s, capacity)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range tl.replay.devices {
		checkDevice(t, d)
	}
	return tl
}

// outcome is what two replays can be compared by.
func outcome(tl *Timeline) []DeviceTimeline { return tl.Devices }

func TestReplayIsDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tp, s := program(t), settings(t, rapid.SampledFrom(configs).Draw(t, "config"))
		capacity := unit.MiB * unit.Bytes(rapid.Int64Range(0, 500).Draw(t, "MiB"))
		a, b := replayed(t, tp, s, capacity), replayed(t, tp, s, capacity)
		if !reflect.DeepEqual(outcome(a), outcome(b)) || !reflect.DeepEqual(a.OOM, b.OOM) {
			t.Fatal("two replays differ")
		}
	})
}

// TestRoomChangesNothing: where a tape fits without a retry, more memory
// changes nothing. (Where it fits only with retries, more memory may well
// leave more fragments, so that nothing can be said.) Expandable segments are
// left out: the length of their ranges follows from the capacity, and with it
// which free block is the best.
func TestRoomChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		config := rapid.SampledFrom([]string{"", "max_split_size_mb:32", "roundup_power2_divisions:4", "large_segment_size_mb:32"}).Draw(t, "config")
		tp, s := program(t), settings(t, config)
		all := replayed(t, tp, s, 0)
		if all.OOM != nil {
			t.Fatalf("out of memory without a limit: %v", all.OOM.Err)
		}
		var need unit.Bytes
		for _, d := range all.Devices {
			need = max(need, d.Peak.Reserved)
			if d.Retries != 0 {
				t.Fatal("a retry without a limit")
			}
		}
		fits := replayed(t, tp, s, need+unit.MiB*unit.Bytes(rapid.Int64Range(0, 100).Draw(t, "more")))
		if fits.OOM != nil || !reflect.DeepEqual(outcome(fits), outcome(all)) {
			t.Fatal("a device of the size of the peak behaves otherwise")
		}
	})
}

func TestNothingOverTheCapacity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tp, s := program(t), settings(t, rapid.SampledFrom(configs).Draw(t, "config"))
		capacity := unit.MiB * unit.Bytes(rapid.Int64Range(1, 300).Draw(t, "MiB"))
		tl := replayed(t, tp, s, capacity)
		for _, d := range tl.Devices {
			if d.Peak.Reserved > capacity || d.Peak.Allocated > d.Peak.Reserved || d.Peak.Requested > d.Peak.Reserved {
				t.Fatalf("peaks %+v on a device of %d bytes", d.Peak, capacity)
			}
			if d.AtAllocated.Allocated != d.Peak.Allocated || d.Peak.Allocated > d.AtAllocated.Reserved {
				t.Fatalf("peak %+v, level there %+v", d.Peak, d.AtAllocated)
			}
		}
		if tl.OOM != nil && !errors.As(error(tl.OOM.Err), new(*OOMError)) {
			t.Fatal("a failure without its error")
		}
	})
}

// TestLiveBlocksSumToTheLevel: what Live lists at a peak is what the peak
// consists of.
func TestLiveBlocksSumToTheLevel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tp, s := program(t), settings(t, rapid.SampledFrom(configs).Draw(t, "config"))
		tl := replayed(t, tp, s, 0)
		for n, d := range tl.Devices {
			var sum unit.Bytes
			for _, b := range tl.Live(d.PeakAllocatedEvent) {
				if b.Device == n {
					sum += b.Bytes
					if got := tp.Block(b.Block); got.Bytes != b.Requested || int(got.Device) != n {
						t.Fatalf("block %+v, on the tape %+v", b, got)
					}
				}
			}
			if sum != d.Peak.Allocated {
				t.Fatalf("live blocks of device %d have %d bytes, the peak is %d", n, sum, d.Peak.Allocated)
			}
			var held unit.Bytes
			for _, seg := range tl.Segments(n, d.PeakReservedEvent) {
				held += seg.Bytes
			}
			if held != d.AtReserved.Reserved {
				t.Fatalf("segments of device %d have %d bytes, the level is %d", n, held, d.AtReserved.Reserved)
			}
		}
	})
}

func TestCurveHasThePeaks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tp, s := program(t), settings(t, rapid.SampledFrom(configs).Draw(t, "config"))
		points := rapid.IntRange(1, 30).Draw(t, "points")
		plain := replayed(t, tp, s, 0)
		tl, err := ReplayCurve(tp, s, 0, points)
		if err != nil {
			t.Fatal(err)
		}
		for n := range tl.Devices {
			d := &tl.Devices[n]
			if len(d.Curve) != min(points, tp.Len()) {
				t.Fatalf("%d points, want %d", len(d.Curve), points)
			}
			var peak Level
			for i, p := range d.Curve {
				if i > 0 && p.Event <= d.Curve[i-1].Event {
					t.Fatalf("points %+v", d.Curve)
				}
				peak = Level{max(peak.Requested, p.Requested), max(peak.Allocated, p.Allocated), max(peak.Reserved, p.Reserved)}
			}
			if peak != d.Peak {
				t.Fatalf("the curve's peak is %+v, the device's %+v", peak, d.Peak)
			}
			d.Curve = nil
		}
		if !reflect.DeepEqual(outcome(tl), outcome(plain)) {
			t.Fatal("the curve changes the replay")
		}
	})
}
