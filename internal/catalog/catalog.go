// Package catalog finds models by what people call them: built-in names, hub
// ids, configurations in files, and recordings of their own.
//
// It joins what knows architectures (families, recordings) with what plays and
// composes tapes, and hands out an estimate.Source for each model. It computes
// no memory itself: where no recording fits a recipe, it takes the nearest and
// says so, or refuses.
package catalog

import (
	"context"
	"errors"
	"net/http"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/family"
	"github.com/plimsoll-dev/plimsoll/internal/hub"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
)

// A Query says which model is meant.
type Query struct {
	Name string
	// Config is a config.json itself; Name is then only what it is called.
	Config  []byte
	Assume  string      // family to read an unknown architecture as, "" for none
	Offline bool        // ask nobody on the network
	Task    recipe.Task // "" for the architecture's own
	Torch   string      // whose recordings, "" for the newest
}

// An Entry is one built-in model.
type Entry struct {
	Name       string        `json:"name"`
	Family     string        `json:"family"`
	Parameters int64         `json:"parameters"` // with the head for the first task
	Tasks      []recipe.Task `json:"tasks"`      // the default first
	Hub        string        `json:"hub,omitempty"`
}

// A System is what the catalog may touch of the process.
type System struct {
	Getenv func(name string) string
	HTTP   *http.Client // nil never asks the network
}

// A Catalog has the models of one system.
type Catalog struct{ system System }

// New returns the catalog of a system.
func New(s System) *Catalog { return &Catalog{s} }

// Find returns the model of a query.
func (c *Catalog) Find(ctx context.Context, q Query) (estimate.Source, error) {
	found, err := c.model(ctx, q)
	if err != nil {
		return nil, readable(err)
	}
	s, err := newSource(found, q)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (c *Catalog) model(ctx context.Context, q Query) (*hub.Found, error) {
	o := family.Options{Task: q.Task, Assume: q.Assume}
	if q.Config != nil {
		o.Name, o.Source = q.Name, hub.FromFile
		m, err := family.FromConfig(q.Config, o)
		return &hub.Found{Model: m}, err
	}
	r := hub.Resolver{Getenv: c.system.Getenv, HTTP: c.system.HTTP, Offline: q.Offline}
	return r.Model(ctx, q.Name, o)
}

// readable is an error as estimates have them, with what to try.
func readable(err error) error {
	if e, ok := errors.AsType[*family.Error](err); ok {
		return &estimate.Error{Msg: e.Error(), Hint: e.Hint}
	}
	return err
}

// List returns every built-in model that an estimate with default choices has
// an answer for, in the order that people read them.
func (c *Catalog) List() []Entry {
	var list []Entry
	for _, e := range family.Builtins() {
		entry := Entry{Name: e.Name, Family: e.Family}
		for _, task := range e.Tasks {
			n, ok := answered(e, task)
			if !ok {
				continue
			}
			if entry.Tasks == nil {
				entry.Parameters = n
			}
			entry.Tasks = append(entry.Tasks, task)
		}
		if entry.Tasks == nil {
			continue
		}
		if len(e.Hub) > 0 {
			entry.Hub = e.Hub[0]
		}
		list = append(list, entry)
	}
	return list
}

// answered reports whether there is a recording for a model with a head for a
// task, and how many parameters it then has.
func answered(e family.Entry, task recipe.Task) (parameters int64, ok bool) {
	m, err := e.Model(family.Options{Task: task})
	if err != nil {
		return 0, false
	}
	s, err := newSource(&hub.Found{Model: m}, Query{})
	if err != nil {
		return 0, false
	}
	r, err := s.Complete(recipe.Recipe{})
	if err != nil {
		return 0, false
	}
	parameters, err = s.count(r)
	return parameters, err == nil
}

// count is the number of parameters of the model under a recipe.
func (s *source) count(r recipe.Recipe) (int64, error) {
	run, err := s.begin(r, usualDevice)
	if err != nil {
		return 0, err
	}
	tensors, err := run.tape.Parameters(run.env, nil)
	var sum int64
	for i := range tensors {
		sum += tensors[i].Elements()
	}
	return sum, err
}

// fileOf is what the recordings of a family are called.
func fileOf(library, name string) string {
	if library == family.Torchvision {
		return family.Torchvision + "-" + name
	}
	return name
}
