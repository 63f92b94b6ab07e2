package kernel

const reduceSource = "aten/src/ATen/native/cuda/Reduce.cuh, setReduceConfig and gpu_reduce_kernel, 2.15"

var reduceOperators = []string{
	"sum_dim_IntList", "sum_IntList_out", "mean_dim", "mean_out", "linalg_vector_norm", "var_correction", "std_correction", "var_mean_correction",
	"amax", "amin", "max", "min", "max_dim", "min_dim", "all", "any", "all_dim", "any_dim", "argmax", "argmin", "prod", "prod_dim_int",
}

// reductions are the two buffers of a reduction (sum, mean, norm, var, amax, ...)
// whose grid splits one output over several blocks.
//
// Two things the kernel looks at change nothing here and are no arguments: how it
// vectorizes along the input, and the element type of the input.
func reductions() []Function {
	const staging = "partial results, one per block of the grid and thread column"
	const counters = "counters that tell which block of an output is the last"
	return []Function{
		{
			Name:      "reduce_outer",
			Args:      []string{"outputs: elements that stay, which are the fast ones", "inputs: elements summed into each", "accumulator: bytes of one partial result"},
			Doc:       "reduction of a contiguous [inputs, outputs] over the slow dimension, as a bias gradient: " + staging,
			Source:    reduceSource,
			Operators: reduceOperators,
			Eval:      sized(3, func(d Device, a []int64) int64 { return reduceOuter(d, a[0], a[0], a[1]).staging(a[2]) }),
		},
		{
			Name:      "reduce_outer_semaphores",
			Args:      []string{"outputs", "inputs"},
			Doc:       "the same reduction: " + counters,
			Source:    reduceSource,
			Operators: reduceOperators,
			Eval:      sized(2, func(d Device, a []int64) int64 { return reduceOuter(d, a[0], a[0], a[1]).semaphores() }),
		},
		{
			Name:      "reduce_middle",
			Args:      []string{"fast: elements of the fastest dimension, which stays", "outputs: elements that stay, fast included", "inputs", "accumulator"},
			Doc:       "reduction of a contiguous [outputs/fast, inputs, fast] over its middle dimension: " + staging,
			Source:    reduceSource,
			Operators: reduceOperators,
			Eval:      sized(4, func(d Device, a []int64) int64 { return reduceOuter(d, a[0], a[1], a[2]).staging(a[3]) }),
		},
		{
			Name:      "reduce_middle_semaphores",
			Args:      []string{"fast", "outputs", "inputs"},
			Doc:       "the same reduction: " + counters,
			Source:    reduceSource,
			Operators: reduceOperators,
			Eval:      sized(3, func(d Device, a []int64) int64 { return reduceOuter(d, a[0], a[1], a[2]).semaphores() }),
		},
		{
			Name:      "reduce_inner",
			Args:      []string{"outputs: elements that stay", "inputs: elements summed into each, the fastest dimension among them", "accumulator"},
			Doc:       "reduction over the fast dimension, of everything (outputs 1), or of [B, C, H, W] to [C]: " + staging,
			Source:    reduceSource,
			Operators: reduceOperators,
			Eval:      sized(3, func(d Device, a []int64) int64 { return reduceInner(d, a[0], a[1]).staging(a[2]) }),
		},
		{
			Name:      "reduce_inner_semaphores",
			Args:      []string{"outputs", "inputs"},
			Doc:       "the same reduction: " + counters,
			Source:    reduceSource,
			Operators: reduceOperators,
			Eval:      sized(2, func(d Device, a []int64) int64 { return reduceInner(d, a[0], a[1]).semaphores() }),
		},
	}
}

// A reduction is what the kernel decides about its grid.
type reduction struct {
	outputs int64
	columns int64 // partial results that one block keeps apart
	grid    int64 // blocks side by side
	split   int64 // blocks that share one output; 1: no buffers
}

func (r reduction) staging(accumulator int64) int64 {
	if r.split <= 1 {
		return 0
	}
	return product(accumulator, r.outputs, r.split, r.columns)
}

func (r reduction) semaphores() int64 {
	if r.split <= 1 {
		return 0
	}
	return product(4, r.grid)
}

// reduceOuter gives each thread column its own outputs, up to four at a time.
func reduceOuter(d Device, fast, outputs, inputs int64) reduction {
	if fast <= 1 {
		return reduceInner(d, outputs, inputs)
	}
	vector := int64(4)
	for fast%vector != 0 {
		vector /= 2
	}
	width, height := reduceBlock(outputs/vector, inputs, 512/vector)
	r := reduction{outputs: outputs, columns: width * vector}
	if inputs >= min(height*16, 256) { // which one thread would add up
		r.grid = ceilDiv(outputs/vector, width)
		r.split = reduceSplit(d, ceilDiv(inputs, height), r.grid, width*height)
	}
	return r
}

// reduceInner lets the threads of a row work on one output together.
func reduceInner(d Device, outputs, inputs int64) reduction {
	width, height := reduceBlock(inputs, outputs, 512)
	r := reduction{outputs: outputs, columns: 1}
	perThread := ceilDiv(inputs, width)
	if perThread >= min(height*16, 256) {
		r.grid = outputs
		r.split = reduceSplit(d, ceilDiv(inputs, width*height), r.grid, width*height)
	}
	return r
}

// reduceBlock is the shape of a block: a warp wide and as high as it may be, then
// as wide as that leaves.
func reduceBlock(across, down, threads int64) (width, height int64) {
	x, y := min(lastPowerOfTwo(across), threads), min(lastPowerOfTwo(down), threads)
	width = min(x, 32)
	height = min(y, threads/width)
	return min(x, threads/height), height
}

// reduceSplit is over how many blocks an output is split: enough to fill the card,
// with 16 to 256 values for each thread.
func reduceSplit(d Device, perThread, grid, threads int64) int64 {
	target := int64(d.Multiprocessors) * (int64(d.ThreadsPerMultiprocessor) / threads)
	if perThread < 256 || grid > target || grid == 0 {
		return 1
	}
	return min(max(ceilDiv(target, grid), ceilDiv(perThread, 256)), ceilDiv(perThread, 16))
}
