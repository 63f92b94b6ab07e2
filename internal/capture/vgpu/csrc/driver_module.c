/* driver_module.c: modules and libraries of kernels that are loaded at run time,
 * by Triton and by PyTorch's own compiler. A module is a handle; every kernel
 * that is asked for by name is there. */
#include "runtime.h"

#include <string.h>

static int fresh(void **handle)
{
	*handle = vgpu_handle();
	return VGPU_OK;
}

VGPU_API int cuModuleLoad(void **module, const char *path VGPU_UNUSED) { return fresh(module); }
VGPU_API int cuModuleLoadData(void **module, const void *image VGPU_UNUSED) { return fresh(module); }
VGPU_API int cuModuleLoadFatBinary(void **module, const void *image VGPU_UNUSED) { return fresh(module); }

/* Options by CUjit_option; the ones that ask for a log get an empty one. */
VGPU_API int cuModuleLoadDataEx(void **module, const void *image VGPU_UNUSED, unsigned count, int *options, void **values)
{
	for (unsigned i = 0; i < count; i++) {
		if (options[i] == 4 || options[i] == 6) /* sizes of the information and error log */
			values[i] = NULL;
	}
	return fresh(module);
}

VGPU_API int cuModuleGetFunction(void **function, void *module VGPU_UNUSED, const char *name VGPU_UNUSED) { return fresh(function); }

VGPU_API int cuModuleGetGlobal_v2(uintptr_t *p, size_t *bytes, void *module VGPU_UNUSED, const char *name VGPU_UNUSED)
{
	enum { ASSUMED_BYTES = 4096 }; /* the size stands in the image, which is not read */
	if (p) {
		*p = (uintptr_t)vgpu_global_storage(ASSUMED_BYTES);
		if (!*p)
			return VGPU_OUT_OF_MEMORY;
	}
	if (bytes)
		*bytes = ASSUMED_BYTES;
	return VGPU_OK;
}

VGPU_API int cuModuleGetLoadingMode(int *mode)
{
	*mode = 2; /* lazy, the default since CUDA 12.2 */
	return VGPU_OK;
}

VGPU_API int cuLibraryLoadData(void **library, const void *image VGPU_UNUSED, int *jit VGPU_UNUSED, void **jit_values VGPU_UNUSED, unsigned jit_count VGPU_UNUSED, int *options VGPU_UNUSED, void **values VGPU_UNUSED, unsigned count VGPU_UNUSED)
{
	return fresh(library);
}

VGPU_API int cuLibraryLoadFromFile(void **library, const char *path VGPU_UNUSED, int *jit VGPU_UNUSED, void **jit_values VGPU_UNUSED, unsigned jit_count VGPU_UNUSED, int *options VGPU_UNUSED, void **values VGPU_UNUSED, unsigned count VGPU_UNUSED)
{
	return fresh(library);
}

VGPU_API int cuLibraryGetKernel(void **kernel, void *library VGPU_UNUSED, const char *name VGPU_UNUSED) { return fresh(kernel); }
VGPU_API int cuLibraryGetModule(void **module, void *library VGPU_UNUSED) { return fresh(module); }
VGPU_API int cuLibraryGetGlobal(uintptr_t *p, size_t *bytes, void *library, const char *name) { return cuModuleGetGlobal_v2(p, bytes, library, name); }

VGPU_API int cuKernelGetFunction(void **function, void *kernel)
{
	*function = kernel;
	return VGPU_OK;
}

/* Linking at run time: the result is an image that nobody reads. */
VGPU_API int cuLinkCreate_v2(unsigned count, int *options, void **values, void **state)
{
	for (unsigned i = 0; i < count; i++) {
		if (options[i] == 4 || options[i] == 6)
			values[i] = NULL;
	}
	return fresh(state);
}

VGPU_API int cuLinkComplete(void *state VGPU_UNUSED, void **image, size_t *bytes)
{
	static char empty[64];
	*image = empty;
	if (bytes)
		*bytes = sizeof empty;
	return VGPU_OK;
}

/* A tensor map is 128 bytes that only kernels read. */
static int tensor_map(void *map)
{
	memset(map, 0, 128);
	return VGPU_OK;
}

VGPU_API int cuTensorMapEncodeTiled(void *map, int type VGPU_UNUSED, unsigned rank VGPU_UNUSED, void *p VGPU_UNUSED, const uint64_t *dims VGPU_UNUSED, const uint64_t *strides VGPU_UNUSED,
	const unsigned *box VGPU_UNUSED, const unsigned *steps VGPU_UNUSED, int interleave VGPU_UNUSED, int swizzle VGPU_UNUSED, int promotion VGPU_UNUSED, int fill VGPU_UNUSED)
{
	return tensor_map(map);
}

VGPU_API int cuTensorMapEncodeIm2col(void *map, int type VGPU_UNUSED, unsigned rank VGPU_UNUSED, void *p VGPU_UNUSED, const uint64_t *dims VGPU_UNUSED, const uint64_t *strides VGPU_UNUSED,
	const int *lower VGPU_UNUSED, const int *upper VGPU_UNUSED, unsigned channels VGPU_UNUSED, unsigned pixels VGPU_UNUSED, const unsigned *steps VGPU_UNUSED, int interleave VGPU_UNUSED, int swizzle VGPU_UNUSED, int promotion VGPU_UNUSED, int fill VGPU_UNUSED)
{
	return tensor_map(map);
}

/* --- the runtime's libraries, CUDA 12.8 and newer -------------------------- */

VGPU_API int cudaLibraryLoadData(void **library, const void *image VGPU_UNUSED, int *jit VGPU_UNUSED, void **jit_values VGPU_UNUSED, unsigned jit_count VGPU_UNUSED, int *options VGPU_UNUSED, void **values VGPU_UNUSED, unsigned count VGPU_UNUSED)
{
	return fresh(library);
}

VGPU_API int cudaLibraryLoadFromFile(void **library, const char *path VGPU_UNUSED, int *jit VGPU_UNUSED, void **jit_values VGPU_UNUSED, unsigned jit_count VGPU_UNUSED, int *options VGPU_UNUSED, void **values VGPU_UNUSED, unsigned count VGPU_UNUSED)
{
	return fresh(library);
}

VGPU_API int cudaLibraryGetKernel(void **kernel, void *library VGPU_UNUSED, const char *name VGPU_UNUSED) { return fresh(kernel); }
VGPU_API int cudaLibraryGetGlobal(void **p, size_t *bytes, void *library, const char *name) { return vgpu_result(cuModuleGetGlobal_v2((uintptr_t *)p, bytes, library, name)); }
