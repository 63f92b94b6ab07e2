package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// row is what the plan needs of a family's row.
type row struct {
	Family     string
	Library    string
	Classes    map[string]string
	Plan       plan
	Models     []string    // of torchvision
	Symbols    []symbolRow `json:"dims"`
	Structures []struct {
		Name  string
		Tasks []string
		LoRA  map[string][]string // in place of the row's
	}
	Regimes    []struct{ Name string }
	Precisions []string
	LoRA       map[string][]string // lists of modules that get adapters

	raw map[string]json.RawMessage // the row as it stands in its file
}

type symbolRow struct{ Name, Meaning string }

// tasks are those of a structure, the default first.
func (r *row) tasks(structure string) []string {
	order := []string{"causal-lm", "masked-lm", "seq2seq-lm", "image-classification", "semantic-segmentation", "contrastive", "sequence-classification"}
	var list []string
	for _, t := range order {
		if _, ok := r.Classes[t]; !ok {
			continue
		}
		for _, s := range r.Structures {
			if s.Name == structure && (len(s.Tasks) == 0 || slices.Contains(s.Tasks, t)) {
				list = append(list, t)
			}
		}
	}
	return list
}

// lora is a structure's list of modules that get adapters.
func (r *row) lora(structure, list string) []string {
	for _, s := range r.Structures {
		if s.Name == structure && s.LoRA != nil {
			return s.LoRA[list]
		}
	}
	return r.LoRA[list]
}

// A plan says how much of a family is recorded. A word that is not there is the
// usual way.
type plan struct {
	Ways   string   // "thorough": the ways to run it of a family that is much used; "every": with every task
	Shapes string   // "all": of micro-batches and sequences
	Modes  []string // what else than the base is recorded; LoRA is where there are lists of modules
	Lacks  []string // what the models do not have: words of lacks

	// Sharded are the values of dimensions that FSDP2 is recorded with, where cards
	// would not divide all extents else.
	Sharded map[string][]int64
}

// modes are the words of a plan's modes.
var modes = []string{
	"unpadded", // attention needs no mask where a batch holds no padding
	"infer",    // text is generated
	"shard",    // FSDP2
	"nf4",      // layers are all of class Linear, and tuned in 4 bits
}

// lacks are the words of what a plan does without.
var lacks = []string{
	"checkpoint", // activation checkpointing
	"one-type",   // for all parameters, in bf16 as well; FSDP2 shards no group without it
}

func (p *plan) check() error {
	if p.Ways != "" && p.Ways != "thorough" && p.Ways != "every" {
		return fmt.Errorf("plan: ways %q; thorough, every, or nothing, expected", p.Ways)
	}
	if p.Shapes != "" && p.Shapes != "all" {
		return fmt.Errorf("plan: shapes %q; all, or nothing, expected", p.Shapes)
	}
	for _, l := range p.Lacks {
		if !slices.Contains(lacks, l) {
			return fmt.Errorf("plan: lacks %q; some of %s expected", l, strings.Join(lacks, ", "))
		}
	}
	for _, m := range p.Modes {
		if !slices.Contains(modes, m) {
			return fmt.Errorf("plan: mode %q; some of %s expected", m, strings.Join(modes, ", "))
		}
	}
	return nil
}

func (p *plan) has(mode string) bool { return slices.Contains(p.Modes, mode) }

func readRow(path string) (*row, error) {
	if model, ok := strings.CutPrefix(strings.TrimSuffix(filepath.Base(path), ".json"), visionFamily); ok {
		return visionRow(model), nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &row{}
	err = json.Unmarshal(text, r)
	if err == nil {
		err = json.Unmarshal(text, &r.raw)
	}
	if given, ok := r.raw["plan"]; ok && err == nil {
		in := json.NewDecoder(bytes.NewReader(given))
		in.DisallowUnknownFields()
		err = in.Decode(&plan{})
	}
	if err == nil {
		err = r.Plan.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// What py/ is given of a row: some of its keys as they stand, of symbols and of
// the variant's structure the keys that it reads, and what is said of the
// variant's task. All else decides nothing that is recorded, and may change.
var (
	givenOfRow       = []string{"family", "library", "model_types", "stacks", "config", "draw", "regimes", "batch", "seq"}
	givenOfSymbol    = []string{"name", "key", "also", "ratio"}
	givenOfStructure = []string{"name", "when", "config", "after", "draw", "untie"}
	givenOfTask      = []string{"classes", "config_for"}
)

type object = map[string]json.RawMessage

// some is an object with some of its keys.
func some(o object, keys ...string) object {
	o = maps.Clone(o)
	maps.DeleteFunc(o, func(key string, _ json.RawMessage) bool { return !slices.Contains(keys, key) })
	return o
}

// given is the row as py/ gets it for a variant.
func (r *row) given(v variant) (json.RawMessage, error) {
	out := map[string]any{}
	for key, value := range some(r.raw, givenOfRow...) {
		out[key] = value
	}
	for _, key := range givenOfTask {
		byTask := object{}
		if err := r.part(key, &byTask); err != nil {
			return nil, err
		}
		out[key] = some(byTask, v.Task)
	}
	symbols, structures := []object{}, []object{}
	if err := errors.Join(r.part("dims", &symbols), r.part("structures", &structures)); err != nil {
		return nil, err
	}
	for i := range symbols {
		symbols[i] = some(symbols[i], givenOfSymbol...)
	}
	out["dims"] = symbols
	for i, s := range structures {
		if r.Structures[i].Name == v.Structure {
			out["structures"] = []object{some(s, givenOfStructure...)}
		}
	}
	return json.Marshal(out)
}

// part reads a key of the row, which leaves what it reads into as it is where the
// row has none.
func (r *row) part(key string, into any) error {
	if r.raw[key] == nil {
		return nil
	}
	return json.Unmarshal(r.raw[key], into)
}

// imports are what py/ imports before it records anything of a row.
func (r *row) imports() []string {
	if r.Library == "torchvision" {
		return []string{r.Library}
	}
	return slices.Sorted(maps.Values(r.Classes))
}
