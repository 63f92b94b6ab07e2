package solve

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

var layerName = regexp.MustCompile(`\.(\d+)\.`)

// params finds the parameters, in the model's order: a layer's once for all
// layers that have it alike.
func (s *solver) params() ([]symbolic.Param, error) {
	shapes := s.shapes()
	order := paramOrder{stacks: map[string]*union{}}
	classes := map[string]map[string]symbolic.Param{} // by name, then by class
	for _, r := range s.recs {
		order.add(s, r)
		for n, t := range r.places.Parameters {
			tm := s.templateOf(r, t)
			if _, ok := classes[tm.name][tm.class]; ok {
				continue
			}
			p := symbolic.Param{Name: tm.name, Stack: tm.stack, Class: tm.class, DType: t.dtype, Trainable: t.trained}
			var err error
			if p.Shape, err = s.shape(t, shapes.of(tm)); err != nil && r.isScript() {
				s.doubt("parameter %s: %v", t.name, err)
				continue
			} else if err != nil {
				return nil, fmt.Errorf("parameter %s: %w", t.name, err)
			}
			p.Home = s.place(r, t.alloc, tm)
			p.Grad = s.place(r, r.gradientOf(n), tm)
			if classes[tm.name] == nil {
				classes[tm.name] = map[string]symbolic.Param{}
			}
			classes[tm.name][tm.class] = p
		}
	}
	var list []symbolic.Param
	for _, name := range order.names() {
		list = append(list, joined(classes[name], s.classesOf(name, classes))...)
	}
	return list, nil
}

// shapes are those of parameters in each recording, by name and kind of layer, and by
// name and class.
type shapes struct {
	byKind, byClass map[string][][]int64
	differ          map[string]bool // layers of a kind do
}

func (s *solver) shapes() shapes {
	found := shapes{map[string][][]int64{}, map[string][][]int64{}, map[string]bool{}}
	for _, r := range s.recs {
		for _, t := range r.places.Parameters {
			tm := s.templateOf(r, t)
			kind, class := tm.name+" "+tm.kind, tm.name+" "+tm.class
			if found.byKind[kind] == nil {
				found.byKind[kind] = make([][]int64, len(s.recs))
			}
			if found.byClass[class] == nil {
				found.byClass[class] = make([][]int64, len(s.recs))
			}
			if before := found.byKind[kind][r.n]; before != nil && !slices.Equal(before, t.shape) {
				found.differ[kind] = true
			}
			found.byKind[kind][r.n], found.byClass[class][r.n] = t.shape, t.shape
		}
	}
	return found
}

// of are the shapes of a parameter: where all layers of a kind have it alike, few
// recordings of one that is last prove nothing that theirs do not.
func (s shapes) of(tm template) [][]int64 {
	if key := tm.name + " " + tm.kind; !s.differ[key] {
		return s.byKind[key]
	}
	return s.byClass[tm.name+" "+tm.class]
}

// gradientOf is the allocation of the gradient of parameter n in a steady
// micro-batch, -1 for none.
func (r *cutRecording) gradientOf(n int) int {
	if !r.places.Parameters[n].trained {
		return -1
	}
	trained := 0
	for _, t := range r.places.Parameters[:n] {
		if t.trained {
			trained++
		}
	}
	if g, ok := r.places.Gradients[symbolic.Steady]; ok && trained < len(g.Allocs) {
		return g.Allocs[trained]
	}
	return -1
}

// A paramOrder is the order of parameters that all recordings agree with.
type paramOrder struct {
	model  union // names outside of layers, and stacks
	stacks map[string]*union
}

// add merges the order of a recording.
func (o *paramOrder) add(s *solver, r *cutRecording) {
	var model []string
	layers := map[string]map[int][]string{}
	for _, t := range r.places.Parameters {
		tm := s.templateOf(r, t)
		if tm.stack == "" {
			model = append(model, tm.name)
			continue
		}
		if layers[tm.stack] == nil {
			layers[tm.stack] = map[int][]string{}
			model = append(model, stackToken+tm.stack)
		}
		layers[tm.stack][tm.index] = append(layers[tm.stack][tm.index], tm.name)
	}
	o.model.merge(model)
	for stack, byLayer := range layers {
		if o.stacks[stack] == nil {
			o.stacks[stack] = &union{}
		}
		for _, i := range slices.Sorted(maps.Keys(byLayer)) {
			o.stacks[stack].merge(byLayer[i])
		}
	}
}

// stackToken begins the token that stands for a stack's layers.
const stackToken = "layers of "

func (o *paramOrder) names() []string {
	var list []string
	for _, id := range o.model.order {
		name, isStack := strings.CutPrefix(o.model.tokens[id], stackToken)
		if !isStack {
			list = append(list, name)
			continue
		}
		for _, n := range o.stacks[name].order {
			list = append(list, o.stacks[name].tokens[n])
		}
	}
	return list
}

// classesOf are the classes that layers of a parameter's stack have in any
// recording, and the kind of each.
func (s *solver) classesOf(name string, classes map[string]map[string]symbolic.Param) map[string]string {
	kinds := map[string]string{}
	for _, p := range classes[name] {
		if p.Stack == "" {
			return nil
		}
		for _, r := range s.recs {
			list := r.Kinds[p.Stack]
			for i := range list {
				kinds[symbolic.Position(list, i, 0)] = list[i]
			}
		}
		break
	}
	return kinds
}

// joined are the parameters of one name. Layers that have it alike share one:
// all of them if they can, else those of a kind, else those of a class.
func joined(byClass map[string]symbolic.Param, kinds map[string]string) []symbolic.Param {
	if kinds == nil {
		return slices.Collect(maps.Values(byClass))
	}
	if p, ok := shared(byClass, slices.Collect(maps.Keys(kinds))); ok {
		p.Class = ""
		return []symbolic.Param{p}
	}
	byKind := map[string][]string{}
	for class, kind := range kinds {
		byKind[kind] = append(byKind[kind], class)
	}
	var list []symbolic.Param
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		if p, ok := shared(byClass, byKind[kind]); ok {
			p.Class, p.Level = kind, symbolic.KindLevel
			list = append(list, p)
			continue
		}
		for _, class := range slices.Sorted(slices.Values(byKind[kind])) {
			if p, ok := byClass[class]; ok {
				list = append(list, p)
			}
		}
	}
	return list
}

// shared is a parameter that all the classes have alike.
func shared(byClass map[string]symbolic.Param, classes []string) (symbolic.Param, bool) {
	first, ok := byClass[classes[0]]
	for _, class := range classes {
		p, has := byClass[class]
		if !has || !ok || !alike(first, p) {
			return first, false
		}
	}
	return first, ok
}

// A template is a parameter's name with "{}" for the layer.
type template struct {
	name, stack, kind, class string
	index                    int
}

// templateOf finds the layer of a parameter: the stack whose part loaded its
// block tells which number in the name is the layer's.
func (s *solver) templateOf(r *cutRecording, t tensor) template {
	tm := template{name: t.name}
	if t.alloc < 0 {
		return tm
	}
	p := r.pieces[r.homes[t.alloc].piece]
	if p.part.stack == "" {
		return tm
	}
	for _, m := range layerName.FindAllStringSubmatchIndex(t.name, -1) {
		if n, err := strconv.Atoi(t.name[m[2]:m[3]]); err == nil && n == p.index {
			tm.name = t.name[:m[2]] + "{}" + t.name[m[3]:]
			tm.stack, tm.index = p.part.stack, n
			tm.kind = r.Kinds[tm.stack][n]
			tm.class = symbolic.Position(r.Kinds[tm.stack], n, 0)
			break
		}
	}
	return tm
}

// shape finds the formula of each extent.
func (s *solver) shape(t tensor, shapes [][]int64) ([]symbolic.Expr, error) {
	list := make([]symbolic.Expr, len(t.shape))
	for d := range t.shape {
		values, present := make([]int64, len(s.recs)), make([]bool, len(s.recs))
		for i, sh := range shapes {
			if len(sh) == len(t.shape) {
				values[i], present[i] = sh[d], true
			}
		}
		f := s.fit.share(s.fit.fit("", values, present), values, present)
		if f.error > 0 {
			return nil, fmt.Errorf("extent %d has no formula: %v", d, pick(values, present))
		}
		list[d] = f.expr
	}
	return list, nil
}

// place is a ref to an allocation as its layer names it: by the distance. What has no
// layer counts from the end that is nearer, below 0 from the last.
func (s *solver) place(r *cutRecording, alloc int, of template) symbolic.Ref {
	if alloc < 0 {
		return symbolic.Ref{}
	}
	p := r.pieces[r.homes[alloc].piece]
	ref := symbolic.Ref{Part: p.part.name, Slot: r.slots[alloc]}
	if p.part.stack == "" {
		return ref
	}
	ref.At = p.index - of.index
	if n := len(r.Kinds[p.part.stack]); of.stack == "" && n-1-p.index < p.index {
		ref.At = p.index - n
	}
	return ref
}

func alike(a, b symbolic.Param) bool {
	return shapeText(a) == shapeText(b) && a.DType == b.DType && a.Trainable == b.Trainable && a.Home == b.Home && a.Grad == b.Grad
}

func shapeText(p symbolic.Param) string {
	var b strings.Builder
	for _, e := range p.Shape {
		b.WriteString(e.String() + " ")
	}
	return b.String()
}
