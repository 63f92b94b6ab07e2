/* storage.c: cuFile and NVSHMEM, which reach other hardware than a GPU. Their
 * calls refuse in the types that they return; those that return a plain status
 * are stubs (manifest). */
#include "library.h"

#include <sys/types.h>

/* CUfileError_t: a code of cuFile's and one of the driver's. */
struct file_error { int code, driver; };

static struct file_error refused(const char *symbol)
{
	return (struct file_error){vgpu_refuse(VGPU_CUFILE, symbol), 0};
}

VGPU_API struct file_error cuFileDriverOpen(void) { return refused(__func__); }
VGPU_API struct file_error cuFileDriverClose(void) { return refused(__func__); }
VGPU_API struct file_error cuFileHandleRegister(void **handle, void *description) { return refused(__func__); }
VGPU_API struct file_error cuFileBufRegister(const void *buffer, size_t bytes, int flags) { return refused(__func__); }
VGPU_API struct file_error cuFileBufDeregister(const void *buffer) { return refused(__func__); }

static ssize_t refused_transfer(const char *symbol) { return -(ssize_t)vgpu_refuse(VGPU_CUFILE, symbol); }

VGPU_API ssize_t cuFileRead(void *handle, void *buffer, size_t bytes, off_t file_offset, off_t buffer_offset)
{
	return refused_transfer(__func__);
}

VGPU_API ssize_t cuFileWrite(void *handle, const void *buffer, size_t bytes, off_t file_offset, off_t buffer_offset)
{
	return refused_transfer(__func__);
}

/* Symmetric memory between GPUs: there is none, which a null address says. */
static void *no_memory(const char *symbol)
{
	vgpu_refuse(VGPU_NVSHMEM, symbol);
	return NULL;
}

VGPU_API void *nvshmem_malloc(size_t bytes) { return no_memory(__func__); }
VGPU_API void *nvshmem_calloc(size_t count, size_t bytes) { return no_memory(__func__); }
VGPU_API void *nvshmem_align(size_t alignment, size_t bytes) { return no_memory(__func__); }
VGPU_API void *nvshmem_ptr(const void *p, int rank) { return no_memory(__func__); }
VGPU_API void *nvshmemx_mc_ptr(int team, const void *p) { return no_memory(__func__); }

/* Not initialised, and version 3 of the interface. */
VGPU_API int nvshmemid_init_status(void) { return 0; }

VGPU_API void nvshmem_info_get_version(int *major, int *minor)
{
	*major = 3;
	*minor = 0;
}
