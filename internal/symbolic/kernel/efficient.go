package kernel

const (
	efficientSource        = "aten/src/ATen/native/transformers/cuda/attention_backward.cu, _efficient_attention_backward, and mem_eff_attention/kernel_backward.h and kernels/cutlassB.h, 2.15"
	efficientForwardSource = "aten/src/ATen/native/transformers/cuda/attention.cu, _efficient_attention_forward, 2.15"
)

// How attention's functions name what they have in common. Only the product of batch
// and heads matters to them.
const (
	argSequences = "sequences: batch x heads of the query"
	argQueries   = "queries: length of the query sequence"
	argKeys      = "keys: length of the key sequence"
	argLength    = "length: of query and key sequence"
	argHead      = "head: elements of a head"
	argValue     = "value: elements of a head of the value"
	argElement   = "element: bytes of an element of the query"
	argDropout   = "dropout: 1 where it is applied, else 0"
)

// efficientAttention is what the memory-efficient kernel behind
// scaled_dot_product_attention keeps and needs.
func efficientAttention() []Function {
	forward := []string{"_scaled_dot_product_efficient_attention", "scaled_dot_product_attention"}
	backward := []string{"_scaled_dot_product_efficient_attention_backward"}
	return []Function{
		{
			Name:      "attention_mask_padded",
			Args:      []string{"rows: product of all dimensions of the mask but the last", argKeys, "element: bytes of an element of the mask"},
			Doc:       "copy of a mask whose rows are no multiple of 8 long, for the memory-efficient kernel",
			Source:    "aten/src/ATen/native/transformers/attention.cpp, pad_bias, 2.15",
			Operators: forward,
			Eval:      sized(3, func(_ Device, a []int64) int64 { return padded(a[0], a[1], a[2]) }),
		},
		{
			Name:      "efficient_logsumexp",
			Args:      []string{argSequences, argQueries},
			Doc:       "logsumexp of each row, kept for the backward pass, in rows of a multiple of 32",
			Source:    efficientForwardSource,
			Operators: forward,
			Eval:      sized(2, func(_ Device, a []int64) int64 { return product(a[0], roundUp(a[1], 32), 4) }),
		},
		{
			Name:      "efficient_output_accumulator",
			Args:      []string{"rows: batch x heads x length of the query sequence", argHead, argValue, argElement},
			Doc:       "the output in float32 while it is computed, for half precision and heads over 128",
			Source:    efficientForwardSource,
			Operators: forward,
			Eval: sized(4, func(_ Device, a []int64) int64 {
				if a[3] >= 4 || max(a[1], a[2]) <= 128 {
					return 0
				}
				return product(a[0], a[2], 4)
			}),
		},
		{
			Name:      "efficient_backward_workspace",
			Args:      []string{argSequences, argLength, argHead, argElement, argDropout},
			Doc:       "gradients that blocks of the backward pass hand on to each other",
			Source:    efficientSource,
			Operators: backward,
			Eval: sized(5, func(d Device, a []int64) int64 {
				return efficientWorkspace(d, a[0], a[1], a[1], a[2], a[2], a[3], a[4])
			}),
		},
		{
			Name:      "efficient_backward_workspace_cross",
			Args:      []string{argSequences, argQueries, argKeys, argHead, argValue, argElement, argDropout},
			Doc:       "the same where keys differ from queries, or values from keys",
			Source:    efficientSource,
			Operators: backward,
			Eval: sized(7, func(d Device, a []int64) int64 {
				return efficientWorkspace(d, a[0], a[1], a[2], a[3], a[4], a[5], a[6])
			}),
		},
	}
}

func padded(rows, last, element int64) int64 {
	if last%8 == 0 {
		return 0
	}
	return product(rows, roundUp(last, 8), element)
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

func efficientWorkspace(d Device, sequences, queries, keys, head, value, element, dropout int64) int64 {
	if product(sequences, queries, keys, head, value) == 0 {
		return 0
	}
	k := efficientVariant(d, max(head, value), element, dropout != 0)
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
