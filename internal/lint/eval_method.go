package lint

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// method calls a method of a value that is known.
func (ev *evaluator) method(v Value, attr *pyast.Attribute, a callArgs) (Value, bool) {
	name := attr.Attr
	if v.Class != "" && strings.HasPrefix(v.Class, ".") {
		if q := ev.methodOf(v.Class, name); q != "" {
			return ev.project(q, a), true
		}
	}
	switch v.Kind {
	case Tensor:
		return ev.tensorMethod(v, name, a), true
	case Module, Criterion:
		return ev.moduleMethod(v, attr, a)
	case ListKind, TupleKind:
		return ev.listMethod(v, attr, a)
	case Array:
		if name == "item" || name == "tolist" {
			return Value{Kind: Number}, true
		}
		return v, true
	case Number, Device:
		return Value{Kind: Number}, true
	case Checkpoint, StateDict:
		return v, name == "get" || name == "pop" || name == "copy"
	case Accelerator:
		return ev.accelerator(v, name, a)
	case Scaler:
		if name == "scale" && len(a.values) > 0 {
			return a.values[0], true
		}
		return Value{}, true
	case DatasetKind, TFDataset:
		if name == "__len__" {
			return Value{Kind: Number}, true
		}
		return v, true
	case KerasModel:
		if name == "compile" || name == "summary" {
			return Value{Kind: NoneValue}, true
		}
	}
	return Value{}, false
}

// methodOf is a method of a class of the project, also of this file before the
// project knows it.
func (ev *evaluator) methodOf(class, name string) string {
	if q := ev.p.method(class, name, 0); q != "" {
		return q
	}
	for range 6 {
		c := ev.f.classNamed(class)
		if c == nil {
			return ""
		}
		if fn := c.Methods[name]; fn != nil {
			return fn.Qual
		}
		class = ""
		for _, b := range c.Bases {
			if strings.HasPrefix(b, ".") {
				if q := ev.p.method(b, name, 0); q != "" {
					return q
				}
				class = b
			}
		}
	}
	return ""
}

func (ev *evaluator) tensorMethod(v Value, name string, a callArgs) Value {
	v.Origin = a.node
	switch {
	case toPython[name] && (name != "type" || len(a.values) == 0):
		return Value{Kind: Number}
	case gradless[name]:
		v.Grad, v.Loss = No, false
		return v
	}
	switch name {
	case "numpy":
		return Value{Kind: Array}
	case "detach", "detach_":
		v.Grad = No
	case "cpu":
		v.Place = CPU
	case "cuda", "npu", "xpu":
		v.Place = GPU
	case "to":
		if p := devicePlace(a); p != Anywhere {
			v.Place = p
		}
	case "requires_grad_":
		v.Grad = ev.limit(Yes)
		if len(a.node.Args) == 1 {
			if k, ok := a.node.Args[0].(*pyast.Constant); ok && k.Kind == pyast.False {
				v.Grad = No
			}
		}
	case "max", "min", "topk", "sort", "kthvalue", "mode", "median", "cummax", "cummin":
		if len(a.values) > 0 || name == "sort" {
			indices := v
			indices.Grad, indices.Loss = No, false
			return Value{Kind: TupleKind, Items: []Value{v, indices}, Origin: a.node}
		}
	case "split", "chunk", "unbind", "tensor_split":
		return Value{Kind: ListKind, Elem: &v, Origin: a.node}
	case "backward":
		return Value{Kind: NoneValue}
	case "items":
		return Value{Kind: ListKind, Elem: &Value{Kind: TupleKind, Items: []Value{{Kind: Number}, v}}}
	case "keys":
		return Value{Kind: ListKind, Elem: &Value{Kind: Number}}
	default:
		if v.Grad == No && len(a.values) > 0 {
			v.Grad = gradOf(append([]Value{v}, a.values...)...)
			if v.Grad == Maybe {
				v.Grad = No
			}
		}
		v.Grad = ev.limit(v.Grad)
	}
	return v
}

// devicePlace is where .to(...) or device= points. A device that is not known
// is taken for the GPU: that is what scripts have one for.
func devicePlace(a callArgs) Place {
	v, ok := a.named("device")
	if !ok {
		v = a.at(0)
	}
	switch {
	case v.Place != Anywhere:
		return v.Place
	case v.Kind == Device:
		return GPU
	}
	return Anywhere
}

func (ev *evaluator) moduleMethod(v Value, attr *pyast.Attribute, a callArgs) (Value, bool) {
	name := attr.Attr
	switch name {
	case "cuda":
		v.Place = GPU
	case "cpu":
		v.Place = CPU
	case "to":
		if p := devicePlace(a); p != Anywhere {
			v.Place = p
		}
	case "requires_grad_":
		v.Frozen = false
		if len(a.node.Args) == 1 {
			k, ok := a.node.Args[0].(*pyast.Constant)
			v.Frozen = ok && k.Kind == pyast.False
		}
	case "eval", "train", "half", "float", "bfloat16", "double", "type", "apply", "share_memory":
	case "forward", "__call__":
		return ev.forward(v, a), true
	case "generate":
		return Value{Kind: Tensor, Grad: No, Place: v.Place}, true
	case "state_dict":
		return Value{Kind: StateDict, Place: v.Place}, true
	case "parameters":
		return Value{Kind: ListKind, Elem: &Value{Kind: Tensor, Grad: No, Place: v.Place}}, true
	case "named_parameters":
		return Value{Kind: ListKind, Elem: &Value{Kind: TupleKind, Items: []Value{{Kind: Number}, {Kind: Tensor, Grad: No, Place: v.Place}}}}, true
	case "modules", "children":
		return Value{Kind: ListKind, Elem: &Value{Kind: Module, Place: v.Place}}, true
	case "named_modules", "named_children", "items":
		return Value{Kind: ListKind, Elem: &Value{Kind: TupleKind, Items: []Value{{Kind: Number}, {Kind: Module, Place: v.Place}}}}, true
	case "values":
		return Value{Kind: ListKind, Elem: &Value{Kind: Module, Place: v.Place}}, true
	case "no_sync":
		return Value{Kind: Context, Class: "no_sync"}, true
	case "encode", "decode", "get_loss", "compute_loss", "loss", "encode_image", "encode_text", "forward_features", "log_prob", "training_step":
		r := ev.forward(v, a)
		r.Loss = strings.Contains(name, "loss")
		return r, true
	default:
		return Value{}, moduleMethods[name]
	}
	// What changes the module in place changes the variable, too.
	if p := pyast.Path(attr.Value); p != "" && (name == "to" || name == "cuda" || name == "cpu" || name == "requires_grad_") {
		ev.set(p, v)
		if strings.HasPrefix(p, "self.") && ev.fn.Class != nil {
			ev.f.attr(ev.fn.Class.Qual, p[len("self."):], v)
		}
	}
	return v, true
}

func (ev *evaluator) listMethod(v Value, attr *pyast.Attribute, a callArgs) (Value, bool) {
	switch attr.Attr {
	case "append", "insert", "add", "appendleft", "extend", "update", "setdefault":
		if len(a.values) == 0 {
			return Value{}, true
		}
		x := a.values[len(a.values)-1]
		if attr.Attr == "extend" || attr.Attr == "update" {
			x = x.element()
		}
		if p := pyast.Path(attr.Value); p != "" {
			ev.set(p, grown(v, x))
			if strings.HasPrefix(p, "self.") && ev.fn.Class != nil {
				ev.f.attr(ev.fn.Class.Qual, p[len("self."):], grown(v, x))
			}
		}
		return Value{Kind: NoneValue}, true
	case "clear":
		if p := pyast.Path(attr.Value); p != "" {
			v.Elem = nil
			ev.set(p, v)
		}
		return Value{Kind: NoneValue}, true
	case "items":
		return Value{Kind: ListKind, Elem: &Value{Kind: TupleKind, Items: []Value{{Kind: Number}, v.element()}}}, true
	case "values", "copy":
		return v, true
	case "keys":
		return Value{Kind: ListKind, Elem: &Value{Kind: Number}}, true
	case "get", "pop", "popleft":
		return v.element(), true
	case "to":
		return v, true
	}
	return Value{}, false
}

// accelerator calls a method of Accelerate's Accelerator or Lightning's Fabric.
func (ev *evaluator) accelerator(_ Value, name string, a callArgs) (Value, bool) {
	moved := func(v Value) Value {
		v.Place = GPU
		return v
	}
	switch name {
	case "prepare", "setup", "setup_dataloaders", "setup_module", "setup_optimizers", "prepare_model", "prepare_data_loader":
		if len(a.values) == 1 {
			return moved(a.values[0]), true
		}
		v := Value{Kind: TupleKind}
		for _, x := range a.values {
			v.Items = append(v.Items, moved(x))
		}
		return v, true
	case "unwrap_model":
		return a.at(0), true
	case "accumulate", "no_sync":
		return Value{Kind: Context, Class: "accumulate"}, true
	case "autocast":
		return Value{Kind: Context, Class: "autocast"}, true
	case "gather", "gather_for_metrics", "reduce", "pad_across_processes", "all_gather", "all_reduce":
		v := a.at(0)
		if v.Kind == Tensor {
			v.Grad, v.Place = No, GPU
		}
		return v, true
	}
	return Value{}, false
}

// builtin calls a function of Python.
func (ev *evaluator) builtin(name string, a callArgs) (Value, bool) {
	switch name {
	case "float", "int", "str", "len", "bool", "round", "repr", "format", "isinstance", "hasattr", "id", "input", "ord", "type", "print":
		return Value{Kind: Number}, true
	case "range":
		return Value{Kind: ListKind, Elem: &Value{Kind: Number}}, true
	case "enumerate":
		return Value{Kind: ListKind, Elem: &Value{Kind: TupleKind, Items: []Value{{Kind: Number}, a.at(0).element()}}, Origin: a.at(0).Origin}, true
	case "zip":
		t := Value{Kind: TupleKind}
		for _, v := range a.values {
			t.Items = append(t.Items, forgetDeep(v.element()))
		}
		return Value{Kind: ListKind, Elem: &t}, true
	case "iter", "reversed", "tqdm", "trange", "cycle", "islice", "track":
		return a.at(0), a.at(0).Kind != Unknown
	case "next":
		return a.at(0).element(), true
	case "list", "tuple", "set", "sorted":
		v := a.at(0)
		switch v.Kind {
		case ListKind, TupleKind:
			v.Kind, v.Elem, v.Items = ListKind, elem(v), nil
			return v, true
		case Unknown:
			if len(a.values) > 0 {
				return Value{}, true
			}
		}
		return Value{Kind: ListKind, Elem: elem(v)}, true
	case "dict":
		v := Value{Kind: ListKind}
		for _, x := range a.values {
			v = grown(v, x)
		}
		return v, true
	case "sum":
		e := a.at(0).element()
		if e.Kind == Tensor {
			e.Grad = ev.limit(e.Grad)
		}
		return e, true
	case "max", "min", "abs", "pow":
		return ev.binary(a.at(0), a.at(1)), a.at(0).Kind != Unknown
	case "getattr":
		return Value{}, true
	}
	return Value{}, false
}

func elem(v Value) *Value {
	if e := v.element(); e.Kind != Unknown {
		e = forgetDeep(e)
		return &e
	}
	return nil
}

// torch calls a function of torch or another library by its qualified name.
func (ev *evaluator) torch(q string, a callArgs) Value {
	if make, ok := functions[q]; ok {
		return make(ev, a)
	}
	name := last(q)
	switch {
	case strings.HasPrefix(q, "torch.nn.functional."):
		v := Value{Kind: Tensor, Grad: ev.limit(lossGrad(a)), Place: placeJoin(a.values...)}
		v.Loss = strings.Contains(name, "loss") || strings.Contains(name, "cross_entropy") || name == "kl_div"
		return v
	case strings.HasPrefix(q, "torch.cuda."), strings.HasPrefix(q, "torch.distributed."), strings.HasPrefix(q, "torch.backends."), strings.HasPrefix(q, "torch.utils."), strings.HasPrefix(q, "torch.jit."):
		return Value{}
	case strings.HasPrefix(q, "torch.") && strings.Count(q, ".") == 1:
		return ev.torchFunction(name, a)
	case strings.HasPrefix(q, "numpy."):
		return Value{Kind: Array}
	case strings.HasPrefix(q, "math."), strings.HasPrefix(q, "os."), strings.HasPrefix(q, "time."), strings.HasPrefix(q, "random."):
		return Value{Kind: Number}
	case strings.HasPrefix(q, "tqdm."), strings.HasPrefix(q, "itertools."):
		return a.at(0)
	}
	return Value{}
}

// torchFunction is torch.name(...).
func (ev *evaluator) torchFunction(name string, a callArgs) Value {
	v := Value{Kind: Tensor, Grad: No, Place: CPU, Origin: a.node}
	if creators[name] {
		if strings.HasSuffix(name, "_like") {
			v.Place = a.at(0).Place
		}
		if d, ok := a.named("device"); ok {
			v.Place = GPU
			if d.Place == CPU {
				v.Place = CPU
			} else if d.Kind == Unknown && d.Place == Anywhere {
				v.Place = Anywhere
			}
		}
		return v
	}
	v.Place = placeJoin(a.values...)
	if gradless[name] {
		return v
	}
	if name == "is_tensor" || name == "numel" || strings.HasPrefix(name, "is_") || strings.HasPrefix(name, "set_") || strings.HasPrefix(name, "get_") || strings.HasPrefix(name, "manual_") || name == "finfo" || name == "iinfo" || name == "compiler" {
		return Value{Kind: Number}
	}
	v.Grad = ev.limit(gradOf(a.values...))
	if (name == "max" || name == "min" || name == "topk" || name == "sort" || name == "median" || name == "mode") && len(a.values) > 1 {
		indices := v
		indices.Grad = No
		return Value{Kind: TupleKind, Items: []Value{v, indices}, Origin: a.node}
	}
	if name == "split" || name == "chunk" || name == "unbind" {
		return Value{Kind: ListKind, Elem: &v, Origin: a.node}
	}
	return v
}
