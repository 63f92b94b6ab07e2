package lint

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// EachStep reports whether n runs each training step (see StepOf).
func (f *File) EachStep(n pyast.Node) bool {
	_, hot := f.StepOf(n)
	return hot
}

// EachBatch reports whether n runs each training step or for each batch of an
// evaluation.
func (f *File) EachBatch(n pyast.Node) bool {
	if f.EachStep(n) {
		return true
	}
	for l := f.LoopOf(n); l != nil; l = l.Outer {
		if l.EvalLoop() && l.Over.Kind == Loader {
			return Always(f.Guards(n, l.Node))
		}
	}
	return false
}

// usesGPU reports whether something in a function is known to be on the GPU, or
// a framework puts it there.
func (f *File) usesGPU(fn *Func) bool {
	for _, pkg := range []string{"lightning", "pytorch_lightning", "accelerate"} {
		if f.Uses(pkg) {
			return true
		}
	}
	if fn.Class != nil && f.IsClass(fn.Class, "transformers.Trainer") {
		return true
	}
	found := false
	fn.OwnStmts(func(n pyast.Node) {
		if e, ok := n.(pyast.Expr); ok && !found {
			v := f.Value(e)
			found = v.Place == GPU && (v.Kind == Tensor || v.Kind == Module)
		}
	})
	return found
}

// OnDevice reports whether e is a tensor on the GPU: as far as is known, or, for
// what a training step computes with its graph, because its function or
// framework uses one.
func (f *File) OnDevice(e pyast.Expr) bool {
	v := f.Value(e)
	if v.Kind != Tensor || v.Place == CPU {
		return false
	}
	return v.Place == GPU || (v.Loss || v.Grad == Yes) && f.usesGPU(f.FuncOf(e))
}

// CalleeFacts are what the project knows of the function or method that a call
// calls, in whichever file it is; nil if it is not of the project.
func (f *File) CalleeFacts(c *pyast.Call) *Facts {
	q := f.Callee(c)
	if a, ok := c.Func.(*pyast.Attribute); ok && !strings.HasPrefix(q, ".") {
		class := f.Value(a.Value).Class
		if fn := f.FuncOf(c); class == "" && pyast.Path(a.Value) == "self" && fn.Class != nil {
			class = fn.Class.Qual
		}
		if strings.HasPrefix(class, ".") {
			q = f.project.method(class, a.Attr, 0)
		}
	}
	if !strings.HasPrefix(q, ".") {
		return nil
	}
	return f.project.funcs[f.project.callee(q)]
}

// ReadsData reports whether a function goes over a loader, or holds a loop that
// does and runs a model in it without training it: an evaluation.
func (fn *Facts) ReadsData() bool {
	for _, l := range fn.loops {
		if l.EvalLoop() {
			return true
		}
	}
	return false
}
