package family

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
)

//go:embed families/*.json
var rowFiles embed.FS

// A Row says how one family is read from config.json. The recorder reads the
// same file; fields that only it needs are not here.
type Row struct {
	Family      string                    `json:"family"`
	ModelTypes  []string                  `json:"model_types"` // values of model_type; the first is what the recorder builds
	Library     string                    `json:"library"`
	Classes     ordered                   `json:"classes"` // task -> class; the first is the default
	Base        string                    `json:"base"`    // class without a head
	Dims        []Dim                     `json:"dims"`
	Positions   string                    `json:"positions"` // the longest sequence that the weights allow, an expression of symbols; empty for any
	Divides     [][2]string               `json:"divides"`   // symbols of which the first must divide the second
	Stacks      []Stack                   `json:"stacks"`
	Defaults    map[string]any            `json:"defaults"`     // what the config class takes for absent keys
	DefaultsFor map[string]map[string]any `json:"defaults_for"` // by model_type, of keys and of symbols
	Structures  []Structure               `json:"structures"`
	Fixed       map[string][]any          `json:"fixed"` // allowed values of keys
	Batch       string                    `json:"batch"` // of what a batch is, "text", "image" ...: words of the recorder's batch.py
	LoRA        Adapters                  `json:"lora"`
}

// Adapters are lists of layers that adapters go on.
type Adapters struct {
	All []string `json:"all"` // what PEFT means by all-linear
}

// AllLinear are the layers of a structure that PEFT means by all-linear, nil where
// that is not known.
func (r *Row) AllLinear(structure string) []string {
	for _, s := range r.Structures {
		if s.Name == structure && s.LoRA != nil {
			return s.LoRA.All
		}
	}
	return r.LoRA.All
}

// A Dim is a symbol and the key that gives its value.
type Dim struct {
	Name    string   `json:"name"`
	Key     string   `json:"key"`     // empty for what is always derived
	Aliases []string `json:"aliases"` // further keys, read when Key is absent
	Also    []string `json:"also"`    // keys that must have the same value
	Ratio   *Ratio   `json:"ratio"`
	Default string   `json:"default"` // an expression of earlier symbols
	None    bool     `json:"none"`    // 0 means that the model has none of it, and so does null; of other keys null is the default
	Meaning string   `json:"meaning"`
}

// A Ratio gives a symbol as a share of another, in keys such as
// partial_rotary_factor.
type Ratio struct {
	Key     string   `json:"key"`
	Aliases []string `json:"aliases"`
	Of      string   `json:"of"`
	Default float64  `json:"default"`
}

// A Stack is a list of layers.
type Stack struct {
	Name  string `json:"name"`
	Path  string `json:"path"` // of the modules in the class
	Count Dim    `json:"count"`
	Kinds Kinds  `json:"kinds"`
}

// A Structure is a combination of keys that was recorded.
type Structure struct {
	Name  string            `json:"name"`
	When  map[string]any    `json:"when"` // values of keys; a list is any of these
	If    string            `json:"if"`   // a guard over the symbols
	Tasks []recipe.Task     `json:"tasks"`
	Set   map[string]string `json:"set"`  // symbols that have another value here
	LoRA  *Adapters         `json:"lora"` // in place of the row's
}

// ordered is a JSON object that keeps the order of its keys.
type ordered struct {
	Keys   []recipe.Task
	Values map[recipe.Task]string
}

// UnmarshalJSON reads an object of strings.
func (o *ordered) UnmarshalJSON(b []byte) error {
	dec := json.NewDecoder(strings.NewReader(string(b)))
	if _, err := dec.Token(); err != nil {
		return err
	}
	o.Values = map[recipe.Task]string{}
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			return err
		}
		var v string
		if err := dec.Decode(&v); err != nil {
			return err
		}
		key := recipe.Task(fmt.Sprint(k))
		o.Keys = append(o.Keys, key)
		o.Values[key] = v
	}
	return nil
}

// A shelf holds the rows by what they are asked for.
type shelf struct {
	names  []string
	byName map[string]*Row
	byType map[string]*Row
}

// rows parses the embedded files once. They are part of the program, so a
// mistake in them is a broken invariant, which the tests of this package find.
var rows = sync.OnceValue(func() *shelf {
	s := &shelf{byName: map[string]*Row{}, byType: map[string]*Row{}}
	files, err := rowFiles.ReadDir("families")
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		r, _ := rowIn(strings.TrimSuffix(f.Name(), rowExtension))
		s.names = append(s.names, r.Family)
		s.byName[r.Family] = r
		for _, t := range r.ModelTypes {
			s.byType[t] = r
		}
	}
	return s
})

// rowExtension ends the name of a row's file, which is otherwise the family's.
const rowExtension = ".json"

// shelved are the rows that were read so far, by family. Most runs need one, and
// reading all of them takes a tenth of a short run.
var shelved sync.Map

// rowIn is the row of a file.
func rowIn(family string) (*Row, bool) {
	if r, ok := shelved.Load(family); ok {
		return r.(*Row), true
	}
	data, err := rowFiles.ReadFile(path.Join("families", family+rowExtension))
	if err != nil {
		return nil, false
	}
	r := &Row{}
	if err := json.Unmarshal(data, r); err != nil {
		panic("families/" + family + rowExtension + ": " + err.Error())
	}
	first, _ := shelved.LoadOrStore(family, r)
	return first.(*Row), true
}

// Families are the names of all rows, sorted.
func Families() []string { return slices.Clone(rows().names) }

// Lookup returns the row of a family. The caller must not change it.
func Lookup(family string) (*Row, bool) { return rowIn(family) }

// rowOf returns the row that reads a model_type, if any.
func rowOf(modelType string) (*Row, bool) {
	if r, ok := rowIn(modelType); ok && slices.Contains(r.ModelTypes, modelType) {
		return r, true
	}
	r, ok := rows().byType[modelType]
	return r, ok
}

// Longest is the longest sequence that the weights of a model of these
// dimensions allow, 0 for any.
func (r *Row) Longest(d symbolic.Dims) int64 {
	if r.Positions == "" {
		return 0
	}
	n, err := value(r.Positions, d)
	if err != nil {
		return 0 // a symbol that the dimensions lack; the tests of this package find one that the row lacks
	}
	return n
}

// Meanings explains every symbol of the row, counts of layers included.
func (r *Row) Meanings() map[string]string {
	m := map[string]string{}
	for _, d := range r.Dims {
		m[d.Name] = d.Meaning
	}
	for _, s := range r.Stacks {
		m[s.Count.Name] = s.meaning(len(r.Stacks) > 1)
	}
	return m
}

func (s Stack) meaning(several bool) string {
	if several {
		return "layers of the " + s.Name
	}
	return "layers"
}

// errRemainder says that a division of a row does not come out even.
var errRemainder = errors.New("does not divide")

// value is an expression of a row at the symbols known so far. A division
// that leaves a remainder is reported: heads that do not divide.
func value(expression string, known symbolic.Dims) (int64, error) {
	e, err := symbolic.Parse(expression)
	if err != nil {
		return 0, err
	}
	if a, b, ok := strings.Cut(expression, "/"); ok && known[b] > 0 && known[a]%known[b] != 0 {
		return 0, errRemainder
	}
	return e.Eval(known, kernel.Device{})
}
