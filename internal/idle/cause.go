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

// ranOf is the part of its demand that the training process ran; the rest it
// waited for a processor, which other work had.
func (v *view) ranOf() float64 {
	wait, wanted, ok := v.cpuWait()
	if !ok || wanted <= 0 {
		return 1
	}
	return 1 - min(1, max(0, wait/wanted))
}

// lostToMain is the idle time without what a process that computes meanwhile
// waited for a processor.
func lostToMain(v *view) (float64, string, bool) {
	idle, ok := v.idleShare()
	ran := v.ranOf()
	words := "no kernel ran for that long while the training process computed"
	if ran < 1-leastLoss {
		words += fmt.Sprintf("; in another %s it waited for a processor that other work had", percent(idle*(1-ran)))
	}
	return idle * ran, words, ok
}

// lostToOthers is what lostToMain leaves out.
func lostToOthers(v *view) (float64, string, bool) {
	idle, ok := v.idleShare()
	return idle * (1 - v.ranOf()), "no kernel ran for that long while the training process waited for a processor", ok
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
