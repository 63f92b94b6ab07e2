package kernel

// matmul is the scratch memory of matrix products: PyTorch 2.15 asks for it at each call
// and gives it back at its end.
func matmul() []Function {
	return []Function{
		{
			Name:      "cublas_workspace",
			Doc:       "workspace of mm, bmm, baddbmm, and of addmm where a matrix has one column or row; before 2.15 it was kept from the first product on",
			Source:    "aten/src/ATen/cuda/CublasHandlePool.cpp, parseChosenWorkspaceSize, 2.15",
			Operators: []string{"mm", "bmm", "addmm", "baddbmm", "addmv", "mm_out", "mv", "dot"},
			Eval: func(d Device, _ []int64) int64 {
				if d.Capability >= 90 {
					return 4096 * 8 * 1024
				}
				return (2*4096 + 8*16) * 1024
			},
		},
		{
			Name:      "cublaslt_workspace",
			Args:      []string{"inner: columns of the first matrix", "columns: of the result"},
			Doc:       "workspace of addmm, the product of a linear layer with bias",
			Source:    "aten/src/ATen/cuda/CUDABlas.cpp, getCUDABlasLtWorkspaceSize, and aten/src/ATen/native/cuda/Blas.cpp, addmm_out_cuda_impl, 2.15",
			Operators: []string{"addmm", "_addmm_activation"},
			Eval: sized(2, func(_ Device, a []int64) int64 {
				if a[0] <= 1 || a[1] <= 1 {
					return 0
				}
				return 1 << 20
			}),
		},
		{
			Name:      "grouped_mm_arguments",
			Args:      []string{"groups: experts"},
			Doc:       "shapes, addresses and strides of the products of grouped_mm; other cards than 9.x and 10.x multiply one group after the other",
			Source:    "aten/src/ATen/native/cuda/GroupMM.cu, bf16bf16_grouped_gemm_impl_sm90_sm100, 2.15",
			Operators: []string{"_grouped_mm"},
			Eval: sized(1, func(d Device, a []int64) int64 {
				if d.Capability < 90 || d.Capability >= 120 {
					return 0
				}
				words := product(a[0], 8)
				return sum(product(3, words), product(3, roundUp(words, 16)), product(a[0], 12))
			}),
		},
		{
			Name:      "grouped_mm_workspace",
			Doc:       "workspace of grouped_mm; exact on 9.x, on 10.x the larger of the two that shapes lead to (the other is 9 % less)",
			Source:    "aten/src/ATen/native/cuda/GroupMM.cu, bf16bf16_grouped_gemm_impl_sm90_sm100, 2.15; sizes from recordings on the virtual GPU",
			Operators: []string{"_grouped_mm"},
			Eval: func(d Device, _ []int64) int64 {
				switch {
				case d.Capability < 90 || d.Capability >= 120:
					return 0
				case d.Capability < 100:
					return product(int64(d.Multiprocessors), 512)
				}
				return product(int64(d.Multiprocessors), 5888)
			},
		},
	}
}
