package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/plimsoll-dev/plimsoll/internal/catalog"
	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/family"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// classes of cards, each with a card of it: T4, A100, H100.
var classes = []kernel.Device{
	{Capability: 75, Multiprocessors: 40, ThreadsPerMultiprocessor: 1024},
	{Capability: 80, Multiprocessors: 108, ThreadsPerMultiprocessor: 2048},
	{Capability: 90, Multiprocessors: 132, ThreadsPerMultiprocessor: 2048},
}

// A row is what became of the questions about one family.
type row struct {
	family                 string
	structures             int
	asked, answered, exact int
	refused                []string
	doubts                 map[string]int // answers that have one, by its code
}

func (r row) String() string {
	return fmt.Sprintf("%-14s %3d structures %6d asked %6d answered %6d without a doubt %6d refused", r.family, r.structures, r.asked, r.answered, r.exact, len(r.refused))
}

// total adds rows up.
func total(rows []row) row {
	sum := row{family: "all", doubts: map[string]int{}}
	for _, r := range rows {
		sum.structures += r.structures
		sum.asked += r.asked
		sum.answered += r.answered
		sum.exact += r.exact
		sum.refused = append(sum.refused, r.refused...)
		for code, n := range r.doubts {
			sum.doubts[code] += n
		}
	}
	return sum
}

// A subject is a model that stands for its structure, with one head.
type subject struct {
	entry     family.Entry
	structure string
	task      recipe.Task
}

// askAll asks about one model of each structure of the families, or of one family.
func askAll(ctx context.Context, known *catalog.Catalog, only string) ([]row, error) {
	list, err := subjects(known, only)
	if err != nil {
		return nil, err
	}
	counts := make([]row, len(list))
	errs := make([]error, len(list))
	var wait sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, s := range list {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			counts[i], errs[i] = s.ask(ctx, known)
		})
	}
	wait.Wait()
	return perFamily(list, counts), errors.Join(errs...)
}

// group is the family that a subject is counted under.
func (s subject) group() string {
	if s.entry.Library == family.Torchvision {
		return s.entry.Library
	}
	return s.entry.Family
}

// structureName is what the subject's structure is called; each of torchvision's models
// is one.
func (s subject) structureName() string {
	if s.entry.Library == family.Torchvision {
		return s.entry.Name
	}
	return s.structure
}

// perFamily adds up what was asked of the subjects of a family, which stand together.
func perFamily(list []subject, counts []row) []row {
	var rows []row
	for start := 0; start < len(list); {
		end := start
		structures := map[string]bool{}
		for ; end < len(list) && list[end].group() == list[start].group(); end++ {
			structures[list[end].structureName()] = true
		}
		r := total(counts[start:end])
		r.family, r.structures = list[start].group(), len(structures)
		rows = append(rows, r)
		start = end
	}
	return rows
}

// subjects are the first built-in model of each structure, with each of its heads,
// sorted by family.
func subjects(known *catalog.Catalog, only string) ([]subject, error) {
	answers := map[string]bool{}
	for _, e := range known.List() {
		answers[e.Name] = true
	}
	seen := map[string]bool{}
	var list []subject
	for _, e := range family.Builtins() {
		if !answers[e.Name] || only != "" && (subject{entry: e}).group() != only {
			continue
		}
		for _, task := range e.Tasks {
			m, err := e.Model(family.Options{Task: task})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", e.Name, err)
			}
			key := fmt.Sprint(e.Family, " ", m.Structure, " ", task)
			if !seen[key] {
				seen[key] = true
				list = append(list, subject{e, m.Structure, task})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b subject) int { return strings.Compare(a.group(), b.group()) })
	return list, nil
}

// ask asks every question about a subject.
func (s subject) ask(ctx context.Context, known *catalog.Catalog) (row, error) {
	r := row{doubts: map[string]int{}}
	source, err := known.Find(ctx, catalog.Query{Name: s.entry.Name, Task: s.task, Offline: true})
	if err != nil {
		return r, fmt.Errorf("%s: %w", s.entry.Name, err)
	}
	var w tape.Writer
	for _, q := range s.questions() {
		for _, card := range classes {
			r.asked++
			w.Reset()
			played, err := play(source, q, card, &w)
			if _, refused := errors.AsType[*estimate.Error](err); refused {
				r.refused = append(r.refused, fmt.Sprintf("%s %s %s %s %s %s %s %d: %v", s.entry.Name, s.task, q.Mode, q.Precision, q.Attention, q.Checkpoint, layout(q), card.Capability, err))
				continue
			}
			if err != nil {
				return r, fmt.Errorf("%s: %w", s.entry.Name, err)
			}
			r.answered++
			if played.Exact {
				r.exact++
			}
			for _, code := range codes(played.Doubts) {
				r.doubts[code]++
			}
		}
	}
	return r, nil
}

// codes are those of doubts, each once.
func codes(doubts []estimate.Doubt) []string {
	var list []string
	for _, d := range doubts {
		if !slices.Contains(list, d.Code) {
			list = append(list, d.Code)
		}
	}
	return list
}

func play(source estimate.Source, q recipe.Recipe, card kernel.Device, w *tape.Writer) (*estimate.Played, error) {
	full, err := source.Complete(q)
	if err != nil {
		return nil, err
	}
	return source.Play(full, card, w, estimate.Events)
}

func layout(q recipe.Recipe) string {
	if q.ChannelsLast {
		return "channels-last"
	}
	return "contiguous"
}

// questions are the recipes that a subject is asked about.
func (s subject) questions() []recipe.Recipe {
	if s.entry.Library == family.Torchvision {
		return s.pictures()
	}
	var list []recipe.Recipe
	for _, attention := range []string{"sdpa", "eager"} {
		for _, p := range []recipe.Precision{recipe.FP32, recipe.BF16, recipe.AmpBF16, recipe.AmpFP16} {
			for _, checkpoint := range []string{"none", "full", "every-2"} {
				list = append(list, recipe.Recipe{Mode: recipe.Train, Task: s.task, Batch: 4, Precision: p, Attention: attention, Checkpoint: checkpoint})
			}
			list = append(list, recipe.Recipe{Mode: recipe.Eval, Task: s.task, Batch: 4, Precision: p, Attention: attention})
		}
	}
	if s.task == recipe.CausalLM {
		for _, p := range []recipe.Precision{recipe.FP32, recipe.BF16, recipe.FP16} {
			list = append(list, recipe.Recipe{Mode: recipe.Infer, Task: s.task, Batch: 4, Precision: p})
		}
	}
	return list
}

// pictures are the recipes of torchvision's models, which keep no layers to
// checkpoint and choose no attention.
func (s subject) pictures() []recipe.Recipe {
	var list []recipe.Recipe
	for _, last := range []bool{false, true} {
		for _, mode := range []recipe.Mode{recipe.Train, recipe.Eval} {
			for _, p := range []recipe.Precision{recipe.FP32, recipe.BF16, recipe.AmpBF16, recipe.AmpFP16} {
				list = append(list, recipe.Recipe{Mode: mode, Task: s.task, Batch: 4, Precision: p, ChannelsLast: last})
			}
		}
	}
	return list
}
