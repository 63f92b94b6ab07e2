package kernel

const layerNormSource = "aten/src/ATen/native/cuda/layer_norm_kernel.cu, LaunchGammaBetaBackwardCUDAKernel, 2.15"

// layerNorm is what the backward pass of layer_norm and rms_norm adds for very many
// short rows: it then sums the gradients of weight and bias in two steps, the second
// an ordinary sum over the slow dimension.
func layerNorm() []Function {
	rows := []string{"rows: product of the dimensions that are not normalized", "width: normalized elements", "element: bytes of an element of the weight"}
	return []Function{
		{
			Name:   "layer_norm_partials",
			Args:   rows,
			Doc:    "partial gradients of the weight, and again of the bias (layer_norm only)",
			Source: layerNormSource,
			Eval: sized(3, func(d Device, a []int64) int64 {
				return product(layerNormBlocks(d, a[0], a[1]), a[1], a[2])
			}),
		},
		{
			Name:   "layer_norm_sum",
			Args:   rows,
			Doc:    "their sum, which replaces the gradient that was allocated before",
			Source: layerNormSource,
			Eval: sized(3, func(d Device, a []int64) int64 {
				if layerNormBlocks(d, a[0], a[1]) == 0 {
					return 0
				}
				return product(a[1], a[2])
			}),
		},
		{
			Name:   "layer_norm_sum_staging",
			Args:   rows[:2],
			Doc:    "the staging buffer of that sum",
			Source: layerNormSource,
			Eval: sized(2, func(d Device, a []int64) int64 {
				return reduceOuter(d, a[1], a[1], layerNormBlocks(d, a[0], a[1])).staging(4)
			}),
		},
		{
			Name:   "layer_norm_sum_semaphores",
			Args:   rows[:2],
			Doc:    "the counters of that sum",
			Source: layerNormSource,
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
