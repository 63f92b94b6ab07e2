package kernel

import "fmt"

// indices are temporaries of operators that sort, search and count indices, as the
// routing of experts and the gradient of an indexed tensor do.
func indices() []Function {
	return []Function{
		{
			Name:      "index_put_sort",
			Args:      []string{"indices", "rows: of the tensor that is added to"},
			Doc:       "temporary storage of the sort of index_put with accumulation, the gradient of x[i]",
			Source:    "aten/src/ATen/native/cuda/Indexing.cu, index_put_with_sort_kernel, 2.15; " + fmt.Sprintf(cubSource, "dispatch_radix_sort.cuh"),
			Operators: []string{"_index_put_impl_"},
			Eval: sized(2, func(d Device, a []int64) int64 {
				switch n, rows := a[0], a[1]; {
				case n == 0:
					return 0
				case n <= 2304: // one block sorts them
					return 1
				default:
					return cubSort(d, n, 8, bitsOf(max(0, rows-1)))
				}
			}),
		},
		{
			Name:      "sort_temporary",
			Args:      []string{"sorted: elements", "element: bytes of a key, 4 or 8"},
			Doc:       "temporary storage of sort and argsort of a tensor with one dimension",
			Source:    "aten/src/ATen/native/cuda/Sort.cpp, sort_cuda_kernel, 2.15; " + fmt.Sprintf(cubSource, "dispatch_radix_sort.cuh"),
			Operators: []string{"sort_stable"},
			Eval: sized(2, func(d Device, a []int64) int64 {
				if a[0] <= 4096 { // sorted in shared memory
					return 0
				}
				return cubSort(d, a[0], a[1], product(a[1], 8))
			}),
		},
		{
			Name:      "scan_temporary",
			Args:      []string{"outer: product of the other dimensions", "elements: of the dimension that is summed", "element: bytes of an element of the result, 4 or 8"},
			Doc:       "temporary storage of cumsum, where the tensor is one single row",
			Source:    "aten/src/ATen/native/cuda/ScanUtils.cuh, scan_dim, 2.15; " + fmt.Sprintf(cubSource, "dispatch_scan.cuh"),
			Operators: []string{"cumsum"},
			Eval: sized(3, func(_ Device, a []int64) int64 {
				if a[0] != 1 || a[1] == 0 {
					return 0
				}
				return cubScan(a[1], a[2])
			}),
		},
		{
			Name:      "nonzero_count",
			Args:      []string{"elements"},
			Doc:       "temporary storage that counts elements that are not zero; it follows the card's occupancy, which is that of the virtual card",
			Source:    "aten/src/ATen/native/cuda/Nonzero.cu, nonzero_cuda_out_impl, 2.15; " + fmt.Sprintf(cubSource, "dispatch_reduce.cuh"),
			Operators: []string{"nonzero"},
			Eval: sized(1, func(d Device, a []int64) int64 {
				switch n := a[0]; {
				case n == 0:
					return 0
				case n <= 4096:
					return 1
				default:
					return cubTemporaries(product(int64(d.Multiprocessors), 2*5, 4))
				}
			}),
		},
		{
			Name:      "nonzero_select",
			Args:      []string{"elements"},
			Doc:       "temporary storage that gathers their positions",
			Source:    "aten/src/ATen/native/cuda/Nonzero.cu, nonzero_cuda_out_impl, 2.15; " + fmt.Sprintf(cubSource, "dispatch_select_if.cuh"),
			Operators: []string{"nonzero"},
			Eval: sized(1, func(d Device, a []int64) int64 {
				if a[0] == 0 {
					return 0
				}
				return cubSelect(d, a[0])
			}),
		},
	}
}
