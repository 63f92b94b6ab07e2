package lint

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// An Amount is what the cost of a finding is a multiple of, where that depends
// on the model that is trained.
type Amount string

// The amounts.
const (
	Activations Amount = "activations" // what one forward pass keeps for its backward
	Weights     Amount = "weights"
	Gradients   Amount = "gradients"
	Logits      Amount = "logits" // of one batch
)

// A Setup is what a file says of the one model that it trains, as far as
// constants say it: for whoever knows what such a model takes.
type Setup struct {
	Model      Said     `json:"model"`
	Task       string   `json:"task,omitempty"` // in the words of plimsoll estimate
	Batch      Said     `json:"batch,omitzero"`
	Seq        Said     `json:"seq,omitzero"`
	Image      Said     `json:"image,omitzero"`
	Precision  Said     `json:"precision,omitzero"`
	Optimizer  Said     `json:"optimizer,omitzero"`
	Checkpoint Said     `json:"checkpoint,omitzero"`
	Rank       Said     `json:"rank,omitzero"` // of adapters
	Targets    []string `json:"targets,omitempty"`
}

// Said is a constant of a file and where it stands. The zero Said is not said.
type Said struct {
	Text string `json:"text"`
	Line int    `json:"line,omitempty"` // of the cell in a notebook; 0 for a library's default
	Cell int    `json:"cell,omitempty"`
}

// Number is the constant as a number, 0 if there is none.
func (s Said) Number() int64 {
	n, err := strconv.ParseInt(s.Text, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// Where is "line 5", or that it is a default.
func (s Said) Where() string {
	switch {
	case s.Line == 0:
		return "by default"
	case s.Cell > 0:
		return fmt.Sprintf("cell %d, line %d", s.Cell, s.Line)
	}
	return fmt.Sprintf("line %d", s.Line)
}

// Setup is what the file says of the model that it trains; nil where there is
// none that has a name, or more than one, or where the work is shared in ways
// that constants do not tell.
func (f *File) Setup() *Setup {
	s := &setup{File: f}
	f.Calls(s.model)
	if s.out.Model.Text == "" || s.many {
		return nil
	}
	f.Calls(s.call)
	if s.shared {
		return nil
	}
	s.names()
	return &s.out
}

type setup struct {
	*File
	out    Setup
	many   bool // more than one model
	shared bool // by DeepSpeed, FSDP or adapters that are not told
}

// heads are the ends of the names of classes of Transformers with the tasks
// that they are for.
var heads = []struct{ end, task string }{
	{"ForCausalLM", "causal-lm"}, {"LMHeadModel", "causal-lm"}, {"ForMaskedLM", "masked-lm"},
	{"ForSequenceClassification", "sequence-classification"}, {"ForSeq2SeqLM", "seq2seq-lm"}, {"ForConditionalGeneration", "seq2seq-lm"},
	{"ForImageClassification", "image-classification"}, {"ForSemanticSegmentation", "semantic-segmentation"}, {"Model", ""},
}

// model notes what a call makes a model by: a name.
func (s *setup) model(c *pyast.Call) {
	path := pyast.Path(c.Func)
	class, made := strings.CutSuffix(path, ".from_pretrained")
	q := s.Callee(c)
	switch {
	case made:
		for _, h := range heads {
			if strings.HasSuffix(class, h.end) {
				s.named(c.Arg(0, "pretrained_model_name_or_path"), h.task)
				return
			}
		}
	case q == "torchvision.models.get_model":
		s.named(c.Arg(0, "name"), "")
	case q == "torch.hub.load":
		s.named(c.Arg(1, "model"), "")
	case strings.HasPrefix(q, "torchvision.models.") && isLower(q):
		s.take(Said{Text: last(q)}, c, "")
	}
}

func (s *setup) named(name pyast.Expr, task string) {
	if text := ConstText(s.constant(name)); text != "" {
		s.take(Said{Text: text}, name, task)
	} else if name != nil {
		s.many = true // one of many
	}
}

func (s *setup) take(name Said, at pyast.Node, task string) {
	if s.out.Model.Text != "" && (s.out.Model.Text != name.Text || s.out.Task != task) {
		s.many = true
	}
	s.out.Model, s.out.Task = s.at(name, at), task
}

// at gives a constant its place.
func (s *setup) at(said Said, n pyast.Node) Said {
	said.Line, _ = s.Module.Position(n.Span().Start)
	if s.Notebook != nil {
		said.Cell, said.Line = s.Notebook.Cell(said.Line)
	}
	return said
}

// say fills in what is not said yet.
func (s *setup) say(to *Said, text string, at pyast.Node) {
	if to.Text == "" && text != "" {
		*to = s.at(Said{Text: text}, at)
	}
}

// number fills in a constant number.
func (s *setup) number(to *Said, e pyast.Expr) {
	if k, ok := s.constant(e).(*pyast.Constant); ok && k.Kind == pyast.Int {
		s.say(to, strings.ReplaceAll(s.Text(k), "_", ""), k)
	}
}

// constant is the constant that an expression stands for: itself, what its name
// was assigned, or the default of the option or field that it names.
func (s *setup) constant(e pyast.Expr) pyast.Expr {
	if e == nil {
		return nil
	}
	if k := s.Const(e); k != nil {
		return k
	}
	a, ok := e.(*pyast.Attribute)
	if !ok {
		return nil
	}
	var found pyast.Expr
	s.MethodCalls(func(c *pyast.Call, _ pyast.Expr) {
		for _, o := range c.Args {
			if strings.ReplaceAll(strings.TrimLeft(ConstText(o), "-"), "-", "_") == a.Attr {
				found = c.Keyword("default")
			}
		}
	}, "add_argument")
	for _, class := range s.Classes {
		for _, st := range class.Node.Body {
			if f, ok := st.(*pyast.Assign); ok && len(f.Targets) == 1 && pyast.Path(f.Targets[0]) == a.Attr && found == nil {
				found = f.Value
			}
		}
	}
	if k, ok := found.(*pyast.Constant); ok {
		return k
	}
	return nil
}

// call takes in what a call says of how the model is trained.
func (s *setup) call(c *pyast.Call) {
	q := s.Callee(c)
	name := last(q)
	if name == "" {
		name = last(pyast.Path(c.Func))
	}
	switch {
	case strings.HasSuffix(name, "TrainingArguments") || name == "SFTConfig":
		s.arguments(c)
	case name == "DataLoader":
		s.loader(c)
	case name == "Accelerator" || name == "Fabric" || strings.HasSuffix(q, "Trainer"):
		s.mixed(c)
	case q == "torch.amp.autocast":
		s.autocast(c)
	case strings.HasPrefix(q, "torch.optim.") || strings.HasPrefix(q, "bitsandbytes.optim."):
		s.optimizer(c, q)
	case name == "LoraConfig":
		s.adapters(c)
	case name == "initialize" && strings.HasPrefix(q, "deepspeed"), name == "FullyShardedDataParallel", name == "fully_shard":
		s.shared = true
	}
	s.byName(c)
}

// byName takes in options that mean the same whoever has them.
func (s *setup) byName(c *pyast.Call) {
	if name, _ := s.Method(c); name == "gradient_checkpointing_enable" {
		s.say(&s.out.Checkpoint, "full", c)
	}
	if IsTrue(c.Keyword("load_in_8bit")) || IsTrue(c.Keyword("load_in_4bit")) {
		s.shared = true // weights in fewer bits
	}
	for _, k := range []string{"max_length", "max_seq_length"} {
		s.number(&s.out.Seq, c.Keyword(k))
	}
	if strings.HasSuffix(pyast.Path(c.Func), ".from_pretrained") {
		for _, k := range []string{"torch_dtype", "dtype"} {
			s.say(&s.out.Precision, dtype(s.Qual(c.Keyword(k))), c)
		}
	}
	switch last(s.Callee(c)) {
	case "RandomResizedCrop", "CenterCrop":
		size := c.Arg(0, "size")
		if l, ok := size.(*pyast.List); ok && len(l.Elts) == 2 {
			size = l.Elts[0]
		}
		s.number(&s.out.Image, size)
	}
}

// dtype is the word of plimsoll estimate for a type of PyTorch.
func dtype(q string) string {
	return map[string]string{"torch.bfloat16": "bf16", "torch.float16": "fp16", "torch.half": "fp16", "torch.float32": "fp32"}[q]
}

// arguments reads the options of Transformers' Trainer.
func (s *setup) arguments(c *pyast.Call) {
	options, all := s.Options(c)
	if b := options["per_device_train_batch_size"]; b != nil {
		s.number(&s.out.Batch, b)
	} else if all {
		s.out.Batch = Said{Text: "8"} // transformers, training_args.py
	}
	for _, k := range []string{"bf16", "fp16"} {
		if IsTrue(options[k]) {
			s.say(&s.out.Precision, "amp-"+k, options[k])
		}
	}
	if IsTrue(options["gradient_checkpointing"]) {
		s.say(&s.out.Checkpoint, "full", options["gradient_checkpointing"])
	}
	if o := options["optim"]; o != nil {
		word := map[string]string{
			"adamw_torch": "adamw", "adamw_torch_fused": "adamw-fused", "adafactor": "adafactor", "adamw_bnb_8bit": "adamw-8bit",
			"adamw_8bit": "adamw-8bit", "paged_adamw_8bit": "paged-adamw-8bit", "sgd": "sgd", "adagrad": "adagrad", "rmsprop": "rmsprop", "lion_8bit": "lion-8bit",
		}[ConstText(s.constant(o))]
		s.shared = s.shared || word == ""
		s.say(&s.out.Optimizer, word, o)
	}
	for _, k := range []string{"deepspeed", "fsdp"} {
		if o := options[k]; o != nil && !IsNone(o) && !IsFalse(o) {
			s.shared = true
		}
	}
}

// loader takes the batch of the loader that training goes over: of one that
// shuffles before others.
func (s *setup) loader(c *pyast.Call) {
	if size := c.Arg(1, "batch_size"); size != nil {
		if IsTrue(c.Arg(2, "shuffle")) {
			s.out.Batch = Said{}
		}
		s.number(&s.out.Batch, size)
	}
}

// mixed reads the precision of Accelerate and Lightning.
func (s *setup) mixed(c *pyast.Call) {
	for _, k := range []string{"mixed_precision", "precision"} {
		switch text := ConstText(s.constant(c.Keyword(k))); text {
		case "bf16", "bf16-mixed":
			s.say(&s.out.Precision, "amp-bf16", c)
		case "fp16", "16-mixed":
			s.say(&s.out.Precision, "amp-fp16", c)
		case "bf16-true":
			s.say(&s.out.Precision, "bf16", c)
		}
	}
}

func (s *setup) autocast(c *pyast.Call) {
	word := "fp16"
	for _, a := range append(c.Args, c.Keyword("dtype")) {
		if d := dtype(s.Qual(a)); d != "" {
			word = d
		}
	}
	if word != "fp32" && !IsFalse(c.Keyword("enabled")) {
		s.say(&s.out.Precision, "amp-"+word, c)
	}
}

// optimizer names it as plimsoll estimate does.
func (s *setup) optimizer(c *pyast.Call, q string) {
	name := last(q)
	if name != strings.ToUpper(name[:1])+name[1:] || strings.Contains(q, "lr_scheduler") || strings.Contains(q, "swa_utils") {
		return
	}
	word := strings.ToLower(name)
	if word == "sgd" && c.Keyword("momentum") != nil {
		word = "sgd-momentum"
	}
	if strings.HasSuffix(word, "8bit") {
		word = strings.TrimSuffix(word, "8bit") + "-8bit"
	}
	if IsTrue(c.Keyword("fused")) {
		word += "-fused"
	}
	s.say(&s.out.Optimizer, word, c)
}

// adapters reads a LoraConfig; one that is not all constants tells nothing.
func (s *setup) adapters(c *pyast.Call) {
	s.number(&s.out.Rank, c.Arg(0, "r"))
	if l, ok := c.Keyword("target_modules").(*pyast.List); ok {
		for _, e := range l.Elts {
			s.out.Targets = append(s.out.Targets, ConstText(e))
		}
	}
	s.shared = s.shared || s.out.Rank.Text == "" || len(s.out.Targets) == 0
}

// names takes the length of sequences from a constant that is called so.
func (s *setup) names() {
	for _, name := range []string{"block_size", "seq_len", "seq_length", "max_len", "context_length"} {
		for _, r := range s.Top.Refs[name] {
			if r.Store {
				s.number(&s.out.Seq, r.Node)
			}
		}
	}
}
