package family

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
)

// chooseStructure finds the recorded structure that the config has.
func (c *config) chooseStructure(m *Model) error {
	for _, s := range c.row.Structures {
		ok, err := c.has(s, m)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		m.Structure = s.Name
		for _, name := range sortedKeys(s.Set) {
			if m.Dims[name], err = value(s.Set[name], m.Dims); err != nil {
				return err
			}
		}
		return nil
	}
	return &Error{
		File: c.file,
		Msg:  "this combination is not recorded for " + m.Family + ": " + c.combination(m),
		Hint: "recorded are " + strings.Join(c.combinations(), "; ") + ". " + tryCapture,
	}
}

// has reports whether the config meets the conditions of a structure.
func (c *config) has(s Structure, m *Model) (bool, error) {
	for key, want := range s.When {
		if !c.meets(key, want) {
			return false, nil
		}
	}
	if len(s.Tasks) > 0 && !slices.Contains(s.Tasks, m.Task) {
		return false, nil
	}
	if s.If == "" {
		return true, nil
	}
	guard, err := symbolic.ParseGuard(s.If)
	if err != nil {
		return false, err
	}
	return guard.Holds(m.Dims, kernel.Device{})
}

// meets reports whether a key has a value, or one of a list of values.
func (c *config) meets(key string, want any) bool {
	have := c.lookup(key)
	if list, ok := want.([]any); ok {
		return slices.ContainsFunc(list, func(w any) bool { return same(have, w) })
	}
	return same(have, want)
}

// combination is what the config says to the keys of the row's structures.
func (c *config) combination(m *Model) string {
	var parts []string
	for _, key := range c.structuralKeys() {
		parts = append(parts, fmt.Sprintf("%s %s", key, show(c.lookup(key))))
	}
	for _, name := range c.guardNames() {
		d := c.dim(name)
		parts = append(parts, fmt.Sprintf("%d %s", m.Dims[name], d.Meaning))
	}
	return strings.Join(parts, ", ")
}

func (c *config) structuralKeys() []string {
	keys := map[string]bool{}
	for _, s := range c.row.Structures {
		for k := range s.When {
			keys[k] = true
		}
	}
	delete(keys, ownHead)
	return sortedKeys(keys)
}

// guardNames are the symbols that the structures' guards compare.
func (c *config) guardNames() []string {
	names := map[string]bool{}
	for _, s := range c.row.Structures {
		guard, err := symbolic.ParseGuard(s.If)
		if s.If == "" || err != nil {
			continue
		}
		for _, cond := range guard {
			cond.Left.Names(func(n string) { names[n] = true })
		}
	}
	return sortedKeys(names)
}

// combinations are the names of the structures, which say what they are.
func (c *config) combinations() []string {
	var names []string
	for _, s := range c.row.Structures {
		names = append(names, s.Name)
	}
	return names
}

// ownHead stands in the conditions of structures for Options.OwnHead. It is
// no key of a config.json.
const ownHead = "own_head"

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Untied is the structure that differs from another in that embeddings are not tied to
// the head: of a task without such a head they are the same. ok says whether there is one.
func (r *Row) Untied(structure string) (name string, ok bool) {
	const key = "tie_word_embeddings"
	i := slices.IndexFunc(r.Structures, func(s Structure) bool { return s.Name == structure && s.When[key] == true })
	if i < 0 {
		return "", false
	}
	when := maps.Clone(r.Structures[i].When)
	when[key] = false
	for _, s := range r.Structures {
		if s.If == r.Structures[i].If && reflect.DeepEqual(s.When, when) {
			return s.Name, true
		}
	}
	return "", false
}
