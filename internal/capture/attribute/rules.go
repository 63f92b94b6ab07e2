package attribute

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A life is what the rules look at: one block that nobody labelled.
type life struct {
	bytes      unit.Bytes
	born, died tape.Phase // died counts only when freed
	freed      bool
	steps      int  // optimizer steps that ended while it lived
	alone      bool // freed before anything else was allocated
	recomputed bool // by a forward pass inside backward
	frames     []tape.Frame
}

// within reports whether the block ended in the phase and step it began in.
func (l life) within() bool { return l.freed && l.steps == 0 && l.died == l.born }

// A rule gives a category to the blocks that it fits.
type rule struct {
	category tape.Category
	fits     func(life) bool
	why      string
}

// rules are tried in this order; the first that fits decides.
var rules = []rule{
	{tape.Communication, func(l life) bool { return slices.ContainsFunc(l.frames, isCollective) },
		"allocated under a collective operation"},
	{tape.Workspace, isWorkspace,
		"of a size that cuBLAS is given, and kept for good or for one call"},
	{tape.OptimizerState, func(l life) bool { return l.born == tape.Step && !l.within() },
		"made by an optimizer step and kept after it"},
	{tape.Temporary, func(l life) bool { return l.born == tape.Step },
		"made by an optimizer step and dropped in it"},
	{tape.Activation, func(l life) bool { return l.born == tape.Backward && l.recomputed },
		"computed again in backward by activation checkpointing"},
	{tape.Gradient, func(l life) bool { return l.born == tape.Backward && !l.within() },
		"made by backward and kept after it"},
	{tape.Temporary, func(l life) bool { return l.born == tape.Backward },
		"made by backward and dropped in it"},
	{tape.Temporary, func(l life) bool { return (l.born == tape.Forward || l.born == tape.Loss) && l.within() },
		"made by the forward pass and dropped in it"},
	{tape.Activation, func(l life) bool { return l.born == tape.Forward || l.born == tape.Loss },
		"made by the forward pass and kept for backward"},
	{tape.Temporary, func(l life) bool { return l.born == tape.Eval && l.freed },
		"made by an evaluation, which keeps nothing for backward"},
	{tape.Input, func(l life) bool { return l.born == tape.Idle && l.steps <= 1 && l.freed },
		"made between two steps and dropped by the next: the data of a step"},
	{tape.Temporary, func(l life) bool { return l.freed && (l.alone || l.within() && l.born == tape.Save) },
		"dropped at once"},
}

// cublasWorkspaces are what PyTorch gives to a cuBLAS handle: 4096 KiB twice
// and 16 KiB eight times; on compute capability 9.0 and above 32 MiB.
// Source: aten/src/ATen/cuda/CublasHandlePool.cpp, 2.0 to 2.15.
var cublasWorkspaces = []unit.Bytes{2*4096*unit.KiB + 8*16*unit.KiB, 32 * unit.MiB}

func isWorkspace(l life) bool {
	return slices.Contains(cublasWorkspaces, l.bytes) && (!l.freed || l.alone) && l.born != tape.Step
}

// collectives are the places in PyTorch that allocate what ranks and devices
// exchange: the end of the file's path, and the functions in it, nil for all.
// Files are those of PyTorch 2.0 to 2.15.
var collectives = []struct {
	file      string
	functions []string
}{
	{"torch/distributed/distributed_c10d.py", nil},
	{"torch/distributed/_functional_collectives.py", nil},
	// The buckets of the gradients: made at first, and again in the order of
	// the first backward. The model's own forward runs under other functions.
	{"torch/nn/parallel/distributed.py", []string{"__init__", "_ddp_init_helper", "_pre_forward"}},
	{"torch/nn/parallel/comm.py", nil},
	{"torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py", nil},
	{"torch/distributed/_composable/fsdp/_fsdp_collectives.py", nil},
	{"torch/distributed/fsdp/_flat_param.py", []string{"_alloc_padded_unsharded_flat_param", "_all_gather_flat_param"}},
	{"torch/distributed/fsdp/flat_param.py", []string{"_alloc_padded_unsharded_flat_param", "_all_gather_flat_param"}},
	{"torch/distributed/fsdp/_runtime_utils.py", []string{"_reduce_grad", "_get_reduce_scatter_tensors"}},
}

func isCollective(f tape.Frame) bool {
	for _, c := range collectives {
		if strings.HasSuffix(f.File, c.file) && (c.functions == nil || slices.Contains(c.functions, f.Name)) {
			return true
		}
	}
	return false
}

// judge applies the rules to every block without a label.
func (r *Recording) judge() {
	steps := r.stepOf()
	for b := range r.Tape.Blocks() {
		id := tape.BlockID(b)
		block := r.Tape.Block(id)
		if block.Category != tape.Unknown || block.Alloc < 0 {
			continue
		}
		l := life{bytes: block.Bytes, born: block.Phase, frames: r.Tape.Site(block.Site), recomputed: r.modules.recomputed[id]}
		if block.Free >= 0 {
			l.freed = true
			l.died = r.Tape.Event(block.Free).Phase
			l.steps = steps(block.Free) - steps(block.Alloc)
			l.alone = r.aloneUntil(block)
		}
		for _, rule := range rules {
			if rule.fits(l) {
				r.Tape.SetCategory(id, rule.category)
				break
			}
		}
	}
}

// aloneUntil reports whether nothing was allocated while the block lived.
func (r *Recording) aloneUntil(b tape.Block) bool {
	for i := b.Alloc + 1; i < b.Free; i++ {
		if r.Tape.Kind(i) == tape.Alloc {
			return false
		}
	}
	return true
}

// stepOf returns a function that counts the optimizer steps that ended before
// an event.
func (r *Recording) stepOf() func(event int) int {
	var ends []int
	for _, m := range r.Tape.Marks {
		if m.Kind == tape.MarkStep {
			ends = append(ends, m.Event)
		}
	}
	return func(event int) int {
		n, _ := slices.BinarySearch(ends, event+1)
		return n
	}
}
