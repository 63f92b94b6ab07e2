package solve

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

var layerName = regexp.MustCompile(`\.(\d+)\.`)

// params finds the parameters: a layer's once for each class of layers.
func (s *solver) params() ([]symbolic.Param, error) {
	base := s.recs[0]
	for _, r := range s.recs {
		if len(r.places.Parameters) > len(base.places.Parameters) {
			base = r
		}
	}
	shapes := map[string][][]int64{} // by template and class: shape in each recording
	for _, r := range s.recs {
		for _, t := range r.places.Parameters {
			key := s.templateOf(r, t).key()
			if shapes[key] == nil {
				shapes[key] = make([][]int64, len(s.recs))
			}
			shapes[key][r.n] = t.shape
		}
	}
	var list []symbolic.Param
	done := map[string]bool{}
	trained := 0
	for _, t := range base.places.Parameters {
		grad := -1
		if t.trained {
			if g, ok := base.places.Gradients[symbolic.Steady]; ok && trained < len(g.Allocs) {
				grad = g.Allocs[trained]
			}
			trained++
		}
		tm := s.templateOf(base, t)
		if done[tm.key()] {
			continue
		}
		done[tm.key()] = true
		p := symbolic.Param{Name: tm.name, Stack: tm.stack, Class: tm.class, DType: t.dtype, Trainable: t.trained}
		var err error
		if p.Shape, err = s.shape(t, shapes[tm.key()]); err != nil {
			return nil, fmt.Errorf("parameter %s: %w", t.name, err)
		}
		p.Home = s.place(base, t.alloc, tm.index)
		p.Grad = s.place(base, grad, tm.index)
		list = append(list, p)
	}
	return merged(list), nil
}

// A template is a parameter's name with "{}" for the layer.
type template struct {
	name, stack, class string
	index              int
}

func (t template) key() string { return t.name + " " + t.class }

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
		f := s.fit.fit("", values, present)
		if f.error > 0 {
			return nil, fmt.Errorf("extent %d has no formula: %v", d, pick(values, present))
		}
		list[d] = f.expr
	}
	return list, nil
}

// place is a ref to an allocation as its layer names it.
func (s *solver) place(r *cutRecording, alloc, layer int) symbolic.Ref {
	if alloc < 0 {
		return symbolic.Ref{}
	}
	p := r.pieces[r.homes[alloc].piece]
	ref := symbolic.Ref{Part: p.part.name, Slot: r.slots[alloc]}
	if p.part.stack != "" {
		ref.At = p.index - layer
	}
	return ref
}

// merged replaces the classes of a parameter that all layers have alike.
func merged(list []symbolic.Param) []symbolic.Param {
	var out []symbolic.Param
	same := map[string]int{}
	for _, p := range list {
		if p.Stack == "" {
			out = append(out, p)
			continue
		}
		i, ok := same[p.Name]
		if !ok {
			same[p.Name] = len(out)
			out = append(out, p)
			continue
		}
		if alike(out[i], p) {
			out[i].Class = ""
			continue
		}
		out = append(out, p)
	}
	return slices.Clip(out)
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
