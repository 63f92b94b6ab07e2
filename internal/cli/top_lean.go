package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"
)

// leanGrowth is how much the heap of a screen may grow before it is collected, in
// percent: less than what is usual, for the heap is a few MiB, collecting it takes a
// millisecond, and the screen stays for hours beside trainings.
const leanGrowth = 25

// leanSlack is how late a thread may wake up. The runtime's watch over its threads
// wakes each 20 microseconds while anything runs, which is a tenth of what a screen
// costs; nobody sees some milliseconds.
const leanSlack = 4 * time.Millisecond

// beLean makes the process one that stays for hours and should cost nothing: it
// works on one processor, collects its garbage early, and does not wake up to the
// microsecond.
func beLean() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(leanGrowth)
	// Of threads other than its own a process may only say so with CAP_SYS_NICE.
	threads, _ := filepath.Glob("/proc/self/task/[0-9]*")
	for _, t := range threads {
		os.WriteFile(filepath.Join("/proc", filepath.Base(t), "timerslack_ns"), []byte(strconv.FormatInt(leanSlack.Nanoseconds(), 10)), 0) //nolint:errcheck // it wakes up earlier then
	}
}
