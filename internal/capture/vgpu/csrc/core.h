/* core.h: what every library of the virtual GPU stands on.
 *
 * The virtual GPU answers the calls that PyTorch and its companions make into
 * NVIDIA's libraries: it keeps the books of device memory and computes nothing.
 * No header of NVIDIA's is included anywhere; types and layouts are our own.
 *
 * Rules for a function in this folder:
 *  - define it with VGPU_API and the name and C calling convention of the real one;
 *  - succeed only when every output that the caller reads is written;
 *  - otherwise `return vgpu_refuse(VGPU_LIBRARY, __func__);`, which logs the name
 *    once and gives the library's own "not supported" code;
 *  - hold no lock while calling a function of another file.
 */
#ifndef PLIMSOLL_CORE_H
#define PLIMSOLL_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libraries.h"

/* Major version of CUDA that the user's PyTorch was built with. The build passes
 * it; layouts and signatures follow it. */
#ifndef PLIMSOLL_CUDA_MAJOR
#define PLIMSOLL_CUDA_MAJOR 13
#endif
_Static_assert(PLIMSOLL_CUDA_MAJOR >= 11 && PLIMSOLL_CUDA_MAJOR <= 13, "layouts are known for CUDA 11, 12 and 13");

#define VGPU_API __attribute__((visibility("default")))
#define VGPU_UNUSED __attribute__((unused))

/* Error codes, the same numbers in the runtime (cudaError) and the driver
 * (CUresult) since CUDA 10.1. */
enum vgpu_error {
	VGPU_OK = 0,
	VGPU_INVALID_VALUE = 1,
	VGPU_OUT_OF_MEMORY = 2,
	VGPU_NOT_INITIALIZED = 3,
	VGPU_NO_DEVICE = 100,
	VGPU_INVALID_DEVICE = 101,
	VGPU_INVALID_IMAGE = 200,
	VGPU_INVALID_CONTEXT = 201,
	VGPU_NO_KERNEL_IMAGE = 209,
	VGPU_INVALID_HANDLE = 400,
	VGPU_NOT_FOUND = 500,
	VGPU_NOT_READY = 600,
	VGPU_PEER_ALREADY_ENABLED = 704,
	VGPU_PEER_NOT_ENABLED = 705,
	VGPU_HOST_ALREADY_REGISTERED = 712,
	VGPU_HOST_NOT_REGISTERED = 713,
	VGPU_NOT_SUPPORTED = 801,
	VGPU_CAPTURE_UNSUPPORTED = 900,
	VGPU_CAPTURE_INVALIDATED = 901,
	VGPU_CAPTURE_UNMATCHED = 903,
	VGPU_CAPTURE_WRONG_THREAD = 908,
	VGPU_UNKNOWN = 999,
};

#define VGPU_MAX_DEVICES 64

/* What one kind of card is like; all devices of a virtual machine are alike. */
struct vgpu_card {
	char name[256];                     /* as cudaGetDeviceProperties says it */
	int capability;                     /* 90 is 9.0 */
	int multiprocessors;
	int threads_per_multiprocessor;
	int blocks_per_multiprocessor;
	int registers_per_multiprocessor;   /* of 32 bits */
	size_t shared_per_block;            /* bytes, without opting in */
	size_t shared_per_block_optin;      /* bytes */
	size_t shared_per_multiprocessor;   /* bytes */
	size_t shared_reserved_per_block;   /* bytes, taken by the driver */
	size_t l2_bytes;
	int clock_khz;
	int memory_clock_khz;
	int memory_bus_bits;
	size_t capacity_bytes;              /* what CUDA reports as total */
	size_t nvml_total_bytes;            /* what nvidia-smi shows as total */
	size_t context_bytes;               /* taken by the CUDA context of a process */
};

/* The whole of PLIMSOLL_VGPU, "key=value;key=value". */
struct vgpu_config {
	int devices;
	struct vgpu_card card;
	size_t cudnn_workspace_bytes;       /* per convolution plan */
	char log_path[1024];                /* "" for none */
};

/* The configuration, read from the environment at the first call. */
const struct vgpu_config *vgpu_config(void);

/* The whole version, 13020 is 13.2: from PLIMSOLL_CUDA, which stands beside
 * PLIMSOLL_VGPU because it belongs to the library and not to the machine. */
int vgpu_cuda_version(void);

/* Value of a key in PLIMSOLL_VGPU that is not in struct vgpu_config, for the
 * libraries: unsigned integer, or otherwise when absent or damaged. */
uint64_t vgpu_setting(const char *key, uint64_t otherwise);

/* A fresh opaque handle: never null, never the same twice, a multiple of 16,
 * and no address that anyone may read. */
void *vgpu_handle(void);

/* Log that a symbol was refused and return the code with which its library says
 * "not supported". Each symbol is logged once per process. */
int vgpu_refuse(enum vgpu_library library, const char *symbol);

/* Log that a name was looked up at run time and is not there. */
void vgpu_unknown(const char *symbol);

/* Log a sentence, once per process for each text. */
void vgpu_note(const char *text);

/* Current device of the calling thread. */
int vgpu_current_device(void);

/* --- device memory ------------------------------------------------------ */

/* Copies and fills up to this many bytes are really done; larger ones are
 * dropped and the destination then reads as zeros. */
#define VGPU_SMALL_BYTES ((size_t)64 << 10)
/* Granularity of physical memory in the driver's books. */
#define VGPU_PAGE_BYTES ((size_t)2 << 20)

/* Whether p lies in the range from which device memory is handed out. */
bool vgpu_on_device(const void *p);
/* Device whose live allocation holds p, or -1. */
int vgpu_device_of(const void *p);
/* Copy n bytes in any direction (host or device on either side). Bytes that come
 * from the host into a large device copy are dropped; bytes that a large copy
 * would bring to the host arrive as zeros. */
void vgpu_copy(void *to, const void *from, size_t n);
/* Fill n bytes on the device or the host. */
void vgpu_fill(void *p, int byte, size_t n);
/* Allocate on a device and count it in the books: null when it does not fit. */
void *vgpu_alloc(int device, size_t n);
/* Give back what vgpu_alloc gave; false when p is not such an address. */
bool vgpu_free(void *p);

#endif
