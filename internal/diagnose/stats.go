package diagnose

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/internal/format/memstats"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Counters are what the counters of PyTorch's allocator say at one moment.
type Counters struct {
	Stats *memstats.Stats
	// Parts are what is reserved now, by what it is for; they add up.
	Parts   *Balance
	Finding finding.Finding
}

// Causes of findings about counters that are no causes of a failure.
const (
	memoryWasShort = "memory_was_short"
	unusedCache    = "unused_cache"
	noShortage     = "no_shortage"
)

// counted are the counters that matter, 0 for those that are not there.
type counted struct {
	allocated, requested, reserved, split unit.Bytes // now
	peak, reservedPeak                    unit.Bytes
	ooms, retries                         int64
	unit                                  unit.Bytes
}

// shareOfNote is the part of what is reserved from where unused memory is worth
// telling.
const shareOfNote = 0.1

// OfStats says what counters mean.
func OfStats(s *memstats.Stats) *Counters {
	get := func(name string) unit.Bytes { b, _ := s.Get(name); return b }
	c := counted{
		allocated: get("allocated_bytes.all.current"), requested: get("requested_bytes.all.current"), reserved: get("reserved_bytes.all.current"),
		split: get("inactive_split_bytes.all.current"), peak: get("allocated_bytes.all.peak"), reservedPeak: get("reserved_bytes.all.peak"),
		ooms: s.Values["num_ooms"], retries: s.Values["num_alloc_retries"], unit: s.Unit,
	}
	out := &Counters{Stats: s, Parts: c.parts()}
	f := &out.Finding
	f.Confidence, f.Evidence, f.Remedies = finding.Medium, []finding.Evidence{}, []finding.Remedy{}
	c.decide(f)
	c.evidence(f, out.Parts)
	return out
}

// decide chooses the cause. Counters tell that memory was short, never what
// asked for how much.
func (c *counted) decide(f *finding.Finding) {
	unused := c.reserved - c.allocated
	switch {
	case c.ooms > 0 && c.reserved > 0 && float64(c.split) >= shareOfNote*float64(c.reserved):
		f.Cause = "fragmentation"
		f.Verdict = fmt.Sprintf("%s, with %s of the %s reserved unused in pieces beside live blocks", counts(c.ooms, "request failed", "requests failed"), fine(c.split), fine(c.reserved))
		f.Remedies = append(f.Remedies, finding.Remedy{Action: fmt.Sprintf("let segments grow: pages without a live block can be given back, of %s at most", fine(c.split)), Flag: "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", Method: arithmetic, Exact: finding.SameNumbers})
	case c.ooms > 0:
		f.Cause = "device_full"
		f.Verdict = fmt.Sprintf("%s; %s were allocated at the most, %s reserved", counts(c.ooms, "request failed", "requests failed"), fine(c.peak), fine(c.reservedPeak))
		f.Remedies = append(f.Remedies, finding.Remedy{Action: "lower the peak: a smaller batch accumulated over steps, activation checkpointing", Exact: finding.SameExpectation})
	case c.retries > 0:
		f.Cause = memoryWasShort
		f.Verdict = fmt.Sprintf("no request failed, but %s only after the whole cache was given back, which stops the GPU each time", counts(c.retries, "request was served", "requests were served"))
		f.Remedies = append(f.Remedies,
			finding.Remedy{Action: "leave more room: the peak is at the size of the card", Exact: finding.SameExpectation},
			finding.Remedy{Action: "let segments grow, where shapes change from step to step", Flag: "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", Exact: finding.SameNumbers})
	case c.reserved > 0 && float64(unused) >= shareOfNote*float64(c.reserved):
		f.Cause = unusedCache
		f.Verdict = fmt.Sprintf("memory was never short; %s of the %s reserved are not in use now", fine(unused), fine(c.reserved))
		f.Remedies = append(f.Remedies, finding.Remedy{Action: "if something else needs it: torch.cuda.empty_cache() gives back whole free segments", Saves: pointer(max(unused-c.split, 0)), Method: arithmetic, Exact: finding.SameNumbers})
	default:
		f.Cause, f.Verdict = noShortage, fmt.Sprintf("memory was never short: %s allocated at the most, %s reserved", fine(c.peak), fine(c.reservedPeak))
	}
	if c.unit > 1 {
		f.Confidence = finding.Low // a table rounds
	}
	if c.ooms > 0 || c.retries > 0 {
		f.Confidence = finding.Medium
	}
}

func counts(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}

// parts splits what is reserved.
func (c *counted) parts() *Balance {
	if c.reserved == 0 || c.allocated > c.reserved {
		return nil
	}
	b := &Balance{Total: c.reserved}
	add := func(name, key string, n unit.Bytes) {
		if n != 0 {
			b.Parts = append(b.Parts, Part{name, key, n})
		}
	}
	asked := c.allocated
	if c.requested > 0 && c.requested <= c.allocated {
		asked = c.requested
		add("asked for", "activation", asked)
		add("rounding of blocks", "rounding", c.allocated-asked)
	} else {
		add("allocated", "activation", asked)
	}
	split := min(c.split, c.reserved-c.allocated)
	add("unused beside live blocks", "unknown", split)
	add("whole free segments", "cached", c.reserved-c.allocated-split)
	return b
}

func (c *counted) evidence(f *finding.Finding, parts *Balance) {
	if parts != nil {
		f.Evidence = append(f.Evidence, finding.Evidence{Fact: "reserved now: " + parts.Sum(), Bytes: &parts.Total})
	}
	if c.peak > 0 {
		f.Evidence = append(f.Evidence, finding.Evidence{Fact: "peak of what was allocated", Bytes: &c.peak})
	}
	if c.reservedPeak > 0 {
		f.Evidence = append(f.Evidence, finding.Evidence{Fact: "peak of what was reserved", Bytes: &c.reservedPeak})
	}
	f.Evidence = append(f.Evidence, finding.Evidence{Fact: fmt.Sprintf("%s, %s", counts(c.ooms, "request failed", "requests failed"), counts(c.retries, "retry after the cache was given back", "retries after the cache was given back"))})
	if c.unit > 1 {
		f.Evidence = append(f.Evidence, finding.Evidence{Fact: "the table rounds down, to " + c.unit.String() + " at the coarsest"})
	}
}
