package kernel

import "fmt"

const embeddingSource = "aten/src/ATen/native/cuda/Embedding.cu, embedding_dense_backward_cuda, and EmbeddingBackwardKernel.cu, embedding_backward_cuda_kernel, 2.15"

const embeddingFusedSource = embeddingSource + ", fused path of pull request 170589; its conditions from recordings on the virtual GPU"

// embeddingLimit is how many indices are added up directly; more are sorted first, in
// buffers of which a small batch has none.
const embeddingLimit = 3072

var embeddingOperators = []string{"embedding_dense_backward"}

// embedding is what the gradient of a dense embedding table needs while it is computed.
func embedding() []Function {
	indices := "indices: tokens in the batch"
	rows, width := "rows: of the table", "width: elements of a row"
	of := embeddingOf
	return []Function{
		{
			Name: "embedding_indices", Args: []string{indices}, Source: embeddingSource, Operators: embeddingOperators,
			Doc:  "one list of 64-bit indices: sorted indices, original positions, the range that is sorted with them, offsets of segments, and the keys of unique",
			Eval: of(1, func(_ Device, a []int64) int64 { return product(a[0], 8) }),
		},
		{
			Name: "embedding_counter", Args: []string{indices}, Source: embeddingSource, Operators: embeddingOperators,
			Doc:  "the number of segments, and of partial segments",
			Eval: of(1, func(Device, []int64) int64 { return 8 }),
		},
		{
			Name: "embedding_sort", Args: []string{indices, rows}, Source: fmt.Sprintf(cubSource, "dispatch_radix_sort.cuh"), Operators: embeddingOperators, Once: true,
			Doc:  "temporary storage of the sort, which looks at as many bits as the number of rows has",
			Eval: of(2, func(d Device, a []int64) int64 { return cubSort(d, a[0], 8, bitsOf(a[1])) }),
		},
		{
			Name: "embedding_unique", Args: []string{indices}, Source: fmt.Sprintf(cubSource, "dispatch_unique_by_key.cuh"), Operators: embeddingOperators, Once: true,
			Doc:  "temporary storage of the search for segments",
			Eval: of(1, func(d Device, a []int64) int64 { return cubUnique(d, a[0]) }),
		},
		{
			Name: "embedding_segments", Args: []string{indices, rows}, Source: embeddingSource, Operators: embeddingOperators,
			Doc:  "partial segments of each segment, and their offsets",
			Eval: of(2, func(_ Device, a []int64) int64 { return product(min(a[0], a[1]), 8) }),
		},
		{
			Name: "embedding_scan", Args: []string{indices, rows}, Source: fmt.Sprintf(cubSource, "dispatch_scan.cuh"), Operators: embeddingOperators, Once: true,
			Doc:  "temporary storage of the sum that makes offsets",
			Eval: of(2, func(_ Device, a []int64) int64 { return cubScan(min(a[0], a[1]), 8) }),
		},
		{
			Name: "embedding_partials", Args: []string{indices, rows}, Source: embeddingSource, Operators: embeddingOperators,
			Doc:  "offset of each partial segment",
			Eval: of(2, func(_ Device, a []int64) int64 { return product(embeddingPartials(a[0], a[1]), 8) }),
		},
		{
			Name: "embedding_partial_gradients", Args: []string{indices, rows, width}, Source: embeddingSource, Operators: embeddingOperators,
			Doc: "gradient of each partial segment, in float32",
			Eval: of(3, func(d Device, a []int64) int64 {
				if embeddingFused(d, a[0], a[1], a[2]) {
					return 0
				}
				return product(embeddingPartials(a[0], a[1]), a[2], 4)
			}),
		},
		{
			Name: "embedding_fused_rows", Args: []string{indices, rows, width}, Source: embeddingFusedSource, Operators: embeddingOperators,
			Doc: "few rows with many indices each: the row that each partial segment is added to",
			Eval: of(3, func(d Device, a []int64) int64 {
				if !embeddingFused(d, a[0], a[1], a[2]) {
					return 0
				}
				return product(embeddingPartials(a[0], a[1]), 8)
			}),
		},
		{
			Name: "embedding_fused_accumulator", Args: []string{indices, rows, width, "element: bytes of an element of the table"}, Source: embeddingFusedSource, Operators: embeddingOperators,
			Doc: "the same: the rows in float32, where the table is not",
			Eval: of(4, func(d Device, a []int64) int64 {
				if a[3] >= 4 || !embeddingFused(d, a[0], a[1], a[2]) {
					return 0
				}
				return product(a[1], a[2], 4)
			}),
		},
	}
}

// embeddingOf is a rule of n arguments for batches whose indices are sorted.
func embeddingOf(n int, rule func(d Device, a []int64) int64) func(Device, []int64) int64 {
	return sized(n, func(d Device, a []int64) int64 {
		if a[0] <= embeddingLimit {
			return 0
		}
		return rule(d, a)
	})
}

// embeddingBefore is what an older PyTorch does otherwise.
func embeddingBefore() []Function {
	return []Function{
		{
			Name: "embedding_sort_all_bits", Args: []string{"indices: tokens in the batch"}, Source: fmt.Sprintf(cubSource, "dispatch_radix_sort.cuh") + "; PyTorch 2.6", Operators: embeddingOperators,
			Doc:  "the same in an older PyTorch, which looks at all bits of an index",
			Eval: embeddingOf(1, func(d Device, a []int64) int64 { return cubSort(d, a[0], 8, 64) }),
		},
		{
			Name: "embedding_all_partial_gradients", Args: []string{"indices", "rows: of the table", "width: elements of a row"}, Source: "aten/src/ATen/native/cuda/EmbeddingBackwardKernel.cu, embedding_backward_cuda_kernel, 2.6", Operators: embeddingOperators,
			Doc:  "the same in an older PyTorch, whatever the rows and indices are",
			Eval: embeddingOf(3, func(_ Device, a []int64) int64 { return product(embeddingPartials(a[0], a[1]), a[2], 4) }),
		},
	}
}

// embeddingPartials is how many partial segments there can be: ten rows each, and
// one begun for each row of the table that occurs.
func embeddingPartials(indices, rows int64) int64 { return sum(indices/10, min(indices, rows)) }

// embeddingFused says whether partial gradients are added to their row at once: where
// the second step alone would not fill the card and would have much to add.
func embeddingFused(d Device, indices, rows, width int64) bool {
	warped := roundUp(width, 32)
	if warped == 0 {
		return false
	}
	blocks := ceilDiv(product(min(indices, rows), warped), min(warped, 1024))
	return blocks < 4*int64(d.Multiprocessors) && embeddingPartials(indices, rows) > 4*blocks
}
