/* cusparselt.c: structured sparsity. Its descriptors are memory of the caller's,
 * thousands of bytes in old versions and hundreds in new ones; ours use the first. */
#include "library.h"

#include <string.h>

enum { SPARSELT_OK = 0, SPARSELT_INVALID = 3 };

struct lt_matrix {
	int64_t rows, columns, ld;
	int type, order;
};

struct lt_multiplication { struct lt_matrix result; };

struct lt_selection { int algorithm; };

struct lt_plan {
	struct lt_matrix result;
	int algorithm;
};

VGPU_API int cusparseLtInit(void *handle)
{
	memset(handle, 0, 64);
	return SPARSELT_OK;
}

VGPU_API int cusparseLtGetVersion(const void *handle, int *version)
{
	*version = vgpu_version(VGPU_VERSION_CUSPARSELT);
	return SPARSELT_OK;
}

VGPU_API int cusparseLtGetProperty(int part, int *value)
{
	int version = vgpu_version(VGPU_VERSION_CUSPARSELT);
	const int parts[] = {version / 1000, version / 100 % 10, version % 100};
	if (part < 0 || part > 2)
		return SPARSELT_INVALID;
	*value = parts[part];
	return SPARSELT_OK;
}

VGPU_API int cusparseLtDenseDescriptorInit(const void *handle, struct lt_matrix *m, int64_t rows, int64_t columns, int64_t ld,
	uint32_t alignment, int type, int order)
{
	*m = (struct lt_matrix){rows, columns, ld, type, order};
	return SPARSELT_OK;
}

VGPU_API int cusparseLtStructuredDescriptorInit(const void *handle, struct lt_matrix *m, int64_t rows, int64_t columns, int64_t ld,
	uint32_t alignment, int type, int order, int sparsity)
{
	return cusparseLtDenseDescriptorInit(handle, m, rows, columns, ld, alignment, type, order);
}

VGPU_API int cusparseLtMatmulDescriptorInit(const void *handle, struct lt_multiplication *d, int op_a, int op_b, const struct lt_matrix *a,
	const struct lt_matrix *b, const struct lt_matrix *c, const struct lt_matrix *result, int compute_type)
{
	d->result = *result;
	return SPARSELT_OK;
}

VGPU_API int cusparseLtMatmulAlgSelectionInit(const void *handle, struct lt_selection *s, const struct lt_multiplication *d, int algorithm)
{
	s->algorithm = 0;
	return SPARSELT_OK;
}

enum { CONFIG_ID = 0, CONFIG_MAX_ID = 1, SEARCH_ITERATIONS = 2, SPLIT_K = 3, SPLIT_K_BUFFERS = 5 };

VGPU_API int cusparseLtMatmulAlgSetAttribute(const void *handle, struct lt_selection *s, int attribute, const void *value, size_t bytes)
{
	if (attribute == CONFIG_ID && bytes == sizeof s->algorithm)
		memcpy(&s->algorithm, value, sizeof s->algorithm);
	return SPARSELT_OK;
}

/* There is one algorithm, number 0, that splits nothing. */
VGPU_API int cusparseLtMatmulAlgGetAttribute(const void *handle, const struct lt_selection *s, int attribute, void *value, size_t bytes)
{
	int number = attribute == CONFIG_ID ? s->algorithm : attribute == CONFIG_MAX_ID || attribute == SPLIT_K ? 1 : 0;
	if (bytes != sizeof number)
		return SPARSELT_INVALID;
	memcpy(value, &number, sizeof number);
	return SPARSELT_OK;
}

VGPU_API int cusparseLtMatmulPlanInit(const void *handle, struct lt_plan *p, const struct lt_multiplication *d, const struct lt_selection *s)
{
	*p = (struct lt_plan){d->result, s->algorithm};
	return SPARSELT_OK;
}

VGPU_API int cusparseLtMatmulGetWorkspace(const void *handle, const struct lt_plan *p, size_t *bytes)
{
	*bytes = vgpu_ceiling(VGPU_ESTIMATE_CUSPARSELT_WORK, 0, 4.0 * (double)p->result.rows * (double)p->result.columns);
	return SPARSELT_OK;
}

/* Of four neighbours two are kept, and two bits for each say which: the sizes
 * that PyTorch computes itself (9/16 of half precision, 10/16 of int8;
 * aten/src/ATen/native/sparse/cuda/cuSPARSELtOps.cpp, 2.15). */
VGPU_API int cusparseLtSpMMACompressedSize2(const void *handle, const struct lt_matrix *m, size_t *bytes, size_t *buffer_bytes)
{
	size_t elements = (size_t)m->rows * (size_t)m->columns;
	*bytes = elements * vgpu_data_type_bytes(m->type) / 2 + elements / 8;
	*buffer_bytes = 0;
	return SPARSELT_OK;
}
