package diagnose

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/internal/format/oomlog"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// expected is what people concluded from a given log.
type expected struct {
	Device  bool           `json:"device_memory_oom"`
	Derived map[string]any `json:"derived"`
	Cause   string         `json:"cause"`
	Also    []string       `json:"also_accept_causes"`
	Never   string         `json:"must_not_say"`
}

func explain(t *testing.T, text string) *Result {
	t.Helper()
	log, err := oomlog.Scan(t.Context(), strings.NewReader(text), "test.log")
	if err != nil {
		t.Fatal(err)
	}
	return Diagnose(log)
}

func TestGivenLogs(t *testing.T) {
	dir := os.Getenv("PLIMSOLL_CASES")
	if dir == "" {
		t.Skip("PLIMSOLL_CASES is not set")
	}
	text, err := os.ReadFile(filepath.Join(dir, "oom", "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string]expected
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	first, also := 0, 0
	for name, want := range cases {
		log, err := os.ReadFile(filepath.Join(dir, "oom", name))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name+" wrapped", func(t *testing.T) {
			var lines []string
			for l := range strings.Lines(string(log)) {
				for l = "[rank3]: " + strings.TrimRight(l, "\n"); len(l) > 97; l = l[97:] {
					lines = append(lines, l[:97])
				}
				lines = append(lines, l)
			}
			r := explain(t, strings.Join(lines, "\n")+"\n")
			if len(r.Diagnoses) != 1 || r.Diagnoses[0].Cause.ID != want.Cause && !slices.Contains(want.Also, r.Diagnoses[0].Cause.ID) {
				t.Errorf("%d diagnoses, cause %s", len(r.Diagnoses), r.Diagnoses[0].Cause.ID)
			}
		})
		t.Run(name, func(t *testing.T) {
			r := explain(t, string(log))
			if len(r.Diagnoses) != 1 {
				t.Fatalf("%d diagnoses", len(r.Diagnoses))
			}
			d := r.Diagnoses[0]
			switch {
			case d.Cause.ID == want.Cause:
				first++
			case slices.Contains(want.Also, d.Cause.ID):
				also++
			default:
				t.Errorf("cause %s by rule %s, want %s or %v", d.Cause.ID, d.Rule, want.Cause, want.Also)
			}
			if d.DeviceMemory() != want.Device {
				t.Errorf("device memory: %v", d.DeviceMemory())
			}
			got := Derived{}
			for name, v := range d.Derived {
				if b, ok := v.(unit.Bytes); ok {
					v = float64(b)
				}
				got[name] = v
			}
			if diff := cmp.Diff(want.Derived, map[string]any(got)); diff != "" && len(want.Derived)+len(got) > 0 {
				t.Errorf("derived (want -, got +):\n%s", diff)
			}
			said := words(r.Groups[0].Finding)
			if want.Never != "" && (strings.Contains(strings.ToLower(said), strings.ToLower(want.Never)) || d.Cause.ID == want.Never) {
				t.Errorf("says %q:\n%s", want.Never, said)
			}
			t.Log(said)
		})
	}
	t.Logf("%d of %d causes are the first choice, %d are accepted", first, len(cases), also)
}

// words is all that a finding says.
func words(f finding.Finding) string {
	lines := []string{f.Cause + ": " + f.Verdict}
	for _, e := range f.Evidence {
		lines = append(lines, "  "+e.Fact)
	}
	for _, r := range f.Remedies {
		lines = append(lines, "  -> "+r.Action+" "+r.Flag)
	}
	return strings.Join(lines, "\n")
}

// TestEveryKindIsExplained goes over the table of messages: each has a rule, a
// sentence and something to do.
func TestEveryKindIsExplained(t *testing.T) {
	for _, k := range oomlog.Kinds() {
		r := explain(t, k.Example)
		if len(r.Diagnoses) != 1 || len(r.Groups) != 1 {
			t.Errorf("%s: %d diagnoses", k.Name, len(r.Diagnoses))
			continue
		}
		f := r.Groups[0].Finding
		if f.Verdict == "" || len(f.Remedies) == 0 || len(f.Evidence) == 0 || strings.Contains(words(f), "%!") {
			t.Errorf("%s: %s", k.Name, words(f))
		}
		if b := r.Diagnoses[0].Balance; b != nil {
			sum := unit.Bytes(0)
			for _, p := range b.Parts {
				sum += p.Bytes
			}
			if sum != b.Total {
				t.Errorf("%s: parts add up to %d of %d", k.Name, sum, b.Total)
			}
		}
	}
}

// TestCutMessagesAreExplained cuts every example at every byte.
func TestCutMessagesAreExplained(t *testing.T) {
	for _, k := range oomlog.Kinds() {
		for n := range len(k.Example) {
			for _, g := range explain(t, k.Example[:n]).Groups {
				if said := words(g.Finding); strings.Contains(said, "%!") || strings.Contains(said, "NaN") {
					t.Errorf("%q: %s", k.Example[:n], said)
				}
			}
		}
	}
}

func TestTables(t *testing.T) {
	ids := map[string]bool{}
	used := map[string]bool{}
	for i, r := range rules {
		if ids[r.id] || r.id == "" || r.why == "" || r.verdict == nil || r.confidence == "" {
			t.Errorf("rule %d %q is not unique or not whole", i, r.id)
		}
		ids[r.id] = true
		used[r.cause] = true
		if causes[r.cause] == nil {
			t.Errorf("rule %s: %s is no cause", r.id, r.cause)
		}
		for _, k := range r.kinds {
			if !slices.ContainsFunc(oomlog.Kinds(), func(kind oomlog.Kind) bool { return kind.Name == k }) {
				t.Errorf("rule %s: %s is no kind", r.id, k)
			}
		}
	}
	for _, c := range Causes() {
		if !used[c.ID] {
			t.Errorf("no rule decides for %s", c.ID)
		}
	}
	if last := rules[len(rules)-1]; last.when != nil || last.kinds != nil {
		t.Error("the last rule must hold for everything")
	}
	if len(Rules()) != len(rules) {
		t.Error("Rules leaves some out")
	}
}

// message writes one of PyTorch 2.5 from sizes in MiB; a process list may be
// given as text.
func message(request, total, free, allocated, unused int, list string) string {
	mib := unitText
	return "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate " + mib(request) + ". GPU 0 has a total capacity of " + mib(total) + " of which " + mib(free) + " is free. " + list +
		"Of the allocated memory " + mib(allocated) + " is allocated by PyTorch, and " + mib(unused) + " is reserved by PyTorch but unallocated. "
}

func unitText(mib int) string {
	return strings.ReplaceAll(fine(unit.Bytes(mib)*unit.MiB), " B", " bytes")
}

// TestWhatExcludesWhat pins the order of the rules by situations next to each
// other.
func TestWhatExcludesWhat(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"all live", message(512, 24000, 100, 22900, 200, ""), "device_full"},
		{"as much unused as asked for", message(512, 24000, 100, 21000, 2100, ""), "fragmentation"},
		{"unused is as much, but a tie", message(512, 24000, 10, 22600, 530, ""), "device_full"},
		{"unused and free serve it together", message(2000, 24000, 900, 20400, 1900, ""), "fragmentation"},
		{"more free than asked for", message(512, 24000, 5000, 18000, 200, ""), "free_but_refused"},
		{"more free, within a tie", message(512, 24000, 540, 22500, 200, ""), "device_full"},
		{"larger than the card", message(30000, 24000, 5000, 18000, 200, ""), "request_over_device"},
		{"half of the card", message(15000, 24000, 9000, 14000, 200, ""), "single_huge_request"},
		{"others hold a third", message(512, 24000, 100, 15000, 200, "Process 7 has 7.81 GiB memory in use. Including non-PyTorch memory, this process has 15.40 GiB memory in use. "), "other_process"},
		{"others hold little", message(512, 24000, 100, 22000, 200, "Process 7 has 500.00 MiB memory in use. Including non-PyTorch memory, this process has 22.40 GiB memory in use. "), "device_full"},
		{"two bare contexts", message(512, 24000, 100, 22000, 200, "Process 7 has 500.00 MiB memory in use. Process 8 has 500.00 MiB memory in use. Including non-PyTorch memory, this process has 22.00 GiB memory in use. "), "extra_contexts"},
		{"two ranks with tensors", message(512, 24000, 100, 18500, 200, "Process 7 has 1.50 GiB memory in use. Process 8 has 1.50 GiB memory in use. Including non-PyTorch memory, this process has 18.60 GiB memory in use. "), "other_process"},
		{"the process itself, seen from outside", message(512, 24000, 100, 22700, 300, "Process 7 has 23.30 GiB memory in use. "), "device_full"},
		{"another library inside", message(512, 24000, 100, 15000, 200, "Including non-PyTorch memory, this process has 23.20 GiB memory in use. "), "library_memory_outside_torch"},
		{"nobody named, a third outside", message(512, 24000, 100, 15000, 200, ""), "other_process"},
		{"attention", "    attn_weights = torch.matmul(query, key.transpose(2, 3))\n" + message(4000, 24000, 500, 22000, 600, ""), "attention_quadratic"},
		{"attention, but tiny", "    attn_weights = torch.matmul(query, key.transpose(2, 3))\n" + message(20, 24000, 10, 22800, 200, ""), "device_full"},
		{"logits", "    loss = F.cross_entropy(logits.view(-1, v), y)\n" + message(4000, 24000, 500, 22000, 600, ""), "logits_materialised"},
		{"moving the model", "    return self._apply(lambda t: t.cuda(device))\n" + message(200, 24000, 10, 22800, 200, ""), "weights_do_not_fit"},
		{"gathering", "    param_coordinator.fetch_sub_module(sub_module, forward=True)\n" + message(500, 24000, 10, 22800, 200, ""), "gather_buffers"},
		{"scores in one line", "    attn = (q @ k.transpose(-2, -1)) * self.scale\n" + message(4000, 24000, 500, 22000, 600, ""), "attention_quadratic"},
		{"the start of CUDA, long ago", "THCudaCheck FAIL file=/pytorch/aten/src/THC/THCGeneral.cpp line=74 error=2 : out of memory", "context_creation_failed"},
		{"cut before it says what is free", "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 11.17 GiB total capacity; 962.69 MiB already allocated; 17.19 MiB f", "other_process"},
		{"inside of vLLM", "(VllmWorker rank=1 pid=2978) ERROR 03-19 07:27:53 [multiproc_executor.py:375] " + message(1782, 24136, 606, 20695, 186, ""), "serving_headroom"},
		{"a limit", strings.Replace(message(512, 24000, 12000, 10000, 200, ""), "Of the allocated", "10.00 GiB allowed; Of the allocated", 1), "process_cap"},
		{"a limit that is the card", strings.Replace(message(512, 24000, 100, 22900, 200, ""), "Of the allocated", "23.44 GiB allowed; Of the allocated", 1), "device_full"},
		{"on the CPU it is an index error", "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`\nIndexError: index out of range in self", "disguised_not_oom"},
		{"advice on assertions is none", "torch.AcceleratorError: CUDA error: out of memory\nSearch for `cudaErrorMemoryAllocation' in https://docs.nvidia.com/cuda\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.", "context_creation_failed"},
		{"four ranks on one card", message(30, 80998, 15, 20070, 226, "Process 16746 has 20.84 GiB memory in use. Process 16747 has 20.33 GiB memory in use. Process 16748 has 18.94 GiB memory in use. Process 16749 has 18.94 GiB memory in use. "), "other_process"},
		{"an assertion far before", "Assertion `srcIndex < srcSelectDimSize` failed\nblock: [1,0,0], thread: [3,0,0] Assertion `srcIndex < srcSelectDimSize` failed.\n" + strings.Repeat("x\n", 100000) + "CUBLAS_STATUS_ALLOC_FAILED", "disguised_not_oom"},
		{"a CPU tensor of TensorFlow", "OOM when allocating tensor with shape[1,5095,3729,3] and type float on /job:localhost/replica:0/task:0/device:CPU:0 by allocator cpu", "host_ram"},
		{"little left for TensorFlow", "Total memory: 7.92GiB\nFree memory: 190.31MiB\nfailed to allocate 190.31M (199557120 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY", "other_process"},
		{"sizes that Windows does not know", message(512, 24000, 100, 22900, 200, "Process 7 has 17179869184.00 GiB memory in use. Including non-PyTorch memory, this process has 17179869184.00 GiB memory in use. "), "device_full"},
		{"weights on a card that llama.cpp names", "  Device 0: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes, VRAM: 24124 MiB\nload_tensors: x\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 30000.00 MiB on device 0: cudaMalloc failed: out of memory\nalloc_tensor_range: failed to allocate CUDA0 buffer of size 31457280000", "request_over_device"},
		{"weights that nearly fit", "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 20000.00 MiB on device 0: cudaMalloc failed: out of memory\nalloc_tensor_range: failed to allocate CUDA0 buffer of size 20971520000", "weights_do_not_fit"},
		{"without brackets", "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB \nGPU 0; 8.00 GiB total capacity; 7.20 GiB already allocated; 0 bytes free; 7.30 GiB reserved in total by PyTorch\nIf reserved memory is >> allocated memory try", "device_full"},
		{"a pool of nearly nothing", "Stats:\nLimit:                    55115776\nInUse:                        2048\nMaxInUse:                     2048\nNumAllocs:                       6\nMaxAllocSize:                 1280\nInternalError: Dst tensor is not initialized.", "other_process"},
		{"a whole card for TensorFlow", "failed to allocate 10.91G (11715084288 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY", "other_process"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := explain(t, c.text)
			if len(r.Diagnoses) == 0 {
				t.Fatal("no message found")
			}
			if d := r.Diagnoses[0]; d.Cause.ID != c.want {
				t.Errorf("%s by %s, want %s\n%s", d.Cause.ID, d.Rule, c.want, words(r.Groups[0].Finding))
			}
		})
	}
}

func TestGroups(t *testing.T) {
	text := "[rank0]: " + message(512, 24000, 100, 22900, 200, "") + "\n[rank1]: " + message(514, 24000, 100, 22900, 200, "") + "\n[rank2]: " + message(514, 24000, 100, 22900, 200, "") +
		"\nERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank: 0 (pid: 27657) of binary: python\n"
	r := explain(t, text)
	if len(r.Groups) != 2 || len(r.Diagnoses) != 3 {
		t.Fatalf("%d groups, %d diagnoses", len(r.Groups), len(r.Diagnoses))
	}
	if got, want := r.Groups[0].Spread(), "2 different messages of this kind, printed 3 times, ranks 0-2, requests from 512.00 MiB to 514.00 MiB"; got != want {
		t.Errorf("spread %q", got)
	}
	if r.Groups[1].Diagnoses[0].Cause.ID != "host_ram" {
		t.Error("the rank that the launcher ended comes second")
	}
	if !reflect.DeepEqual(r.Groups[0].Diagnoses, r.Diagnoses[:2]) {
		t.Error("the group is not what was diagnosed")
	}
}
