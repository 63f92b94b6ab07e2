package kernel

const alibiSource = "transformers/models/bloom/modeling_bloom.py, _get_alibi_slopes, and falcon/modeling_falcon.py, build_alibi_tensor, 5.24"

// alibi are the slopes of attention's biases: one for each head, of which as many as
// there are in the largest power of two are computed first, and the rest apart.
func alibi() []Function {
	heads := []string{"heads: of attention"}
	return []Function{
		{
			Name: "alibi_slopes", Args: heads, Source: alibiSource, Operators: []string{"arange_start", "pow_Tensor_Tensor"},
			Doc:  "slopes of the heads of the largest power of two, or their exponents",
			Eval: sized(1, func(_ Device, a []int64) int64 { return product(4, lastPowerOfTwo(a[0])) }),
		},
		{
			Name: "alibi_further_slopes", Args: heads, Source: alibiSource, Operators: []string{"arange_start_step", "pow_Tensor_Tensor"},
			Doc:  "slopes of the other heads, or their exponents",
			Eval: sized(1, func(_ Device, a []int64) int64 { return product(4, a[0]-lastPowerOfTwo(a[0])) }),
		},
	}
}
