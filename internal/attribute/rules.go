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
	stack      stack
}

// A stack is what the rules ask of the frames, found out once for each.
type stack struct {
	category tape.Category // of the place that it goes through, else Unknown
	moved    bool          // a module was being built or brought to the device
	native   bool          // there are frames of C++
	blas     bool          // and one of them prepares cuBLAS
}

// stackOf looks at frames.
func stackOf(frames []tape.Frame) stack {
	s := stack{moved: isMoved(frames)}
	for _, f := range frames {
		s.native = s.native || strings.Contains(f.Name, "::")
		s.blas = s.blas || strings.Contains(f.Name, "CUDABlas") || strings.Contains(f.Name, "Workspace")
	}
	for _, c := range []tape.Category{tape.Communication, tape.Temporary} {
		if s.category == tape.Unknown && isUnder(c, frames) {
			s.category = c
		}
	}
	return s
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
	{tape.Communication, under(tape.Communication),
		"allocated under a collective operation"},
	{tape.Temporary, under(tape.Temporary),
		"made by a compiler to time its kernels"},
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
	{tape.Parameter, func(l life) bool {
		return (!l.freed || l.steps > 0) && l.stack.moved && (l.born == tape.Load || l.born == tape.Idle)
	},
		"made with a module or moved with it, and never seen in a call, as when memory ends before the first"},
}

// cublasWorkspaces are what PyTorch gives to a cuBLAS handle: 4096 KiB twice
// and 16 KiB eight times; on compute capability 9.0 and above 32 MiB.
// Source: aten/src/ATen/cuda/CublasHandlePool.cpp, 2.0 to 2.15.
var cublasWorkspaces = []unit.Bytes{2*4096*unit.KiB + 8*16*unit.KiB, 32 * unit.MiB}

func isWorkspace(l life) bool {
	return slices.Contains(cublasWorkspaces, l.bytes) && (!l.freed || l.alone) && l.born != tape.Step && (!l.stack.native || l.stack.blas)
}

// places are where PyTorch and its compilers allocate what is neither a
// model's nor an optimizer's: the end of the file's path and the functions in
// it, nil for all. Files are those of PyTorch 2.0 to 2.15 and Triton 3.
var places = []place{
	// What ranks and devices exchange.
	{category: tape.Communication, file: "torch/distributed/distributed_c10d.py"},
	{category: tape.Communication, file: "torch/distributed/_functional_collectives.py"},
	// The buckets of the gradients: made at first, and again in the order of
	// the first backward, in 2.0 by forward itself. The model's own forward
	// runs under other functions.
	{category: tape.Communication, file: "torch/nn/parallel/distributed.py", functions: []string{"__init__", "_ddp_init_helper", "_pre_forward"}},
	{category: tape.Communication, file: "torch/nn/parallel/distributed.py", functions: []string{"forward"}, innermost: true},
	{category: tape.Communication, file: "torch/nn/parallel/comm.py"},
	{category: tape.Communication, file: "torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py"},
	{category: tape.Communication, file: "torch/distributed/_composable/fsdp/_fsdp_collectives.py"},
	{category: tape.Communication, file: "torch/distributed/fsdp/_flat_param.py", functions: []string{"_alloc_padded_unsharded_flat_param", "_all_gather_flat_param"}},
	{category: tape.Communication, file: "torch/distributed/fsdp/flat_param.py", functions: []string{"_alloc_padded_unsharded_flat_param", "_all_gather_flat_param"}},
	{category: tape.Communication, file: "torch/distributed/fsdp/_runtime_utils.py", functions: []string{"_reduce_grad", "_get_reduce_scatter_tensors"}},
	// What a compiler times its kernels with: copies of their arguments, and
	// 256 MB to empty the GPU's own cache.
	{category: tape.Temporary, file: "torch/_inductor/runtime/triton_heuristics.py"},
	{category: tape.Temporary, file: "torch/_inductor/runtime/benchmarking.py"},
	{category: tape.Temporary, file: "torch/_inductor/select_algorithm.py"},
	{category: tape.Temporary, file: "triton/testing.py"},
	{category: tape.Temporary, file: "triton/runtime/autotuner.py", functions: []string{"_bench", "benchmark"}},
}

// isBucket reports whether memory is of a fixed size that gradients are
// written into by and by, however small they are.
func isBucket(frames []tape.Frame) bool {
	return slices.ContainsFunc(frames, func(f tape.Frame) bool {
		return f.Name == "setup_buckets" && strings.HasSuffix(f.File, "deepspeed/runtime/zero/stage_1_and_2.py")
	})
}

type place struct {
	category  tape.Category
	file      string
	functions []string
	innermost bool // only where the function itself allocates
}

func (p place) holds(f tape.Frame) bool {
	return strings.HasSuffix(f.File, p.file) && (p.functions == nil || slices.Contains(p.functions, f.Name))
}

// under accepts blocks that were allocated at a place of that category.
func under(c tape.Category) func(life) bool {
	return func(l life) bool { return l.stack.category == c }
}

// isUnder reports whether frames go through a place of that category.
func isUnder(c tape.Category, frames []tape.Frame) bool {
	return slices.ContainsFunc(places, func(p place) bool {
		switch {
		case p.category != c || len(frames) == 0:
			return false
		case p.innermost:
			return p.holds(frames[0])
		}
		return slices.ContainsFunc(frames, p.holds)
	})
}

// isMoved reports whether a module was being built or brought to the device.
func isMoved(frames []tape.Frame) bool {
	return slices.ContainsFunc(frames, func(f tape.Frame) bool {
		return strings.HasSuffix(f.File, "torch/nn/modules/module.py") && f.Name == "_apply" ||
			strings.Contains(f.File, "torch/nn/modules/") && f.Name == "__init__"
	})
}

// judge applies the rules to every block without a label.
func (r *Recording) judge() {
	Judge(r.Tape, func(b tape.BlockID) bool { return r.modules.recomputed[b] })
}

// Judge gives a category to every block of a tape that was allocated on it
// and has none, by the phases of its events and its marks of steps.
// recomputed tells the blocks of forward passes that ran inside backward.
func Judge(t *tape.Tape, recomputed func(tape.BlockID) bool) {
	steps := stepOf(t)
	stacks, known := make([]stack, t.Sites()+1), make([]bool, t.Sites()+1)
	for b := range t.Blocks() {
		id := tape.BlockID(b)
		block := t.Block(id)
		if block.Category != tape.Unknown || block.Alloc < 0 {
			continue
		}
		if !known[block.Site] {
			known[block.Site], stacks[block.Site] = true, stackOf(t.Site(block.Site))
		}
		l := life{bytes: block.Bytes, born: block.Phase, stack: stacks[block.Site], recomputed: recomputed(id)}
		if block.Free >= 0 {
			l.freed = true
			l.died = t.PhaseOf(block.Free)
			l.steps = steps(block.Free) - steps(block.Alloc)
			l.alone = aloneUntil(t, block)
		}
		for _, rule := range rules {
			if rule.fits(l) {
				t.SetCategory(id, rule.category)
				break
			}
		}
	}
}

// aloneUntil reports whether nothing was allocated while the block lived.
func aloneUntil(t *tape.Tape, b tape.Block) bool {
	for i := b.Alloc + 1; i < b.Free; i++ {
		if t.Kind(i) == tape.Alloc {
			return false
		}
	}
	return true
}

// stepOf returns a function that counts the optimizer steps that ended before
// an event.
func stepOf(t *tape.Tape) func(event int) int {
	var ends []int
	for _, m := range t.Marks {
		if m.Kind == tape.MarkStep {
			ends = append(ends, m.Event)
		}
	}
	return func(event int) int {
		n, _ := slices.BinarySearch(ends, event+1)
		return n
	}
}
