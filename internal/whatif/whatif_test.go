package whatif

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// workload is a random run of allocations and frees of one device.
func workload(t *rapid.T) *tape.Tape {
	tp := &tape.Tape{}
	device := uint8(rapid.IntRange(0, 2).Draw(t, "device"))
	var live []tape.BlockID
	for range rapid.IntRange(1, 60).Draw(t, "events") {
		if len(live) > 0 && rapid.IntRange(0, 2).Draw(t, "free") == 0 {
			k := rapid.IntRange(0, len(live)-1).Draw(t, "which")
			tp.Append(tape.Event{Kind: tape.FreeRequested, Block: live[k], Device: device})
			tp.Append(tape.Event{Kind: tape.Free, Block: live[k], Device: device})
			live = append(live[:k], live[k+1:]...)
			continue
		}
		live = append(live, tape.BlockID(tp.Blocks()))
		tp.Append(tape.Event{Kind: tape.Alloc, Device: device, Bytes: unit.Bytes(rapid.IntRange(1, 64<<20).Draw(t, "bytes"))})
	}
	return tp
}

func TestNeedsIsTheSmallestRoomThatDoes(t *testing.T) {
	a, err := New("", "2.15.0+cu132")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		tp := workload(t)
		free, err := a.Replay(tp, Endless)
		if err != nil || free.OOM {
			t.Fatalf("%+v, %v", free, err)
		}
		needs, err := a.Needs(tp, free)
		if err != nil || needs > free.Reserved.RoundUp(granularity) || needs < free.Allocated {
			t.Fatalf("needs %d, %v, allocated %d, reserved %d", needs, err, free.Allocated, free.Reserved)
		}
		if at, err := a.Replay(tp, needs); err != nil || at.OOM {
			t.Fatalf("does not replay in %d: %+v, %v", needs, at, err)
		}
	})
}

func TestASettingThatPyTorchRefusesIsRefused(t *testing.T) {
	if _, err := New("expandable_segments:yes", "2.15.0"); err == nil {
		t.Error("accepted")
	}
	if _, err := New("", "not a version"); err != nil {
		t.Errorf("an unknown version: %v", err)
	}
}

func TestARecordingThatDoesNotFitSaysWhere(t *testing.T) {
	a, err := New("", "2.15.0")
	if err != nil {
		t.Fatal(err)
	}
	tp := &tape.Tape{}
	tp.Append(tape.Event{Kind: tape.Alloc, Bytes: 20 * unit.MiB})
	tp.Append(tape.Event{Kind: tape.Alloc, Bytes: 40 * unit.MiB})
	out, err := a.Replay(tp, 50*unit.MiB)
	if err != nil || !out.OOM || out.OOMEvent != 1 || out.Allocated != 20*unit.MiB {
		t.Errorf("%+v, %v", out, err)
	}
	if out, err := a.Replay(tp, 0); err != nil || !out.OOM {
		t.Errorf("no room at all: %+v, %v", out, err)
	}
	if _, err := New("backend:cudaMallocAsync", "2.15.0"); err == nil {
		b, _ := New("backend:cudaMallocAsync", "2.15.0")
		if _, err := b.Replay(tp, Endless); err == nil || !strings.Contains(err.Error(), "cudaMallocAsync") {
			t.Errorf("the driver's allocator: %v", err)
		}
	}
}
