/* cudnn_convolution.c: the older convolution calls, which PyTorch takes when its
 * newer path is switched off, and the sizes of batch normalisation and CTC loss. */
#include "cudnn_descriptors.h"

#include <stdlib.h>
#include <string.h>

/* cudnnConvolution{Fwd,BwdData,BwdFilter}AlgoPerf_t, the same in versions 8 and 9. */
struct cudnn_performance {
	int algorithm;
	int status;
	float milliseconds;
	size_t memory;
	int deterministic;
	int math_type;
	int reserved[3];
};
_Static_assert(sizeof(struct cudnn_performance) == 48, "layout of cudnnConvolution*AlgoPerf_t");

/* The algorithm called 1 of each direction is deterministic and needs no
 * transform; its scratch memory is that of every plan. */
enum { ALGORITHM = 1 };

static size_t work_bytes(const struct cudnn_tensor *a, const struct cudnn_tensor *b, const struct cudnn_tensor *c)
{
	double all = cudnn_elements(a) * (double)cudnn_type_bytes(a ? a->type : 0) +
		cudnn_elements(b) * (double)cudnn_type_bytes(b ? b->type : 0) + cudnn_elements(c) * (double)cudnn_type_bytes(c ? c->type : 0);
	return vgpu_ceiling(VGPU_ESTIMATE_CUDNN_CONVOLUTION, vgpu_config()->cudnn_workspace_bytes, all);
}

static int choose(size_t memory, int wanted, int *count, struct cudnn_performance *results)
{
	if (wanted < 1 || !count || !results)
		return CUDNN_BAD_PARAM;
	memset(results, 0, sizeof *results);
	results->algorithm = ALGORITHM;
	results->milliseconds = 1;
	results->memory = memory;
	results->deterministic = 1;
	*count = 1;
	return CUDNN_OK;
}

/* A direction of the convolution names its three tensors in its own order. */
#define DIRECTION(Name) \
	VGPU_API int cudnnGetConvolution##Name##WorkspaceSize(struct cudnn *handle, struct cudnn_tensor *a, struct cudnn_tensor *b, void *convolution, struct cudnn_tensor *c, \
		int algorithm, size_t *bytes) \
	{ \
		if (!bytes) \
			return CUDNN_BAD_PARAM; \
		*bytes = work_bytes(a, b, c); \
		return CUDNN_OK; \
	} \
	VGPU_API int cudnnGetConvolution##Name##Algorithm_v7(struct cudnn *handle, struct cudnn_tensor *a, struct cudnn_tensor *b, void *convolution, struct cudnn_tensor *c, \
		int wanted, int *count, struct cudnn_performance *results) \
	{ \
		return choose(work_bytes(a, b, c), wanted, count, results); \
	} \
	VGPU_API int cudnnFindConvolution##Name##AlgorithmEx(struct cudnn *handle, struct cudnn_tensor *a, const void *a_data, struct cudnn_tensor *b, \
		const void *b_data, void *convolution, struct cudnn_tensor *c, void *c_data, int wanted, int *count, \
		struct cudnn_performance *results, void *work, size_t work_size) \
	{ \
		return choose(work_bytes(a, b, c), wanted, count, results); \
	}
DIRECTION(Forward)
DIRECTION(BackwardData)
DIRECTION(BackwardFilter)

/* Batch normalisation: channels are the second dimension in every layout. */
static size_t norm_bytes(const struct cudnn_tensor *x)
{
	double channels = x && x->dims > 1 ? x->dim[1] : 0;
	return vgpu_ceiling(VGPU_ESTIMATE_CUDNN_BATCH_NORM, 0, 4 * sizeof(float) * channels * vgpu_config()->card.multiprocessors);
}

VGPU_API int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(struct cudnn *handle, int mode, int operations,
	struct cudnn_tensor *x, struct cudnn_tensor *z, struct cudnn_tensor *y, struct cudnn_tensor *scale, void *activation, size_t *bytes)
{
	*bytes = norm_bytes(x);
	return CUDNN_OK;
}

VGPU_API int cudnnGetBatchNormalizationBackwardExWorkspaceSize(struct cudnn *handle, int mode, int operations, struct cudnn_tensor *x,
	struct cudnn_tensor *y, struct cudnn_tensor *dy, struct cudnn_tensor *dz, struct cudnn_tensor *dx, struct cudnn_tensor *scale,
	void *activation, size_t *bytes)
{
	*bytes = norm_bytes(x);
	return CUDNN_OK;
}

/* The reserve space keeps the mask of a fused activation, one bit an element;
 * normalisation alone, which is all that PyTorch asks, is taken to keep nothing. */
VGPU_API int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(struct cudnn *handle, int mode, int operations, void *activation,
	struct cudnn_tensor *x, size_t *bytes)
{
	double mask = cudnn_elements(x) / 8;
	*bytes = vgpu_ceiling(VGPU_ESTIMATE_CUDNN_BATCH_NORM, operations ? (size_t)mask : 0, mask);
	return CUDNN_OK;
}

/* CTC loss. Steps, batch and classes are the dimensions of the input; the
 * longest label is known from the labels or from the descriptor, else it is
 * taken as the library's limit of 256. */
struct cudnn_ctc { int type, normalisation, gradient, longest_label; };
enum { LONGEST_LABEL = 256 };

VGPU_API int cudnnCreateCTCLossDescriptor(struct cudnn_ctc **out)
{
	*out = calloc(1, sizeof **out);
	return *out ? CUDNN_OK : CUDNN_NO_MEMORY;
}

VGPU_API int cudnnDestroyCTCLossDescriptor(struct cudnn_ctc *d)
{
	free(d);
	return CUDNN_OK;
}

VGPU_API int cudnnSetCTCLossDescriptorEx(struct cudnn_ctc *d, int type, int normalisation, int gradient)
{
	*d = (struct cudnn_ctc){type, normalisation, gradient, 0};
	return CUDNN_OK;
}

VGPU_API int cudnnSetCTCLossDescriptor_v8(struct cudnn_ctc *d, int type, int normalisation, int gradient, int longest_label)
{
	*d = (struct cudnn_ctc){type, normalisation, gradient, longest_label};
	return CUDNN_OK;
}

VGPU_API int cudnnSetCTCLossDescriptor_v9(struct cudnn_ctc *d, int type, int normalisation, int gradient, int longest_label)
{
	return cudnnSetCTCLossDescriptor_v8(d, type, normalisation, gradient, longest_label);
}

static size_t ctc_bytes(const struct cudnn_tensor *input, double longest)
{
	double steps, batch, classes;
	if (!input || input->dims < 3)
		return 0;
	steps = input->dim[0];
	batch = input->dim[1];
	classes = input->dim[2];
	return vgpu_estimate(VGPU_ESTIMATE_CUDNN_CTC, steps * batch * (2 * (2 * longest + 1) + classes) * sizeof(float));
}

VGPU_API int cudnnGetCTCLossWorkspaceSize(struct cudnn *handle, struct cudnn_tensor *input, struct cudnn_tensor *gradients,
	const int *labels, const int *label_lengths, const int *input_lengths, int algorithm, struct cudnn_ctc *d, size_t *bytes)
{
	int longest = 0;
	for (int i = 0; input && label_lengths && input->dims > 1 && i < input->dim[1]; i++)
		if (label_lengths[i] > longest)
			longest = label_lengths[i];
	*bytes = ctc_bytes(input, longest);
	return CUDNN_OK;
}

VGPU_API int cudnnGetCTCLossWorkspaceSize_v8(struct cudnn *handle, int algorithm, struct cudnn_ctc *d, struct cudnn_tensor *input,
	struct cudnn_tensor *gradients, size_t *bytes)
{
	*bytes = ctc_bytes(input, d && d->longest_label > 0 ? d->longest_label : LONGEST_LABEL);
	return CUDNN_OK;
}
