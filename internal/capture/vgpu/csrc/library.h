/* library.h: what the stand-ins for NVIDIA's computing libraries share.
 *
 * These libraries' functions keep the signatures of the real ones, so that a
 * caller passes its arguments where ours look for them. Most arguments only
 * matter to a kernel, and no kernel runs here: that they are unused is the
 * point, not an oversight, hence the pragma.
 */
#ifndef PLIMSOLL_LIBRARY_H
#define PLIMSOLL_LIBRARY_H

#include "core.h"
#include "estimates.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Expand a definition for single, double, complex and double complex, with the
 * bytes of one element: F(S, 4) F(D, 8) F(C, 8) F(Z, 16). */
#define VGPU_BLAS_TYPES(F) F(S, 4) F(D, 8) F(C, 8) F(Z, 16)

/* Versions of the libraries, each as its own "get version" call says it. */
enum vgpu_versioned {
	VGPU_VERSION_CUBLAS,
	VGPU_VERSION_CUDNN,
	VGPU_VERSION_CUFFT,
	VGPU_VERSION_CURAND,
	VGPU_VERSION_CUSOLVER,
	VGPU_VERSION_CUSPARSE,
	VGPU_VERSION_CUSPARSELT,
	VGPU_VERSION_NCCL,
	VGPU_VERSION_CUPTI,
	VGPU_VERSION_COUNT
};
int vgpu_version(enum vgpu_versioned which);

/* Bytes of one element of a cudaDataType (the real part and the imaginary one
 * of a complex number together); 4 for a type that is not known. */
size_t vgpu_data_type_bytes(int cuda_data_type);

/* Write status codes that mean success, in device or host memory. Null is
 * allowed, since most callers may leave the codes out. */
void vgpu_clear_info(void *info, size_t count);

/* Write zero over a scalar result when it lies on the host; a result on the
 * device is left as it is, like every other value that a kernel would write. */
void vgpu_clear_host(void *result, size_t bytes);

#endif
