// Package resumecheckpointkept finds checkpoints that stay in memory through the
// training that resumes from them.
package resumecheckpointkept

import (
	_ "embed"
	"fmt"
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

// Rule is GPU008.
var Rule = &lint.Rule{
	Code:     "GPU008",
	Name:     "resume-checkpoint-kept",
	Severity: lint.Error,
	Title:    "The checkpoint that training resumes from stays on the GPU",
	Why: "load_state_dict() copies, so the loaded tensors are a second set of weights, and of optimizer state where that is in the file; " +
		"the variable keeps them for as long as its function runs, which is the whole training",
	Cost: "the size of the file: 4 bytes a parameter for fp32 weights, 12 with Adam's moments; 498 MB for the fp32 weights of GPT-2 small (derived: 124.4 million x 4 bytes)",
	Of:   lint.Weights,
	Misses: "checkpoints that are loaded to the CPU (they cost host memory only), that are read again after training began, and that other objects keep; " +
		"checkpoints in a function that returns before training are left alone",
	Fix:        lint.SafeFix,
	References: []string{"karpathy/nanoGPT#158", "https://docs.pytorch.org/docs/stable/notes/faq.html#my-gpu-memory-isn-t-freed-properly"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	lint.Each(p.Module, func(s *pyast.Assign) {
		if len(s.Targets) != 1 || s.Value == nil {
			return
		}
		path := pyast.Path(s.Targets[0])
		load := loads(p, s.Value)
		if path == "" || load == nil || p.InTest(s) {
			return
		}
		if strings.Contains(path, ".") {
			attribute(p, s, path)
			return
		}
		whole := s.Value == pyast.Expr(load)
		check(p, s, path, whole)
	})
}

// loads is the torch.load to the GPU that an expression's value is of, or a part
// of, or nil.
func loads(p *lint.Pass, e pyast.Expr) *pyast.Call {
	switch e := e.(type) {
	case *pyast.Subscript:
		return loads(p, e.Value)
	case *pyast.Name: // sd = checkpoint is no second copy, but a second hold
		return nil
	case *pyast.Call:
		if p.Callee(e) == "torch.load" {
			return toGPU(p, e)
		}
		if name, on := p.Method(e); (name == "get" || name == "pop") && on != nil {
			return loads(p, on)
		}
		return nil
	}
	return nil
}

// toGPU is the call if it may put tensors on the GPU.
func toGPU(p *lint.Pass, c *pyast.Call) *pyast.Call {
	options, all := p.Options(c)
	to := c.Arg(1, "map_location")
	if to == nil {
		to = options["map_location"]
	}
	if to == nil && !all {
		return nil
	}
	switch t := to.(type) {
	case nil:
	case *pyast.Lambda:
		if !cuda(p, t.Body) {
			return nil // as a rule: lambda storage, loc: storage
		}
	case *pyast.Constant:
		if t.Str == "cpu" || t.Str == "meta" {
			return nil
		}
	default:
		v := p.Value(to)
		if v.Place == lint.CPU || v.Kind == lint.Unknown && v.Place != lint.GPU && !onDevice(to) {
			return nil
		}
	}
	return c
}

// cuda reports whether an expression is a call of .cuda().
func cuda(p *lint.Pass, e pyast.Expr) bool {
	c, ok := e.(*pyast.Call)
	if !ok {
		return false
	}
	name, on := p.Method(c)
	return name == "cuda" && on != nil
}

// onDevice reports whether a location is named as a device.
func onDevice(e pyast.Expr) bool {
	if d, ok := e.(*pyast.Dict); ok {
		for _, v := range d.Values {
			if k, ok := v.(*pyast.Constant); ok && k.Str == "cpu" {
				return false
			}
		}
		return len(d.Values) > 0
	}
	if _, ok := e.(*pyast.FString); ok {
		return true
	}
	return strings.Contains(strings.ToLower(pyast.Path(e)), "device")
}

func check(p *lint.Pass, s *pyast.Assign, path string, whole bool) {
	fn := p.FuncOf(s)
	at := training(p, fn, s)
	if at == nil {
		return
	}
	if held(fn, s, path, at) {
		if isState(p, fn, path) || part(p, fn, path) {
			p.Report(s, path+" keeps the loaded tensors through the training", append(fix(p, fn, s, path), lint.See(at, "the training begins here"))...)
		}
		return
	}
	if !whole {
		return
	}
	alias(p, fn, s, path, at)
}

// training is what trains after s in its function: a loop, or a call of a
// function or framework that does; nil if nothing does.
func training(p *lint.Pass, fn *lint.Func, s pyast.Stmt) pyast.Node {
	var found pyast.Node
	earlier := func(n pyast.Node) {
		if lint.Before(s, n) && !lint.Exclusive(s, n) && (found == nil || n.Span().Start < found.Span().Start) {
			found = n
		}
	}
	for _, l := range p.Loops {
		if l.Func == fn && (l.Backward || l.Steps) && !lint.Inside(s, l.Node) {
			earlier(l.Node)
		}
	}
	fn.OwnStmts(func(n pyast.Node) {
		c, ok := n.(*pyast.Call)
		if !ok {
			return
		}
		name, on := p.Method(c)
		f := p.Resolve(c.Func)
		switch {
		case on != nil && p.Value(on).Kind == lint.Trainer && (name == "train" || name == "fit"):
			earlier(c)
		case f != nil && f.Backward && f.Steps:
			earlier(c)
		case f == nil && fn.Backward && strings.HasPrefix(p.Callee(c), ".") && trainName(p.Callee(c)):
			earlier(c) // of another file
		}
	})
	return found
}

func trainName(q string) bool {
	name := q[strings.LastIndexByte(q, '.')+1:]
	return strings.Contains(name, "train") || strings.Contains(name, "fit")
}

// held reports whether nothing lets go of a path between s and the training, and
// nothing reads it from then on.
func held(fn *lint.Func, s pyast.Stmt, path string, at pyast.Node) bool {
	for _, r := range fn.Refs[path] {
		switch start := r.Node.Span().Start; {
		case start < s.Span().End:
		case start >= at.Span().Start && !r.Store && !r.Del:
			if f, ok := at.(*pyast.For); !ok || !lint.Inside(r.Node, f.Iter) {
				return false // it is still needed
			}
		case r.Store || r.Del:
			return false
		}
	}
	return true
}

// attribute judges self.checkpoint = torch.load(...): it lives as long as the
// object, and the object trains.
func attribute(p *lint.Pass, s *pyast.Assign, path string) {
	fn := p.FuncOf(s)
	if fn.Class == nil || !strings.HasPrefix(path, "self.") || strings.Count(path, ".") != 1 || !isState(p, fn, path) {
		return
	}
	trains := false
	for _, o := range fn.Class.Methods {
		trains = trains || o.Backward && o != fn
		for _, r := range o.Refs[path] {
			if o != fn || r.Del || r.Store && pyast.StmtOf(r.Node) != pyast.Stmt(s) {
				return // it is needed later, or let go of
			}
		}
	}
	if trains {
		p.Report(s, path+" keeps the loaded tensors as long as the object that trains")
	}
}

// isState reports whether a path, or a part of what it holds, goes to
// load_state_dict or the like.
func isState(p *lint.Pass, fn *lint.Func, path string) bool {
	found := false
	fn.OwnStmts(func(n pyast.Node) {
		c, ok := n.(*pyast.Call)
		if !ok || len(c.Args) == 0 {
			return
		}
		if name, _ := p.Method(c); strings.HasPrefix(name, "load_") && strings.Contains(name, "state") {
			for _, a := range c.Args {
				found = found || lint.Reads(a, path)
			}
		}
	})
	return found
}

// part reports whether what a path holds goes to load_state_dict by another
// name: weights = checkpoint["model"].
func part(p *lint.Pass, fn *lint.Func, path string) bool {
	found := false
	fn.OwnStmts(func(n pyast.Node) {
		a, ok := n.(*pyast.Assign)
		if !ok || len(a.Targets) != 1 || a.Value == nil {
			return
		}
		name := pyast.Path(a.Targets[0])
		if name != "" && name != path && lint.Base(a.Value) == path {
			found = found || isState(p, fn, name)
		}
	})
	return found
}

// alias finds state = checkpoint["model"], which keeps the tensors when the
// checkpoint itself is let go of.
func alias(p *lint.Pass, fn *lint.Func, s *pyast.Assign, path string, at pyast.Node) {
	fn.OwnStmts(func(n pyast.Node) {
		a, ok := n.(*pyast.Assign)
		if !ok || len(a.Targets) != 1 || !lint.Before(s, a) {
			return
		}
		sub, ok := a.Value.(*pyast.Subscript)
		name := pyast.Path(a.Targets[0])
		if !ok || pyast.Path(sub.Value) != path || name == "" || strings.Contains(name, ".") || lint.Exclusive(s, a) {
			return
		}
		if held(fn, a, name, at) && isState(p, fn, name) {
			p.Report(a, fmt.Sprintf("%s keeps the loaded tensors through the training, though %s is let go of", name, path),
				append(fix(p, fn, a, name), lint.See(at, "the training begins here"))...)
		}
	})
}

// fix deletes the name after its last use. It is safe where the name is bound
// whenever that statement runs and nothing else can see it.
func fix(p *lint.Pass, fn *lint.Func, s *pyast.Assign, path string) []lint.Option {
	last := fn.LastUse(path)
	if last == nil {
		return nil
	}
	var stmt pyast.Stmt
	for n := pyast.Node(last); n != nil; n = n.Parent() {
		if st, ok := n.(pyast.Stmt); ok && st.Parent() == s.Parent() {
			stmt = st
			break
		}
	}
	if stmt == nil || stmt == pyast.Stmt(s) || returns(stmt) {
		return nil
	}
	if parent, ok := s.Parent().(*pyast.If); ok && lint.InBlock(parent.Body, s) != lint.InBlock(parent.Body, stmt) {
		return nil
	}
	edit := p.InsertAfter(stmt, "del "+path)
	if seenElsewhere(p, fn, path) {
		return []lint.Option{lint.Unsafely("let go of it after its last use", edit)}
	}
	return []lint.Option{lint.Safely("let go of it after its last use", edit)}
}

func returns(s pyast.Stmt) bool {
	switch s.(type) {
	case *pyast.Return, *pyast.Raise, *pyast.Simple:
		return true
	}
	return false
}

// seenElsewhere reports whether another function reads the name, or the file
// looks names up by itself.
func seenElsewhere(p *lint.Pass, fn *lint.Func, path string) bool {
	for _, o := range p.Funcs {
		if o != fn && len(o.Refs[path]) > 0 && !o.Locals[path] {
			return true
		}
	}
	found := false
	p.Calls(func(c *pyast.Call) {
		switch pyast.Path(c.Func) {
		case "locals", "globals", "exec", "eval", "vars":
			found = true
		}
	})
	return found
}
