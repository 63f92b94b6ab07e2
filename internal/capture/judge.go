package capture

import (
	"github.com/plimsoll-dev/plimsoll/internal/capture/whatif"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// contextSpan is the interval of what a process takes beside the allocator; a
// context that the user gave is certain.
func (o Options) contextSpan() span {
	if o.Context != o.Card.Context.Typical {
		return span{o.Context, o.Context, o.Context}
	}
	return contextOn(o.Card.Card)
}

// judge says whether the run fits its own card, and the others.
func (c *Capture) judge(o Options, a whatif.Allocator) {
	r := c.Result
	if len(c.Recordings) == 0 && r.OOM == nil {
		return
	}
	var workspace unit.Bytes
	for i := range c.Recordings {
		workspace = max(workspace, workspaceRoom(&c.Recordings[i], o))
	}
	own := verdictOn(target{o.Card.Name, o.Card.Capacity, o.contextSpan(), workspace}, c.Recordings, a)
	own.Method = "capture"
	if r.OOM != nil && !r.OOM.Caught {
		own.Verdict = DoesNotFit
	}
	r.Verdict = own.Verdict
	r.Verdicts = append(r.Verdicts, own)
	c.judgeDevices(o, workspace, a)
	if r.OOM != nil && !r.OOM.Caught {
		return // what comes after the error is not on the tape
	}
	for _, card := range o.Others {
		if card.Name != o.Card.Name && card.Capturable() == nil {
			r.Verdicts = append(r.Verdicts, verdictOn(target{card.Name, card.Capacity, contextOn(card), workspace}, c.Recordings, a))
		}
	}
}

// judgeDevices gives each device of each process its own verdict.
func (c *Capture) judgeDevices(o Options, workspace unit.Bytes, a whatif.Allocator) {
	on := target{o.Card.Name, o.Card.Capacity, o.contextSpan(), workspace}
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
				Device: rec.deviceBytes() + o.Context, Verdict: v, Events: rec.Tape.Len(),
			})
		}
	}
}
