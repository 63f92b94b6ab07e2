package cli

import (
	"runtime"
	"runtime/debug"
)

// leanGrowth is how much the heap of a screen may grow before it is collected, in
// percent: less than what is usual, for the heap is a few MiB, collecting it takes a
// millisecond, and the screen stays for hours beside trainings.
const leanGrowth = 25

// beLean makes the process one that stays for hours and should cost nothing: it
// works on one processor and collects its garbage early.
func beLean() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(leanGrowth)
}
