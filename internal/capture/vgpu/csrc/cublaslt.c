/* cublaslt.c: descriptors that remember their attributes, and a heuristic that
 * always finds one algorithm without scratch memory.
 *
 * PyTorch allocates cuBLASLt's workspace itself, before it asks the heuristic, so
 * the size that the algorithm would use does not change what is allocated.
 */
#include "library.h"

#include <stdlib.h>
#include <string.h>

enum { LT_OK = 0, LT_NO_MEMORY = 3, LT_INVALID = 7, LT_UNSUPPORTED = 15 };

/* Attributes are numbered from 0; the largest number in use is 41 (13.x), and no
 * value has more than 16 bytes. */
#define LT_ATTRIBUTES 64
#define LT_VALUE_BYTES 16

struct lt_descriptor {
	unsigned char bytes[LT_ATTRIBUTES]; /* size of each value, 0 when unset */
	unsigned char value[LT_ATTRIBUTES][LT_VALUE_BYTES];
};

static int put(struct lt_descriptor *d, int attribute, const void *value, size_t bytes)
{
	if (!d || !value || attribute < 0 || attribute >= LT_ATTRIBUTES || bytes == 0 || bytes > LT_VALUE_BYTES)
		return LT_INVALID;
	memcpy(d->value[attribute], value, bytes);
	d->bytes[attribute] = (unsigned char)bytes;
	return LT_OK;
}

/* An attribute that was never set reads as zero, which is the documented default
 * of all of them but those that the constructors below set. */
static int get(const struct lt_descriptor *d, int attribute, void *value, size_t bytes, size_t *written)
{
	size_t known;
	if (!d || attribute < 0 || attribute >= LT_ATTRIBUTES)
		return LT_INVALID;
	known = d->bytes[attribute];
	if (written)
		*written = known ? known : bytes;
	if (!value || bytes == 0)
		return written ? LT_OK : LT_INVALID;
	if (known > bytes)
		return LT_INVALID;
	memset(value, 0, bytes);
	memcpy(value, d->value[attribute], known);
	return LT_OK;
}

static int create(struct lt_descriptor **out)
{
	*out = calloc(1, sizeof **out);
	return *out ? LT_OK : LT_NO_MEMORY;
}

#define ACCESSORS(Name) \
	VGPU_API int cublasLt##Name##SetAttribute(struct lt_descriptor *d, int attribute, const void *value, size_t bytes) \
	{ \
		return put(d, attribute, value, bytes); \
	} \
	VGPU_API int cublasLt##Name##GetAttribute(struct lt_descriptor *d, int attribute, void *value, size_t bytes, size_t *written) \
	{ \
		return get(d, attribute, value, bytes, written); \
	} \
	VGPU_API int cublasLt##Name##Destroy(struct lt_descriptor *d) \
	{ \
		free(d); \
		return LT_OK; \
	}
ACCESSORS(MatmulDesc)
ACCESSORS(MatrixLayout)
ACCESSORS(MatmulPreference)
ACCESSORS(MatrixTransformDesc)

enum { DESC_COMPUTE_TYPE = 0, DESC_SCALE_TYPE = 1, DESC_EPILOGUE = 7 };
enum { LAYOUT_TYPE = 0, LAYOUT_ROWS = 2, LAYOUT_COLUMNS = 3, LAYOUT_LD = 4, LAYOUT_BATCH_COUNT = 5 };

VGPU_API int cublasLtMatmulDescCreate(struct lt_descriptor **out, int compute_type, int scale_type)
{
	int default_epilogue = 1; /* CUBLASLT_EPILOGUE_DEFAULT */
	int rc = create(out);
	if (rc)
		return rc;
	put(*out, DESC_COMPUTE_TYPE, &compute_type, sizeof compute_type);
	put(*out, DESC_SCALE_TYPE, &scale_type, sizeof scale_type);
	put(*out, DESC_EPILOGUE, &default_epilogue, sizeof default_epilogue);
	return LT_OK;
}

VGPU_API int cublasLtMatrixLayoutCreate(struct lt_descriptor **out, int type, uint64_t rows, uint64_t columns, int64_t ld)
{
	int one = 1;
	int rc = create(out);
	if (rc)
		return rc;
	put(*out, LAYOUT_TYPE, &type, sizeof type);
	put(*out, LAYOUT_ROWS, &rows, sizeof rows);
	put(*out, LAYOUT_COLUMNS, &columns, sizeof columns);
	put(*out, LAYOUT_LD, &ld, sizeof ld);
	put(*out, LAYOUT_BATCH_COUNT, &one, sizeof one);
	return LT_OK;
}

VGPU_API int cublasLtMatmulPreferenceCreate(struct lt_descriptor **out) { return create(out); }

VGPU_API int cublasLtMatrixTransformDescCreate(struct lt_descriptor **out, int scale_type)
{
	int rc = create(out);
	return rc ? rc : put(*out, 0, &scale_type, sizeof scale_type);
}

VGPU_API int cublasLtCreate(void **handle)
{
	*handle = vgpu_handle();
	return LT_OK;
}

VGPU_API int cublasLtDestroy(void *handle) { return LT_OK; }
VGPU_API size_t cublasLtGetVersion(void) { return (size_t)vgpu_version(VGPU_VERSION_CUBLAS); }
VGPU_API size_t cublasLtGetCudartVersion(void) { return vgpu_cuda_version(); }

/* The opaque algorithm, 64 bytes in every version: our one algorithm keeps its
 * configuration there, one word for each numbered attribute. */
struct lt_algorithm { uint32_t config[16]; };
_Static_assert(sizeof(struct lt_algorithm) == 64, "cublasLtMatmulAlgo_t has eight words of 64 bits");

struct lt_result {
	struct lt_algorithm algorithm;
	size_t workspace_bytes;
	int status;
	float waves;
	int reserved[4];
};
_Static_assert(sizeof(struct lt_result) == 96, "cublasLtMatmulHeuristicResult_t");

static void found(struct lt_result *r)
{
	memset(r, 0, sizeof *r);
	r->waves = 1;
}

VGPU_API int cublasLtMatmulAlgoGetHeuristic(void *handle, void *operation, void *a, void *b, void *c, void *d, void *preference,
	int wanted, struct lt_result *results, int *count)
{
	if (wanted < 1 || !results)
		return LT_INVALID;
	found(&results[0]);
	for (int i = 1; i < wanted; i++) {
		found(&results[i]);
		results[i].status = LT_UNSUPPORTED;
	}
	*count = 1;
	return LT_OK;
}

VGPU_API int cublasLtMatmulAlgoCheck(void *handle, void *operation, void *a, void *b, void *c, void *d,
	const struct lt_algorithm *algorithm, struct lt_result *result)
{
	found(result);
	if (algorithm)
		result->algorithm = *algorithm;
	return LT_OK;
}

VGPU_API int cublasLtMatmulAlgoGetIds(void *handle, int compute_type, int scale_type, int a_type, int b_type, int c_type,
	int d_type, int wanted, int *ids, int *count)
{
	*count = wanted > 0;
	if (wanted > 0)
		ids[0] = 0;
	return LT_OK;
}

VGPU_API int cublasLtMatmulAlgoInit(void *handle, int compute_type, int scale_type, int a_type, int b_type, int c_type,
	int d_type, int id, struct lt_algorithm *algorithm)
{
	memset(algorithm, 0, sizeof *algorithm);
	algorithm->config[0] = (uint32_t)id;
	return LT_OK;
}

VGPU_API int cublasLtMatmulAlgoConfigSetAttribute(struct lt_algorithm *algorithm, int attribute, const void *value, size_t bytes)
{
	if (attribute < 0 || attribute >= 16 || bytes == 0 || bytes > sizeof *algorithm->config)
		return LT_INVALID;
	algorithm->config[attribute] = 0;
	memcpy(&algorithm->config[attribute], value, bytes);
	return LT_OK;
}

VGPU_API int cublasLtMatmulAlgoConfigGetAttribute(const struct lt_algorithm *algorithm, int attribute, void *value, size_t bytes,
	size_t *written)
{
	if (attribute < 0 || attribute >= 16)
		return LT_INVALID;
	if (bytes > sizeof *algorithm->config)
		bytes = sizeof *algorithm->config;
	if (written)
		*written = bytes ? bytes : sizeof *algorithm->config;
	if (value)
		memcpy(value, &algorithm->config[attribute], bytes);
	return LT_OK;
}
