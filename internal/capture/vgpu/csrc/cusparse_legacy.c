/* cusparse_legacy.c: cuSPARSE's older calls that PyTorch still makes: matrix
 * descriptors, sums of compressed matrices, block triangular solves, sorting. */
#include "cusparse_descriptors.h"

#include <stdlib.h>

struct matrix_kind { int type, fill, diagonal, base; };

VGPU_API int cusparseCreateMatDescr(struct matrix_kind **out)
{
	*out = calloc(1, sizeof **out);
	return *out ? SPARSE_OK : SPARSE_NO_MEMORY;
}

VGPU_API int cusparseDestroyMatDescr(struct matrix_kind *d)
{
	free(d);
	return SPARSE_OK;
}

#define FIELD(Name, field) \
	VGPU_API int cusparseSetMat##Name(struct matrix_kind *d, int value) \
	{ \
		if (!d) \
			return SPARSE_INVALID; \
		d->field = value; \
		return SPARSE_OK; \
	} \
	VGPU_API int cusparseGetMat##Name(const struct matrix_kind *d) { return d ? d->field : 0; }
FIELD(Type, type)
FIELD(FillMode, fill)
FIELD(DiagType, diagonal)
FIELD(IndexBase, base)

#define SOLVE_INFO(Name) \
	VGPU_API int cusparseCreate##Name(void **out) \
	{ \
		*out = vgpu_handle(); \
		return SPARSE_OK; \
	} \
	VGPU_API int cusparseDestroy##Name(void *info) { return SPARSE_OK; }
SOLVE_INFO(Bsrsv2Info)
SOLVE_INFO(Bsrsm2Info)

/* No pivot is zero: the position -1. */
static int no_zero_pivot(int *position)
{
	if (position && !vgpu_on_device(position))
		*position = -1;
	return SPARSE_OK;
}

VGPU_API int cusparseXbsrsv2_zeroPivot(struct sparse *h, void *info, int *position) { return no_zero_pivot(position); }
VGPU_API int cusparseXbsrsm2_zeroPivot(struct sparse *h, void *info, int *position) { return no_zero_pivot(position); }

static int block_solution(int block_rows, int blocks, int block, int *bytes)
{
	double n = (double)block_rows * block + (double)blocks * block * block;
	size_t size = vgpu_estimate(VGPU_ESTIMATE_CUSPARSE_SOLVE, 8 * n);
	*bytes = size > 2147483647 ? 2147483647 : (int)size;
	return SPARSE_OK;
}

static int sum_bytes(int rows, int a_entries, int b_entries, size_t *bytes)
{
	*bytes = vgpu_estimate(VGPU_ESTIMATE_CUSPARSE_SOLVE, 8 * ((double)rows + a_entries + b_entries));
	return SPARSE_OK;
}

#define TYPED(T, element) \
	VGPU_API int cusparse##T##bsrsv2_bufferSize(struct sparse *h, int direction, int op, int block_rows, int blocks, \
		struct matrix_kind *kind, void *values, const int *offsets, const int *indices, int block, void *info, int *bytes) \
	{ \
		return block_solution(block_rows, blocks, block, bytes); \
	} \
	VGPU_API int cusparse##T##bsrsm2_bufferSize(struct sparse *h, int direction, int op_a, int op_x, int block_rows, int sides, int blocks, \
		struct matrix_kind *kind, void *values, const int *offsets, const int *indices, int block, void *info, int *bytes) \
	{ \
		return block_solution(block_rows, blocks, block, bytes); \
	} \
	VGPU_API int cusparse##T##csrgeam2_bufferSizeExt(struct sparse *h, int rows, int columns, const void *alpha, struct matrix_kind *a, \
		int a_entries, const void *a_values, const int *a_offsets, const int *a_indices, const void *beta, struct matrix_kind *b, \
		int b_entries, const void *b_values, const int *b_offsets, const int *b_indices, struct matrix_kind *c, const void *c_values, \
		const int *c_offsets, const int *c_indices, size_t *bytes) \
	{ \
		return sum_bytes(rows, a_entries, b_entries, bytes); \
	}
VGPU_BLAS_TYPES(TYPED)

/* A sum has at least the entries of the fuller term, and at most those of both;
 * which of them coincide is not known here, so what follows is a lower bound. */
VGPU_API int cusparseXcsrgeam2Nnz(struct sparse *h, int rows, int columns, struct matrix_kind *a, int a_entries, const int *a_offsets,
	const int *a_indices, struct matrix_kind *b, int b_entries, const int *b_offsets, const int *b_indices, struct matrix_kind *c,
	int *c_offsets, int *entries, void *buffer)
{
	if (entries && !vgpu_on_device(entries))
		*entries = a_entries > b_entries ? a_entries : b_entries;
	if (a_entries && b_entries)
		vgpu_note("lower-bound cusparseXcsrgeam2Nnz: a sum of two sparse matrices is counted with the entries of the fuller one");
	return SPARSE_OK;
}

static int sort_bytes(int entries, size_t *bytes)
{
	*bytes = vgpu_estimate(VGPU_ESTIMATE_CUSPARSE_SORT, 16.0 * entries);
	return SPARSE_OK;
}

VGPU_API int cusparseXcoosort_bufferSizeExt(struct sparse *h, int rows, int columns, int entries, const int *row_indices, const int *indices,
	size_t *bytes)
{
	return sort_bytes(entries, bytes);
}

VGPU_API int cusparseXcsrsort_bufferSizeExt(struct sparse *h, int rows, int columns, int entries, const int *offsets, const int *indices,
	size_t *bytes)
{
	return sort_bytes(entries, bytes);
}

VGPU_API int cusparseXcscsort_bufferSizeExt(struct sparse *h, int rows, int columns, int entries, const int *offsets, const int *indices,
	size_t *bytes)
{
	return sort_bytes(entries, bytes);
}
