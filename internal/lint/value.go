package lint

import "github.com/plimsoll-dev/plimsoll/internal/pyast"

// A Kind is what a value is.
type Kind uint8

// The kinds of values that rules care about.
const (
	Unknown     Kind = iota
	Number           // a Python number, string, bool or shape: no tensor
	NoneValue        // None
	Array            // of NumPy
	Tensor           // or an object of tensors, such as a model's output
	Module           // a model or a part of one
	Criterion        // a loss function
	Optimizer        //
	Scheduler        // of the learning rate
	Scaler           // of gradients
	Loader           // gives batches
	DatasetKind      // gives samples
	Checkpoint       // what torch.load gave, or a part of it
	StateDict        // what state_dict gave
	Device           //
	Tokenizer        //
	Accelerator      // of Accelerate or Fabric
	Trainer          // of Hugging Face or Lightning
	Context          // a context manager; Class says which
	ListKind         // list, set or dict; Elem is any element
	TupleKind        // Items are its elements
	FuncKind         // a function; Class is its qualified name
	ClassKind        // a class; Class is its qualified name
	KerasModel       // tf.keras or keras
	TFDataset        // tf.data.Dataset
)

// A Tri is yes, no or not known.
type Tri uint8

// The three.
const (
	Maybe Tri = iota
	No
	Yes
)

// A Place is where a tensor or module is.
type Place uint8

// GPU stands for any accelerator, "the device" of a script among them.
const (
	Anywhere Place = iota
	CPU
	GPU
)

// A Value is what is known of an expression's value. The zero Value is unknown.
type Value struct {
	Kind   Kind
	Grad   Tri   // Tensor: has a graph behind it
	Place  Place // Tensor, Module, Device
	Loss   bool  // Tensor: a loss, by its source or name
	Batch  bool  // Tensor: an element of a loader's batch
	Frozen bool  // Module: its parameters need no gradients
	Class  string
	Origin pyast.Node // the expression that made it, or nil
	Items  []Value
	Elem   *Value
}

// IsTensor and its like shorten rules.
func (v Value) IsTensor() bool { return v.Kind == Tensor }

// HasGraph reports whether v surely carries an autograd graph.
func (v Value) HasGraph() bool { return v.Kind == Tensor && v.Grad == Yes }

// OnGPU reports whether v may be on the GPU: a tensor that is not known to be
// on the CPU.
func (v Value) OnGPU() bool { return v.Kind == Tensor && v.Place != CPU }

// join is what holds of a value that is a or b. A number and a tensor give a
// tensor, as with sums that start at 0.
func join(a, b Value) Value {
	switch {
	case a.Kind == Unknown || a.Kind == NoneValue:
		return orElse(b, a)
	case b.Kind == Unknown || b.Kind == NoneValue:
		return a
	case a.Kind != b.Kind:
		if a.Kind == Number {
			return b
		}
		return a
	}
	v := a
	v.Grad = max(a.Grad, b.Grad)
	if a.Place != b.Place {
		v.Place = Anywhere
		if a.Place == GPU || b.Place == GPU {
			v.Place = GPU
		}
	}
	v.Loss = a.Loss || b.Loss
	v.Batch = a.Batch && b.Batch
	v.Frozen = a.Frozen && b.Frozen
	if v.Origin == nil {
		v.Origin = b.Origin
	}
	if a.Elem != nil && b.Elem != nil {
		e := joinElem(*a.Elem, *b.Elem)
		v.Elem = &e
	} else if a.Elem == nil {
		v.Elem = b.Elem
	}
	if len(a.Items) == len(b.Items) && len(a.Items) > 0 {
		v.Items = make([]Value, len(a.Items))
		for i := range a.Items {
			v.Items[i] = joinElem(a.Items[i], b.Items[i])
		}
	} else if len(a.Items) != len(b.Items) {
		v.Items = nil
	}
	return v
}

// joinElem joins below a container, where depth ends.
func joinElem(a, b Value) Value {
	if a.Kind != b.Kind || a.Kind != TupleKind && a.Kind != ListKind {
		return join(a, b)
	}
	a.Elem, a.Items = nil, nil
	return a
}

func orElse(a, b Value) Value {
	if a.Kind == Unknown {
		return b
	}
	return a
}

// stripped is v as a computation without gradients gives it.
func stripped(v Value) Value {
	if v.Kind == Tensor {
		v.Grad = No
	}
	return v.each(stripped)
}

// graphed is v as a function gives it that got something with a graph: losses of
// which it was not known have one.
func graphed(v Value) Value {
	if v.Loss && v.Grad == Maybe {
		v.Grad = Yes
	}
	return v.each(graphed)
}

// each is v with f of all that it consists of.
func (v Value) each(f func(Value) Value) Value {
	if v.Elem != nil {
		e := f(*v.Elem)
		v.Elem = &e
	}
	if v.Items != nil {
		items := make([]Value, len(v.Items))
		for i, x := range v.Items {
			items[i] = f(x)
		}
		v.Items = items
	}
	return v
}

// element is what iterating over or indexing v gives.
func (v Value) element() Value {
	switch v.Kind {
	case Tensor, Checkpoint, StateDict:
		return v
	case Loader, TFDataset:
		place := CPU
		if v.Place == GPU {
			place = GPU
		}
		return Value{Kind: Tensor, Grad: No, Batch: true, Place: place}
	case ListKind:
		if v.Elem != nil {
			return *v.Elem
		}
	case TupleKind:
		var e Value
		for i, x := range v.Items {
			if i == 0 {
				e = x
			} else {
				e = joinElem(e, x)
			}
		}
		return e
	case Number, Array:
		return v
	}
	return Value{}
}
