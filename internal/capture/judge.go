package capture

import (
	"github.com/plimsoll-dev/plimsoll/internal/gpu"
	"github.com/plimsoll-dev/plimsoll/internal/whatif"
)

// judge says whether the run fits its own card, and the others.
func (c *Capture) judge(o Options, a whatif.Allocator) {
	r := c.Result
	if len(c.Recordings) == 0 && r.OOM == nil {
		return
	}
	on := c.targetOf(o, o.Card.Card)
	on.capacity = o.Card.Capacity
	own := verdictOn(on, c.Recordings, a)
	own.Method = "capture"
	if r.OOM != nil && !r.OOM.Caught {
		own.Verdict = DoesNotFit
	}
	r.Verdict = own.Verdict
	r.Verdicts = append(r.Verdicts, own)
	c.judgeDevices(on, a)
	if r.OOM != nil && !r.OOM.Caught {
		return // what comes after the error is not on the tape
	}
	for _, card := range o.Others {
		if card.Name != o.Card.Name && card.Capturable() == nil {
			r.Verdicts = append(r.Verdicts, verdictOn(c.targetOf(o, card), c.Recordings, a))
		}
	}
}

// targetOf is a card as the processes of this run would find it.
func (c *Capture) targetOf(o Options, card gpu.Card) target {
	world := 0
	for _, p := range c.Result.Processes {
		world = max(world, p.World)
	}
	_, more := spread(c.Result.Estimates, o)
	return target{card.Name, card.Capacity, o.contextOn(card).plus(librariesOf(world, o)), more}
}

// judgeDevices gives each device of each process its own verdict.
func (c *Capture) judgeDevices(on target, a whatif.Allocator) {
	for _, group := range byDevice(c.Recordings) {
		verdict := deviceVerdict(on, group, a)
		for _, rec := range group {
			v := verdict
			if oom := c.Result.OOM; oom != nil && !oom.Caught && oom.Process == rec.Process && oom.Device == rec.Device {
				v = DoesNotFit
			}
			p := &c.Result.Processes[rec.Process]
			p.Devices = append(p.Devices, Device{
				Index: rec.Device, Requested: rec.replay.Requested, Allocated: rec.used.AllocatedPeak, Reserved: rec.used.ReservedPeak,
				Device: rec.deviceBytes() + on.beside.typical, Verdict: v, Events: rec.Tape.Len(),
			})
		}
	}
}
