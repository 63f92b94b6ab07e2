package diagnose

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/format/oomlog"
)

// A sign is code or a message near an error that says what was going on. Its
// words are compared in lower case without spaces.
type sign struct {
	name  string
	words []string
	far   bool // anywhere around, else within the innermost frames
}

// innermost is how many lines next to a message count as its place in the
// code: two to three frames of a traceback.
const innermost = 7

var signs = []sign{
	{name: "attention", words: []string{"attn_mask", "_expand_mask", "attention_mask[", "attention_scores=", "attn_weights=", "attn_scores=", "baddbmm(", "key.transpose(", "k.transpose(", "sim=einsum('bid,bjd->bij'", "einsum(\"bid,bjd", "q@k", "matmul(q", "bmm(q", "softmax(attn", "softmax(sim", "attention_probs="}},
	{name: "logits", words: []string{"log_softmax(", "logits.float()", "lm_head(", "cross_entropy(", "logits.log_", "logits.to(torch.float32)", "logits=logits", "logits=self.", "shift_logits", "cross_entropy_loss(", "logsumexp("}},
	{name: "gather", words: []string{"fetch_sub_module", "param_coordinator", "all_gather", "allgather", "_unshard", "unsharded_flat_param", "partition_parameters", "gatheredparameters"}},
	{name: "loading", words: []string{"_apply(lambdat:", "load_state_dict(", "from_pretrained(", "t.to(device", "param_applied=fn(param", "module._apply(fn", "set_module_tensor_to_device", "_load_state_dict_into", "model.to(", "model.cuda()", "pipe.to("}},
	{name: "index", far: true, words: []string{"indexoutofrange", "device-sideasserttriggered", "assertion`", "srcindex<srcselectdimsize", "indexinself"}},
	{name: "nothing allocated", far: true, words: []string{"memoryallocated:0", "allocated:0bytes"}},
	{name: "collective", far: true, words: []string{".barrier(", "barrier(opts", "init_process_group", "all_reduce(", "ncclcomminit"}},
	{name: "backward", far: true, words: []string{".backward(", "run_backward("}},
	{name: "optimizer", far: true, words: []string{"optimizer.step(", "optim/", "exp_avg"}},
	{name: "inside the optimizer", words: []string{"torch/optim/", `torch\optim\`, "optimizer.step(", "_foreach_", "exp_avg", "bitsandbytes/optim", "deepspeed/runtime/zero/stage"}},
	{name: "segments grow", far: true, words: []string{"expandable_segmentsisenabled"}},
	{name: "inference", far: true, words: []string{"inference_mode", ".generate(", "no_grad():", "evaluate(", "evaluation_loop(", "prediction_step(", "validation_step(", ".predict("}},
	{name: "foreach", words: []string{"_foreach_", "_multi_tensor_"}},
	{name: "pinning", words: []string{".pin_memory()", "pin_memory(device", "cudahostalloc", "_pin_memory("}},
	{name: "one allocation", far: true, words: []string{"exceedsdevicememoryallocationlimit", "exceedsdevicebuffersizelimit"}},
	{name: "closure", words: []string{"closure("}},
	{name: "evaluation", far: true, words: []string{"evaluate(", "validation", "eval_step", "inference("}},
	{name: "weights", far: true, words: []string{"alloc_tensor_range", "load_tensors", "llama_model_load", "errorloadingmodel", "unabletoallocatecuda"}},
	{name: "compute buffer", far: true, words: []string{"ggml_gallocr_reserve", "computebuffer", "graph_reserve"}},
	{name: "kv buffer", far: true, words: []string{"llama_kv_cache_init:failed", "failedtoallocatebufferforkvcache", "llama_kv_cache:failed", "kvcache:failed"}},
	{name: "initialiser", far: true, words: []string{"initializer/", "/initializer", "random_uniform", "truncated_normal", "/assign", "read_variableop", "variablev2"}},
	{name: "eager constant", far: true, words: []string{"_eagerconst", "convert_to_eager_tensor", "constant_op.py"}},
	{name: "serving", far: true, words: []string{"vllm", "enginecore", "multiproc_executor", "sglang", "text_generation_server", "lmdeploy"}},
	{name: "start of CUDA", far: true, words: []string{"thcgeneral.c"}},
	{name: "windows", far: true, words: []string{`file"c:\`, `file"d:\`, `file"e:\`, `file"f:\`, "winerror", ".dll"}},
	{name: "library handle", far: true, words: []string{"createcublashandle", "createcudnnhandle", "cudnnfailedtoinitialize"}},
	{name: "onnx on gpu", far: true, words: []string{"bfcarenaforcuda", "cudaexecutionprovider", "tensorrtexecutionprovider", "rocmexecutionprovider", "dmlexecutionprovider", "cuda_execution_provider", "onnxruntime-gpu", "cuda_call.cc", "cublas"}},
	{name: "onnx on cpu", far: true, words: []string{"bfcarenaforcpu", "cpuexecutionprovider"}},
	{name: "amd", far: true, words: []string{"rocm0", "rocm1", "hipblas", "failedtoallocaterocm"}},
}

// signsAround returns the signs near a message and the lines that hold them.
func signsAround(m *oomlog.Message) map[string]string {
	out := map[string]string{}
	near := join(append(last(m.Before, innermost), first(m.After, innermost)...))
	far := join(append(append(append([]string{m.Logger}, m.Before...), strings.Split(m.Text, "\n")...), m.After...))
	for _, s := range signs {
		lines := near
		if s.far {
			lines = far
		}
		if line, ok := lines.find(s.words); ok {
			out[s.name] = line
		}
	}
	return out
}

// joined is lines as one text in lower case without white space: a terminal may
// have broken a line inside of a word.
type joined struct {
	lines []string
	text  string
	ends  []int // of the lines in text
}

func join(lines []string) *joined {
	j := &joined{lines: lines, ends: make([]int, 0, len(lines))}
	var b strings.Builder
	for _, l := range lines {
		for _, word := range strings.Fields(strings.ToLower(l)) {
			b.WriteString(word)
		}
		j.ends = append(j.ends, b.Len())
	}
	j.text = b.String()
	return j
}

// find returns the first line that holds one of the words, or the lines that do
// together.
func (j *joined) find(words []string) (string, bool) {
	at, end := -1, 0
	for _, w := range words {
		within := j.text
		if at >= 0 {
			within = within[:min(len(within), at+len(w))]
		}
		if i := strings.Index(within, w); i >= 0 && (at < 0 || i < at) {
			at, end = i, i+len(w)
		}
	}
	if at < 0 {
		return "", false
	}
	from, _ := slices.BinarySearch(j.ends, at+1)
	to, _ := slices.BinarySearch(j.ends, end)
	return strings.TrimSpace(strings.Join(j.lines[from:to+1], "")), true
}

// find looks for words in lines.
func find(lines []string, words []string) (string, bool) { return join(lines).find(words) }

func last(lines []string, n int) []string  { return append([]string{}, lines[max(0, len(lines)-n):]...) }
func first(lines []string, n int) []string { return lines[:min(len(lines), n)] }

// has reports whether a sign is near the message.
func (s *situation) has(sign string) bool {
	_, there := s.signs[sign]
	return there
}
