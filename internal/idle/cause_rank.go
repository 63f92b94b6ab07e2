package idle

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/finding"
)

// causesOfRanks are those of jobs on several GPUs.
var causesOfRanks = []Cause{
	{
		ID:       "hung-collective",
		Title:    "every rank waits in a collective that does not end",
		Needs:    [][]string{{"ranks"}, {"all-busy"}, {"flat-power"}, {"main-still", "no-traffic"}},
		Excludes: []string{"traffic", "memory-works", "odd-power"},
		Else:     "a kernel that waits for something else, or runs very long",
		Decide:   "look at the stacks of all ranks: py-spy dump --pid PID",
		Remedies: []Fix{
			{"find the rank that called another collective, or none: look at the stacks of all ranks", "py-spy dump --pid PID; TORCH_NCCL_DESYNC_DEBUG=1", finding.SameNumbers},
			{"let a hung collective end the job", "init_process_group(timeout=...), TORCH_NCCL_ASYNC_ERROR_HANDLING=1", finding.SameNumbers},
		},
		lost: func(v *view) (float64, string, bool) {
			b, ok := v.busy().mean(v.train)
			return b, "the kernels that ran only waited", ok
		},
	},
	{
		ID:       "straggler",
		Title:    "one rank is slower than the others, which wait for it",
		Needs:    [][]string{{"ranks"}, {"odd-power", "odd-sms", "odd-clock", "slow-process"}, {"odd-busy", "others-busy", "odd-main"}},
		Excludes: []string{"asked-unused"},
		Else:     "ranks that do different work by design, as in pipelines",
		Decide:   "let the ranks change GPUs: if the slow one stays on its GPU the GPU is at fault, else its data",
		Remedies: []Fix{
			{"give all ranks the same amount of work: shards and sequences of equal length", "", finding.SameExpectation},
			{"look for lower clocks, heat and a narrow link on that GPU, and for other work on its processors", "", finding.SameNumbers},
		},
		lost: lostToStraggler,
	},
	{
		ID:       "communication",
		Title:    "the GPUs wait for each other's data",
		Needs:    [][]string{{"ranks"}, {"all-busy", "others-busy"}, {"modest-power", "few-sms", "power-dips"}, {"traffic"}},
		Excludes: []string{"odd-power", "odd-sms", "slow-process", "clock-low"},
		Else:     "small kernels",
		Decide:   "train a minute on one GPU with the same batch per GPU and compare",
		Remedies: []Fix{
			{"send while the backward pass computes", "DistributedDataParallel(bucket_cap_mb=...), gradient_as_bucket_view=True", finding.SameNumbers},
			{"send less often: accumulate gradients", "no_sync()", finding.SameExpectation},
			{"send smaller types", "bf16 gradients", finding.ChangesResults},
		},
		lost: lostToWaiting,
	},
}

// lostToWaiting is the time in which kernels waited, where it shows: in empty
// multiprocessors, or in power that falls.
func lostToWaiting(v *view) (float64, string, bool) {
	if sm, ok := v.over(smActive).mean(v.train); ok {
		return 1 - sm, "multiprocessors were empty for that long", true
	}
	share, ok := v.powerDips()
	return share, "power was a third lower for that long", ok && share > 0
}

// lostToStraggler is how much less of its power the rest draws than the odd one,
// or the other way round: the time for which they wait for it.
func lostToStraggler(v *view) (float64, string, bool) {
	if sm, ok := v.over(smActive).mean(v.train); ok {
		return 1 - sm, "multiprocessors were empty for that long", true
	}
	if v.ask("odd-busy").state == Yes {
		x, _ := v.busyShares()
		slices.Sort(x)
		return x[1] - x[0], "kernels run for that much less of the time on it, while the others wait", true
	}
	_, its, theirs, ok := v.odd(powerShare)
	if !ok || its <= 0 || theirs <= 0 {
		return 0, "", false
	}
	return 1 - min(its, theirs)/max(its, theirs), "power differs by that share", true
}
