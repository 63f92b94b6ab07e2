package idle

import "github.com/plimsoll-dev/plimsoll/finding"

// causesOfInput are those in which the training process sleeps until data comes.
var causesOfInput = []Cause{
	{
		ID:       "page-cache-thrash",
		Title:    "the GPU waits for data that is read from disks again and again",
		Needs:    [][]string{{"idle"}, {"disk-reads"}, {"cache-full"}, {"major-faults", "memory-pressure"}},
		Excludes: []string{"workers-saturated", "mostly-large-writes"},
		Else:     "the first pass over the data, for which nothing can be in memory yet",
		Decide:   "compare the reads from disks of two epochs: the second should need none",
		Remedies: []Fix{
			{"store the data smaller, so that it fits into the memory of the host", "", finding.SameExpectation},
			{"give the job more memory, or start fewer processes that hold copies of the data", "", finding.SameNumbers},
			{"read large pieces in order rather than small ones at random", "", finding.SameExpectation},
		},
		lost: lostAll,
	},
	{
		ID:       "remote-disk",
		Title:    "the GPU waits for data that comes over the network",
		Needs:    [][]string{{"idle"}, {"remote-wait", "network-reads"}, {"no-disk-reads", "disk-wait"}, {"main-asleep", "no-workers"}},
		Excludes: []string{"workers-saturated", "mostly-large-writes", "disk-reads"},
		Else:     "communication with other hosts",
		Decide:   "train a minute with data that was copied to a local disk and compare",
		Remedies: []Fix{
			{"copy the data to a local disk before training", "", finding.SameNumbers},
			{"pack samples into large files, so that each request brings many", "", finding.SameNumbers},
			{"ask for more at once, further ahead", "num_workers, prefetch_factor", finding.SameNumbers},
		},
		lost: lostAll,
	},
	{
		ID:       "slow-disk",
		Title:    "the GPU waits for data from a slow disk",
		Needs:    [][]string{{"idle"}, {"disk-wait", "io-pressure"}, {"disk-reads"}},
		Excludes: []string{"workers-saturated", "mostly-large-writes", "remote-wait", "major-faults", "main-full"},
		Else:     "another program that keeps the disk busy",
		Decide:   "read the same files twice: the second time they come from memory",
		Remedies: []Fix{
			{"copy the data to a faster disk before training", "", finding.SameNumbers},
			{"pack samples into large files, which are read in one go", "", finding.SameNumbers},
			{"read further ahead, with more workers", "num_workers, prefetch_factor", finding.SameNumbers},
		},
		lost: lostAll,
	},
	{
		ID:       "few-workers",
		Title:    "the GPU waits for data that too few workers prepare",
		Needs:    [][]string{{"idle"}, {"workers-saturated"}, {"cpus-left"}},
		Excludes: []string{"disk-wait", "main-full", "mostly-replaced", "mostly-large-writes"},
		Else:     "a loader that hands out batches in order and waits for the slowest",
		Decide:   "train a minute with one worker more and compare",
		Remedies: []Fix{
			{"start more workers, up to the processors that the job may take", "num_workers", finding.SameNumbers},
		},
		lost: lostToWorkers,
	},
	{
		ID:       "cpu-decode",
		Title:    "the GPU waits for data that workers prepare on all processors",
		Needs:    [][]string{{"idle"}, {"workers-saturated", "threads-saturated"}, {"no-cpus-left"}},
		Excludes: []string{"disk-wait", "main-full", "mostly-replaced", "mostly-large-writes", "over-demand", "threads-crowd"},
		Else:     "augmentations that cost more than decoding",
		Decide:   "train a minute with data that is already decoded and compare",
		Remedies: []Fix{
			{"decode on the GPU, or with a faster library", "", finding.SameExpectation},
			{"store the data smaller, or decoded", "", finding.SameExpectation},
			{"give the job more processors", "", finding.SameNumbers},
		},
		lost: lostToWorkers,
	},
	{
		ID:       "cpu-oversubscription",
		Title:    "the GPU waits since the job has more to run than it has processors",
		Needs:    [][]string{{"idle"}, {"over-demand", "quota"}, {"waits-for-cpu", "workers-crowded", "threads-crowd"}},
		Excludes: []string{"others-crowd", "mostly-large-writes", "disk-wait", "compilers"},
		Else:     "decoding that is too slow whatever the number of threads",
		Decide:   "set OMP_NUM_THREADS=1, train a minute and compare",
		Remedies: []Fix{
			{"start fewer threads in each process", "OMP_NUM_THREADS=1, torch.set_num_threads(1)", finding.SameNumbers},
			{"give the job more processors, or start fewer workers", "", finding.SameNumbers},
		},
		lost: lostAll,
	},
	{
		ID:       "other-load",
		Title:    "the GPU waits for a job whose processors other work takes",
		Needs:    [][]string{{"idle"}, {"mostly-waits", "workers-mostly-wait"}, {"others-more"}},
		Excludes: []string{"disk-wait", "mostly-large-writes"},
		Else:     "synchronisation in each step, which costs more on a busy host",
		Decide:   "train a minute while nothing else runs on the host and compare",
		Remedies: []Fix{
			{"keep processors for the job", "taskset, cpuset, --cpus-per-task", finding.SameNumbers},
		},
		// What the job does itself can be changed by its owner, and is named
		// first while others leave it a fifth of what it wants.
		yields: func(v *view) bool { return v.ranOf(v.waiters()) >= unserved },
		lost:   lostToOthers,
	},
}
