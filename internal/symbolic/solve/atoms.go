package solve

import (
	"maps"
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// squared are the dimensions that sizes may have twice: lengths and widths, sides of
// images and of patches.
var squared = []string{"S", "h", "f", "d", "P", "Q", "hv", "fv", "dv", "H", "p"}

// lengths are the dimensions that attention looks along, if the other is one, too:
// what a row calls N counts an image's patches only where there is a patch's side,
// and P frames only where there are mel bins.
var lengths = map[string]string{"S": "S", "N": "p", "P": "M"}

// mayBeSquared reports whether sizes may have a dimension twice. A batch is compared
// with itself where there are two towers.
func mayBeSquared(name string, dims symbolic.Dims) bool {
	if _, towers := dims["hv"]; towers && name == "B" {
		return true
	}
	return slices.Contains(squared, name) || isLength(name, dims)
}

// isLength reports whether attention looks along a dimension.
func isLength(name string, dims symbolic.Dims) bool {
	with, ok := lengths[name]
	_, there := dims[with]
	return ok && there
}

// multiples are what kernels round lengths up to.
var multiples = []int64{8, 16, 32, 64, 128}

// atomsOf are the factors that sizes of these recordings may have.
func atomsOf(recordings []*Recording) []atom {
	if extentsOf(recordings) != nil {
		return areaAtoms(recordings)
	}
	if recordings[0].isScript() {
		return scriptAtoms(recordings)
	}
	first := recordings[0].Job
	var list, divisors []atom // what divides comes last, so that it divides all
	for _, name := range slices.Sorted(maps.Keys(first.Dims)) {
		if countsLayers(recordings, name) {
			continue
		}
		a := atom{factor: symbolic.Factor{Dim: name}, group: name, power: 1, weight: 10}
		a.alone = symbolic.DerivedFromShards(name) && name[:1] != symbolic.Elements
		if mayBeSquared(name, first.Dims) {
			a.power = 2
		}
		a.values = valuesOf(recordings, symbolic.Product(1, 1, name))
		if constant(a.values) {
			continue // nothing can be learned of it
		}
		if last, ok := symbolic.LastOfGroup(name); ok && slices.Equal(a.values, valuesOf(recordings, symbolic.Product(1, 1, last))) {
			continue // all layers are alike
		}
		list = append(list, a)
		if name == symbolic.Cards {
			a.factor.Invert, a.weight = true, 15
			divisors = append(divisors, a)
		}
		if name == symbolic.Cached && first.Dims["w"] > 0 { // what a window leaves of it
			a = atom{factor: symbolic.MustParse("min(w,Y)").Terms[0].Factors[0], group: name, power: 1, weight: 12}
			a.values = valuesOf(recordings, product(a.factor))
			list = append(list, a)
		}
		if !isLength(name, first.Dims) {
			continue
		}
		list = append(list, roundedUp(recordings, a)...)
	}
	return append(list, divisors...)
}

// roundedUp are a dimension's atom rounded up to multiples, where that makes a difference.
func roundedUp(recordings []*Recording, dim atom) []atom {
	var list []atom
	for i, q := range multiples {
		up := atom{factor: symbolic.Factor{Func: "up", Args: []symbolic.Expr{product(dim.factor), symbolic.Const(q)}}, group: dim.group, power: 2, weight: 22 + i}
		up.values = valuesOf(recordings, product(up.factor))
		if !slices.Equal(up.values, dim.values) {
			list = append(list, up)
		}
	}
	return list
}

// countsLayers reports whether a dimension is the number of some stack's layers.
func countsLayers(recordings []*Recording, name string) bool {
	for stack := range recordings[0].Kinds {
		same := true
		for _, r := range recordings {
			same = same && r.Job.Dims[name] == int64(len(r.Kinds[stack]))
		}
		if same {
			return true
		}
	}
	return false
}

func constant(values []int64) bool {
	for _, v := range values {
		if v != values[0] {
			return false
		}
	}
	return true
}

func valuesOf(recordings []*Recording, e symbolic.Expr) []int64 {
	list := make([]int64, len(recordings))
	for i, r := range recordings {
		list[i], _ = e.Eval(r.Job.Dims, r.Job.Device)
	}
	return list
}
