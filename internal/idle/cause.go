package idle

import (
	"fmt"
	"slices"
)

// Causes returns the catalogue. Of causes that cost the same the earlier one is
// named first: those that are seen most directly.
func Causes() []Cause { return causes }

var causes = slices.Concat(causesOfHolding, causesOfRanks, causesOfClocks, causesOfStalls, causesOfInput, causesOfSteps)

// lostAll is for a GPU that does nothing for its holder.
func lostAll(v *view) (float64, string, bool) {
	idle, ok := v.idleShare()
	return idle, "no kernel ran for that long", ok
}

// ranOf is the part of what processes wanted for which they had a processor.
func (v *view) ranOf(list []*proc) float64 {
	wait, wanted, ok := v.cpuWait(list)
	if !ok || wanted <= 0 {
		return 1
	}
	return 1 - min(1, max(0, wait/wanted))
}

// lostToWork is the idle time without what those who are waited for themselves
// waited for a processor.
func (v *view) lostToWork(list []*proc, words string) (float64, string, bool) {
	idle, ok := v.idleShare()
	ran := v.ranOf(list)
	if ran < 1-leastLoss {
		words += fmt.Sprintf("; in another %s they waited for a processor", percent(idle*(1-ran)))
	}
	return idle * ran, words, ok
}

func lostToMain(v *view) (float64, string, bool) {
	return v.lostToWork(v.mains, "no kernel ran for that long while training processes computed")
}

func lostToWorkers(v *view) (float64, string, bool) {
	return v.lostToWork(v.active(), "no kernel ran for that long while workers computed")
}

// lostToOthers is what those two leave out.
func lostToOthers(v *view) (float64, string, bool) {
	idle, ok := v.idleShare()
	return idle * (1 - v.ranOf(v.waiters())), "no kernel ran for that long while the job waited for a processor", ok
}

// waiters are the processes that wait for a processor: workers where they do,
// else the training processes.
func (v *view) waiters() []*proc {
	if v.ask("workers-mostly-wait").state == Yes {
		return v.active()
	}
	return v.mains
}

// lostUnderused is the time in which multiprocessors were empty, where that is
// known, and else that in which no kernel ran.
func lostUnderused(v *view) (float64, string, bool) {
	if sm, ok := v.over(smActive).mean(v.train); ok {
		return 1 - sm, "multiprocessors were empty for that long", true
	}
	return lostAll(v)
}

// lostToClocks is what lower clocks take from the work.
func lostToClocks(v *view) (float64, string, bool) {
	c, ok := v.atWork(clockShare)
	busy, known := v.busy().mean(v.train)
	return busy * (1 - c), "clocks were lower by that share of the work", ok && known
}

// lostToTenant is the time in which kernels of others ran.
func lostToTenant(v *view) (float64, string, bool) {
	b, ok := v.useBusy(v.tenants())
	return b, "kernels of the other job ran for that long", ok
}
