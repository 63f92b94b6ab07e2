package idle

import "github.com/plimsoll-dev/plimsoll/finding"

// causesOfStalls are those that stop the training from time to time.
var causesOfStalls = []Cause{
	{
		ID:     "checkpoint-stall",
		Title:  "the GPU waits while a checkpoint is saved",
		Needs:  [][]string{{"idle"}, {"large-writes"}},
		Else:   "results that are written between steps",
		Decide: "train some minutes without saving and compare",
		Remedies: []Fix{
			{"save in the background, from a copy in pinned memory", "torch.distributed.checkpoint.async_save", finding.SameNumbers},
			{"save less often", "", finding.SameNumbers},
		},
		stops: true,
		lost:  lostToLargeWrites,
	},
	{
		ID:       "logging-stall",
		Title:    "the GPU waits while something is logged or drawn",
		Needs:    [][]string{{"idle"}, {"small-writes"}},
		Excludes: []string{"workers-saturated", "disk-wait", "main-reads", "mostly-replaced"},
		Else:     "a validation on the host between steps",
		Decide:   "train a minute without logging and compare",
		Remedies: []Fix{
			{"log and draw every hundred steps rather than every few, or in another process", "", finding.SameNumbers},
		},
		stops: true,
		lost:  lostToSmallWrites,
	},
	{
		ID:       "epoch-boundary",
		Title:    "the GPU waits at the end of each epoch for workers that are started anew",
		Needs:    [][]string{{"idle"}, {"workers-replaced"}},
		Excludes: []string{"mostly-large-writes"},
		Else:     "an evaluation with its own workers between epochs",
		Decide:   "train some epochs with persistent_workers=True and compare",
		Remedies: []Fix{
			{"keep workers from epoch to epoch", "persistent_workers=True", finding.SameNumbers},
		},
		stops: true,
		lost:  lostToReplacing,
	},
	{
		ID:     "compilation",
		Title:  "the GPU waits while kernels are compiled",
		Needs:  [][]string{{"idle"}, {"compilers"}},
		Else:   "an extension that another program builds at the same time",
		Decide: "start the job a second time: what is kept on a disk is not compiled again",
		Remedies: []Fix{
			{"keep what was compiled on a disk that lasts", "TORCHINDUCTOR_CACHE_DIR, TRITON_CACHE_DIR, TORCH_EXTENSIONS_DIR", finding.SameNumbers},
			{"compile once for all shapes: pad batches, or mark sizes that change", "torch.compile(dynamic=True)", finding.SameExpectation},
		},
		lost: lostToCompilers,
	},
	{
		ID:       "evaluation",
		Title:    "the GPU is used less during evaluations",
		Needs:    [][]string{{"level-shift", "other-shift"}, {"power-shift"}},
		Excludes: []string{"mostly-large-writes", "mostly-replaced"},
		Else:     "batches of another size, or rollouts of reinforcement learning",
		Decide:   "train some minutes without evaluating and compare",
		Remedies: []Fix{
			{"evaluate with larger batches", "", finding.SameNumbers},
			{"evaluate without gradients", "torch.inference_mode()", finding.SameNumbers},
			{"evaluate less often, or on a part of the data", "", finding.SameNumbers},
		},
		lost: lostToEvaluation,
	},
}

// lostTo is the part of the idle time that lies in certain gaps.
func (v *view) lostTo(part, all float64, words string) (float64, string, bool) {
	idle, ok := v.idleShare()
	if all <= 0 {
		return 0, "", false
	}
	return idle * part / all, words, ok
}

func lostToLargeWrites(v *view) (float64, string, bool) {
	w, _ := v.gapWrites()
	return v.lostTo(w.large, w.all, "the GPU stalled for that long while much was written")
}

func lostToSmallWrites(v *view) (float64, string, bool) {
	w, _ := v.gapWrites()
	return v.lostTo(w.small, w.all, "the GPU stalled for that long while something was written")
}

func lostToReplacing(v *view) (float64, string, bool) {
	replaced, all := v.replacedTime()
	return v.lostTo(replaced, all, "the GPU stalled for that long while workers were started")
}
