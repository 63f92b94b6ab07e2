/* cudnn_backend.c: the graph interface of cuDNN: descriptors that are bags of
 * attributes, one engine for every graph, and the scratch memory of its plan.
 *
 * A descriptor is a small box around a shared body. Setting an attribute that
 * is a descriptor keeps its body; reading one puts the body into the box that
 * the caller made for it, as the library documents. So a caller may destroy its
 * own boxes at any time.
 */
#include "cudnn_descriptors.h"

#include <stdlib.h>
#include <string.h>

enum { /* cudnnBackendDescriptorType_t */
	TYPE_ENGINE = 2, TYPE_ENGINE_CONFIG = 3, TYPE_ENGINE_HEURISTIC = 4, TYPE_PLAN = 5,
	TYPE_CONVOLUTION_FORWARD = 10, TYPE_CONVOLUTION_FILTER = 11, TYPE_CONVOLUTION_DATA = 12,
	TYPE_GRAPH = 15, TYPE_TENSOR = 17, TYPE_MATMUL = 19, TYPE_SDPA_FORWARD = 41, TYPE_SDPA_BACKWARD = 43,
};
enum { /* cudnnBackendAttributeName_t */
	HEURISTIC_GRAPH = 201, HEURISTIC_RESULTS = 202,
	CONFIG_ENGINE = 300, CONFIG_INTERMEDIATES = 301, CONFIG_KNOBS = 302, CONFIG_WORKSPACE = 303, CONFIG_SHARED_MEMORY = 304,
	PLAN_CONFIG = 401, PLAN_WORKSPACE = 402, PLAN_COMPUTED = 403, PLAN_RUN_ONLY = 404, PLAN_JSON = 405,
	GRAPH_OPERATIONS = 801, GRAPH_ENGINE_COUNT = 802,
	TENSOR_TYPE = 901, TENSOR_DIMENSIONS = 902, TENSOR_VIRTUAL = 907,
	ENGINE_GRAPH = 1300, ENGINE_INDEX = 1301, ENGINE_KNOBS = 1302, ENGINE_NUMERICS = 1303, ENGINE_LAYOUTS = 1304,
	ENGINE_BEHAVIOUR = 1305, ENGINE_SM_TARGET = 1306,
	KERNEL_CACHED = 2401, DEVICE_JSON = 2702,
};
enum { /* cudnnBackendAttributeType_t */
	VALUE_BOOLEAN = 2, VALUE_INT64 = 3, VALUE_DOUBLE = 5, VALUE_DESCRIPTOR = 15, VALUE_INT32 = 23, VALUE_CHAR = 24, VALUE_FRACTION = 26,
};

struct attribute {
	int name, type;
	int64_t count;
	void *values; /* of a descriptor attribute: bodies */
};

struct body {
	int references; /* atomic: bodies are shared between threads, boxes are not */
	int type;
	int attributes;
	struct attribute *attribute;
};

struct descriptor { struct body *body; };

static size_t value_bytes(int type)
{
	switch (type) {
	case VALUE_BOOLEAN:
	case VALUE_CHAR:
		return 1;
	case 0: /* handle */
	case VALUE_INT64:
	case VALUE_DOUBLE:
	case 6: /* pointer */
	case VALUE_DESCRIPTOR:
		return 8;
	case VALUE_FRACTION:
		return 16;
	}
	return 4; /* float and the enumerations */
}

static struct body *new_body(int type)
{
	struct body *b = calloc(1, sizeof *b);
	if (b) {
		b->references = 1;
		b->type = type;
	}
	return b;
}

static void hold(struct body *b) { __atomic_add_fetch(&b->references, 1, __ATOMIC_RELAXED); }
static void release(struct body *b);

static void clear(struct attribute *a)
{
	if (a->type == VALUE_DESCRIPTOR)
		for (int64_t i = 0; i < a->count; i++)
			release(((struct body **)a->values)[i]);
	free(a->values);
	a->values = NULL;
	a->count = 0;
}

static void release(struct body *b)
{
	if (!b || __atomic_sub_fetch(&b->references, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	for (int i = 0; i < b->attributes; i++)
		clear(&b->attribute[i]);
	free(b->attribute);
	free(b);
}

static struct attribute *find(const struct body *b, int name)
{
	for (int i = 0; b && i < b->attributes; i++)
		if (b->attribute[i].name == name)
			return &b->attribute[i];
	return NULL;
}

static struct attribute *find_or_add(struct body *b, int name)
{
	struct attribute *a = find(b, name), *more;
	if (a)
		return a;
	more = realloc(b->attribute, (size_t)(b->attributes + 1) * sizeof *more);
	if (!more)
		return NULL;
	b->attribute = more;
	a = &more[b->attributes++];
	*a = (struct attribute){.name = name};
	return a;
}

/* set takes over the values: of a descriptor attribute, references to bodies. */
static int set(struct body *b, int name, int type, int64_t count, void *values)
{
	struct attribute *a = find_or_add(b, name);
	if (!a) {
		free(values);
		return CUDNN_NO_MEMORY;
	}
	clear(a);
	a->type = type;
	a->count = count;
	a->values = values;
	return CUDNN_OK;
}

static int set_body(struct body *b, int name, struct body *value)
{
	struct body **values = malloc(sizeof *values);
	if (!values)
		return CUDNN_NO_MEMORY;
	*values = value;
	if (value)
		hold(value);
	return set(b, name, VALUE_DESCRIPTOR, 1, values);
}

static struct body *body_of(const struct body *b, int name)
{
	const struct attribute *a = find(b, name);
	return a && a->type == VALUE_DESCRIPTOR && a->count > 0 ? ((struct body **)a->values)[0] : NULL;
}

VGPU_API int cudnnBackendCreateDescriptor(int type, struct descriptor **out)
{
	struct descriptor *d = malloc(sizeof *d);
	if (!d)
		return CUDNN_NO_MEMORY;
	d->body = new_body(type);
	if (!d->body) {
		free(d);
		return CUDNN_NO_MEMORY;
	}
	*out = d;
	return CUDNN_OK;
}

VGPU_API int cudnnBackendDestroyDescriptor(struct descriptor *d)
{
	if (!d)
		return CUDNN_OK;
	release(d->body);
	free(d);
	return CUDNN_OK;
}

VGPU_API int cudnnBackendSetAttribute(struct descriptor *d, int name, int type, int64_t count, const void *values)
{
	size_t bytes = (size_t)count * value_bytes(type);
	void *copy;
	if (!d || count < 0 || (count > 0 && !values))
		return CUDNN_BAD_PARAM;
	copy = malloc(bytes ? bytes : 1);
	if (!copy)
		return CUDNN_NO_MEMORY;
	if (count > 0)
		memcpy(copy, values, bytes);
	for (int64_t i = 0; type == VALUE_DESCRIPTOR && i < count; i++) {
		struct descriptor *value = ((struct descriptor *const *)values)[i];
		((struct body **)copy)[i] = value ? value->body : NULL;
		if (value)
			hold(value->body);
	}
	return set(d->body, name, type, count, copy);
}

/* --- the one engine ------------------------------------------------------ */

/* The graph that an engine, a configuration, a heuristic or a plan belongs to. */
static const struct body *graph_of(const struct body *b)
{
	for (int depth = 0; b && depth < 4; depth++) {
		switch (b->type) {
		case TYPE_GRAPH: return b;
		case TYPE_PLAN: b = body_of(b, PLAN_CONFIG); break;
		case TYPE_ENGINE_CONFIG: b = body_of(b, CONFIG_ENGINE); break;
		case TYPE_ENGINE: b = body_of(b, ENGINE_GRAPH); break;
		case TYPE_ENGINE_HEURISTIC: b = body_of(b, HEURISTIC_GRAPH); break;
		default: return NULL;
		}
	}
	return NULL;
}

/* Bytes of a tensor, and in *largest those of the largest one seen, taken in
 * four bytes an element, the way attention accumulates. */
static double tensor_bytes(const struct body *t, double *largest)
{
	const struct attribute *dims = find(t, TENSOR_DIMENSIONS), *type = find(t, TENSOR_TYPE), *is_virtual = find(t, TENSOR_VIRTUAL);
	double elements = 1;
	if (!dims || dims->type != VALUE_INT64 || (is_virtual && is_virtual->count && *(const unsigned char *)is_virtual->values))
		return 0;
	for (int64_t i = 0; i < dims->count; i++)
		elements *= (double)((const int64_t *)dims->values)[i];
	if (elements * 4 > *largest)
		*largest = elements * 4;
	return elements * (double)cudnn_type_bytes(type && type->count ? *(const int *)type->values : 0);
}

/* What a graph computes, by the operations in it, and its tensors' bytes. */
struct graph_facts { bool convolution, matmul; double bytes, largest; };

static struct graph_facts examine(const struct body *graph)
{
	struct graph_facts f = {0};
	const struct attribute *operations = find(graph, GRAPH_OPERATIONS);
	for (int64_t i = 0; operations && operations->type == VALUE_DESCRIPTOR && i < operations->count; i++) {
		const struct body *operation = ((struct body **)operations->values)[i];
		if (!operation)
			continue;
		f.convolution |= operation->type >= TYPE_CONVOLUTION_FORWARD && operation->type <= TYPE_CONVOLUTION_DATA;
		f.matmul |= operation->type == TYPE_MATMUL || operation->type == TYPE_SDPA_FORWARD || operation->type == TYPE_SDPA_BACKWARD;
		for (int k = 0; k < operation->attributes; k++) {
			const struct attribute *a = &operation->attribute[k];
			if (a->type == VALUE_DESCRIPTOR && a->count == 1 && ((struct body **)a->values)[0])
				f.bytes += tensor_bytes(((struct body **)a->values)[0], &f.largest);
		}
	}
	return f;
}

static int64_t workspace(const struct body *b)
{
	struct graph_facts f = examine(graph_of(b));
	size_t given = vgpu_config()->cudnn_workspace_bytes;
	if (f.convolution)
		return (int64_t)vgpu_ceiling(VGPU_ESTIMATE_CUDNN_CONVOLUTION, given, f.bytes);
	if (f.matmul)
		return (int64_t)vgpu_ceiling(VGPU_ESTIMATE_CUDNN_ATTENTION, given, f.largest * 1.25);
	return (int64_t)vgpu_ceiling(VGPU_ESTIMATE_CUDNN_OTHER_PLAN, given, f.bytes);
}

/* A configuration of the one engine for a heuristic's graph. */
static struct body *configuration(const struct body *heuristic)
{
	struct body *config = new_body(TYPE_ENGINE_CONFIG), *engine = new_body(TYPE_ENGINE);
	int64_t *index = calloc(1, sizeof *index);
	bool ok = config && engine && index;
	ok = ok && !set(engine, ENGINE_INDEX, VALUE_INT64, 1, index);
	ok = ok && !set_body(engine, ENGINE_GRAPH, body_of(heuristic, HEURISTIC_GRAPH));
	ok = ok && !set_body(config, CONFIG_ENGINE, engine);
	release(engine);
	if (ok)
		return config;
	release(config);
	return NULL;
}

/* --- reading ------------------------------------------------------------- */

static int give_number(int type, int64_t wanted, int64_t *count, void *values, int64_t number)
{
	if (count)
		*count = 1;
	if (wanted < 1 || !values)
		return CUDNN_OK;
	if (type == VALUE_INT64)
		*(int64_t *)values = number;
	else if (value_bytes(type) == 4)
		*(int32_t *)values = (int32_t)number;
	else if (value_bytes(type) == 1)
		*(unsigned char *)values = number != 0;
	else
		return CUDNN_BAD_PARAM;
	return CUDNN_OK;
}

static int give_none(int64_t *count)
{
	if (count)
		*count = 0;
	return CUDNN_OK;
}

static int give_text(int64_t wanted, int64_t *count, void *values, const char *text)
{
	int64_t n = (int64_t)strlen(text) + 1;
	if (count)
		*count = n;
	if (values && wanted > 0)
		memcpy(values, text, (size_t)(wanted < n ? wanted : n));
	return CUDNN_OK;
}

static void put_into_box(struct descriptor *box, struct body *b)
{
	if (!box)
		return;
	if (b)
		hold(b);
	release(box->body);
	box->body = b ? b : new_body(0);
}

static int give_stored(const struct attribute *a, int64_t wanted, int64_t *count, void *values)
{
	int64_t n = wanted < a->count ? wanted : a->count;
	if (count)
		*count = a->count;
	if (!values || n <= 0)
		return CUDNN_OK;
	if (a->type != VALUE_DESCRIPTOR) {
		memcpy(values, a->values, (size_t)n * value_bytes(a->type));
		return CUDNN_OK;
	}
	for (int64_t i = 0; i < n; i++)
		put_into_box(((struct descriptor **)values)[i], ((struct body **)a->values)[i]);
	return CUDNN_OK;
}

static int give_configurations(const struct body *heuristic, int64_t wanted, int64_t *count, void *values)
{
	struct body *config;
	if (count)
		*count = 1;
	if (wanted < 1 || !values)
		return CUDNN_OK;
	config = configuration(heuristic);
	if (!config)
		return CUDNN_NO_MEMORY;
	put_into_box(((struct descriptor **)values)[0], config);
	release(config);
	return CUDNN_OK;
}

/* Attributes that the library computes. Others that were never set are refused. */
static int give_computed(const struct body *b, int name, int type, int64_t wanted, int64_t *count, void *values)
{
	switch (name) {
	case HEURISTIC_RESULTS:
		return give_configurations(b, wanted, count, values);
	case CONFIG_WORKSPACE:
	case PLAN_WORKSPACE:
		return give_number(type, wanted, count, values, workspace(b));
	case GRAPH_ENGINE_COUNT:
		return give_number(type, wanted, count, values, 1);
	case CONFIG_SHARED_MEMORY:
	case ENGINE_INDEX:
	case KERNEL_CACHED:
		return give_number(type, wanted, count, values, 0);
	case ENGINE_SM_TARGET:
		return give_number(type, wanted, count, values, vgpu_config()->card.multiprocessors);
	case CONFIG_INTERMEDIATES:
	case CONFIG_KNOBS:
	case ENGINE_KNOBS:
	case ENGINE_NUMERICS:
	case ENGINE_LAYOUTS:
	case ENGINE_BEHAVIOUR:
	case PLAN_COMPUTED:
	case PLAN_RUN_ONLY:
		return give_none(count);
	case PLAN_JSON:
	case DEVICE_JSON:
		return give_text(wanted, count, values, "{}");
	}
	return vgpu_refuse(VGPU_CUDNN, "cudnnBackendGetAttribute");
}

VGPU_API int cudnnBackendGetAttribute(struct descriptor *d, int name, int type, int64_t wanted, int64_t *count, void *values)
{
	const struct attribute *a;
	if (!d)
		return CUDNN_BAD_PARAM;
	a = find(d->body, name);
	if (!a)
		return give_computed(d->body, name, type, wanted, count, values);
	return a->type == type ? give_stored(a, wanted, count, values) : CUDNN_BAD_PARAM;
}
