package diagnose

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// lead is what is said about the first group of a log.
func lead(t *testing.T, text string) finding.Finding {
	t.Helper()
	r := explain(t, text)
	if len(r.Groups) == 0 {
		t.Fatalf("no message found in %q", text)
	}
	return r.Groups[0].Finding
}

// TestRemediesFitTheEvidence holds what is advised to what the message says.
func TestRemediesFitTheEvidence(t *testing.T) {
	const optimizer = "  File \"torch/optim/adamw.py\", line 100, in step\n    exp_avg_sq_sqrt = torch._foreach_sqrt(device_exp_avg_sqs)\n"
	fragmented := message(2048, 80000, 1500, 61000, 17000, "Including non-PyTorch memory, this process has 76.66 GiB memory in use. ")
	full := message(512, 24000, 100, 22900, 200, "")
	for _, c := range []struct {
		name, text string
		says       []string
		never      []string
	}{
		{"parts fit into what is free", message(29000, 24000, 5000, 18000, 200, ""), []string{"6 parts of 4.72 GiB fit into the 4.88 GiB that are free"}, nil},
		{"nothing is free, no number of parts", message(30000, 24000, 10, 23000, 200, ""), []string{"in parts"}, []string{"parts of"}},
		{"the limit is not all", strings.Replace(message(2048, 24000, 1500, 18432, 1280, ""), "Of the allocated", "20.00 GiB allowed; Of the allocated", 1),
			[]string{"lifting the limit alone does not serve the request", "less than was asked for"}, []string{"raise the limit"}},
		{"the device has room beyond the limit", strings.Replace(message(512, 24000, 12000, 10000, 200, ""), "Of the allocated", "10.00 GiB allowed; Of the allocated", 1),
			[]string{"raise the limit above 10.47 GiB", "11.72 GiB free"}, nil},
		{"segments grow already", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python train.py\n" + strings.Repeat("step\n", 30000) + fragmented,
			[]string{"sets expandable_segments:True already"}, []string{"let segments grow", "=expandable_segments:True"}},
		{"the message says that segments grow", strings.Replace(fragmented, "unallocated. ", "unallocated. expandable_segments is enabled. If instead the process is running out of virtual address space, reduce it.", 1),
			[]string{"segments grow already"}, []string{"expandable_segments:True"}},
		{"free and unused together", message(2000, 24000, 900, 20400, 1900, ""), []string{"1.86 GiB reserved and unallocated + 900.00 MiB free at the driver are more than the request of 1.95 GiB"}, []string{"1.0 times"}},
		{"inference has no gradients", "    with torch.inference_mode(): out = model.generate(**inputs)\n" + full, []string{"fewer sequences", "quantised"}, []string{"accumulat", "checkpointing"}},
		{"graphs' pools", strings.Replace(full, "is allocated by PyTorch, and", "is allocated by PyTorch, with 18.00 GiB allocated in private pools (e.g., CUDA Graphs), and", 1), []string{"18.00 GiB of the tensors are in private pools"}, nil},
		{"cut before the tensors", message(20, 81050, 2, 79872, 100, "Including non-PyTorch memory, this process has 79.14 GiB mem|")[:190], nil, []string{"reserves 0 B", "stop", "0 B live"}},
		{"set in a program", "os.environ[\"PYTORCH_CUDA_ALLOC_CONF\"] = \"max_split_size_mb:512,expandable_segments:True\"\n" + fragmented, nil, []string{"let segments grow"}},
		{"advice is no setting", fragmented + "If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.\nyou could set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n",
			[]string{"let segments grow"}, []string{"already"}},
		{"advice that a terminal wrapped", fragmented + "If reserved but unallocated memory is large try setting\nPYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.\n",
			[]string{"let segments grow"}, []string{"already"}},
		{"in the optimizer's step activations are gone", optimizer + full, []string{"optimizer's step", "foreach=False", "8 bits"}, []string{"batch", "checkpointing"}},
		{"a closure runs inside of the optimizer", "  File \"torch/optim/adamw.py\", line 100, in step\n    loss = closure()\n    return model(x)\n" + full, []string{"half the batch"}, []string{"foreach", "optimizer's step"}},
		{"unused memory would serve a small request of a large card", message(1536, 196588, 1024, 184320, 2048, ""), []string{"1.50 GiB would be left at most, and the next requests need more"}, nil},
		{"caught and tried again", full + "\nOOM caught, retrying with batch size 16\nstep 1 loss 2.3\n", []string{"went on: `OOM caught, retrying with batch size 16`"}, nil},
		{"ended there", full + "\nTraceback\n", nil, []string{"went on"}},
		{"Kubernetes has no sbatch", "    Reason:       OOMKilled\n    Exit Code:    137\n", []string{"resources.limits.memory"}, []string{"sbatch"}},
		{"a container that was killed without a word", "    Last State:   Terminated\n      Reason:     Error\n      Exit Code:  137\n", []string{"killed from outside"}, nil},
		{"Slurm has no container", "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=1.0. Some of your processes may have been killed by the cgroup out-of-memory handler.\n", []string{"sbatch --mem"}, []string{"resources.limits"}},
		{"one process in the middle of a run", "step 501\n    out = model(x)\nRuntimeError: CUDA error: out of memory\n", []string{"room beside"}, []string{"set_device"}},
		{"a large buffer of JAX", "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 42949672960 bytes.", []string{"a device of 48 GB"}, []string{"16 GB"}},
		{"shorter sequences change results", "    loss = F.cross_entropy(logits.view(-1, v), y)\n" + message(3800, 24000, 500, 22000, 600, ""), []string{"8 parts of 474.88 MiB", "shorter sequences"}, nil},
		{"one of two processes", message(80, 24208, 260, 7813, 41, "Process 7 has 432.00 MiB memory in use. Process 8 has 14.85 GiB memory in use. Including non-PyTorch memory, this process has 8.04 GiB memory in use. "), []string{"stop process 8"}, nil},
		{"an Intel GPU tells no free memory", "XPU out of memory. Tried to allocate 4.50 GiB. GPU 0 has a total capacity of 15.11 GiB. Of the allocated memory 9.00 GiB is allocated by PyTorch, and 200.00 MiB is reserved by PyTorch but unallocated. Please use `empty_cache` to release all unoccupied cached memory.",
			[]string{"refused in one piece where PyTorch holds 9.20 GiB of 15.11 GiB"}, []string{"expandable", "the device is full"}},
		{"the short form of PyTorch 2", "torch.OutOfMemoryError: Allocation on device\n", []string{"no sizes"}, []string{"0 B"}},
		{"the short form, as a program prints it", "!!! Exception during processing !!! Allocation on device \nTraceback (most recent call last):\n", []string{"no sizes"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			said := words(lead(t, c.text))
			for _, w := range c.says {
				if !strings.Contains(said, w) {
					t.Errorf("does not say %q:\n%s", w, said)
				}
			}
			for _, w := range c.never {
				if strings.Contains(said, w) {
					t.Errorf("says %q:\n%s", w, said)
				}
			}
		})
	}
}

// TestSavingsFollow holds what remedies save to the numbers of their messages.
func TestSavingsFollow(t *testing.T) {
	for _, c := range []struct {
		name, text string
		saves      []unit.Bytes // by remedy, 0 for none
		exact      []finding.Exactness
	}{
		{"parts", message(29000, 24000, 5000, 18000, 200, ""), []unit.Bytes{24167 * unit.MiB}, []finding.Exactness{finding.SameNumbers}},
		{"the process that is named", message(80, 24208, 260, 7813, 41, "Process 7 has 432.00 MiB memory in use. Process 8 has 14.85 GiB memory in use. Including non-PyTorch memory, this process has 8.04 GiB memory in use. "),
			[]unit.Bytes{15206 * unit.MiB}, nil},
		{"logits", "    loss = F.cross_entropy(logits.view(-1, v), y)\n" + message(3800, 24000, 500, 22000, 600, ""), []unit.Bytes{3325 * unit.MiB, 0, 0},
			[]finding.Exactness{finding.SameNumbers, finding.SameExpectation, finding.ChangesResults}},
		{"growing segments are an upper bound", message(512, 24000, 100, 21000, 2100, ""), []unit.Bytes{0, 0}, nil},
		{"gathered parameters", "    param_coordinator.fetch_sub_module(sub_module, forward=True)\n" + message(500, 24000, 10, 22800, 200, ""), []unit.Bytes{0, 0}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := lead(t, c.text)
			for i, want := range c.saves {
				got := unit.Bytes(0)
				if s := f.Remedies[i].Saves; s != nil {
					got = *s
				}
				if d := got - want; d > 6*unit.MiB || d < -6*unit.MiB {
					t.Errorf("%s: saves %s, want %s", f.Remedies[i].Action, got, want)
				}
			}
			for i, want := range c.exact {
				if f.Remedies[i].Exact != want {
					t.Errorf("%s: %s", f.Remedies[i].Action, f.Remedies[i].Exact)
				}
			}
		})
	}
}

// TestBalancesHaveNoNegativeParts checks that rounding leaves none and that
// numbers that contradict each other are not added up.
func TestBalancesHaveNoNegativeParts(t *testing.T) {
	r := explain(t, "XPU out of memory. Tried to allocate 4.00 GiB. GPU 0 has a total capacity of 5.65 GiB of which 5.65 GiB is free. Of the allocated memory 1.25 KiB is allocated by PyTorch, and 2.00 MiB is reserved by PyTorch but unallocated.")
	b := r.Diagnoses[0].Balance
	sum := unit.Bytes(0)
	for _, p := range b.Parts {
		if sum += p.Bytes; p.Bytes < 0 {
			t.Errorf("%s: %d", p.Name, p.Bytes)
		}
	}
	if sum != b.Total {
		t.Errorf("parts are %d of %d", sum, b.Total)
	}
	r = explain(t, "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity; 9.00 GiB already allocated; 3.00 GiB free; 7.00 GiB reserved in total by PyTorch)")
	if d := r.Diagnoses[0]; d.Rule != "numbers-contradict" || d.Balance != nil || d.Confidence != finding.Low {
		t.Errorf("rule %s, %s, balance %v", d.Rule, d.Confidence, d.Balance)
	}
	r = explain(t, "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity; 9.00 GiB already allocated; 0 bytes free; 9.20 GiB reserved in total by PyTorch)")
	if d := r.Diagnoses[0]; d.Balance != nil || !strings.Contains(r.Groups[0].Finding.Verdict, "moved part of them") {
		t.Errorf("%s, balance %v", r.Groups[0].Finding.Verdict, d.Balance)
	}
	said := words(lead(t, "RuntimeError: MPS backend out of memory (MPS allocated: 18.02 GB, other allocations: 112.00 MB, max allowed: 18.13 GB). Tried to allocate 4.50 MB on private pool."))
	if !strings.Contains(said, "18.02 this process + 0.11 other allocations + <0.01 asked for = 18.13 GiB") {
		t.Error(said)
	}
}

// TestCutsInventNothing cuts a message of a full card everywhere: what is
// missing is not 0, and does not become another process's.
func TestCutsInventNothing(t *testing.T) {
	whole := message(20, 81050, 2, 79872, 100, "Including non-PyTorch memory, this process has 79.14 GiB memory in use. ")
	for n := strings.Index(whole, "of which"); n <= len(whole); n++ {
		d := explain(t, whole[:n]).Diagnoses[0]
		said := words(lead(t, whole[:n]))
		if d.Cause.ID != "device_full" || strings.Contains(said, "reserves 0 B") || strings.Contains(said, " 0 B live") {
			t.Errorf("%s\n%s", whole[:n], said)
		}
	}
}
