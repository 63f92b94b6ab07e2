/* cudnn_descriptors.h: descriptors of our cuDNN that more than one of its files reads. */
#ifndef PLIMSOLL_CUDNN_DESCRIPTORS_H
#define PLIMSOLL_CUDNN_DESCRIPTORS_H

#include "library.h"

#define CUDNN_MAX_DIMS 8

enum {
	CUDNN_OK = 0,
	CUDNN_NO_MEMORY = PLIMSOLL_CUDNN_MAJOR >= 9 ? 4003 : 2,
	CUDNN_BAD_PARAM = PLIMSOLL_CUDNN_MAJOR >= 9 ? 2000 : 3,
};

struct cudnn {
	void *stream;
};

/* A tensor, or a filter (which has a format and no strides). */
struct cudnn_tensor {
	int type;
	int format;
	int dims;
	int dim[CUDNN_MAX_DIMS];
	int stride[CUDNN_MAX_DIMS];
};

struct cudnn_dropout {
	float probability;
	void *states;
	size_t state_bytes;
	unsigned long long seed;
};

/* Bytes of one element of a cudnnDataType_t; 4 for one that is not known. */
size_t cudnn_type_bytes(int type);

/* Elements of a tensor, or 0 for null. */
double cudnn_elements(const struct cudnn_tensor *t);

#endif
