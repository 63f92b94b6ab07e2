package alloc

import (
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// trainingTape makes a tape of training steps: parameters and states that
// stay, activations that live from the forward to the backward pass,
// temporaries that die young, gradients that live to the step's end. Each
// block has the three events that PyTorch records, or just the two that
// matter.
func trainingTape(events int, requested bool) *tape.Tape {
	t := &tape.Tape{}
	alloc := func(n unit.Bytes) tape.BlockID {
		return t.Event(t.Append(tape.Event{Kind: tape.Alloc, Bytes: n})).Block
	}
	release := func(b tape.BlockID) {
		if requested {
			t.Append(tape.Event{Kind: tape.FreeRequested, Block: b})
		}
		t.Append(tape.Event{Kind: tape.Free, Block: b})
	}
	const layers, width = 24, 1024
	var weights []unit.Bytes
	for range layers {
		weights = append(weights, 4*width, 4*width, 12*width*width, 12*width, 4*width*width, 4*width, 16*width*width, 16*width, 16*width*width, 4*width)
	}
	for _, w := range weights {
		alloc(w)
		alloc(w)
		alloc(w)
	}
	for step := 0; t.Len() < events; step++ {
		tokens := unit.Bytes(8 * (384 + 64*(step%3)))
		var saved []tape.BlockID
		for range layers {
			for _, n := range []unit.Bytes{4 * width, 8, 12 * width, 4 * width, 16 * width, 16 * width, 4 * width, tokens / 8 * 16, 1} {
				temporary := alloc(tokens * 4 * width)
				saved = append(saved, alloc(tokens*n+unit.Bytes(len(saved)%5)*512))
				release(temporary)
			}
		}
		var grads []tape.BlockID
		for i := len(saved) - 1; i >= 0; i-- {
			temporary := alloc(tokens * 4 * width)
			if i < len(weights) {
				grads = append(grads, alloc(weights[i]))
			}
			release(saved[i])
			small := alloc(unit.Bytes(256 * (i%7 + 1)))
			release(temporary)
			release(small)
		}
		for _, g := range grads {
			update := alloc(t.Block(g).Bytes)
			release(update)
			release(g)
		}
	}
	return t
}

// holeTape makes a tape that leaves thousands of free blocks of few sizes
// between blocks in use: the worst for an allocator's search.
func holeTape(events int) *tape.Tape {
	t := &tape.Tape{}
	var blocks []tape.BlockID
	alloc := func(i int) {
		blocks = append(blocks, t.Event(t.Append(tape.Event{Kind: tape.Alloc, Bytes: unit.Bytes(512 * (1 + i%3))})).Block)
	}
	for i := range events / 4 {
		alloc(i)
	}
	for i := uint32(1); t.Len() < events; i++ {
		n := i * 2654435769 % uint32(len(blocks))
		t.Append(tape.Event{Kind: tape.Free, Block: blocks[n]})
		blocks[n] = blocks[len(blocks)-1]
		blocks = blocks[:len(blocks)-1]
		if i%5 != 0 {
			alloc(int(i))
		}
	}
	return t
}

// BenchmarkReplay reports the events a second of one core: on average, by the
// processor time that was used, and of the fastest run. A run takes a few
// milliseconds, so that the fastest one is undisturbed even on a busy machine.
func BenchmarkReplay(b *testing.B) {
	training, pairs, holes := trainingTape(100_000, true), trainingTape(100_000, false), holeTape(100_000)
	for _, c := range []struct {
		name, config string
		tape         *tape.Tape
	}{
		{"classic", "", training}, {"expandable", "expandable_segments:True", training}, {"rounding", "roundup_power2_divisions:4", training},
		{"pairs", "", pairs}, {"pairs expandable", "expandable_segments:True", pairs}, {"holes", "", holes},
	} {
		b.Run(c.name, func(b *testing.B) {
			t := c.tape
			s, err := ParseSettings(c.config, Version{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			before, best := cpuTime(b), time.Hour
			for range b.N {
				start := time.Now()
				if _, err := Replay(t, s, 0); err != nil {
					b.Fatal(err)
				}
				best = min(best, time.Since(start))
			}
			events := float64(b.N) * float64(t.Len()) / 1e6
			b.ReportMetric(float64(t.Len())/1e6/best.Seconds(), "Mevents/s-best")
			b.ReportMetric(events/b.Elapsed().Seconds(), "Mevents/s")
			b.ReportMetric(events/(cpuTime(b)-before).Seconds(), "Mevents/cpu-s")
		})
	}
}

// cpuTime is what this process has used of all cores. On a busy machine it
// says more than the clock.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
