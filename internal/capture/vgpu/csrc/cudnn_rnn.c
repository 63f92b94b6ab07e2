/* cudnn_rnn.c: sizes and the weight layout of cuDNN's recurrent networks.
 *
 * The weight space is exact: for each layer and direction ("pseudo layer") first
 * all matrices of the whole network, then all biases, gate by gate, which is what
 * PyTorch checks when it takes its parameters as views of one buffer. Work and
 * reserve space are estimates (estimates.h says from which records).
 */
#include "cudnn_descriptors.h"

#include <stdlib.h>

enum { RNN_RELU = 0, RNN_TANH = 1, RNN_LSTM = 2, RNN_GRU = 3 };
enum { BIAS_NONE = 0, BIAS_INPUT = 1, BIAS_BOTH = 2, BIAS_RECURRENT = 3 };
enum { INPUT_SKIPPED = 1 };

struct cudnn_rnn {
	int mode, bias, bidirectional, input_mode, type;
	int input, hidden, projected, layers; /* sizes; projected is 0 without a projection */
	struct cudnn_dropout *dropout;
};

struct cudnn_rnn_data {
	int type, layout, steps, batch, vector;
	double tokens; /* sum of the sequence lengths */
};

#define DESCRIPTOR(Name, struct_type) \
	VGPU_API int cudnnCreate##Name(struct_type **out) \
	{ \
		*out = calloc(1, sizeof **out); \
		return *out ? CUDNN_OK : CUDNN_NO_MEMORY; \
	} \
	VGPU_API int cudnnDestroy##Name(struct_type *d) \
	{ \
		free(d); \
		return CUDNN_OK; \
	}
DESCRIPTOR(RNNDescriptor, struct cudnn_rnn)
DESCRIPTOR(RNNDataDescriptor, struct cudnn_rnn_data)

VGPU_API int cudnnSetRNNDescriptor_v8(struct cudnn_rnn *r, int algorithm, int mode, int bias, int direction, int input_mode, int type,
	int math_type, int math_mode, int32_t input, int32_t hidden, int32_t projected, int32_t layers, struct cudnn_dropout *dropout,
	uint32_t flags)
{
	if (!r || mode < RNN_RELU || mode > RNN_GRU || input < 1 || hidden < 1 || layers < 1)
		return CUDNN_BAD_PARAM;
	/* Without a projection version 8 names the hidden size as the projected one. */
	*r = (struct cudnn_rnn){mode, bias, direction == 1, input_mode, type, input, hidden, projected == hidden ? 0 : projected, layers,
		dropout};
	return CUDNN_OK;
}

/* The interface of version 7, which PyTorch 2.0 to 2.3 uses: the sizes of the
 * input come later, with each call. */
VGPU_API int cudnnSetRNNDescriptor_v6(struct cudnn *handle, struct cudnn_rnn *r, int hidden, int layers, struct cudnn_dropout *dropout,
	int input_mode, int direction, int mode, int algorithm, int math_type)
{
	if (!r || mode < RNN_RELU || mode > RNN_GRU || hidden < 1 || layers < 1)
		return CUDNN_BAD_PARAM;
	*r = (struct cudnn_rnn){mode, BIAS_BOTH, direction == 1, input_mode, math_type, hidden, hidden, 0, layers, dropout};
	return CUDNN_OK;
}

VGPU_API int cudnnSetRNNProjectionLayers(struct cudnn *handle, struct cudnn_rnn *r, int projected, int output_projected)
{
	if (!r)
		return CUDNN_BAD_PARAM;
	r->projected = projected == r->hidden ? 0 : projected;
	return CUDNN_OK;
}

VGPU_API int cudnnSetRNNDataDescriptor(struct cudnn_rnn_data *d, int type, int layout, int steps, int batch, int vector,
	const int lengths[], void *padding)
{
	if (!d || steps < 1 || batch < 1 || vector < 1)
		return CUDNN_BAD_PARAM;
	*d = (struct cudnn_rnn_data){type, layout, steps, batch, vector, 0};
	for (int i = 0; i < batch; i++)
		d->tokens += lengths ? lengths[i] : steps;
	return CUDNN_OK;
}

static int gates(const struct cudnn_rnn *r) { return r->mode == RNN_LSTM ? 4 : r->mode == RNN_GRU ? 3 : 1; }
static int directions(const struct cudnn_rnn *r) { return r->bidirectional ? 2 : 1; }
static int output(const struct cudnn_rnn *r) { return r->projected ? r->projected : r->hidden; }

/* Columns of the matrix that multiplies a pseudo layer's input. */
static size_t columns(const struct cudnn_rnn *r, int pseudo_layer)
{
	if (pseudo_layer >= directions(r))
		return (size_t)output(r) * (size_t)directions(r);
	return r->input_mode == INPUT_SKIPPED ? 0 : (size_t)r->input;
}

/* Elements of all matrices of one pseudo layer. */
static size_t matrices(const struct cudnn_rnn *r, int pseudo_layer)
{
	size_t hidden = (size_t)r->hidden;
	size_t gate = hidden * (columns(r, pseudo_layer) + (size_t)output(r));
	return gate * (size_t)gates(r) + (r->projected ? hidden * (size_t)r->projected : 0);
}

/* Biases of one gate: one vector, two, or none. */
static size_t biases(const struct cudnn_rnn *r) { return r->bias == BIAS_NONE ? 0 : r->bias == BIAS_BOTH ? 2 : 1; }

static size_t all_matrices(const struct cudnn_rnn *r)
{
	size_t n = 0;
	for (int i = 0; i < r->layers * directions(r); i++)
		n += matrices(r, i);
	return n;
}

static size_t weight_elements(const struct cudnn_rnn *r)
{
	size_t vectors = biases(r) * (size_t)gates(r) * (size_t)r->layers * (size_t)directions(r);
	return all_matrices(r) + vectors * (size_t)r->hidden;
}

/* A matrix or a vector within the weight space; rows is 0 when it is not there. */
struct part { size_t offset; size_t rows, columns; };

static struct part matrix_part(const struct cudnn_rnn *r, int pseudo_layer, int id)
{
	size_t hidden = (size_t)r->hidden, in = columns(r, pseudo_layer), offset = 0;
	int n = gates(r);
	for (int i = 0; i < pseudo_layer; i++)
		offset += matrices(r, i);
	if (id < n)
		return (struct part){offset + (size_t)id * hidden * in, in ? hidden : 0, in};
	offset += (size_t)n * hidden * in;
	if (id < 2 * n)
		return (struct part){offset + (size_t)(id - n) * hidden * (size_t)output(r), hidden, (size_t)output(r)};
	offset += (size_t)n * hidden * (size_t)output(r);
	return (struct part){offset, (size_t)r->projected, hidden};
}

static struct part bias_part(const struct cudnn_rnn *r, int pseudo_layer, int id)
{
	size_t hidden = (size_t)r->hidden;
	size_t vectors = biases(r) * (size_t)gates(r);
	bool recurrent = id >= gates(r);
	size_t at = (size_t)id;
	if (r->bias == BIAS_NONE || id >= 2 * gates(r) || (recurrent && r->bias == BIAS_INPUT) || (!recurrent && r->bias == BIAS_RECURRENT))
		return (struct part){0, 0, 0};
	if (r->bias == BIAS_RECURRENT)
		at -= (size_t)gates(r);
	return (struct part){all_matrices(r) + ((size_t)pseudo_layer * vectors + at) * hidden, hidden, 1};
}

static bool known_part(const struct cudnn_rnn *r, int pseudo_layer, int id)
{
	return r && pseudo_layer >= 0 && pseudo_layer < r->layers * directions(r) && id >= 0 && id <= 2 * gates(r);
}

/* A part that is not there has the null address and no dimensions. */
static void describe(const struct cudnn_rnn *r, struct part p, const void *space, struct cudnn_tensor *t, void **address)
{
	if (address)
		*address = p.rows ? (char *)space + p.offset * cudnn_type_bytes(r->type) : NULL;
	if (!t)
		return;
	*t = (struct cudnn_tensor){.type = r->type};
	if (!p.rows)
		return;
	t->dims = 3;
	t->dim[0] = 1;
	t->dim[1] = (int)p.rows;
	t->dim[2] = (int)p.columns;
	t->stride[0] = (int)(p.rows * p.columns);
	t->stride[1] = (int)p.columns;
	t->stride[2] = 1;
}

VGPU_API int cudnnGetRNNWeightSpaceSize(struct cudnn *handle, struct cudnn_rnn *r, size_t *bytes)
{
	if (!r || !bytes)
		return CUDNN_BAD_PARAM;
	*bytes = weight_elements(r) * cudnn_type_bytes(r->type);
	return CUDNN_OK;
}

VGPU_API int cudnnGetRNNWeightParams(struct cudnn *handle, struct cudnn_rnn *r, int32_t pseudo_layer, size_t space_bytes,
	const void *space, int32_t id, struct cudnn_tensor *matrix, void **matrix_address, struct cudnn_tensor *bias, void **bias_address)
{
	if (!known_part(r, pseudo_layer, id))
		return CUDNN_BAD_PARAM;
	describe(r, matrix_part(r, pseudo_layer, id), space, matrix, matrix_address);
	describe(r, bias_part(r, pseudo_layer, id), space, bias, bias_address);
	return CUDNN_OK;
}

/* In the older interface the input's width stands in its tensor, batch x width,
 * and the type of the weights in the call. */
static struct cudnn_rnn with_input(const struct cudnn_rnn *r, const struct cudnn_tensor *x, int type)
{
	struct cudnn_rnn full = *r;
	if (x && x->dims > 1)
		full.input = x->dim[1];
	full.type = type;
	return full;
}

VGPU_API int cudnnGetRNNParamsSize(struct cudnn *handle, struct cudnn_rnn *r, struct cudnn_tensor *x, size_t *bytes, int type)
{
	struct cudnn_rnn full;
	if (!r || !x || !bytes)
		return CUDNN_BAD_PARAM;
	full = with_input(r, x, type);
	*bytes = weight_elements(&full) * cudnn_type_bytes(type);
	return CUDNN_OK;
}

VGPU_API int cudnnGetRNNLinLayerMatrixParams(struct cudnn *handle, struct cudnn_rnn *r, int pseudo_layer, struct cudnn_tensor *x,
	struct cudnn_tensor *weights, const void *space, int id, struct cudnn_tensor *matrix, void **address)
{
	struct cudnn_rnn full;
	if (!known_part(r, pseudo_layer, id) || !x || !weights)
		return CUDNN_BAD_PARAM;
	full = with_input(r, x, weights->type);
	describe(&full, matrix_part(&full, pseudo_layer, id), space, matrix, address);
	return CUDNN_OK;
}

VGPU_API int cudnnGetRNNLinLayerBiasParams(struct cudnn *handle, struct cudnn_rnn *r, int pseudo_layer, struct cudnn_tensor *x,
	struct cudnn_tensor *weights, const void *space, int id, struct cudnn_tensor *bias, void **address)
{
	struct cudnn_rnn full;
	if (!known_part(r, pseudo_layer, id) || !x || !weights)
		return CUDNN_BAD_PARAM;
	full = with_input(r, x, weights->type);
	describe(&full, bias_part(&full, pseudo_layer, id), space, bias, address);
	return CUDNN_OK;
}

/* Both rules hold to the byte in the records of estimates.h (the work space of
 * two directions to 5 %). A plain layer is not in the records: it keeps its one
 * pre-activation, as the others keep theirs. */
static size_t reserve_bytes(const struct cudnn_rnn *r, double tokens, int type)
{
	double kept = r->mode == RNN_LSTM ? 5 : r->mode == RNN_GRU ? 6 : 1;
	double vectors = directions(r) * (kept * r->layers + (r->layers - 1));
	return vgpu_estimate(VGPU_ESTIMATE_CUDNN_RNN_RESERVE, tokens * r->hidden * vectors * (double)cudnn_type_bytes(type));
}

static size_t work_bytes(const struct cudnn_rnn *r, double tokens, double batch, int type)
{
	double states = (r->mode == RNN_LSTM ? 11 : 8) * batch * r->hidden * r->layers * directions(r);
	double crossing = r->bidirectional ? 4 * tokens * r->hidden : 0;
	return vgpu_estimate(VGPU_ESTIMATE_CUDNN_RNN_WORK, ((double)all_matrices(r) + states + crossing) * (double)cudnn_type_bytes(type));
}

VGPU_API int cudnnGetRNNTempSpaceSizes(struct cudnn *handle, struct cudnn_rnn *r, int training, struct cudnn_rnn_data *x, size_t *work,
	size_t *reserve)
{
	if (!r || !x)
		return CUDNN_BAD_PARAM;
	if (work)
		*work = work_bytes(r, x->tokens, x->batch, x->type);
	if (reserve)
		*reserve = training ? reserve_bytes(r, x->tokens, x->type) : 0;
	return CUDNN_OK;
}

/* The older interface describes every step of a batch by its own tensor. */
static double step_tokens(struct cudnn_tensor *const *x, int steps)
{
	double tokens = 0;
	for (int i = 0; i < steps; i++)
		tokens += x[i] ? x[i]->dim[0] : 0;
	return tokens;
}

VGPU_API int cudnnGetRNNWorkspaceSize(struct cudnn *handle, struct cudnn_rnn *r, int steps, struct cudnn_tensor *const *x, size_t *bytes)
{
	struct cudnn_rnn full;
	if (!r || !x || steps < 1 || !x[0])
		return CUDNN_BAD_PARAM;
	full = with_input(r, x[0], x[0]->type);
	*bytes = work_bytes(&full, step_tokens(x, steps), x[0]->dim[0], full.type);
	return CUDNN_OK;
}

VGPU_API int cudnnGetRNNTrainingReserveSize(struct cudnn *handle, struct cudnn_rnn *r, int steps, struct cudnn_tensor *const *x,
	size_t *bytes)
{
	struct cudnn_rnn full;
	if (!r || !x || steps < 1 || !x[0])
		return CUDNN_BAD_PARAM;
	full = with_input(r, x[0], x[0]->type);
	*bytes = reserve_bytes(&full, step_tokens(x, steps), full.type);
	return CUDNN_OK;
}
