package diagnose

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/internal/format/oomlog"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// sizedKinds are PyTorch's messages that tell the sizes of the device.
var sizedKinds = []string{
	"torch_cached", "torch_reserved", "torch_reserved_hint", "torch_reserved_allowed", "torch_v21", "torch_v22", "torch_v22_allowed",
	"torch_v25_pools", "torch_v25_pools_allowed", "torch_v29", "torch_generic", "torch_xpu_v1", "torch_xpu_v2", "torch_async", "torch_npu",
}

// Thresholds of the rules.
const (
	// hugeShare is the part of a device that one request is called huge from.
	hugeShare = 0.5
	// seenShare is what memory must at least be of the device to matter.
	seenShare = 0.02
	// foreignShare is from where other processes count as the cause when they
	// hold leastForeign as well, clearlyForeign from where they always do.
	foreignShare   = 0.12
	clearlyForeign = 0.25
	leastForeign   = 3 * unit.GiB / 2
	// largeBeside is more than contexts and workspaces take.
	largeBeside  = 26 * unit.GiB / 10
	besideShare  = 0.1
	impossible   = unit.PiB
	largeContext = 12 * unit.GiB / 10
	leastContext = 100 * unit.MiB
	fourGiB      = 4 * unit.GiB
	// usualUtilization is the share of the card that vLLM takes by default.
	usualUtilization = 0.9
)

var torchRules = []rule{
	{
		id: "more-than-exists", cause: "corrupt_size", kinds: append([]string{"torch_bogus_size", "torch_cut"}, sizedKinds...), confidence: finding.High,
		when: func(s *situation) bool { return s.m.Kind.Name == "torch_bogus_size" || s.request >= impossible },
		why:  "the size is more than any memory has (1 PiB and more)",
		verdict: func(*situation) string {
			return "the size that was asked for exists nowhere: ranks exchanged garbage for a size, or a length was computed from damaged data"
		},
		remedies: actions("find the first error of a collective before this one: a rank that is out of step sends sizes that are none",
			"torch.cuda.set_device(local_rank) in each rank before its first collective", "check the file or message that lengths are read from"),
	},
	{
		id: "numbers-contradict", cause: "device_full", kinds: sizedKinds, confidence: finding.Low,
		when: func(s *situation) bool { return s.contradicts() },
		why:  "less is reserved than allocated, or more is free than there is: no arithmetic can be done with these numbers",
		verdict: func(s *situation) string {
			return fmt.Sprintf("%s were refused, and the numbers of the message contradict each other: %s of %s allocated, %s reserved, %s free", fine(s.request), fine(s.allocated), fine(s.total), fine(s.reserved), fine(s.free))
		},
		remedies: actions("take the message from the log of the process itself: this one was edited, or two were mixed"),
	},
	{
		id: "no-sizes-at-all", cause: "device_full", kinds: []string{"torch_async"}, confidence: finding.Low,
		when: func(s *situation) bool { return s.total == 0 && s.request == 0 },
		why:  "the short form of the message has no sizes",
		verdict: func(s *situation) string {
			return "PyTorch ran out of GPU memory; this form of the message has no sizes" + s.phase()
		},
		remedies: actions("print torch.cuda.memory_summary() where it fails, and run plimsoll explain on that", "see what else holds the GPU: nvidia-smi", "less at once: a smaller batch or image, tiled decoding"),
	},
	{
		id: "limit-reached", cause: "process_cap", kinds: sizedKinds, confidence: finding.High,
		when: func(s *situation) bool {
			return s.allowed > 0 && s.allowed < s.total-tie && s.reserved+s.request+tie > s.allowed
		},
		why: "a limit below the device's size is printed, and what is reserved plus the request exceeds it",
		verdict: func(s *situation) string {
			return fmt.Sprintf("a limit of %s was set for this process, %s of the %s on %s: %s reserved + %s asked for do not fit under it",
				fine(s.allowed), percentOf(s.allowed, s.total), fine(s.total), s.gpu(), fine(s.reserved), fine(s.request))
		},
		remedies: capRemedies,
	},
	{
		id: "machine-has-more", cause: "driver_sees_less", kinds: sizedKinds, confidence: finding.High,
		when: func(s *situation) bool { _, there := s.machine(); return there },
		why:  "another line of the log states a size of the card that is half as large again",
		verdict: func(s *situation) string {
			size, _ := s.machine()
			return fmt.Sprintf("the runtime reports %s for %s where the kernel's log says %s: it looks at the wrong pool", fine(s.total), s.gpu(), fine(size))
		},
		remedies: actions("update the driver and the runtime, or change the setting that divides the memory between CPU and GPU",
			"check what the runtime sees: torch.cuda.get_device_properties(0).total_memory"),
	},
	{
		id: "request-over-device", cause: "request_over_device", kinds: sizedKinds, confidence: finding.High,
		when: func(s *situation) bool { return s.total > 0 && s.request > s.total },
		why:  "the request is larger than the device",
		verdict: func(s *situation) string {
			return fmt.Sprintf("one request of %s is %s times all of %s (%s)%s", fine(s.request), times(s.request, s.total), s.gpu(), fine(s.total), s.at())
		},
		remedies: func(s *situation) []finding.Remedy {
			return append(s.forSize(), s.inParts("make that tensor in parts, or smaller; no setting serves it", 2))
		},
	},
	{
		id: "four-gib", cause: "single_allocation_limit", kinds: []string{"torch_xpu_v1", "torch_xpu_v2"}, confidence: finding.Medium,
		when: func(s *situation) bool {
			if s.sized {
				return s.request >= fourGiB && s.free-s.request > tie
			}
			if s.request >= fourGiB && s.reserved+s.request+usualContext < s.total {
				return true
			}
			return strings.Contains(strings.ToLower(s.m.Text), "larger than 4") || s.reserved+s.request < s.total*3/4
		},
		why: "an Intel GPU has the memory and still refuses the request: allocations there have had a limit of 4 GiB, less under WSL",
		verdict: func(s *situation) string {
			room := fine(s.free) + " are free"
			if !s.sized {
				room = fmt.Sprintf("PyTorch holds %s of %s", fine(s.reserved), fine(s.total))
			}
			return fmt.Sprintf("%s were refused in one piece where %s: the platform limits single allocations", fine(s.request), room)
		},
		remedies: func(*situation) []finding.Remedy {
			return []finding.Remedy{
				{Action: "make the tensor in parts of less than 4 GiB", Exact: finding.SameNumbers},
				{Action: "update driver and runtime, or lift the limit", Flag: "UR_L0_ENABLE_RELAXED_ALLOCATION_LIMITS=1"},
			}
		},
	},
	{
		id: "others-race", cause: "other_process", kinds: sizedKinds, confidence: finding.High,
		when:    func(s *situation) bool { return s.sized && s.free-s.request > tie && s.share(s.others) >= hugeShare },
		why:     "more is free now than was asked for, and other processes hold half of the device or more: they gave memory back just now",
		verdict: otherVerdict, remedies: otherRemedies,
	},
	{
		id: "nearly-all-that-is-free", cause: "single_huge_request", kinds: sizedKinds, confidence: finding.Medium,
		when: func(s *situation) bool {
			return s.sized && s.free-s.request > tie && s.share(s.request) >= hugeShare && s.share(s.free-s.request) < seenShare
		},
		why:     "the request is half of the device or more and takes all that is free to a fiftieth of the device",
		verdict: hugeVerdict, remedies: hugeRemedies,
	},
	{
		id: "refused-with-room", cause: "free_but_refused", kinds: sizedKinds, confidence: finding.Medium,
		when: func(s *situation) bool { return s.sized && s.free-s.request > tie },
		why:  "the device has more free than was asked for, by more than a tie",
		verdict: func(s *situation) string {
			return fmt.Sprintf("%s were refused although %s of %s are free: the size of the card is not what decides", fine(s.request), fine(s.free), fine(s.total))
		},
		remedies: func(*situation) []finding.Remedy {
			out := []finding.Remedy{{Action: "on Windows and WSL: a larger page file and fewer loader workers, since each process needs commit charge for what it has on the GPU", Flag: "num_workers=2"}}
			return append(out,
				finding.Remedy{Action: "look whether another process takes and frees memory at the same time: nvidia-smi, once a second"},
				finding.Remedy{Action: "look for a limit of a container, a virtual GPU or a partition, and for errors of the driver in dmesg"})
		},
	},
	{
		id: "equal-contexts", cause: "extra_contexts", kinds: sizedKinds, confidence: finding.High,
		when: func(s *situation) bool {
			n, sum, each := s.contexts()
			// A bare context is about as large as what this process has
			// beside its tensors; more are ranks with tensors of their own.
			bare := !s.knowsBeside || each <= 2*s.beside+256*unit.MiB
			return n >= 2 && sum >= s.shortage() && sum > s.unused && bare
		},
		why: "several processes hold equal amounts of the size of a context, and together more than is missing",
		verdict: func(s *situation) string {
			n, sum, each := s.contexts()
			return fmt.Sprintf("%d other processes hold %s each on %s, as bare CUDA contexts do: %s, %s times the missing %s", n, fine(each), s.gpu(), fine(sum), times(sum, s.shortage()), fine(s.shortage()))
		},
		remedies: func(s *situation) []finding.Remedy {
			_, sum, _ := s.contexts()
			return []finding.Remedy{
				{Action: "choose the device in every rank and worker before the first call that touches CUDA", Flag: "torch.cuda.set_device(local_rank)", Saves: &sum, Method: arithmetic, Exact: finding.SameNumbers},
				{Action: "load checkpoints to the CPU or to the own device", Flag: "torch.load(path, map_location=\"cpu\")", Exact: finding.SameNumbers},
			}
		},
	},
	{
		id: "library-holds-more", cause: "library_memory_outside_torch", kinds: sizedKinds, confidence: finding.Medium,
		when: func(s *situation) bool {
			return s.knowsBeside && s.beside >= largeBeside && s.share(s.beside) >= besideShare && s.beside >= s.shortage() && s.beside > s.unused && s.beside > s.others
		},
		why: "this process itself holds more beside PyTorch than contexts and workspaces take, and more than is missing",
		verdict: func(s *situation) string {
			return fmt.Sprintf("this process holds %s on %s beside PyTorch's allocator: another runtime or library in it (%s live tensors, %s missing)", fine(s.beside), s.gpu(), fine(s.allocated), fine(s.shortage()))
		},
		remedies: func(s *situation) []finding.Remedy {
			return []finding.Remedy{{
				Action: fmt.Sprintf("limit the other runtime (onnxruntime gpu_mem_limit, TensorFlow memory growth, JAX XLA_PYTHON_CLIENT_MEM_FRACTION), or run it on a GPU of its own: %s less the %s that a context may take", fine(s.beside), fine(usualContext)),
				Saves:  pointer(s.beside - usualContext), Method: arithmetic,
			}}
		},
	},
	{
		id: "others-hold-it", cause: "other_process", kinds: sizedKinds, confidence: finding.High,
		when: func(s *situation) bool {
			f := s.foreign()
			return s.sized && f >= s.shortage() && f > s.unused && (s.share(f) >= clearlyForeign || f >= leastForeign && s.share(f) >= foreignShare)
		},
		why:     "memory that is neither this process's nor free is a large part of the device, more than is missing and more than lies unused",
		verdict: otherVerdict, remedies: otherRemedies,
	},
	{
		id: "unused-would-serve", cause: "fragmentation", kinds: sizedKinds, confidence: finding.High,
		when: func(s *situation) bool {
			return s.sized && s.unused >= s.request && s.spare() > max(tie, unit.Bytes(seenShare*float64(s.total)))
		},
		why:     "what is reserved and unallocated is as much as the request, and would leave something over",
		verdict: fragmentationVerdict, remedies: fragmentationRemedies,
	},
	{
		id: "unused-and-free-would-serve", cause: "fragmentation", kinds: sizedKinds, confidence: finding.Medium,
		when: func(s *situation) bool {
			return s.sized && s.share(s.unused) >= besideShare/2 && s.spare() > max(tie, unit.Bytes(seenShare*float64(s.total)))
		},
		why:     "what is free and what is reserved and unallocated would serve the request together",
		verdict: fragmentationVerdict, remedies: fragmentationRemedies,
	},
	{
		id: "little-is-ours", cause: "other_process", kinds: append([]string{"torch_cut"}, sizedKinds...), confidence: finding.Low,
		when: func(s *situation) bool {
			return !s.sized && s.tensors && s.total > 0 && s.allocated+s.request < s.total/2
		},
		why: "the message does not tell what is free, and this process's tensors with the request are less than half of the device",
		verdict: func(s *situation) string {
			return fmt.Sprintf("this process has only %s of the %s on %s, and %s more failed: something else seems to hold the rest (the message does not say)", fine(s.allocated), fine(s.total), s.gpu(), fine(s.request))
		},
		remedies: actions("see what holds the GPU: nvidia-smi", "keep the whole message, and run plimsoll explain on it"),
	},
	{
		id: "cut-before-holders", cause: "device_full", kinds: sizedKinds, confidence: finding.Low,
		when: func(s *situation) bool { return !s.tensors && s.m.Cut },
		why:  "the message is cut before it tells who holds what is in use",
		verdict: func(s *situation) string {
			own, named := s.m.Get("this_process_bytes")
			_, freeKnown := s.m.Get("free_bytes")
			switch {
			case named:
				return fmt.Sprintf("this process has %s of the %s on %s, and %s more failed; the message is cut before it tells how much of that are live tensors", fine(own), fine(s.total), s.gpu(), fine(s.request))
			case freeKnown && s.total > 0:
				return fmt.Sprintf("%s failed with %s of %s free on %s; the message is cut before it tells who holds the rest", fine(s.request), fine(s.free), fine(s.total), s.gpu())
			}
			return fmt.Sprintf("%s failed on %s; the message is cut before it tells what is free and who holds the rest", fine(s.request), s.gpu())
		},
		remedies: actions("keep the whole message, and run plimsoll explain on it: a limit on the length of lines cut this one", "see what holds the GPU: nvidia-smi"),
	},
	{
		id: "gathering", cause: "gather_buffers", kinds: sizedKinds, confidence: finding.Medium,
		when: func(s *situation) bool { return s.has("gather") },
		why:  "the code at the error gathers sharded parameters",
		verdict: func(s *situation) string {
			return fmt.Sprintf("%s for gathered parameters do not fit: %s of %s are live tensors already%s", fine(s.request), fine(s.allocated), fine(s.total), s.line("gather"))
		},
		remedies: func(s *situation) []finding.Remedy {
			return []finding.Remedy{
				{Action: "gather less at a time: smaller stage3_max_live_parameters and stage3_prefetch_bucket_size (DeepSpeed), wrap smaller modules and limit_all_gathers (FSDP)" + s.missing(), Exact: finding.SameNumbers},
				{Action: "check that the model is built sharded and that no rank holds all of it", Exact: finding.SameNumbers},
			}
		},
	},
	{
		id: "attention", cause: "attention_quadratic", kinds: sizedKinds, confidence: finding.Medium,
		when: func(s *situation) bool { return s.has("attention") && s.share(s.request) >= seenShare },
		why:  "the code at the error makes attention scores or a mask, and the request is a visible part of the device",
		verdict: func(s *situation) string {
			return fmt.Sprintf("one %s tensor of attention scores or masks, which grow with the square of the length; %s are short%s", fine(s.request), fine(s.shortage()), s.line("attention"))
		},
		remedies: func(s *situation) []finding.Remedy {
			half := s.request - s.request/4
			return []finding.Remedy{
				{Action: "attention that never writes the scores", Flag: "attn_implementation=\"sdpa\" or flash attention", Saves: &s.request, Method: arithmetic, Exact: finding.SameExpectation},
				{Action: "half the sequence length: a quarter of this tensor", Saves: &half, Method: arithmetic, Exact: finding.ChangesResults},
			}
		},
	},
	{
		id: "logits", cause: "logits_materialised", kinds: sizedKinds, confidence: finding.Medium,
		when: func(s *situation) bool { return s.has("logits") && s.share(s.request) >= seenShare },
		why:  "the code at the error works on logits of the whole vocabulary, and the request is a visible part of the device",
		verdict: func(s *situation) string {
			return fmt.Sprintf("%s for logits of all tokens times the vocabulary: even in one piece, %s free + %s unused are %s short%s",
				fine(s.request), fine(s.free), fine(s.unused), fine(-s.spare()), s.line("logits"))
		},
		remedies: func(s *situation) []finding.Remedy {
			return []finding.Remedy{
				s.inParts("compute the loss in chunks of tokens, as a fused linear cross entropy does", leastChunks),
				{Action: "fewer sequences at once, accumulated over more steps" + s.missing(), Exact: finding.SameExpectation},
				{Action: "shorter sequences", Exact: finding.ChangesResults},
			}
		},
	},
	{
		id: "half-the-device", cause: "single_huge_request", kinds: sizedKinds, confidence: finding.High,
		when: func(s *situation) bool {
			return s.sized && (s.share(s.request) >= hugeShare || s.request > s.total-s.outside && s.share(s.outside) < hugeShare)
		},
		why:     "the request is half of the device or more, or would not fit beside what is outside of PyTorch",
		verdict: hugeVerdict, remedies: hugeRemedies,
	},
	{
		id: "moving-parameters", cause: "weights_do_not_fit", kinds: append([]string{"torch_cut"}, sizedKinds...), confidence: finding.Medium,
		when: func(s *situation) bool { return s.has("loading") && !s.has("backward") && !s.has("optimizer") },
		why:  "the code at the error moves or loads parameters",
		verdict: func(s *situation) string {
			if !s.sized {
				return fmt.Sprintf("the parameters do not fit: %s failed while they were loaded%s", fine(s.request), s.line("loading"))
			}
			return fmt.Sprintf("the parameters do not fit: %s of %s are taken by what was loaded before, and %s more failed%s", fine(s.allocated), fine(s.total), fine(s.request), s.line("loading"))
		},
		remedies: func(*situation) []finding.Remedy {
			return []finding.Remedy{
				{Action: "load in bf16 instead of fp32: half the bytes", Flag: "torch_dtype=torch.bfloat16", Exact: finding.ChangesResults},
				{Action: "quantise, or split the model over devices", Flag: "device_map=\"auto\"", Exact: finding.ChangesResults},
			}
		},
	},
	{
		id: "serving-engine", cause: "serving_headroom", kinds: sizedKinds, confidence: finding.Medium,
		when: func(s *situation) bool { return s.sized && s.has("serving") },
		why:  "the log is of an inference engine, whose KV cache takes what it is allowed to before requests come",
		verdict: func(s *situation) string {
			return fmt.Sprintf("weights and KV cache of the inference engine take %s of the %s on %s and leave %s for activations: %s are short", fine(s.allocated), fine(s.total), s.gpu(), fine(s.free), fine(max(s.shortage(), 0)))
		},
		remedies: func(s *situation) []finding.Remedy {
			low := usualUtilization - s.share(max(s.shortage(), 0))
			return []finding.Remedy{
				{Action: "fewer sequences and tokens in one batch", Flag: "--max-num-seqs, --max-num-batched-tokens", Exact: finding.SameNumbers},
				{Action: fmt.Sprintf("leave more beside the KV cache: lower the share that the engine takes (vLLM takes 0.90 by default, and %s are short)", fine(max(s.shortage(), 0))), Flag: fmt.Sprintf("--gpu-memory-utilization %.2f", max(low, 0.5)), Method: arithmetic, Exact: finding.SameNumbers},
			}
		},
	},
	{
		id: "full", cause: "device_full", kinds: sizedKinds, confidence: finding.High,
		why:     "no other rule holds: live tensors of this process take the device",
		verdict: fullVerdict, remedies: fullRemedies,
	},
	{
		id: "message-cut", cause: "device_full", kinds: []string{"torch_cut"}, confidence: finding.Low,
		why: "only the beginning of the message is there",
		verdict: func(s *situation) string {
			if s.request == 0 {
				return "PyTorch ran out of GPU memory; the numbers that would say why are not in this log" + s.phase()
			}
			return fmt.Sprintf("PyTorch ran out of GPU memory asking for %s; the numbers that would say why are not in this log%s", fine(s.request), s.phase())
		},
		remedies: actions("keep the whole message, with its sizes, and run plimsoll explain on it"),
	},
	{
		id: "at-the-start", cause: "context_creation_failed", kinds: []string{"torch_thc"}, confidence: finding.Medium,
		when: func(s *situation) bool { return s.has("start of CUDA") },
		why:  "the file that the error names is the one that starts CUDA",
		verdict: func(*situation) string {
			return "the GPU had no memory left for a CUDA context when PyTorch started to use it: something else holds it"
		},
		remedies: actions("see what holds the GPU: nvidia-smi", "give each rank its own device before its first CUDA call: torch.cuda.set_device(local_rank)"),
	},
	{
		id: "before-sizes", cause: "device_full", kinds: []string{"torch_thc"}, confidence: finding.Low,
		why: "messages of this age have no sizes",
		verdict: func(s *situation) string {
			return "the GPU ran out of memory; messages of PyTorch before 1.0 have no sizes" + s.phase()
		},
		remedies: actions("run again beside nvidia-smi, or plimsoll capture the script, to see how much is missing", "a smaller batch, accumulated over steps"),
	},
	{
		id: "mps-request", cause: "request_over_device", kinds: []string{"mps_gb", "mps_gib"}, confidence: finding.High,
		when: func(s *situation) bool {
			limit, there := s.m.Get("max_allowed_bytes")
			return there && s.request > limit
		},
		why: "one request is larger than all that the process may have",
		verdict: func(s *situation) string {
			limit, _ := s.m.Get("max_allowed_bytes")
			return fmt.Sprintf("one request of %s is %s times the %s that MPS may take on this Mac", fine(s.request), times(s.request, limit), fine(limit))
		},
		remedies: actions("make that tensor in parts, or smaller", "half precision: half of it"),
	},
	{
		id: "mps-limit", cause: "unified_memory_limit", kinds: []string{"mps_gb", "mps_gib"}, confidence: finding.High,
		why:     "allocated, other allocations and the request exceed what MPS may take",
		verdict: mpsVerdict, facts: mpsFacts,
		remedies: actions("free what the last stage left: drop its references, then torch.mps.empty_cache()", "half precision, or a smaller model or image",
			"close what else uses the GPU; lifting the limit only moves the machine into swapping"),
	},
	{
		id: "shared-memory-of-a-mac", cause: "unified_memory_limit", kinds: []string{"mlx_malloc", "mps_command_buffer"}, confidence: finding.Medium,
		why: "Metal got no more of the memory that CPU and GPU share",
		verdict: func(s *situation) string {
			if s.request > 0 {
				return fmt.Sprintf("%s were refused: what the GPU may take of this Mac's memory is used up", fine(s.request))
			}
			return "Metal gave up on its work: what the GPU may take of this Mac's memory is used up"
		},
		remedies: actions("a smaller or more quantised model, a shorter context or a smaller image", "give back what is cached: mx.clear_cache(), mx.set_cache_limit(...), torch.mps.empty_cache()",
			"close what else uses memory; a higher limit (sysctl iogpu.wired_limit_mb) only moves the machine into swapping"),
	},
	{
		id: "mps-buffer", cause: "single_allocation_limit", kinds: []string{"mps_buffer"}, confidence: finding.High,
		why: "Metal refuses single buffers over a limit, whatever is free",
		verdict: func(s *situation) string {
			return fmt.Sprintf("one buffer of %s is more than Metal allows for one", fine(s.request))
		},
		remedies: actions("make that tensor in parts (attention slicing, tiled decoding)"),
	},
	{
		id: "pinning-failed", cause: "host_pinned", kinds: []string{"cuda_error_oom"}, confidence: finding.Medium,
		when: func(s *situation) bool { return s.has("pinning") },
		why:  "the innermost frame pins memory of the host; the driver has one error for both memories",
		verdict: func(*situation) string {
			return "pinned host memory, not the GPU: the driver refused to pin memory of the host, and calls that out of memory as well"
		},
		remedies: actions("offload without pinning: \"pin_memory\": false in offload_param and offload_optimizer, pin_memory=False of loaders",
			"raise the limit of locked memory (ulimit -l); under WSL half of the machine's memory can be pinned at most"),
	},
	{
		id: "message-failed", cause: "disguised_oom", kinds: []string{"torch_nvml_assert"}, confidence: finding.High,
		why: "PyTorch asks NVML who holds the memory only when it is about to report that it ran out",
		verdict: func(s *situation) string {
			return "out of GPU memory in disguise: PyTorch was about to say so and asked NVML who holds it, which failed, as on a MIG slice or in a container without NVML" + s.phase()
		},
		remedies: actions("less at once, as for any full GPU: a smaller batch or shorter sequences", "NVML in the container (NVIDIA_DRIVER_CAPABILITIES=utility,compute) or a newer PyTorch, to see the sizes"),
	},
	{
		id: "driver-refuses", cause: "context_creation_failed", kinds: []string{"cuda_error_oom"}, confidence: finding.Medium,
		why: "the driver's own error, without sizes: it comes from contexts and libraries, not from PyTorch's allocator",
		verdict: func(s *situation) string {
			if s.has("nothing allocated") {
				return "out of memory before any tensor exists: the CUDA context or the buffers of a collective could not be made; the GPU is full already, or several ranks use the same one"
			}
			return "the driver itself ran out of memory, outside of PyTorch's allocator: a CUDA context, a library's buffers or pinned host memory could not be had" + s.phase()
		},
		remedies: driverRemedies,
	},
}

// How an effect is known.
const arithmetic = "arithmetic"

// actions are remedies whose effect the message does not tell.
func actions(list ...string) func(*situation) []finding.Remedy {
	return func(*situation) []finding.Remedy {
		var out []finding.Remedy
		for _, a := range list {
			out = append(out, finding.Remedy{Action: a})
		}
		return out
	}
}

func pointer(b unit.Bytes) *unit.Bytes { return &b }

func percentOf(b, of unit.Bytes) string {
	if of <= 0 {
		return "part"
	}
	return percent(float64(b) / float64(of))
}

// machine is the size of the card that another line of the log states, when it
// is half as much again as the runtime sees.
func (s *situation) machine() (unit.Bytes, bool) {
	for _, size := range s.log.Devices {
		if s.total > 0 && size > s.total*3/2 {
			return size, true
		}
	}
	return 0, false
}

// contexts are the other processes that hold equal amounts of the size of a
// bare context: how many, together, and each.
func (s *situation) contexts() (n int, sum, each unit.Bytes) {
	for _, p := range s.m.Processes {
		if p.PID == s.m.SelfPID || p.Bytes < leastContext || p.Bytes > largeContext {
			continue
		}
		count, total := 0, unit.Bytes(0)
		for _, q := range s.m.Processes {
			if q.PID != s.m.SelfPID && q.Bytes > p.Bytes*9/10 && q.Bytes < p.Bytes*11/10 {
				count++
				total += q.Bytes
			}
		}
		if count > n {
			n, sum, each = count, total, p.Bytes
		}
	}
	return n, sum, each
}

// largestProcess is the fullest other process.
func largestProcess(s *situation) (p oomlog.Process, ok bool) {
	for _, q := range s.m.Processes {
		if q.PID != s.m.SelfPID && q.Bytes > p.Bytes {
			p, ok = q, true
		}
	}
	return p, ok
}
