package family

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Kinds says of which kind each layer of a stack is. The zero value has one
// kind, "one".
type Kinds struct {
	Rule    string            `json:"rule"` // a name in kindRules, or empty
	Key     string            `json:"key"`  // of the list in the config
	Values  map[string]string `json:"values"`
	Default []string          `json:"default"` // repeated over the layers
	Period  *Period           `json:"period"`
	First   string            `json:"first"` // of layer 0, whatever the rule says
	Rest    string            `json:"rest"`

	DenseFirstKey string `json:"dense_first_key"`
	DenseFirst    int64  `json:"dense_first"`
	DenseListKey  string `json:"dense_list_key"`
	StepKey       string `json:"step_key"`
	Step          int64  `json:"step"`
	Shift         int64  `json:"shift"`
	Dense         string `json:"dense"`
	Sparse        string `json:"sparse"`
}

// A Period makes every n-th layer another kind.
type Period struct {
	Key     string `json:"key"`
	Default int64  `json:"default"`
	Shift   int64  `json:"shift"`
	Head    string `json:"head"` // of the layers whose number and shift n divides
	Rest    string `json:"rest"`
}

// UnmarshalJSON reads a rule, or "one".
func (k *Kinds) UnmarshalJSON(b []byte) error {
	if string(b) == `"one"` {
		*k = Kinds{}
		return nil
	}
	type plain Kinds
	return json.Unmarshal(b, (*plain)(k))
}

// kindRules are the rules that a row may name.
var kindRules = map[string]func(c *config, k Kinds, n int64) ([]string, error){
	"":                func(_ *config, _ Kinds, n int64) ([]string, error) { return repeat([]string{"one"}, n), nil },
	"first":           firstKinds,
	"layer_types":     listedKinds,
	"attention_types": gptNeoKinds,
	"sparse":          sparseKinds,
}

// readStacks reads how many layers there are, and their kinds.
func (c *config) readStacks(m *Model) error {
	for _, s := range c.row.Stacks {
		if err := c.readDim(m, s.Count, maxLayers); err != nil {
			return err
		}
		kinds, err := kindRules[s.Kinds.Rule](c, s.Kinds, m.Dims[s.Count.Name])
		if err != nil {
			return err
		}
		m.Kinds[s.Name] = kinds
	}
	return nil
}

// repeat fills n layers with a pattern.
func repeat(pattern []string, n int64) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = pattern[i%len(pattern)]
	}
	return out
}

func firstKinds(_ *config, k Kinds, n int64) ([]string, error) {
	out := repeat([]string{k.Rest}, n)
	out[0] = k.First
	return out, nil
}

// listedKinds reads a list with an entry a layer, or the pattern that the
// config class makes where there is none.
func listedKinds(c *config, k Kinds, n int64) ([]string, error) {
	out, err := c.listed(k, n)
	if err == nil && k.First != "" {
		out[0] = k.First
	}
	return out, err
}

func (c *config) listed(k Kinds, n int64) ([]string, error) {
	v, ok := c.given(k.Key)
	if !ok {
		return c.pattern(k, n)
	}
	list, isList := v.([]any)
	if !isList {
		return nil, c.wrong(k.Key, "is %s: a list with an entry for each layer is wanted", typeName(v))
	}
	if int64(len(list)) != n {
		return nil, c.wrong(k.Key, "has %d entries for %d layers", len(list), n)
	}
	out := make([]string, n)
	for i, v := range list {
		s, _ := v.(string)
		if out[i] = k.Values[s]; out[i] == "" {
			return nil, &Error{File: c.file, Key: k.Key, Msg: fmt.Sprintf("has %s for layer %d; recorded are %s", show(v), i, strings.Join(sortedKeys(k.Values), ", ")), Hint: tryCapture}
		}
	}
	return out, nil
}

// pattern is what the config class makes without a list.
func (c *config) pattern(k Kinds, n int64) ([]string, error) {
	if k.Period == nil {
		return repeat(k.Default, n), nil
	}
	every := k.Period.Default
	if v, ok := c.given(k.Period.Key); ok {
		var err error
		if every, err = c.whole(k.Period.Key, v, 1, maxLayers); err != nil {
			return nil, err
		}
	}
	out := make([]string, n)
	for i := range n {
		out[i] = k.Period.Rest
		if (i+k.Period.Shift)%every == 0 {
			out[i] = k.Period.Head
		}
	}
	return out, nil
}

// gptNeoKinds reads lists of names with how often they repeat.
func gptNeoKinds(c *config, k Kinds, n int64) ([]string, error) {
	v, ok := c.given(k.Key)
	if !ok {
		return repeat(k.Default, n), nil
	}
	var out []string
	list, _ := v.([]any)
	for _, entry := range list {
		pair, _ := entry.([]any)
		if len(pair) != 2 {
			return nil, c.wrong(k.Key, "has %s: [[names], times] is wanted", show(entry))
		}
		times, err := c.whole(k.Key, pair[1], 1, maxLayers)
		if err != nil {
			return nil, err
		}
		names, _ := pair[0].([]any)
		for range times {
			for _, name := range names {
				s, _ := name.(string)
				if !slices.Contains(k.Default, s) || int64(len(out)) >= n {
					return nil, c.wrong(k.Key, "does not give each of %d layers one of %s", n, strings.Join(k.Default, ", "))
				}
				out = append(out, s)
			}
		}
	}
	if int64(len(out)) != n {
		return nil, c.wrong(k.Key, "is for %d layers of %d", len(out), n)
	}
	return out, nil
}

// sparseKinds tells layers of experts from dense ones.
func sparseKinds(c *config, k Kinds, n int64) ([]string, error) {
	dense, err := c.count(k.DenseFirstKey, k.DenseFirst)
	if err != nil {
		return nil, err
	}
	step, err := c.count(k.StepKey, max(k.Step, 1))
	if err != nil {
		return nil, err
	}
	only := map[int64]bool{}
	if v, ok := c.given(k.DenseListKey); ok {
		list, isList := v.([]any)
		if !isList {
			return nil, c.wrong(k.DenseListKey, "is %s: a list of layers is wanted", typeName(v))
		}
		for _, v := range list {
			i, ok := integer(v)
			if !ok {
				return nil, c.wrong(k.DenseListKey, "has %s: numbers of layers are wanted", show(v))
			}
			only[i] = true
		}
	}
	out := make([]string, n)
	for i := range n {
		out[i] = k.Sparse
		if i < dense || only[i] || step == 0 || (i+k.Shift)%step != 0 {
			out[i] = k.Dense
		}
	}
	return out, nil
}

// count is a number of layers under a key that may be absent.
func (c *config) count(key string, otherwise int64) (int64, error) {
	v, ok := c.given(key)
	if key == "" || !ok {
		return otherwise, nil
	}
	return c.whole(key, v, 0, maxLayers)
}
