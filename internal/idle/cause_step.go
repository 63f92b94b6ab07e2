package idle

import "github.com/plimsoll-dev/plimsoll/finding"

// causesOfSteps are those in which the training process itself takes time in each
// step.
var causesOfSteps = []Cause{
	{
		ID:       "no-workers",
		Title:    "the GPU waits while the training process loads data itself",
		Needs:    [][]string{{"idle"}, {"no-workers"}, {"main-runs-in-gaps"}, {"main-reads", "main-rests-at-work"}},
		Excludes: []string{"compilers", "mostly-large-writes", "small-writes", "launches-only", "copies-in-gaps", "disk-wait", "over-demand"},
		Else:     "a synchronisation with the GPU in each step",
		Decide:   "train a minute with two workers and compare",
		Remedies: []Fix{
			{"load in worker processes, ahead of the training", "num_workers=4, pin_memory=True, persistent_workers=True", finding.SameNumbers},
		},
		lost: lostToMain,
	},
	{
		ID:       "pageable-copies",
		Title:    "the GPU waits for copies from memory that is not pinned",
		Needs:    [][]string{{"idle"}, {"copies-in-gaps"}, {"main-runs-in-gaps"}},
		Excludes: []string{"many-threads", "workers-saturated", "disk-wait", "mostly-large-writes", "link-narrow"},
		Else:     "a batch that is put together in the training process before it is copied",
		Decide:   "train a minute with pin_memory=True and compare",
		Remedies: []Fix{
			{"copy from pinned memory, while kernels run", "pin_memory=True, tensor.to(device, non_blocking=True)", finding.SameNumbers},
			{"send smaller types and convert them on the GPU", "", finding.SameNumbers},
		},
		lost: lostToMain,
	},
	{
		ID:       "narrow-link",
		Title:    "the GPU waits for copies over a PCIe link that is slower than it could be",
		Needs:    [][]string{{"idle"}, {"link-narrow"}},
		Excludes: []string{"no-copies", "workers-saturated", "disk-wait", "mostly-large-writes", "small-writes", "mostly-replaced", "main-reads"},
		Else:     "a link that steps down between the steps to save power",
		Decide:   "read the link while a copy runs: nvidia-smi -q -d PCIE",
		Remedies: []Fix{
			{"seat the card anew, or move it to a slot with all lanes", "", finding.SameNumbers},
			{"send smaller types and convert them on the GPU", "", finding.SameNumbers},
		},
		lost: lostAll,
	},
	{
		ID:       "step-sync",
		Title:    "the GPU waits in each step for the training process, which has waited for the GPU",
		Needs:    [][]string{{"idle"}, {"short-gaps"}, {"main-alternates"}, {"starved", "main-accounts", "main-follows"}},
		Excludes: []string{"workers-saturated", "disk-wait", "large-writes", "small-writes", "copies-in-gaps", "link-narrow", "main-reads", "few-sms", "launches-only", "over-demand", "workers-replaced", "compilers", "unserved", "slow-process"},
		Else:     "loading in the training process, if it has no workers",
		Decide:   "train a minute without .item(), print and logging in the step and compare",
		Remedies: []Fix{
			{"read losses and metrics every hundred steps", ".item(), .cpu(), print", finding.SameNumbers},
			{"let the processor run ahead: no torch.cuda.synchronize() in the step", "", finding.SameNumbers},
		},
		lost: lostToMain,
	},
	{
		ID:       "small-kernels",
		Title:    "the GPU waits for the processor to launch its small kernels",
		Needs:    [][]string{{"low-power", "few-sms"}, {"main-full"}, {"launch-gaps", "few-sms"}},
		Excludes: []string{"memory-works", "workers-saturated", "clock-low", "full-sms", "traffic", "no-work", "copies-in-gaps", "unserved"},
		Else:     "kernels that wait for another rank",
		Decide:   "train a minute with a batch of twice the size: the time of a step hardly changes",
		Remedies: []Fix{
			{"launch whole steps at once", "torch.compile(mode=\"reduce-overhead\")", finding.SameNumbers},
			{"train with a larger batch", "", finding.ChangesResults},
		},
		lost: lostUnderused,
	},
}
