package symbolic

import (
	"maps"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// decode plays the tokens that are generated after a prompt, each of which sees
// the keys and values of those before.
func (p *player) decode() error {
	prompt := p.env.Dims[Prompt]
	for t := range p.plan.Decode {
		p.env.Dims[Cached] = prompt + int64(t) + 1
		p.env.Dims[Prompt] = p.env.Dims[Cached] - made
		p.forget(Decode)
		p.runs[ofBefore] = p.runs[ofOwn]
		p.runs[ofOwn] = p.newRun()
		p.played.Starts = append(p.played.Starts, p.w.Tape().Len())
		if err := p.play(Decode); err != nil {
			return err
		}
		p.w.Mark(tape.MarkStep, "", int64(len(p.plan.Micros)+t+1))
	}
	return nil
}

// promptDims are dimensions for a prompt and what is generated after it.
func promptDims(d Dims) Dims {
	d = maps.Clone(d)
	d[Cached] = d[Prompt] + made
	return d
}
