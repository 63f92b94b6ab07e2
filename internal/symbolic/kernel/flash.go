package kernel

const flashSource = "aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp, mha_fwd and mha_bwd, 2.15"

// flashAttention is what flash attention keeps and needs.
func flashAttention() []Function {
	forward := []string{"_scaled_dot_product_flash_attention", "scaled_dot_product_attention"}
	backward := []string{"_scaled_dot_product_flash_attention_backward"}
	splits := func(d Device, a []int64) int64 { return flashSplits(d, a[0], a[1], a[1], a[2], a[3]) }
	splitsCross := func(d Device, a []int64) int64 { return flashSplits(d, a[0], a[1], a[2], a[3], a[4]) }
	self, cross := []string{argSequences, argLength, argHead, argDropout}, []string{argSequences, argQueries, argKeys, argHead, argDropout}
	return []Function{
		{
			Name:      "attention_head_padded",
			Args:      []string{"rows: batch x heads x length", argHead, argElement},
			Doc:       "copy of a query, key or value, and of the gradient of the output, whose heads are no multiple of 8 long",
			Source:    "aten/src/ATen/native/transformers/attention.cpp, pad_last_dim, 2.15",
			Operators: []string{"scaled_dot_product_attention", "slice_backward"},
			Eval:      sized(3, func(_ Device, a []int64) int64 { return padded(a[0], a[1], a[2]) }),
		},
		{
			Name:      "flash_splits_logsumexp",
			Args:      self,
			Doc:       "logsumexp of each part, where few sequences are split over the keys to fill the card",
			Source:    flashSource,
			Operators: forward,
			Eval:      sized(4, func(d Device, a []int64) int64 { return product(splits(d, a), a[0], a[1], 4) }),
		},
		{
			Name:      "flash_splits_output",
			Args:      self,
			Doc:       "output of each of those parts, in float32",
			Source:    flashSource,
			Operators: forward,
			Eval:      sized(4, func(d Device, a []int64) int64 { return product(splits(d, a), a[0], a[1], flashHead(a[2]), 4) }),
		},
		{
			Name:      "flash_splits_logsumexp_cross",
			Args:      cross,
			Doc:       "logsumexp of each part, where keys differ from queries",
			Source:    flashSource,
			Operators: forward,
			Eval:      sized(5, func(d Device, a []int64) int64 { return product(splitsCross(d, a), a[0], a[1], 4) }),
		},
		{
			Name:      "flash_splits_output_cross",
			Args:      cross,
			Doc:       "output of each of those parts, in float32",
			Source:    flashSource,
			Operators: forward,
			Eval:      sized(5, func(d Device, a []int64) int64 { return product(splitsCross(d, a), a[0], a[1], flashHead(a[3]), 4) }),
		},
		{
			Name:      "flash_backward_sums",
			Args:      []string{argSequences, argQueries},
			Doc:       "sum of output times its gradient for each row, rows rounded up to 128",
			Source:    flashSource,
			Operators: backward,
			Eval:      sized(2, func(_ Device, a []int64) int64 { return product(a[0], roundUp(a[1], 128), 4) }),
		},
		{
			Name:      "flash_backward_query",
			Args:      []string{argSequences, argQueries, argHead},
			Doc:       "gradient of the query in float32, rows rounded up to 128 and heads to 32, over 128 to 64",
			Source:    flashSource,
			Operators: backward,
			Eval:      sized(3, func(_ Device, a []int64) int64 { return product(a[0], roundUp(a[1], 128), flashHead(a[2]), 4) }),
		},
		{
			Name:      "flash_backward_group",
			Args:      []string{"rows: batch x heads of the query x length of the key sequence", "heads: of the query", "kv_heads: of key and value", argHead, argElement},
			Doc:       "gradient of the key, and again of the value, of every query head, where several share a key head",
			Source:    flashSource,
			Operators: backward,
			Eval: sized(5, func(_ Device, a []int64) int64 {
				if a[1] == a[2] {
					return 0
				}
				return product(a[0], roundUp(a[3], 8), a[4])
			}),
		},
	}
}

// cudnnAttention is what cuDNN's kernel needs, which takes flash attention's place on
// cards of 9.0 and 10.x.
func cudnnAttention() []Function {
	return []Function{
		{
			Name:      "cudnn_attention_workspace",
			Args:      []string{"rows: batch x heads x length of the query sequence", argHead},
			Doc:       "what the front end of cuDNN asks for in the backward pass: the gradient of the query and a sum for each row, in float32; the library's own plan may add to it",
			Source:    "cudnn-frontend's SDPA backward node; aten/src/ATen/native/cudnn/MHA.cpp, run_cudnn_SDP_bprop, 2.15",
			Operators: []string{"_scaled_dot_product_cudnn_attention_backward"},
			Eval:      sized(2, func(_ Device, a []int64) int64 { return product(a[0], sum(a[1], 1), 4) }),
		},
	}
}

func flashHead(head int64) int64 {
	if head > 128 {
		return roundUp(head, 64)
	}
	return roundUp(head, 32)
}

// flashSplits is over how many parts the keys are split, 0 where they are not: the fewest
// that fill the card to 85 % of what the best number would.
func flashSplits(d Device, sequences, queries, keys, head, dropout int64) int64 {
	block := int64(64)
	switch {
	case head <= 64:
		block = 256
	case head <= 128:
		block = 128
	}
	tiles, slots := ceilDiv(keys, block), 2*int64(d.Multiprocessors)
	blocks := product(sequences, ceilDiv(queries, 64))
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
