// Package recipe says how a model is trained or served: everything about a run
// that is not the model and not the card.
//
// A Recipe is a plain value in the words of the command line. Whether its parts
// agree with each other and with a model is for whoever knows the model to say.
package recipe

// Mode is what is done with the model.
type Mode string

// The modes.
const (
	Train Mode = "train"
	Eval  Mode = "eval"  // a forward pass with loss, without gradients
	Infer Mode = "infer" // generation with a KV cache
)

// Task is what the model's head is for, in Hugging Face's words.
type Task string

// The tasks.
const (
	CausalLM               Task = "causal-lm"
	MaskedLM               Task = "masked-lm"
	SequenceClassification Task = "sequence-classification"
	Seq2SeqLM              Task = "seq2seq-lm"
	ImageClassification    Task = "image-classification"
	SemanticSegmentation   Task = "semantic-segmentation"
)

// Precision is the type of weights and of computation.
type Precision string

// The precisions. The first three hold weights and compute in one type; the
// others keep fp32 weights and compute under autocast, fp16 with a GradScaler.
const (
	FP32    Precision = "fp32"
	BF16    Precision = "bf16"
	FP16    Precision = "fp16"
	AmpBF16 Precision = "amp-bf16"
	AmpFP16 Precision = "amp-fp16"
	// Own is what a captured script has, whatever that is.
	Own Precision = "script"
)

// WeightBytes returns the bytes of a weight.
func (p Precision) WeightBytes() int64 {
	if p == BF16 || p == FP16 {
		return 2
	}
	return 4
}

// LoRA is a low-rank adapter on some linear layers.
type LoRA struct {
	Rank    int64    `json:"rank"`
	Targets []string `json:"targets"` // names of linear layers, "q_proj"
}

// Recipe is every choice of a run, defaults included.
type Recipe struct {
	Mode         Mode      `json:"mode"`
	Task         Task      `json:"task"`
	Batch        int64     `json:"batch"`      // micro-batch of one device
	Accumulate   int64     `json:"accumulate"` // micro-batches of an optimizer step
	Seq          int64     `json:"seq,omitempty"`
	ImageHeight  int64     `json:"image_height,omitempty"`
	ImageWidth   int64     `json:"image_width,omitempty"`
	Precision    Precision `json:"precision"`
	Optimizer    string    `json:"optimizer,omitempty"` // "adamw", "adamw-fused", "sgd-momentum" ...
	ClipGradNorm bool      `json:"clip_grad_norm,omitempty"`
	Checkpoint   string    `json:"checkpoint,omitempty"` // "none", "full", "every-K"
	Attention    string    `json:"attention,omitempty"`  // "sdpa", "eager" ...
	Unpadded     bool      `json:"unpadded,omitempty"`   // batches hold no padding, so that no attention mask is made
	ChannelsLast bool      `json:"channels_last,omitempty"`
	LoRA         *LoRA     `json:"lora,omitempty"`
	Quantize     string    `json:"quantize,omitempty"` // "nf4": 4-bit base weights under LoRA
	Shard        string    `json:"shard,omitempty"`    // "ddp", "fsdp2"
	World        int64     `json:"world,omitempty"`    // devices that share the work
	AllocConf    string    `json:"alloc_conf,omitempty"`
	Torch        string    `json:"torch,omitempty"` // whose recordings and allocator to follow
}
