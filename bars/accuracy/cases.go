package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/gpu"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A file is one truth file: cases measured on one card.
type file struct {
	path         string
	GPU          string  `json:"gpu"`
	Torch        string  `json:"torch"`
	Transformers string  `json:"transformers"`
	TorchVision  string  `json:"torchvision"`
	Device       device  `json:"device"`
	Cases        []truth `json:"cases"`
}

// device holds the properties that were used; they are written as text.
type device struct {
	Capability      string  `json:"VGPU_CC"`
	Multiprocessors string  `json:"VGPU_SMS"`
	Capacity        string  `json:"VGPU_CAP"`
	Context         *string `json:"VGPU_CTX"` // null: none
}

// A truth is one case.
type truth struct {
	ID       string          `json:"id"`
	Model    string          `json:"model"`
	Config   json.RawMessage `json:"config"` // config.json; absent for torchvision
	Task     string          `json:"task"`
	Mode     string          `json:"mode"` // "inference", absent for training
	Recipe   choices         `json:"recipe"`
	Measured measured        `json:"measured"`
}

// choices are how a case is trained.
type choices struct {
	Precision    string          `json:"precision"`
	Optimizer    string          `json:"optimizer"`
	Batch        int64           `json:"batch"`
	Seq          int64           `json:"seq"`
	Image        json.RawMessage `json:"image"` // pixels, or [height, width]
	Checkpoint   string          `json:"checkpoint"`
	Accumulate   int64           `json:"accumulate"`
	Clip         bool            `json:"clip"`
	Attention    string          `json:"attention"`
	ChannelsLast bool            `json:"channels_last"`
	LoRA         *struct {
		Rank    int64    `json:"r"`
		Targets []string `json:"targets"`
	} `json:"lora"`
}

// measured is what PyTorch's allocator counted.
type measured struct {
	Parameters  int64  `json:"parameters"`
	Trainable   int64  `json:"trainable_parameters"`
	Allocated   int64  `json:"peak_allocated_bytes"`
	Reserved    int64  `json:"peak_reserved_bytes"`
	OutOfMemory string `json:"out_of_memory"`
}

// readFiles reads files, and all *.json of folders, by name.
func readFiles(paths []string) ([]*file, error) {
	if len(paths) == 0 {
		return nil, errors.New("there are no cases: name a folder of truth files")
	}
	var files []*file
	for _, p := range paths {
		names := []string{p}
		if info, err := os.Stat(p); err == nil && info.IsDir() {
			names, _ = filepath.Glob(filepath.Join(p, "*.json"))
			if len(names) == 0 {
				return nil, fmt.Errorf("%s holds no *.json", p)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			f, err := readFile(name)
			if err != nil {
				return nil, err
			}
			files = append(files, f)
		}
	}
	return files, nil
}

func readFile(name string) (*file, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	f := &file{path: name}
	if err := json.Unmarshal(data, f); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

// target is the card of a file: the properties that were used and, unless a
// context is named, nothing beside the allocator.
func (f *file) target() (estimate.Target, error) {
	choice, err := gpu.Lookup(f.GPU)
	if err != nil {
		return estimate.Target{}, fmt.Errorf("%s: %w", f.path, err)
	}
	t := estimate.TargetOf(choice.Card, 1)
	t.Context = gpu.Interval{}
	if c := f.Device.Context; c != nil && *c != "" {
		n, err := strconv.ParseInt(*c, 10, 64)
		if err != nil {
			return t, fmt.Errorf("%s: VGPU_CTX: %w", f.path, err)
		}
		t.Context = gpu.Interval{Low: unit.Bytes(n), Typical: unit.Bytes(n), High: unit.Bytes(n)}
	}
	for _, n := range []struct {
		name, text string
		set        func(int64)
	}{
		{"VGPU_CAP", f.Device.Capacity, func(n int64) { t.Capacity = unit.Bytes(n) }},
		{"VGPU_CC", f.Device.Capability, func(n int64) { t.Device.Capability = int(n) }},
		{"VGPU_SMS", f.Device.Multiprocessors, func(n int64) { t.Device.Multiprocessors = int(n) }},
	} {
		if n.text == "" {
			continue
		}
		v, err := strconv.ParseInt(n.text, 10, 64)
		if err != nil {
			return t, fmt.Errorf("%s: %s: %w", f.path, n.name, err)
		}
		n.set(v)
	}
	return t, nil
}

// recipe is how the case says that the model is trained.
func (c truth) recipe(torch string) (recipe.Recipe, error) {
	r := recipe.Recipe{
		Mode: recipe.Train, Task: recipe.Task(c.Task), Batch: c.Recipe.Batch, Accumulate: max(c.Recipe.Accumulate, 1), Seq: c.Recipe.Seq,
		Precision: recipe.Precision(c.Recipe.Precision), Optimizer: c.Recipe.Optimizer, ClipGradNorm: c.Recipe.Clip,
		Checkpoint: cmp.Or(c.Recipe.Checkpoint, "none"), Attention: c.Recipe.Attention, ChannelsLast: c.Recipe.ChannelsLast,
	}
	r.Torch, _, _ = strings.Cut(torch, "+")
	if c.Mode == "inference" || c.Mode == "eval" {
		r.Mode, r.Optimizer = recipe.Eval, ""
	}
	if l := c.Recipe.LoRA; l != nil {
		r.LoRA = &recipe.LoRA{Rank: l.Rank, Targets: l.Targets}
	}
	if len(c.Recipe.Image) == 0 || string(c.Recipe.Image) == "null" {
		return r, nil
	}
	if err := json.Unmarshal(c.Recipe.Image, &r.ImageHeight); err == nil {
		r.ImageWidth = r.ImageHeight
		return r, nil
	}
	var sides [2]int64
	if err := json.Unmarshal(c.Recipe.Image, &sides); err != nil {
		return r, fmt.Errorf("image %s: %w", c.Recipe.Image, err)
	}
	r.ImageHeight, r.ImageWidth = sides[0], sides[1]
	return r, nil
}
