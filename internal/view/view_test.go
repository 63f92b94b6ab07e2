package view_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/internal/view"
	"github.com/plimsoll-dev/plimsoll/internal/view/viewtest"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// levels counts what is allocated and reserved after each event, the plain
// way.
func levels(t *tape.Tape, device uint8) (allocated, reserved []unit.Bytes) {
	var a, r unit.Bytes
	live := map[tape.BlockID]unit.Bytes{}
	begin := func(b tape.BlockID, n unit.Bytes) {
		live[b] = max(n, 1).RoundUp(512)
		a += live[b]
	}
	for _, s := range t.Initial {
		if s.Device != device {
			continue
		}
		r += s.Bytes
		for _, b := range s.Blocks {
			if b.State == tape.Active {
				begin(b.Block, b.Requested)
			}
		}
	}
	allocated, reserved = append(allocated, a), append(reserved, r)
	for i := range t.Len() {
		e := t.Event(i)
		if e.Device == device {
			switch e.Kind {
			case tape.Alloc:
				begin(e.Block, e.Bytes)
			case tape.Free, tape.FreeRequested:
				a -= live[e.Block]
				delete(live, e.Block)
			case tape.SegmentAlloc:
				r += e.Bytes
			case tape.SegmentFree:
				r -= e.Bytes
			}
		}
		allocated, reserved = append(allocated, a), append(reserved, r)
	}
	return allocated, reserved
}

func TestDrawingIsTheTape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tp := viewtest.Random(rapid.Uint64().Draw(t, "seed"))
		device := uint8(rapid.IntRange(0, 1).Draw(t, "device"))
		from := rapid.IntRange(0, max(tp.Len()-1, 0)).Draw(t, "from")
		to := rapid.IntRange(min(from+1, tp.Len()), tp.Len()).Draw(t, "to")
		d, err := view.New(view.Recording{Tape: tp, Device: device}, view.Options{From: from, To: to})
		if err != nil {
			t.Fatal(err)
		}
		to = d.To
		allocated, reserved := levels(tp, device)
		allocated, reserved = allocated[from:to+1], reserved[from:to+1]
		if d.States() != len(allocated) {
			t.Fatalf("%d states, want %d", d.States(), len(allocated))
		}
		sums, held := make([]unit.Bytes, d.States()), make([]unit.Bytes, d.States())
		d.Each(func(_ tape.BlockID, b tape.Block, start, end int) {
			if start >= end || end > d.States() {
				t.Fatalf("a block from state %d to %d", start, end)
			}
			for s := start; s < end; s++ {
				sums[s] += d.Size(b.Bytes)
			}
		})
		for _, s := range d.Segments {
			for k := s.Start; k < s.End; k++ {
				held[k] += s.Bytes
			}
		}
		var peak, most unit.Bytes
		for k := range sums {
			if sums[k] != allocated[k] || held[k] != reserved[k] {
				t.Fatalf("state %d: %d allocated and %d reserved, want %d and %d", k, sums[k], held[k], allocated[k], reserved[k])
			}
			peak, most = max(peak, sums[k]), max(most, held[k])
			var live unit.Bytes
			d.Live(k, func(_ tape.BlockID, b tape.Block) { live += d.Size(b.Bytes) })
			if live != sums[k] {
				t.Fatalf("state %d: %d live, want %d", k, live, sums[k])
			}
		}
		if d.Totals.Peak.Allocated != peak || allocated[d.Totals.Peak.State] != peak || d.Totals.PeakReserved.Reserved != most {
			t.Fatalf("peaks %+v and %+v, want %d and %d", d.Totals.Peak, d.Totals.PeakReserved, peak, most)
		}
		var over unit.Bytes
		for _, m := range d.Totals.Overview {
			over = max(over, m.Allocated)
		}
		if over != peak {
			t.Fatalf("the overview reaches %d, want %d", over, peak)
		}
	})
}

func TestUnmappingCutsSegments(t *testing.T) {
	var b tape.Builder
	for _, e := range []tape.Event{
		{Kind: tape.SegmentMap, Addr: 1 << 30, Bytes: 60 * unit.MiB},
		{Kind: tape.SegmentMap, Addr: 1<<30 + 60<<20, Bytes: 20 * unit.MiB},
		{Kind: tape.SegmentUnmap, Addr: 1<<30 + 20<<20, Bytes: 50 * unit.MiB},
	} {
		if _, err := b.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	d, err := view.New(view.Recording{Tape: b.Tape()}, view.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var left unit.Bytes
	for _, s := range d.Segments {
		if s.Start < 3 && s.End > 3 {
			t.Errorf("%+v goes on through the unmapping", s)
		}
		if s.Start <= 3 && s.End == d.States() {
			left += s.Bytes
		}
	}
	if want := 30 * unit.MiB; left != want || d.Totals.Last.Reserved != want {
		t.Errorf("%s are left, %s by the events, want %s", left, d.Totals.Last.Reserved, want)
	}
}

func TestTooManyBlocksNarrowTheRange(t *testing.T) {
	w := &tape.Writer{}
	for i := range 20_000 {
		b := w.Alloc(unit.Bytes(i%100+1)*unit.MiB, tape.Temporary)
		w.Free(b)
	}
	big := w.Alloc(unit.GiB, tape.Temporary)
	w.Free(big)
	for range 20_000 {
		w.Free(w.Alloc(unit.MiB, tape.Temporary))
	}
	d, err := view.New(view.Recording{Tape: w.Tape()}, view.Options{MostBlocks: 3000})
	if err != nil {
		t.Fatal(err)
	}
	if !d.Narrowed || d.BlockCount() > 3000 || d.Totals.Peak.Allocated != unit.GiB {
		t.Errorf("narrowed %v to %d blocks with a peak of %s", d.Narrowed, d.BlockCount(), d.Totals.Peak.Allocated)
	}
}

func TestWhatCannotBeDrawn(t *testing.T) {
	w := &tape.Writer{}
	for range 8 {
		w.Alloc(1<<60, tape.Unknown)
	}
	if _, err := view.New(view.Recording{Tape: w.Tape()}, view.Options{}); err == nil {
		t.Error("8 EiB are drawn")
	}
	if _, err := view.New(view.Recording{Tape: w.Tape()}, view.Options{From: 9, To: math.MaxInt}); !errors.Is(err, view.ErrRange) {
		t.Errorf("error %v, want ErrRange", err)
	}
	if d, err := view.New(view.Recording{Tape: &tape.Tape{}}, view.Options{}); err != nil || d.States() != 1 || d.BlockCount() != 0 {
		t.Errorf("the empty tape gives %v", err)
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		want   string
		frames []tape.Frame
	}{
		{"me/train.py:41 forward", []tape.Frame{
			{Name: "at::native::relu(at::Tensor const&)", File: "??"}, {Name: "_call_impl", File: "/usr/lib/python3/dist-packages/torch/nn/modules/module.py", Line: 1501},
			{Name: "forward", File: "/home/me/train.py", Line: 41}, {Name: "main", File: "/home/me/train.py", Line: 90},
		}},
		{"backward, MmBackward0", []tape.Frame{
			{Name: "torch::unwind::unwind()", File: "??"}, {Name: "at::native::mm(at::Tensor const&)", File: "??"},
			{Name: "torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)", File: "??"}, {Name: "torch::autograd::Engine::thread_main()", File: "??"},
		}},
		{"at::native::mm", []tape.Frame{{Name: "torch::unwind::unwind()", File: "??"}, {Name: "c10::cuda::CUDACachingAllocator::malloc()", File: "??"}, {Name: "at::native::mm(at::Tensor const&)", File: "??"}}},
		{"torch/module.py:7 run", []tape.Frame{{Name: "run", File: `C:\Python\Lib\site-packages\torch\module.py`, Line: 7}}},
		{"me/train.py:9, in transformers/models/llama/modeling_llama.py:89 forward", []tape.Frame{
			{Name: "_call_impl", File: "/env/lib/python3.10/site-packages/torch/nn/modules/module.py", Line: 1501}, {Name: "new_forward", File: "/env/lib/python3.10/site-packages/accelerate/hooks.py", Line: 166},
			{Name: "forward", File: "/env/lib/python3.10/site-packages/transformers/models/llama/modeling_llama.py", Line: 89}, {Name: "wrapper", File: "/usr/lib/python3.10/contextlib.py", Line: 5}, {Name: "<module>", File: "/home/me/train.py", Line: 9},
		}},
		{"code/train.py:9 main", []tape.Frame{{Name: "inner", File: `C:\Users\me\AppData\Local\Programs\Python\Python310\lib\contextlib.py`, Line: 5}, {Name: "main", File: `D:\code\train.py`, Line: 9}}},
		{"void f<int>", []tape.Frame{{Name: "void f<int>(int)", File: "??"}}},
		{view.NoLine, nil},
	} {
		tp := &tape.Tape{}
		site := tp.InternSite(c.frames)
		tp.Append(tape.Event{Kind: tape.Alloc, Bytes: 512, Site: site})
		d, err := view.New(view.Recording{Tape: tp}, view.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Lines.Name(d.Lines.Of(site)); got != c.want {
			t.Errorf("line %q, want %q", got, c.want)
		}
	}
}
