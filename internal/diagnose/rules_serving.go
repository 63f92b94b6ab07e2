package diagnose

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/unit"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

var servingRules = []rule{
	{
		id: "sampler", cause: "serving_headroom", kinds: []string{"vllm_sampler"}, confidence: finding.High,
		why: "the KV cache is made before the sampler is warmed up",
		verdict: func(s *situation) string {
			return fmt.Sprintf("the KV cache took everything: nothing is left for the logits of %d sequences in the sampler", s.m.Fields["dummy_requests"])
		},
		remedies: func(*situation) []finding.Remedy {
			return []finding.Remedy{
				{Action: "fewer sequences at once", Flag: "--max-num-seqs 64", Exact: finding.SameNumbers},
				{Action: "leave more beside the KV cache: lower the share that vLLM takes", Flag: "--gpu-memory-utilization 0.85", Exact: finding.SameNumbers},
			}
		},
	},
	{
		id: "no-cache-left", cause: "kv_cache_too_small", kinds: []string{"vllm_no_kv"}, confidence: finding.High,
		why:     "the share of the card that vLLM may take is less than weights and activations",
		verdict: cacheVerdict, remedies: cacheRemedies,
	},
	{
		id: "no-static-left", cause: "kv_cache_too_small", kinds: []string{"sglang_no_kv"}, confidence: finding.High,
		why: "SGLang says that nothing is left for the KV cache of the share that it may take",
		verdict: func(*situation) string {
			return "the share of the card that SGLang may take for weights and KV cache is less than the weights: nothing is left for the cache"
		},
		remedies: func(*situation) []finding.Remedy {
			return []finding.Remedy{
				{Action: "a larger share of the card for weights and cache", Flag: "--mem-fraction-static 0.92", Exact: finding.SameNumbers},
				{Action: "if a larger share runs out while serving, smaller batches beside it", Flag: "--chunked-prefill-size 2048 --cuda-graph-max-bs 8", Exact: finding.SameNumbers},
				{Action: "the weights over more GPUs, or quantised", Flag: "--tp 2"},
			}
		},
	},
	{
		id: "pool-of-tokens", cause: "kv_cache_too_small", kinds: []string{"sglang_pool"}, confidence: finding.High,
		why: "the KV cache has fewer free tokens than a batch needs",
		verdict: func(s *situation) string {
			want, have := s.m.Fields["wanted_tokens"], s.m.Fields["free_tokens"]
			if want == 0 || have == 0 {
				return "the KV cache has no room for the tokens of a batch"
			}
			return fmt.Sprintf("the KV cache has %d tokens free and a batch needs %d: %d short", have, want, want-have)
		},
		remedies: func(*situation) []finding.Remedy {
			return []finding.Remedy{
				{Action: "fewer requests at a time", Flag: "--max-running-requests 16", Exact: finding.SameNumbers},
				{Action: "a larger share of the card for the cache", Flag: "--mem-fraction-static 0.9", Exact: finding.SameNumbers},
				{Action: "admit requests more carefully", Flag: "--schedule-conservativeness 1.3", Exact: finding.SameNumbers},
			}
		},
	},
	{
		id: "prefill-beside-weights", cause: "serving_headroom", kinds: []string{"tgi_warmup"}, confidence: finding.High,
		why: "the largest batch that the server allows did not fit when it started",
		verdict: func(s *situation) string {
			return fmt.Sprintf("a batch of %d prefill tokens, the largest that is allowed, does not fit beside the weights", s.m.Fields["tokens"])
		},
		remedies: func(s *situation) []finding.Remedy {
			half := s.m.Fields["tokens"] / 2
			return []finding.Remedy{
				{Action: "allow smaller batches of prompts", Flag: fmt.Sprintf("--max-batch-prefill-tokens %d", half), Exact: finding.SameNumbers},
				{Action: "the weights over more GPUs, or quantised", Flag: "--num-shard 2"},
			}
		},
	},
	{
		id: "sequence-over-cache", cause: "kv_cache_too_small", kinds: []string{"vllm_kv_too_long"}, confidence: finding.High,
		why: "the cache for one sequence is larger than what is left",
		verdict: func(s *situation) string {
			want, _ := s.m.Get("kv_needed_bytes")
			have, _ := s.m.Get("kv_avail_bytes")
			length := s.m.Fields["max_len"]
			return fmt.Sprintf("one sequence of %d tokens needs %s of KV cache and %s are left: at %d bytes a token that is %d tokens", length, fine(want), fine(have), perToken(want, length), fits(s))
		},
		remedies: func(s *situation) []finding.Remedy {
			return []finding.Remedy{
				{Action: fmt.Sprintf("allow sequences of %d tokens at most", roundDown(fits(s))), Flag: fmt.Sprintf("--max-model-len %d", roundDown(fits(s))), Method: arithmetic, Exact: finding.SameNumbers},
				{Action: "the cache in 8 bits: twice as many tokens", Flag: "--kv-cache-dtype fp8", Exact: finding.ChangesResults},
				{Action: "a larger share of the card, or a split that leaves the fullest card more"},
			}
		},
	},
	{
		id: "tokens-over-cache", cause: "kv_cache_too_small", kinds: []string{"vllm_kv_tokens"}, confidence: finding.High,
		why: "the cache holds fewer tokens than one sequence may have",
		verdict: func(s *situation) string {
			length, have := s.m.Fields["max_len"], s.m.Fields["kv_tokens"]
			return fmt.Sprintf("the KV cache holds %d tokens and a sequence may have %d: %d short (%s)", have, length, length-have, percentOf(unit.Bytes(length-have), unit.Bytes(length)))
		},
		remedies: func(s *situation) []finding.Remedy {
			n := roundDown(s.m.Fields["kv_tokens"])
			return []finding.Remedy{
				{Action: fmt.Sprintf("allow sequences of %d tokens at most", n), Flag: fmt.Sprintf("--max-model-len %d", n), Method: arithmetic, Exact: finding.SameNumbers},
				{Action: "give the cache more: a larger share of the card", Flag: "--gpu-memory-utilization 0.95", Exact: finding.SameNumbers},
			}
		},
	},
	{
		id: "card-in-use", cause: "other_process", kinds: []string{"vllm_startup_free"}, confidence: finding.High,
		why: "less is free at the start than the share that was asked for",
		verdict: func(s *situation) string {
			want, _ := s.m.Get("budget_bytes")
			return fmt.Sprintf("%s of %s are free when vLLM starts, and it may take %s: others hold %s", fine(s.free), fine(s.total), fine(want), fine(s.total-s.free))
		},
		remedies: func(s *situation) []finding.Remedy {
			held := s.total - s.free
			return []finding.Remedy{
				{Action: "stop what else runs on the GPU", Flag: "nvidia-smi", Saves: &held, Method: arithmetic, Exact: finding.SameNumbers},
				{Action: "or take no more than there is", Flag: fmt.Sprintf("--gpu-memory-utilization %.2f", s.share(s.free)-0.005), Method: arithmetic, Exact: finding.SameNumbers},
			}
		},
	},
	{
		id: "one-allocation", cause: "single_allocation_limit", kinds: []string{"ggml_other_alloc", "ggml_graph_alloc"}, confidence: finding.High,
		when: func(s *situation) bool { return s.has("one allocation") },
		why:  "the driver says that the buffer is over its limit for one allocation",
		verdict: func(s *situation) string {
			return fmt.Sprintf("one buffer of %s is more than the driver allows for one allocation, whatever is free", fine(s.request))
		},
		remedies: actions("a smaller buffer: a smaller -ub, a shorter context, flash attention (-fa)", "a driver with a higher limit (vulkaninfo | grep maxMemoryAllocationSize)"),
	},
	{
		id: "compute-buffer", cause: "compute_buffer_too_big", kinds: []string{"ggml_cuda_alloc", "ggml_cuda_error", "ggml_other_alloc", "ggml_graph_alloc"}, confidence: finding.High,
		when: func(s *situation) bool { return s.has("compute buffer") },
		why:  "the buffer that failed is the one for computing, by the function that asked for it",
		verdict: func(s *situation) string {
			out := fmt.Sprintf("the compute buffer of %s does not fit on %s", fine(s.request), s.device())
			if kv, there := s.m.Get("kv_bytes"); there {
				out += fmt.Sprintf(", where the KV cache takes only %s", fine(kv))
			}
			return out + ": attention over the whole context that is written out, for each copy of the pipeline"
		},
		remedies: actions("flash attention (-fa)", "smaller micro-batches (-ub 256) or a shorter context (-c)", "no pipeline copies: -sm row, or fewer devices"),
	},
	{
		id: "kv-buffer", cause: "kv_cache_too_small", kinds: []string{"ggml_cuda_alloc", "ggml_cuda_error", "ggml_other_alloc"}, confidence: finding.High,
		when: func(s *situation) bool { return s.has("kv buffer") },
		why:  "the buffer that failed is the KV cache",
		verdict: func(s *situation) string {
			return fmt.Sprintf("a KV cache of %s does not fit on %s beside the weights", fine(s.request), s.device())
		},
		remedies: actions("a shorter context (-c)", "the cache in 8 bits (-ctk q8_0 -ctv q8_0): half of it", "fewer layers on the GPU (-ngl)"),
	},
	{
		id: "weights-over-device", cause: "request_over_device", kinds: []string{"ggml_cuda_alloc", "ggml_other_alloc"}, confidence: finding.Medium,
		when: func(s *situation) bool {
			card := s.log.Devices["llama.cpp"]
			return s.request >= largestCommon || card > 0 && s.request > card
		},
		why: "one buffer is larger than the card that the log names, or of 80 GiB and more, which most GPUs do not have",
		verdict: func(s *situation) string {
			return fmt.Sprintf("one buffer of %s for weights on %s alone: the layers were neither split nor left on the CPU", fine(s.request), s.device())
		},
		remedies: actions("fewer layers on the GPU (-ngl)", "split the tensors over devices (-ts)"),
	},
	{
		id: "weights-buffer", cause: "weights_do_not_fit", kinds: []string{"ggml_cuda_alloc", "ggml_cuda_error", "ggml_other_alloc"}, confidence: finding.Medium,
		when: func(s *situation) bool { return s.has("weights") },
		why:  "the buffer that failed is for weights",
		verdict: func(s *situation) string {
			return fmt.Sprintf("%s of weights do not fit on %s", fine(s.request), s.device())
		},
		remedies: actions("fewer layers on the GPU (-ngl)", "a smaller quantisation", "split the tensors over devices (-ts)"),
	},
	{
		id: "some-buffer", cause: "device_full", kinds: []string{"ggml_cuda_alloc", "ggml_cuda_error", "ggml_other_alloc"}, confidence: finding.Low,
		why: "the log does not say what the buffer is for",
		verdict: func(s *situation) string {
			if s.request == 0 {
				return fmt.Sprintf("%s is full", s.device())
			}
			return fmt.Sprintf("a buffer of %s does not fit on %s", fine(s.request), s.device())
		},
		remedies: actions("fewer layers on the GPU (-ngl)", "a shorter context (-c)"),
	},
}

// device is how llama.cpp's messages should read: they say CUDA on AMD, too.
func (s *situation) device() string {
	name := "device " + number(s.m.Fields["gpu_index"])
	if _, there := s.m.Fields["gpu_index"]; !there {
		name = "the device"
	}
	if s.has("amd") || contains(s.m.Words["backend"], "rocm") {
		name += " (an AMD one: llama.cpp says CUDA there, too)"
	}
	return name
}

func cacheVerdict(s *situation) string {
	budget, a := s.m.Get("budget_bytes")
	weights, b := s.m.Get("weights_bytes")
	active, _ := s.m.Get("activations_bytes")
	beside, _ := s.m.Get("non_torch_bytes")
	kv, _ := s.m.Get("kv_bytes")
	if !a || !b || s.total == 0 {
		return "weights and activations leave nothing for the KV cache in the share of the card that vLLM may take"
	}
	needs := weights + active + beside
	return fmt.Sprintf("vLLM may take %s of %s; weights %s + activations %s + other %s = %s leave %s for the KV cache; it breaks even at a share of %.2f",
		fine(budget), fine(s.total), fine(weights), fine(active), fine(beside), fine(needs), fine(kv), s.share(needs))
}

// mostUtilization is what vLLM takes by default, and what a card that nothing
// else uses stands.
const mostUtilization = 0.95

func cacheRemedies(s *situation) []finding.Remedy {
	weights, b := s.m.Get("weights_bytes")
	active, _ := s.m.Get("activations_bytes")
	beside, _ := s.m.Get("non_torch_bytes")
	out := []finding.Remedy{}
	if b && s.total > 0 {
		left := unit.Bytes(mostUtilization*float64(s.total)) - weights - active - beside
		if left > 0 {
			out = append(out, finding.Remedy{Action: fmt.Sprintf("a larger share of the card: %.2f leaves %s for the cache", mostUtilization, fine(left)), Flag: fmt.Sprintf("--gpu-memory-utilization %.2f", mostUtilization), Method: arithmetic, Exact: finding.SameNumbers})
		}
		if active > 0 {
			budget, _ := s.m.Get("budget_bytes")
			if below := budget - weights - beside; below > 0 {
				out = append(out, finding.Remedy{Action: fmt.Sprintf("fewer tokens in one batch: the cache gets something when activations are below %s, instead of %s", fine(below), fine(active)), Flag: "--max-num-batched-tokens 2048", Method: arithmetic, Exact: finding.SameNumbers})
			}
		}
	} else {
		out = append(out, finding.Remedy{Action: "a larger share of the card", Flag: fmt.Sprintf("--gpu-memory-utilization %.2f", mostUtilization), Exact: finding.SameNumbers})
	}
	return append(out, finding.Remedy{Action: "shorter sequences, a smaller or quantised model, or more cards", Flag: "--max-model-len, --tensor-parallel-size"})
}

func perToken(b unit.Bytes, tokens int64) int64 {
	if tokens <= 0 {
		return 0
	}
	return int64(b) / tokens
}

// fits is how many tokens the cache holds: as vLLM estimates it, else by
// proportion.
func fits(s *situation) int64 {
	if n, there := s.m.Fields["est_len"]; there {
		return n
	}
	want, _ := s.m.Get("kv_needed_bytes")
	have, _ := s.m.Get("kv_avail_bytes")
	if each := perToken(want, s.m.Fields["max_len"]); each > 0 {
		return int64(have) / each
	}
	return 0
}

// roundDown is the largest multiple of 256 that is not more, for a length that
// people would type.
func roundDown(n int64) int64 {
	if n < 256 {
		return n
	}
	return n / 256 * 256
}
