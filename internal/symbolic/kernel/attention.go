package kernel

const (
	efficientSource = "aten/src/ATen/native/transformers/cuda/attention_backward.cu, _efficient_attention_backward, and mem_eff_attention/kernel_backward.h and kernels/cutlassB.h, 2.15"
	flashSource     = "aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp, mha_fwd and mha_bwd, 2.15"
)

// attention is what the fused kernels behind scaled_dot_product_attention keep and need.
func attention() []Function {
	const (
		batch, heads = "batch", "heads: of the query"
		queries      = "queries: length of the query sequence"
		keys         = "keys: length of the key sequence"
		head, value  = "head: elements of a query's head", "value: elements of a value's head"
		element      = "element: bytes of an element of the query"
	)
	return []Function{
		{
			Name:   "attention_mask_padded",
			Args:   []string{"rows: product of all dimensions of the mask but the last", keys, "element: bytes of an element of the mask"},
			Doc:    "copy of a mask whose rows are no multiple of 8 long, for the memory-efficient kernel",
			Source: "aten/src/ATen/native/transformers/attention.cpp, pad_bias, 2.15",
			Eval:   sized(3, func(_ Device, a []int64) int64 { return padded(a[0], a[1], a[2]) }),
		},
		{
			Name:   "attention_head_padded",
			Args:   []string{"rows: batch x heads x length", "head: elements of a head", "element"},
			Doc:    "copy of a query, key or value (and of the gradient of the output) whose heads are no multiple of 8 long, for flash attention",
			Source: "aten/src/ATen/native/transformers/attention.cpp, pad_last_dim, 2.15",
			Eval:   sized(3, func(_ Device, a []int64) int64 { return padded(a[0], a[1], a[2]) }),
		},
		{
			Name:   "efficient_logsumexp",
			Args:   []string{batch, heads, queries},
			Doc:    "logsumexp of each row, kept for the backward pass, in rows of a multiple of 32",
			Source: "aten/src/ATen/native/transformers/cuda/attention.cu, _efficient_attention_forward, 2.15",
			Eval:   sized(3, func(_ Device, a []int64) int64 { return product(a[0], a[1], roundUp(a[2], 32), 4) }),
		},
		{
			Name:   "efficient_output_accumulator",
			Args:   []string{batch, heads, queries, head, value, element},
			Doc:    "the output in float32 while it is computed, for half precision and heads over 128",
			Source: "aten/src/ATen/native/transformers/cuda/attention.cu, _efficient_attention_forward, 2.15",
			Eval: sized(6, func(_ Device, a []int64) int64 {
				if a[5] >= 4 || max(a[3], a[4]) <= 128 {
					return 0
				}
				return product(a[0], a[1], a[2], a[4], 4)
			}),
		},
		{
			Name:   "efficient_backward_workspace",
			Args:   []string{batch, heads, queries, keys, head, value, element, "dropout: 1 where it is applied"},
			Doc:    "gradients that blocks of the backward pass hand on to each other",
			Source: efficientSource,
			Eval:   sized(8, efficientWorkspace),
		},
		{
			Name:   "flash_splits_logsumexp",
			Args:   []string{batch, heads, queries, keys, head, "dropout: 1 where it is applied"},
			Doc:    "logsumexp of each part, where few sequences are split over the keys to fill the card",
			Source: flashSource,
			Eval: sized(6, func(d Device, a []int64) int64 {
				return product(flashSplits(d, a), a[0], a[1], a[2], 4)
			}),
		},
		{
			Name:   "flash_splits_output",
			Args:   []string{batch, heads, queries, keys, head, "dropout"},
			Doc:    "output of each of those parts, in float32",
			Source: flashSource,
			Eval: sized(6, func(d Device, a []int64) int64 {
				return product(flashSplits(d, a), a[0], a[1], a[2], flashHead(a[4]), 4)
			}),
		},
		{
			Name:   "flash_backward_sums",
			Args:   []string{batch, heads, queries},
			Doc:    "sum of output times its gradient for each row, rows rounded up to 128",
			Source: flashSource,
			Eval:   sized(3, func(_ Device, a []int64) int64 { return product(a[0], a[1], roundUp(a[2], 128), 4) }),
		},
		{
			Name:   "flash_backward_query",
			Args:   []string{batch, heads, queries, head},
			Doc:    "gradient of the query in float32, rows rounded up to 128 and heads to 32, over 128 to 64",
			Source: flashSource,
			Eval:   sized(4, func(_ Device, a []int64) int64 { return product(a[0], a[1], roundUp(a[2], 128), flashHead(a[3]), 4) }),
		},
		{
			Name:   "flash_backward_group",
			Args:   []string{batch, heads, "kv_heads: heads of key and value", keys, head, element},
			Doc:    "gradient of the key, and again of the value, of every query head, where several share a key head",
			Source: flashSource,
			Eval: sized(6, func(_ Device, a []int64) int64 {
				if a[1] == a[2] {
					return 0
				}
				return product(a[0], a[1], a[3], roundUp(a[4], 8), a[5])
			}),
		},
		{
			Name:   "cudnn_attention_workspace",
			Args:   []string{batch, heads, queries, head},
			Doc:    "what the front end of cuDNN asks for in the backward pass: the gradient of the query and a sum for each row, in float32; the library's own plan may add to it",
			Source: "cudnn-frontend's SDPA backward node; aten/src/ATen/native/cudnn/MHA.cpp, run_cudnn_SDP_bprop, 2.15",
			Eval:   sized(4, func(_ Device, a []int64) int64 { return product(a[0], a[1], a[2], sum(a[3], 1), 4) }),
		},
	}
}

func padded(rows, last, element int64) int64 {
	if last%8 == 0 {
		return 0
	}
	return product(rows, roundUp(last, 8), element)
}

func flashHead(head int64) int64 {
	if head > 128 {
		return roundUp(head, 64)
	}
	return roundUp(head, 32)
}

// flashSplits is over how many parts the keys are split, 0 where they are not: the fewest
// that fill the card to 85 % of what the best number would.
func flashSplits(d Device, a []int64) int64 {
	batch, heads, queries, keys, head, dropout := a[0], a[1], a[2], a[3], a[4], a[5]
	block := int64(64)
	switch {
	case head <= 64:
		block = 256
	case head <= 128:
		block = 128
	}
	tiles, slots := ceilDiv(keys, block), 2*int64(d.Multiprocessors)
	blocks := product(batch, heads, ceilDiv(queries, 64))
	if dropout != 0 || slots <= 0 || float32(blocks) >= 0.8*float32(slots) {
		return 0
	}
	eligible := func(n int64) bool { return n == 1 || ceilDiv(tiles, n) != ceilDiv(tiles, n-1) }
	efficiency := func(n int64) float32 {
		waves := float32(blocks*n) / float32(slots)
		return waves / float32(ceilDiv(blocks*n, slots))
	}
	limit := min(128, slots, tiles)
	var best float32
	for n := int64(1); n <= limit; n++ {
		if eligible(n) {
			best = max(best, efficiency(n))
		}
	}
	for n := int64(1); n <= limit; n++ {
		if eligible(n) && efficiency(n) >= 0.85*best {
			if n == 1 {
				return 0
			}
			return n
		}
	}
	return 0
}

// An efficientKernel is one of the compiled variants of the memory-efficient backward
// pass: its block of queries and of keys, and whether it keeps the gradients of key and value
// in registers.
type efficientKernel struct {
	queries, keys int64
	registers     bool
}

// efficientVariant is the first variant that the head fits and whose shared memory the card has.
func efficientVariant(d Device, head, element int64, dropout bool) efficientKernel {
	turing := d.Capability < 80
	large := !turing && d.Capability != 86 && d.Capability != 89 && d.Capability < 120 // over 99 KiB of shared memory
	switch {
	case head <= 64:
		return efficientKernel{64, 64, true}
	case element >= 4 && large:
		return efficientKernel{128, 64, true}
	case element >= 4:
		return efficientKernel{64, 64, true}
	case head > 128:
		return efficientKernel{128, 64, false}
	case turing, head <= 96 && !dropout && (d.Capability == 86 || d.Capability == 89):
		return efficientKernel{128, 64, true}
	case large:
		return efficientKernel{128, 128, true}
	}
	return efficientKernel{64, 64, false}
}

func efficientWorkspace(d Device, a []int64) int64 {
	batch, heads, queries, keys, head, value, element, dropout := a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]
	if product(batch, heads, queries, keys, head, value) == 0 {
		return 0
	}
	k := efficientVariant(d, max(head, value), element, dropout != 0)
	sequences := product(batch, heads)
	// The gradient of the query, tile by tile, each with a lock of 16 bytes.
	elements := product(ceilDiv(queries, k.queries), ceilDiv(head, k.keys), 4+k.queries*k.keys)
	if element < 4 && !k.registers {
		splits := max(1, min(efficientSplits(k, sequences, keys), 200/sequences))
		elements = sum(elements, product(splits, k.keys, roundUp(head, k.queries)), product(splits, k.keys, roundUp(value, k.queries)))
	}
	return product(sequences, roundUp(elements, 4), 4)
}

func efficientSplits(k efficientKernel, sequences, keys int64) int64 {
	if sequences >= 256 && keys <= 2*k.keys {
		return 1
	}
	return ceilDiv(keys, k.keys)
}
