package family

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Bounds of what is believed of a dimension. Published models stay below a
// thousandth of the first; the layers of the deepest have three digits.
const (
	maxDim    = 1 << 24
	maxLayers = 4096
)

// checkFixed compares the keys whose other values are not recorded.
func (c *config) checkFixed(m *Model, assumed bool) error {
	if err := c.checkLayerTypes(m); err != nil {
		return err
	}
	for _, key := range sortedKeys(c.row.Fixed) {
		allowed, v := c.row.Fixed[key], c.lookup(key)
		ok := false
		for _, want := range allowed {
			ok = ok || same(v, want)
		}
		switch {
		case ok:
		case assumed:
			m.warn("unrecorded-value", fmt.Sprintf("%s is %s; the recordings have %s, and are taken as asked", key, show(v), showAll(allowed)))
		default:
			return &Error{
				File: c.file, Key: key,
				Msg:  fmt.Sprintf("is %s; %s is recorded with %s", show(v), m.Family, showAll(allowed)),
				Hint: fmt.Sprintf("--assume %s estimates as if it were; %s", m.Family, tryCapture),
			}
		}
	}
	return nil
}

// checkLayerTypes refuses a list of layer types in families whose layers are
// recorded all alike.
func (c *config) checkLayerTypes(m *Model) error {
	const key = "layer_types"
	for _, s := range c.row.Stacks {
		if s.Kinds.Key == key {
			return nil
		}
	}
	for i, t := range c.texts(key) {
		if t != "full_attention" {
			return &Error{File: c.file, Key: key, Msg: fmt.Sprintf("has %s for layer %d; %s is recorded with full attention in all layers", quoted(t), i, m.Family), Hint: tryCapture}
		}
	}
	return nil
}

// showAll lists allowed values for people.
func showAll(values []any) string {
	var words []string
	for _, v := range values {
		if v == ">0" {
			words = append(words, "a number above 0")
		} else {
			words = append(words, show(v))
		}
	}
	return strings.Join(words, " or ")
}

// readDims gives every symbol of the row its value, in the row's order.
func (c *config) readDims(m *Model) error {
	for _, d := range c.row.Dims {
		var err error
		switch {
		case d.Ratio != nil:
			err = c.readRatio(m, d)
		case d.Name == labels:
			err = c.readLabels(m, d)
		default:
			err = c.readDim(m, d, maxDim)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readDim reads one symbol from its keys, or derives it.
func (c *config) readDim(m *Model, d Dim, high int64) error {
	if d.Key != "" {
		if key, v, ok := c.first(append([]string{d.Key}, d.Aliases...)...); ok {
			return c.take(m, d, key, v, high)
		}
		if d.None && c.null(d.Key) {
			m.Dims[d.Name] = 0
			return nil
		}
	}
	return c.derive(m, d, high)
}

// take gives a symbol the value of its key, with which the keys that must have the same agree.
func (c *config) take(m *Model, d Dim, key string, v any, high int64) error {
	low := int64(1)
	if d.None {
		low = 0
	}
	n, err := c.whole(key, v, low, high)
	if err != nil {
		return err
	}
	for _, other := range d.Also {
		w, ok := c.given(other)
		if !ok {
			continue
		}
		if also, isWhole := integer(w); !isWhole || also != n {
			return &Error{File: c.file, Key: other, Msg: fmt.Sprintf("is %s but %s is %d; only equal ones are recorded", show(w), key, n), Hint: tryCapture}
		}
	}
	m.Dims[d.Name] = n
	return nil
}

// derive gives a symbol the default of the config class.
func (c *config) derive(m *Model, d Dim, high int64) error {
	expression := d.Default
	if own, ok := c.own[d.Name].(string); ok {
		expression = own
	}
	n, err := value(expression, m.Dims)
	if errors.Is(err, errRemainder) {
		return c.doNotDivide(m, expression)
	}
	if err != nil {
		return &Error{File: c.file, Key: d.Key, Msg: "is missing", Hint: "it is " + d.Meaning}
	}
	if n < 1 && !d.None || n > high {
		return &Error{File: c.file, Key: d.Key, Msg: fmt.Sprintf("(%s) comes out as %d", d.Meaning, n)}
	}
	m.Dims[d.Name] = n
	_, notNumber := strconv.ParseInt(expression, 10, 64) // what is derived from other keys is no assumption
	if notNumber != nil || d.Key == "" || d.Name == labels || n == 0 {
		return nil
	}
	if c.assumed && c.decides(d) {
		return &Error{
			File: c.file, Key: d.Key, Msg: "is missing, and " + m.Family + "'s default says nothing about another architecture",
			Hint: "the keys of " + m.Family + " are read: " + d.Key + " is the " + d.Meaning,
		}
	}
	m.warn("absent-key", fmt.Sprintf("%s is missing; the default of the class is taken, %d", d.Key, n))
	return nil
}

// decides reports whether a symbol is one that decides on how large a model is: its
// first, which is the width, or the number of its layers.
func (c *config) decides(d Dim) bool {
	isCount := func(s Stack) bool { return s.Count.Name == d.Name }
	return d.Name == c.row.Dims[0].Name || slices.ContainsFunc(c.row.Stacks, isCount)
}

// labels is the symbol that configs leave out: Transformers writes it in other
// keys, and only for classifiers.
const labels = "C"

// doNotDivide is the error for a division of the row that leaves a remainder.
func (c *config) doNotDivide(m *Model, expression string) error {
	whole, part, _ := strings.Cut(expression, "/")
	return c.remainder(m, part, whole)
}

// remainder says that one symbol does not divide another.
func (c *config) remainder(m *Model, part, whole string) error {
	p, w := c.dim(part), c.dim(whole)
	return &Error{
		File: c.file, Key: p.Key,
		Msg:  fmt.Sprintf("is %d, which does not divide %s = %d: %s by %s", m.Dims[part], w.Key, m.Dims[whole], w.Meaning, p.Meaning),
		Hint: "check both keys; Transformers refuses such a config, too",
	}
}

func (c *config) dim(name string) Dim {
	for _, d := range c.row.Dims {
		if d.Name == name {
			return d
		}
	}
	return Dim{Name: name, Key: name, Meaning: name}
}

// checkDivides refuses heads that cannot be shared evenly.
func (c *config) checkDivides(m *Model) error {
	for _, pair := range c.row.Divides {
		part, whole := m.Dims[pair[0]], m.Dims[pair[1]]
		if part > 0 && whole%part != 0 {
			return c.remainder(m, pair[0], pair[1])
		}
	}
	if t, ok := m.Dims["t"]; ok && t > m.Dims["E"] {
		return c.wrong(c.dim("t").Key, "is %d, more than the %d experts there are", t, m.Dims["E"])
	}
	return nil
}

// readRatio reads a symbol that a key gives as a share of another.
func (c *config) readRatio(m *Model, d Dim) error {
	share := d.Ratio.Default
	if key, v, ok := c.first(append([]string{d.Ratio.Key}, d.Ratio.Aliases...)...); ok {
		f, isNumber := number(v)
		if !isNumber || !(f > 0 && f <= 1) {
			return c.wrong(key, "is %s: a share above 0 and up to 1 is wanted", show(v))
		}
		share = f
	} else if share < 1 { // all of it is what a config without the key means
		m.warn("absent-key", fmt.Sprintf("%s is missing; the default of the class is taken, %g", d.Ratio.Key, share))
	}
	of := float64(m.Dims[d.Ratio.Of])
	// int(size * share) as Transformers computes it, for a share such as 0.4 that is
	// written with fewer digits than it has.
	m.Dims[d.Name] = max(1, int64(math.Floor(share*of+1e-9)))
	return nil
}

// readLabels reads how many labels a classifier tells apart.
func (c *config) readLabels(m *Model, d Dim) error {
	if v, ok := c.given("id2label"); ok {
		object, isObject := v.(map[string]any)
		if !isObject {
			return c.wrong("id2label", "is %s: an object is wanted", typeName(v))
		}
		if len(object) > 0 {
			m.Dims[d.Name] = int64(len(object))
			return nil
		}
	}
	return c.readDim(m, d, maxDim)
}
