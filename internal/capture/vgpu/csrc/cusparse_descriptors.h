/* cusparse_descriptors.h: descriptors of our cuSPARSE that more than one of its files reads. */
#ifndef PLIMSOLL_CUSPARSE_DESCRIPTORS_H
#define PLIMSOLL_CUSPARSE_DESCRIPTORS_H

#include "library.h"

enum { SPARSE_OK = 0, SPARSE_NOT_INITIALIZED = 1, SPARSE_NO_MEMORY = 2, SPARSE_INVALID = 3 };

struct sparse {
	void *stream;
	int pointer_mode; /* 0: scalars lie on the host */
};

/* A sparse matrix of any format: offsets are row or column pointers, or the row
 * indices of the coordinate format. */
struct sparse_matrix {
	int64_t rows, columns, entries;
	void *offsets, *indices, *values;
	int offset_type, index_type, base, value_type;
	int fill, diagonal, batch;
};

struct dense_matrix {
	int64_t rows, columns, ld;
	void *values;
	int type, order, batch;
	int64_t batch_step;
};

struct dense_vector {
	int64_t size;
	void *values;
	int type;
};

#endif
