/* cusparse.c: handles and descriptors of cuSPARSE, which give back what was set,
 * and the scratch memory of the products of its newer interface. */
#include "cusparse_descriptors.h"

#include <stdlib.h>
#include <string.h>

VGPU_API int cusparseCreate(struct sparse **handle)
{
	*handle = calloc(1, sizeof **handle);
	return *handle ? SPARSE_OK : SPARSE_NO_MEMORY;
}

#define DESTROY(Name, type) \
	VGPU_API int Name(type *d) \
	{ \
		free(d); \
		return SPARSE_OK; \
	}
DESTROY(cusparseDestroy, struct sparse)
DESTROY(cusparseDestroySpMat, struct sparse_matrix)
DESTROY(cusparseDestroyDnMat, struct dense_matrix)
DESTROY(cusparseDestroyDnVec, struct dense_vector)

#define FIELD(Set, Get, type, field) \
	VGPU_API int Set(struct sparse *handle, type value) \
	{ \
		if (!handle) \
			return SPARSE_NOT_INITIALIZED; \
		handle->field = value; \
		return SPARSE_OK; \
	} \
	VGPU_API int Get(struct sparse *handle, type *value) \
	{ \
		if (!handle) \
			return SPARSE_NOT_INITIALIZED; \
		*value = handle->field; \
		return SPARSE_OK; \
	}
FIELD(cusparseSetStream, cusparseGetStream, void *, stream)
FIELD(cusparseSetPointerMode, cusparseGetPointerMode, int, pointer_mode)

VGPU_API int cusparseGetVersion(struct sparse *handle, int *version)
{
	*version = vgpu_version(VGPU_VERSION_CUSPARSE);
	return SPARSE_OK;
}

VGPU_API int cusparseGetProperty(int part, int *value)
{
	int version = vgpu_version(VGPU_VERSION_CUSPARSE);
	const int parts[] = {version / 1000, version / 100 % 10, version % 100};
	if (part < 0 || part > 2)
		return SPARSE_INVALID;
	*value = parts[part];
	return SPARSE_OK;
}

static const char *status_name(int status)
{
	static const char *const names[] = {
		"CUSPARSE_STATUS_SUCCESS", "CUSPARSE_STATUS_NOT_INITIALIZED", "CUSPARSE_STATUS_ALLOC_FAILED",
		"CUSPARSE_STATUS_INVALID_VALUE", "CUSPARSE_STATUS_ARCH_MISMATCH", "CUSPARSE_STATUS_MAPPING_ERROR",
		"CUSPARSE_STATUS_EXECUTION_FAILED", "CUSPARSE_STATUS_INTERNAL_ERROR", "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
		"CUSPARSE_STATUS_ZERO_PIVOT", "CUSPARSE_STATUS_NOT_SUPPORTED", "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES",
	};
	return status >= 0 && (size_t)status < sizeof names / sizeof *names ? names[status] : "unknown cuSPARSE status";
}

VGPU_API const char *cusparseGetErrorName(int status) { return status_name(status); }
VGPU_API const char *cusparseGetErrorString(int status) { return status_name(status); }

/* --- matrices and vectors ------------------------------------------------- */

static int new_matrix(struct sparse_matrix **out, struct sparse_matrix m)
{
	*out = malloc(sizeof **out);
	if (!*out)
		return SPARSE_NO_MEMORY;
	**out = m;
	return SPARSE_OK;
}

#define COMPRESSED(Name) \
	VGPU_API int Name(struct sparse_matrix **out, int64_t rows, int64_t columns, int64_t entries, void *offsets, void *indices, \
		void *values, int offset_type, int index_type, int base, int type) \
	{ \
		return new_matrix(out, (struct sparse_matrix){.rows = rows, .columns = columns, .entries = entries, .offsets = offsets, \
			.indices = indices, .values = values, .offset_type = offset_type, .index_type = index_type, .base = base, \
			.value_type = type}); \
	}
COMPRESSED(cusparseCreateCsr)
COMPRESSED(cusparseCreateCsc)

VGPU_API int cusparseCreateCoo(struct sparse_matrix **out, int64_t rows, int64_t columns, int64_t entries, void *row_indices, void *indices,
	void *values, int index_type, int base, int type)
{
	return cusparseCreateCsr(out, rows, columns, entries, row_indices, indices, values, index_type, index_type, base, type);
}

VGPU_API int cusparseCreateBsr(struct sparse_matrix **out, int64_t block_rows, int64_t block_columns, int64_t blocks, int64_t row_block,
	int64_t column_block, void *offsets, void *indices, void *values, int offset_type, int index_type, int base, int type, int order)
{
	return cusparseCreateCsr(out, block_rows * row_block, block_columns * column_block, blocks * row_block * column_block, offsets, indices,
		values, offset_type, index_type, base, type);
}

VGPU_API int cusparseCsrSetPointers(struct sparse_matrix *m, void *offsets, void *indices, void *values)
{
	if (!m)
		return SPARSE_INVALID;
	m->offsets = offsets;
	m->indices = indices;
	m->values = values;
	return SPARSE_OK;
}

VGPU_API int cusparseCsrGet(struct sparse_matrix *m, int64_t *rows, int64_t *columns, int64_t *entries, void **offsets, void **indices,
	void **values, int *offset_type, int *index_type, int *base, int *type)
{
	if (!m)
		return SPARSE_INVALID;
	*rows = m->rows;
	*columns = m->columns;
	*entries = m->entries;
	*offsets = m->offsets;
	*indices = m->indices;
	*values = m->values;
	*offset_type = m->offset_type;
	*index_type = m->index_type;
	*base = m->base;
	*type = m->value_type;
	return SPARSE_OK;
}

VGPU_API int cusparseCooGet(struct sparse_matrix *m, int64_t *rows, int64_t *columns, int64_t *entries, void **row_indices, void **indices,
	void **values, int *index_type, int *base, int *type)
{
	int offset_type;
	return cusparseCsrGet(m, rows, columns, entries, row_indices, indices, values, &offset_type, index_type, base, type);
}

VGPU_API int cusparseSpMatGetSize(struct sparse_matrix *m, int64_t *rows, int64_t *columns, int64_t *entries)
{
	if (!m)
		return SPARSE_INVALID;
	*rows = m->rows;
	*columns = m->columns;
	*entries = m->entries;
	return SPARSE_OK;
}

VGPU_API int cusparseSpMatGetValues(struct sparse_matrix *m, void **values)
{
	*values = m->values;
	return SPARSE_OK;
}

VGPU_API int cusparseSpMatSetValues(struct sparse_matrix *m, void *values)
{
	m->values = values;
	return SPARSE_OK;
}

enum { ATTRIBUTE_FILL = 0, ATTRIBUTE_DIAGONAL = 1 };

VGPU_API int cusparseSpMatSetAttribute(struct sparse_matrix *m, int attribute, void *value, size_t bytes)
{
	if (!m || bytes != sizeof(int) || attribute < ATTRIBUTE_FILL || attribute > ATTRIBUTE_DIAGONAL)
		return SPARSE_INVALID;
	memcpy(attribute == ATTRIBUTE_FILL ? &m->fill : &m->diagonal, value, sizeof(int));
	return SPARSE_OK;
}

VGPU_API int cusparseSpMatGetAttribute(struct sparse_matrix *m, int attribute, void *value, size_t bytes)
{
	if (!m || bytes != sizeof(int) || attribute < ATTRIBUTE_FILL || attribute > ATTRIBUTE_DIAGONAL)
		return SPARSE_INVALID;
	memcpy(value, attribute == ATTRIBUTE_FILL ? &m->fill : &m->diagonal, sizeof(int));
	return SPARSE_OK;
}

VGPU_API int cusparseCsrSetStridedBatch(struct sparse_matrix *m, int batch, int64_t offsets_step, int64_t values_step)
{
	m->batch = batch;
	return SPARSE_OK;
}

VGPU_API int cusparseCooSetStridedBatch(struct sparse_matrix *m, int batch, int64_t step)
{
	m->batch = batch;
	return SPARSE_OK;
}

VGPU_API int cusparseSpMatGetStridedBatch(struct sparse_matrix *m, int *batch)
{
	*batch = m->batch ? m->batch : 1;
	return SPARSE_OK;
}

VGPU_API int cusparseCreateDnMat(struct dense_matrix **out, int64_t rows, int64_t columns, int64_t ld, void *values, int type, int order)
{
	*out = malloc(sizeof **out);
	if (!*out)
		return SPARSE_NO_MEMORY;
	**out = (struct dense_matrix){.rows = rows, .columns = columns, .ld = ld, .values = values, .type = type, .order = order, .batch = 1};
	return SPARSE_OK;
}

VGPU_API int cusparseDnMatGet(struct dense_matrix *m, int64_t *rows, int64_t *columns, int64_t *ld, void **values, int *type, int *order)
{
	*rows = m->rows;
	*columns = m->columns;
	*ld = m->ld;
	*values = m->values;
	*type = m->type;
	*order = m->order;
	return SPARSE_OK;
}

VGPU_API int cusparseDnMatSetValues(struct dense_matrix *m, void *values)
{
	m->values = values;
	return SPARSE_OK;
}

VGPU_API int cusparseDnMatSetStridedBatch(struct dense_matrix *m, int batch, int64_t step)
{
	m->batch = batch;
	m->batch_step = step;
	return SPARSE_OK;
}

VGPU_API int cusparseDnMatGetStridedBatch(struct dense_matrix *m, int *batch, int64_t *step)
{
	*batch = m->batch;
	*step = m->batch_step;
	return SPARSE_OK;
}

VGPU_API int cusparseCreateDnVec(struct dense_vector **out, int64_t size, void *values, int type)
{
	*out = malloc(sizeof **out);
	if (!*out)
		return SPARSE_NO_MEMORY;
	**out = (struct dense_vector){size, values, type};
	return SPARSE_OK;
}

VGPU_API int cusparseDnVecGet(struct dense_vector *v, int64_t *size, void **values, int *type)
{
	*size = v->size;
	*values = v->values;
	*type = v->type;
	return SPARSE_OK;
}

VGPU_API int cusparseDnVecSetValues(struct dense_vector *v, void *values)
{
	v->values = values;
	return SPARSE_OK;
}

/* --- products ------------------------------------------------------------- */

static double touched(const struct sparse_matrix *m) { return m ? (double)m->rows + (double)m->entries : 0; }

static int product(const struct sparse_matrix *m, size_t *bytes)
{
	*bytes = vgpu_ceiling(VGPU_ESTIMATE_CUSPARSE_PRODUCT, 0, 16 * touched(m));
	return SPARSE_OK;
}

VGPU_API int cusparseSpMV_bufferSize(struct sparse *h, int op, const void *alpha, struct sparse_matrix *a, struct dense_vector *x,
	const void *beta, struct dense_vector *y, int compute_type, int algorithm, size_t *bytes)
{
	return product(a, bytes);
}

VGPU_API int cusparseSpMM_bufferSize(struct sparse *h, int op_a, int op_b, const void *alpha, struct sparse_matrix *a, struct dense_matrix *b,
	const void *beta, struct dense_matrix *c, int compute_type, int algorithm, size_t *bytes)
{
	return product(a, bytes);
}

VGPU_API int cusparseSDDMM_bufferSize(struct sparse *h, int op_a, int op_b, const void *alpha, struct dense_matrix *a, struct dense_matrix *b,
	const void *beta, struct sparse_matrix *c, int compute_type, int algorithm, size_t *bytes)
{
	return product(c, bytes);
}

VGPU_API int cusparseSparseToDense_bufferSize(struct sparse *h, struct sparse_matrix *a, struct dense_matrix *b, int algorithm, size_t *bytes)
{
	return product(a, bytes);
}

/* --- products and solutions that are sparse themselves --------------------- */

#define PLAN(Name) \
	VGPU_API int cusparse##Name##_createDescr(void **out) \
	{ \
		*out = vgpu_handle(); \
		return SPARSE_OK; \
	} \
	VGPU_API int cusparse##Name##_destroyDescr(void *d) { return SPARSE_OK; }
PLAN(SpGEMM)
PLAN(SpSV)
PLAN(SpSM)

static size_t sparse_product_bytes(const struct sparse_matrix *a, const struct sparse_matrix *b)
{
	return vgpu_estimate(VGPU_ESTIMATE_CUSPARSE_SPGEMM, 24 * (touched(a) + touched(b)));
}

/* Each stage is called twice: for its size, and to run. */
VGPU_API int cusparseSpGEMM_workEstimation(struct sparse *h, int op_a, int op_b, const void *alpha, struct sparse_matrix *a,
	struct sparse_matrix *b, const void *beta, struct sparse_matrix *c, int compute_type, int algorithm, void *plan, size_t *bytes, void *buffer)
{
	*bytes = sparse_product_bytes(a, b);
	return SPARSE_OK;
}

/* Where the product has entries depends on where the factors have: values that
 * are not known here. It is given none, so what follows is a lower bound. */
VGPU_API int cusparseSpGEMM_compute(struct sparse *h, int op_a, int op_b, const void *alpha, struct sparse_matrix *a, struct sparse_matrix *b,
	const void *beta, struct sparse_matrix *c, int compute_type, int algorithm, void *plan, size_t *bytes, void *buffer)
{
	*bytes = sparse_product_bytes(a, b);
	if (buffer && c) {
		c->entries = 0;
		vgpu_note("lower-bound cusparseSpGEMM: a product of two sparse matrices is counted without entries");
	}
	return SPARSE_OK;
}

static int solution(const struct sparse_matrix *a, size_t *bytes)
{
	*bytes = vgpu_estimate(VGPU_ESTIMATE_CUSPARSE_SOLVE, 8 * touched(a));
	return SPARSE_OK;
}

VGPU_API int cusparseSpSV_bufferSize(struct sparse *h, int op, const void *alpha, struct sparse_matrix *a, struct dense_vector *x,
	struct dense_vector *y, int compute_type, int algorithm, void *plan, size_t *bytes)
{
	return solution(a, bytes);
}

VGPU_API int cusparseSpSM_bufferSize(struct sparse *h, int op_a, int op_b, const void *alpha, struct sparse_matrix *a, struct dense_matrix *b,
	struct dense_matrix *c, int compute_type, int algorithm, void *plan, size_t *bytes)
{
	return solution(a, bytes);
}
