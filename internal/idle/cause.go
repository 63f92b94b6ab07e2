package idle

import "github.com/plimsoll-dev/plimsoll/finding"

// Causes returns the catalogue, in the order in which causes with the same cost
// are named.
func Causes() []Cause { return causes }

var causes = []Cause{
	{
		ID:       "checkpoint-stall",
		Title:    "the GPU waits while a checkpoint is saved",
		Needs:    [][]string{{"idle"}, {"stalls"}, {"large-writes"}},
		Excludes: []string{"workers-saturated"},
		Else:     "another program that is started between steps and writes",
		Decide:   "train some minutes without saving and compare",
		Remedies: []Fix{
			{"save in the background, from a copy in pinned memory", "torch.distributed.checkpoint.async_save", finding.SameNumbers},
			{"save less often", "", finding.SameNumbers},
		},
		lost: lostInStalls,
	},
	{
		ID:       "logging-stall",
		Title:    "the GPU waits while something is logged or drawn",
		Needs:    [][]string{{"idle"}, {"stalls"}, {"small-writes"}},
		Excludes: []string{"workers-saturated", "disk-wait", "main-reads"},
		Else:     "a validation on the host between steps",
		Decide:   "train a minute without logging and compare",
		Remedies: []Fix{
			{"log and draw every hundred steps rather than every few, or in another process", "", finding.SameNumbers},
		},
		lost: lostInStalls,
	},
	{
		ID:       "slow-disk",
		Title:    "the GPU waits for data from a slow disk",
		Needs:    [][]string{{"idle"}, {"disk-wait", "io-pressure"}, {"disk-reads"}},
		Excludes: []string{"workers-saturated"},
		Else:     "a checkpoint or another program that keeps the disk busy",
		Decide:   "read the same files twice: the second time they come from memory",
		Remedies: []Fix{
			{"copy the data to a local disk before training", "", finding.SameNumbers},
			{"pack samples into large files, which are read in one go", "", finding.SameNumbers},
			{"read further ahead, with more workers", "num_workers, prefetch_factor", finding.SameNumbers},
		},
		lost: lostIdle,
	},
	{
		ID:       "few-workers",
		Title:    "the GPU waits for data that too few workers prepare",
		Needs:    [][]string{{"idle"}, {"workers-saturated"}, {"cpus-left"}},
		Excludes: []string{"disk-wait", "main-full"},
		Else:     "a loader that hands out batches in order and waits for the slowest",
		Decide:   "train a minute with one worker more and compare",
		Remedies: []Fix{
			{"start more workers, up to the processors that the job may take", "num_workers", finding.SameNumbers},
		},
		lost: lostIdle,
	},
	{
		ID:       "cpu-decode",
		Title:    "the GPU waits for data that workers decode on all processors",
		Needs:    [][]string{{"idle"}, {"workers-saturated"}, {"no-cpus-left"}},
		Excludes: []string{"disk-wait", "main-full"},
		Else:     "augmentations that cost more than decoding",
		Decide:   "train a minute with data that is already decoded and compare",
		Remedies: []Fix{
			{"decode on the GPU, or with a faster library", "", finding.SameExpectation},
			{"store the data smaller, or decoded", "", finding.SameExpectation},
			{"give the job more processors", "", finding.SameNumbers},
		},
		lost: lostIdle,
	},
	{
		ID:       "no-workers",
		Title:    "the GPU waits while the training process loads data itself",
		Needs:    [][]string{{"idle"}, {"no-workers"}, {"main-alternates"}, {"main-reads"}},
		Excludes: []string{"large-writes", "low-power"},
		Else:     "a synchronisation with the GPU in each step",
		Decide:   "train a minute with two workers and compare",
		Remedies: []Fix{
			{"load in worker processes, ahead of the training", "num_workers=4, pin_memory=True, persistent_workers=True", finding.SameNumbers},
		},
		lost: lostIdle,
	},
	{
		ID:       "small-kernels",
		Title:    "the GPU waits for the processor to launch its small kernels",
		Needs:    [][]string{{"low-power", "few-sms"}, {"main-full"}},
		Excludes: []string{"workers-saturated", "clock-low", "full-sms"},
		Else:     "kernels that wait for another rank",
		Decide:   "train a minute with a batch of twice the size: the time of a step hardly changes",
		Remedies: []Fix{
			{"launch whole steps at once", "torch.compile(mode=\"reduce-overhead\")", finding.SameNumbers},
			{"train with a larger batch", "", finding.ChangesResults},
		},
		lost: lostUnderused,
	},
}

// lostIdle is all time in which no kernel ran.
func lostIdle(v *view) (float64, string, bool) {
	idle, ok := v.idleShare()
	return idle, "no kernel ran for that long", ok
}

// lostInStalls is the idle time that lies in long gaps.
func lostInStalls(v *view) (float64, string, bool) {
	idle, ok := v.idleShare()
	long, all, _ := v.stallTime()
	if all <= 0 {
		return 0, "", false
	}
	return idle * long / all, "the GPU stalled for that long", ok
}

// lostUnderused is the time in which multiprocessors were empty, where that is
// known, and else that in which no kernel ran.
func lostUnderused(v *view) (float64, string, bool) {
	if sm, ok := v.over(smActive).mean(v.train); ok {
		return 1 - sm, "multiprocessors were empty for that long", true
	}
	return lostIdle(v)
}
