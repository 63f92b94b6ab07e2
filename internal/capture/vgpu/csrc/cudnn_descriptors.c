/* cudnn_descriptors.c: the descriptors of cuDNN's older interface. Those that a
 * caller reads back, or that a size depends on, remember what was set. */
#include "cudnn_descriptors.h"

#include <stdlib.h>
#include <string.h>

/* cudnnDataType_t numbers the types; the order here is that numbering. */
size_t cudnn_type_bytes(int type)
{
	static const unsigned char bytes[] = {
		4, 8, 2, 1, 4, 4, 1, 4, 32, 2, 8, 1, /* 0 float .. 11 boolean */
		1, 1, 1, 1, 1, 1, 1, 4, 8, 16, 1, 1, /* 12 fp8 e4m3 .. 23 */
	};
	if (type < 0 || (size_t)type >= sizeof bytes)
		return 4;
	return bytes[type];
}

double cudnn_elements(const struct cudnn_tensor *t)
{
	double n = 1;
	if (!t)
		return 0;
	for (int i = 0; i < t->dims; i++)
		n *= t->dim[i];
	return n;
}

#define DESCRIPTOR(Name, type) \
	VGPU_API int cudnnCreate##Name(type **out) \
	{ \
		if (!out) \
			return CUDNN_BAD_PARAM; \
		*out = calloc(1, sizeof **out); \
		return *out ? CUDNN_OK : CUDNN_NO_MEMORY; \
	} \
	VGPU_API int cudnnDestroy##Name(type *d) \
	{ \
		free(d); \
		return CUDNN_OK; \
	}

/* What these hold only a kernel would read. */
struct cudnn_plain { int unused; };

DESCRIPTOR(TensorDescriptor, struct cudnn_tensor)
DESCRIPTOR(FilterDescriptor, struct cudnn_tensor)
DESCRIPTOR(DropoutDescriptor, struct cudnn_dropout)
DESCRIPTOR(ConvolutionDescriptor, struct cudnn_plain)
DESCRIPTOR(ActivationDescriptor, struct cudnn_plain)
DESCRIPTOR(PoolingDescriptor, struct cudnn_plain)
DESCRIPTOR(SpatialTransformerDescriptor, struct cudnn_plain)

VGPU_API int cudnnSetTensorNdDescriptor(struct cudnn_tensor *t, int type, int dims, const int dim[], const int stride[])
{
	if (!t || dims < 0 || dims > CUDNN_MAX_DIMS)
		return CUDNN_BAD_PARAM;
	t->type = type;
	t->dims = dims;
	memcpy(t->dim, dim, (size_t)dims * sizeof *dim);
	memcpy(t->stride, stride, (size_t)dims * sizeof *stride);
	return CUDNN_OK;
}

VGPU_API int cudnnGetTensorNdDescriptor(const struct cudnn_tensor *t, int wanted, int *type, int *dims, int dim[], int stride[])
{
	if (!t)
		return CUDNN_BAD_PARAM;
	for (int i = 0; i < wanted && i < t->dims; i++) {
		dim[i] = t->dim[i];
		stride[i] = t->stride[i];
	}
	*type = t->type;
	*dims = t->dims;
	return CUDNN_OK;
}

VGPU_API int cudnnSetTensor4dDescriptor(struct cudnn_tensor *t, int format, int type, int n, int c, int h, int w)
{
	const int dim[] = {n, c, h, w};
	const int planar[] = {c * h * w, h * w, w, 1};
	const int channels_last[] = {h * w * c, 1, w * c, c};
	return cudnnSetTensorNdDescriptor(t, type, 4, dim, format == 1 ? channels_last : planar);
}

VGPU_API int cudnnSetFilterNdDescriptor(struct cudnn_tensor *f, int type, int format, int dims, const int dim[])
{
	if (!f || dims < 0 || dims > CUDNN_MAX_DIMS)
		return CUDNN_BAD_PARAM;
	f->type = type;
	f->format = format;
	f->dims = dims;
	memcpy(f->dim, dim, (size_t)dims * sizeof *dim);
	return CUDNN_OK;
}

VGPU_API int cudnnGetFilterNdDescriptor(const struct cudnn_tensor *f, int wanted, int *type, int *format, int *dims, int dim[])
{
	if (!f)
		return CUDNN_BAD_PARAM;
	for (int i = 0; i < wanted && i < f->dims; i++)
		dim[i] = f->dim[i];
	*type = f->type;
	*format = f->format;
	*dims = f->dims;
	return CUDNN_OK;
}

/* One random generator for each thread that can be resident, with the 32 bytes
 * that make 64 KiB on a multiprocessor of 2,048 threads. */
VGPU_API int cudnnDropoutGetStatesSize(struct cudnn *handle, size_t *bytes)
{
	const struct vgpu_card *card = &vgpu_config()->card;
	*bytes = vgpu_estimate(VGPU_ESTIMATE_CUDNN_DROPOUT_STATES, (double)card->multiprocessors * card->threads_per_multiprocessor * 32);
	return CUDNN_OK;
}

VGPU_API int cudnnSetDropoutDescriptor(struct cudnn_dropout *d, struct cudnn *handle, float probability, void *states, size_t bytes,
	unsigned long long seed)
{
	if (!d)
		return CUDNN_BAD_PARAM;
	*d = (struct cudnn_dropout){probability, states, bytes, seed};
	return CUDNN_OK;
}

VGPU_API int cudnnRestoreDropoutDescriptor(struct cudnn_dropout *d, struct cudnn *handle, float probability, void *states,
	size_t bytes, unsigned long long seed)
{
	return cudnnSetDropoutDescriptor(d, handle, probability, states, bytes, seed);
}

VGPU_API int cudnnGetDropoutDescriptor(struct cudnn_dropout *d, struct cudnn *handle, float *probability, void **states,
	unsigned long long *seed)
{
	if (!d)
		return CUDNN_BAD_PARAM;
	*probability = d->probability;
	*states = d->states;
	*seed = d->seed;
	return CUDNN_OK;
}
