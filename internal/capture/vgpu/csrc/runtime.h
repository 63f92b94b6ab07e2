/* runtime.h: what the files of the runtime and the driver share. */
#ifndef PLIMSOLL_RUNTIME_H
#define PLIMSOLL_RUNTIME_H

#include "core.h"

/* Remember an error for cudaGetLastError and return it. */
int vgpu_result(int error);

/* Devices that CUDA shows (CUDA_VISIBLE_DEVICES) and that the machine has. */
int vgpu_device_count(void);
int vgpu_physical_count(void);
int vgpu_physical_index(int device);

void vgpu_set_current_device(int device);
/* Note that a device has a primary context now; the first use of it does that. */
void vgpu_activate(int device);
bool vgpu_active(int device);

/* An attribute of a device: cudaDeviceAttr and CUdevice_attribute share their
 * numbers. False when the number is unknown. */
bool vgpu_attribute(int attribute, int device, int *value);
void vgpu_uuid(int device, unsigned char uuid[16]);
void vgpu_pci(int device, int *domain, int *bus, int *slot);

/* Name and text of an error; null when unknown. */
const char *vgpu_error_name(int error);
const char *vgpu_error_text(int error);

/* Streams. Null and the handles 1 and 2 are the default streams. */
void *vgpu_stream_create(int device, unsigned flags, int priority);
int vgpu_stream_destroy(void *stream);
bool vgpu_stream_valid(void *stream);
int vgpu_stream_priority(void *stream);
unsigned vgpu_stream_flags(void *stream);
int vgpu_stream_device(void *stream); /* -1 for a default stream */
uint64_t vgpu_stream_id(void *stream);

/* Capturing: work that is put on a capturing stream becomes a node. */
int vgpu_capture_begin(void *stream, int mode);
int vgpu_capture_end(void *stream, void **graph);
int vgpu_capture_status(void *stream, uint64_t *id, void **graph);
void vgpu_capture_work(void *stream);    /* a kernel, copy or fill */
int vgpu_capture_sync(void *stream);     /* the host waits for a stream: an error while it captures */
int vgpu_capture_sync_all(void);
uint64_t vgpu_capture_id(void *stream);  /* 0 when it does not capture */
void vgpu_capture_join(void *stream, uint64_t id);

/* Kernels. */
struct vgpu_kernel {
	int threads_per_block;
	int registers;
	int ptx_version;
};
struct vgpu_kernel vgpu_kernel_of(const void *host_function);
void vgpu_check_image(const void *host_function); /* at each launch; looks at the first */
int vgpu_occupancy(int block_threads, size_t shared_bytes);
int vgpu_launch(const unsigned grid[3], const unsigned block[3], size_t shared_bytes, void *stream);

/* Device storage of a __device__ variable or a module's global. */
void *vgpu_global_storage(size_t n);

/* The function that a driver entry point's name stands for at a version of
 * CUDA, or null. */
void *vgpu_driver_symbol(const char *name, int version);

#endif
