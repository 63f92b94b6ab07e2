/* nccl_communicator.h: communicators of our NCCL, and the codes with which it answers. */
#ifndef PLIMSOLL_NCCL_COMMUNICATOR_H
#define PLIMSOLL_NCCL_COMMUNICATOR_H

#include "library.h"

enum { NCCL_OK = 0, NCCL_CUDA_ERROR = 1, NCCL_SYSTEM_ERROR = 2, NCCL_INVALID_ARGUMENT = 4 };

struct nccl_id { char bytes[128]; };

struct nccl {
	int rank, size, device;
	uint64_t clique; /* the same for all communicators that talk to one another */
};

#endif
