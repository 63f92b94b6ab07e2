// Package tokenizeinloop finds text that is tokenised on the training loop's thread.
package tokenizeinloop

import (
	_ "embed"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/lint"
	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

var (
	//go:embed bad.py
	bad string
	//go:embed good.py
	good string
)

// Rule is GPU114.
var Rule = &lint.Rule{
	Code:       "GPU114",
	Name:       "tokenize-in-loop",
	Severity:   lint.Warning,
	Title:      "Text is tokenised in the training process, on every step",
	Why:        "the tokeniser works on the CPU between two steps, and the GPU waits for it",
	Cost:       "the time to tokenise a batch, each step: a fast tokeniser takes some 10 us for a sequence of 100 words on one core, a slow one 1 ms and more, so a batch of 32 takes 0.3 to 30 ms (order of size, not measured here)",
	Misses:     "tokenisers that are not called so; what the step itself has generated or decoded must be tokenised there and is left alone; evaluation and generation scripts",
	Fix:        lint.NoFix,
	References: []string{"AnswerDotAI/ModernBERT#236", "NVIDIA-NeMo/Speech#14528"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.Calls(func(c *pyast.Call) {
		if tokenizes(p, c) && p.EachStep(c) && !p.Measures(c) && !generated(p, c) {
			p.Report(c, p.Text(c.Func)+"() tokenises in the training process on every step: do it before, with dataset.map(), or in the loader's collate_fn")
		}
	})
}

// methods of a tokeniser that tokenise.
var methods = map[string]bool{
	"encode": true, "encode_plus": true, "batch_encode_plus": true, "encode_batch": true, "tokenize": true, "__call__": true,
	"encode_ordinary": true, "encode_ordinary_batch": true, "apply_chat_template": true,
}

func tokenizes(p *lint.Pass, c *pyast.Call) bool {
	if len(c.Args) > 0 && onGPU(p, c.Args[0]) {
		return false // it tokenises images or sound, as a model
	}
	if tokenizer(p, c.Func) {
		return len(c.Args)+len(c.Keywords) > 0
	}
	if q := p.Callee(c); q == "nltk.word_tokenize" || q == "nltk.tokenize.word_tokenize" {
		return true
	}
	if name := lastOf(c.Func); processors[name] && c.Keyword("return_tensors") != nil && p.CalleeFacts(c) == nil {
		return true
	}
	name, on := p.Method(c)
	return on != nil && methods[name] && tokenizer(p, on)
}

// onGPU reports whether e is computed or put on the GPU, as no text is. What a
// prepared loader gives may hold texts.
func onGPU(p *lint.Pass, e pyast.Expr) bool {
	v := p.Value(e)
	if v.Kind != lint.Tensor || v.Place != lint.GPU {
		return false
	}
	made := p.Maker(e)
	if made == nil {
		return !v.Batch
	}
	name, _ := p.Method(made)
	return !v.Batch || name == "cuda" || name == "to"
}

// processors prepare text, images or sound for a model, as people call them.
var processors = map[string]bool{"processor": true, "image_processor": true, "feature_extractor": true}

func lastOf(e pyast.Expr) string {
	name := strings.ToLower(pyast.Path(e))
	return name[strings.LastIndexByte(name, '.')+1:]
}

// tokenizer reports whether an expression is a tokeniser, by what made it or,
// as anywhere in this program, by what people call it.
func tokenizer(p *lint.Pass, e pyast.Expr) bool {
	v := p.Value(e)
	if v.Kind == lint.Tokenizer || strings.HasPrefix(v.Class, "transformers.") && strings.Contains(v.Class, "Tokenizer") {
		return true
	}
	if v.Kind != lint.Unknown && v.Kind != lint.Module && v.Kind != lint.FuncKind {
		return false
	}
	name := lastOf(e)
	return name == "tokenizer" || name == "tokeniser" || strings.HasSuffix(name, "_tokenizer") || strings.HasPrefix(name, "tokenizer_")
}

// makers give text that was not there before the step.
var makers = map[string]bool{"decode": true, "batch_decode": true, "generate": true, "sample": true, "chat": true, "create": true}

// generated reports whether the text comes from what the step generated or
// decoded, as far as the function shows.
func generated(p *lint.Pass, c *pyast.Call) bool {
	o := origins{p.FuncOf(c), map[string]bool{}}
	for _, a := range c.Args {
		if o.made(a) {
			return true
		}
	}
	return c.Keyword("text") != nil && o.made(c.Keyword("text"))
}

// origins follows the names of a function to what they were assigned.
type origins struct {
	fn   *lint.Func
	seen map[string]bool
}

// made reports whether something in e, or what its names were assigned, is made
// by generation.
func (o origins) made(e pyast.Node) bool {
	found := false
	pyast.Walk(e, func(n pyast.Node) bool {
		switch n := n.(type) {
		case *pyast.Call:
			a, ok := n.Func.(*pyast.Attribute)
			found = found || ok && makers[a.Attr]
		case *pyast.Name:
			found = found || answers(n.Ident) || o.named(n.Ident)
		}
		return !found
	})
	return found
}

// answers reports whether a name says that its text is a model's.
func answers(name string) bool {
	for _, w := range []string{"complet", "generat", "response"} {
		if strings.Contains(strings.ToLower(name), w) {
			return true
		}
	}
	return false
}

func (o origins) named(name string) bool {
	if o.seen[name] {
		return false
	}
	o.seen[name] = true
	for _, r := range o.fn.Refs[name] {
		if s := pyast.StmtOf(r.Node); r.Store && s != nil && o.made(source(s)) {
			return true
		}
	}
	return false
}

// source is what a statement assigns from.
func source(s pyast.Stmt) pyast.Node {
	switch s := s.(type) {
	case *pyast.Assign:
		if s.Value != nil {
			return s.Value
		}
	case *pyast.AugAssign:
		return s.Value
	case *pyast.For:
		return s.Iter
	}
	return &pyast.Constant{}
}
