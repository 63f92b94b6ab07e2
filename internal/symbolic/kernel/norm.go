package kernel

const layerNormSource = "aten/src/ATen/native/cuda/layer_norm_kernel.cu, LaunchGammaBetaBackwardCUDAKernel, 2.15"

var layerNormOperators = []string{"native_layer_norm_backward", "_fused_rms_norm_backward"}

// layerNorm is what the backward pass of layer_norm and rms_norm adds for very many
// short rows: it then sums the gradients of weight and bias in two steps, the second
// an ordinary sum over the slow dimension.
func layerNorm() []Function {
	rows := []string{"rows: product of the dimensions that are not normalized", "width: normalized elements", "element: bytes of an element of the weight"}
	return []Function{
		{
			Name:      "layer_norm_partials",
			Args:      rows,
			Doc:       "partial gradients of the weight, and again of the bias (layer_norm only)",
			Source:    layerNormSource,
			Operators: layerNormOperators,
			Eval: sized(3, func(d Device, a []int64) int64 {
				return product(layerNormBlocks(d, a[0], a[1]), a[1], a[2])
			}),
		},
		{
			Name:      "layer_norm_sum",
			Args:      rows,
			Doc:       "their sum, which replaces the gradient that was allocated before",
			Source:    layerNormSource,
			Operators: layerNormOperators,
			Eval: sized(3, func(d Device, a []int64) int64 {
				if layerNormBlocks(d, a[0], a[1]) == 0 {
					return 0
				}
				return product(a[1], a[2])
			}),
		},
		{
			Name:      "layer_norm_sum_staging",
			Args:      rows[:2],
			Doc:       "the staging buffer of that sum",
			Source:    layerNormSource,
			Operators: layerNormOperators,
			Eval: sized(2, func(d Device, a []int64) int64 {
				return reduceOuter(d, a[1], a[1], layerNormBlocks(d, a[0], a[1])).staging(4)
			}),
		},
		{
			Name:      "layer_norm_sum_semaphores",
			Args:      rows[:2],
			Doc:       "the counters of that sum",
			Source:    layerNormSource,
			Operators: layerNormOperators,
			Eval: sized(2, func(d Device, a []int64) int64 {
				return reduceOuter(d, a[1], a[1], layerNormBlocks(d, a[0], a[1])).semaphores()
			}),
		},
	}
}

// layerNormBlocks is over how many blocks the rows are split; 0: they are not.
func layerNormBlocks(d Device, rows, width int64) int64 {
	if rows <= 64*1024 || width == 0 || width/32 >= int64(d.Multiprocessors)/2 {
		return 0
	}
	return min(32*1024/ceilDiv(width, 32), ceilDiv(rows, 32))
}

const batchNormSource = "aten/src/ATen/native/cuda/Normalization.cuh, flexible_launch_configs and batch_norm_*_channels_last_cuda_template, 2.15"

// batchNorm is what PyTorch's own batch normalisation of channels-last tensors shares
// between blocks. cuDNN's, which float32 and float16 with float32 weights take, has none.
func batchNorm() []Function {
	args := []string{"reduced: elements of a channel", "channels"}
	staging := func(perChannel int64) func(Device, []int64) int64 {
		return sized(2, func(_ Device, a []int64) int64 {
			_, grid := batchNormGrid(a[0], a[1])
			return product(perChannel, a[1], grid, 4)
		})
	}
	return []Function{
		{
			Name: "batch_norm_staging", Args: args, Source: batchNormSource, Operators: []string{"native_batch_norm"},
			Doc:  "training, forward: mean, deviation and count of each block",
			Eval: staging(4),
		},
		{
			Name: "batch_norm_backward_staging", Args: args, Source: batchNormSource, Operators: []string{"native_batch_norm_backward"},
			Doc:  "backward: two sums of each block",
			Eval: staging(2),
		},
		{
			Name: "batch_norm_semaphores", Args: args, Source: batchNormSource, Operators: []string{"native_batch_norm", "native_batch_norm_backward"},
			Doc: "forward and backward: counters that tell which block is the last",
			Eval: sized(2, func(_ Device, a []int64) int64 {
				columns, grid := batchNormGrid(a[0], a[1])
				if grid == 0 {
					return 0
				}
				return product(columns, 4)
			}),
		},
	}
}

// batchNormGrid is the grid of the kernel: blocks over the channels, and blocks that share
// a channel, 0 where one does it all.
func batchNormGrid(reduced, channels int64) (columns, rows int64) {
	if reduced == 0 || channels == 0 {
		return 0, 0
	}
	const threads, perThread = 512, 16
	width := min(lastPowerOfTwo(channels), 32)
	height := min(lastPowerOfTwo(ceilDiv(reduced, perThread)), threads/width)
	if width*height != threads {
		width = min(lastPowerOfTwo(channels), threads/height)
	}
	columns, rows = ceilDiv(channels, width), min(ceilDiv(reduced, height*perThread), 128)
	if rows < 8 {
		return columns, 0
	}
	return columns, rows
}
