/* entry.c: entry points of the driver that are looked up by name. */
#define _GNU_SOURCE /* dladdr */
#include "runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Names whose meaning changed: the base name means the newest variant that the
 * asked-for version of CUDA has. Source: cudaTypedefs.h of CUDA 13.2. */
static const struct {
	const char *base;
	int since; /* version of CUDA */
	const char *symbol;
} variants[] = {
	{"cuCtxCreate", 3020, "cuCtxCreate_v2"},
	{"cuCtxDestroy", 4000, "cuCtxDestroy_v2"},
	{"cuCtxPopCurrent", 4000, "cuCtxPopCurrent_v2"},
	{"cuCtxPushCurrent", 4000, "cuCtxPushCurrent_v2"},
	{"cuDeviceGetUuid", 11040, "cuDeviceGetUuid_v2"},
	{"cuDevicePrimaryCtxRelease", 11000, "cuDevicePrimaryCtxRelease_v2"},
	{"cuDevicePrimaryCtxReset", 11000, "cuDevicePrimaryCtxReset_v2"},
	{"cuDevicePrimaryCtxSetFlags", 11000, "cuDevicePrimaryCtxSetFlags_v2"},
	{"cuDeviceTotalMem", 3020, "cuDeviceTotalMem_v2"},
	{"cuEventDestroy", 4000, "cuEventDestroy_v2"},
	{"cuEventElapsedTime", 12080, "cuEventElapsedTime_v2"},
	{"cuGetProcAddress", 12000, "cuGetProcAddress_v2"},
	{"cuGraphInstantiate", 12000, "cuGraphInstantiateWithFlags"},
	{"cuIpcOpenMemHandle", 11000, "cuIpcOpenMemHandle_v2"},
	{"cuLinkAddData", 6050, "cuLinkAddData_v2"},
	{"cuLinkAddFile", 6050, "cuLinkAddFile_v2"},
	{"cuLinkCreate", 6050, "cuLinkCreate_v2"},
	{"cuMemAlloc", 3020, "cuMemAlloc_v2"},
	{"cuMemAllocHost", 3020, "cuMemAllocHost_v2"},
	{"cuMemAllocPitch", 3020, "cuMemAllocPitch_v2"},
	{"cuMemFree", 3020, "cuMemFree_v2"},
	{"cuMemGetAddressRange", 3020, "cuMemGetAddressRange_v2"},
	{"cuMemGetInfo", 3020, "cuMemGetInfo_v2"},
	{"cuMemHostGetDevicePointer", 3020, "cuMemHostGetDevicePointer_v2"},
	{"cuMemHostRegister", 6050, "cuMemHostRegister_v2"},
	{"cuMemcpyDtoD", 3020, "cuMemcpyDtoD_v2"},
	{"cuMemcpyDtoDAsync", 3020, "cuMemcpyDtoDAsync_v2"},
	{"cuMemcpyDtoH", 3020, "cuMemcpyDtoH_v2"},
	{"cuMemcpyDtoHAsync", 3020, "cuMemcpyDtoHAsync_v2"},
	{"cuMemcpyHtoD", 3020, "cuMemcpyHtoD_v2"},
	{"cuMemcpyHtoDAsync", 3020, "cuMemcpyHtoDAsync_v2"},
	{"cuMemsetD16", 3020, "cuMemsetD16_v2"},
	{"cuMemsetD32", 3020, "cuMemsetD32_v2"},
	{"cuMemsetD8", 3020, "cuMemsetD8_v2"},
	{"cuModuleGetGlobal", 3020, "cuModuleGetGlobal_v2"},
	{"cuStreamBeginCapture", 10010, "cuStreamBeginCapture_v2"},
	{"cuStreamDestroy", 4000, "cuStreamDestroy_v2"},
	{"cuStreamGetCaptureInfo", 12030, "cuStreamGetCaptureInfo_v3"},
	{"cuStreamGetCaptureInfo", 11030, "cuStreamGetCaptureInfo_v2"},
	{"cuStreamWaitValue32", 11070, "cuStreamWaitValue32_v2"},
	{"cuStreamWaitValue64", 11070, "cuStreamWaitValue64_v2"},
	{"cuStreamWriteValue32", 11070, "cuStreamWriteValue32_v2"},
	{"cuStreamWriteValue64", 11070, "cuStreamWriteValue64_v2"},
};

/* Our own library, whatever others were loaded since. */
static void *self;

static void open_self(void)
{
	Dl_info info;
	if (dladdr((void *)open_self, &info))
		self = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

static void *symbol(const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, open_self);
	return self ? dlsym(self, name) : NULL;
}

void *vgpu_driver_symbol(const char *name, int version)
{
	void *f;
	if (strncmp(name, "cu", 2) != 0 || strncmp(name, "cuda", 4) == 0)
		return NULL;
	for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
		if (strcmp(variants[i].base, name) == 0 && version >= variants[i].since && (f = symbol(variants[i].symbol)))
			return f;
	return symbol(name);
}

/* CUdriverProcAddressQueryResult. */
enum { FOUND = 0, NOT_FOUND = 1 };

static int look_up(const char *name, void **f, int version, int *status, int not_found)
{
	*f = vgpu_driver_symbol(name, version);
	if (status)
		*status = *f ? FOUND : NOT_FOUND;
	if (*f)
		return VGPU_OK;
	vgpu_unknown(name);
	return not_found;
}

VGPU_API int cuGetProcAddress_v2(const char *name, void **f, int version, uint64_t flags VGPU_UNUSED, int *status)
{
	return look_up(name, f, version, status, status ? VGPU_OK : VGPU_NOT_FOUND);
}

VGPU_API int cuGetProcAddress(const char *name, void **f, int version, uint64_t flags VGPU_UNUSED)
{
	return look_up(name, f, version, NULL, VGPU_NOT_FOUND);
}

/* The runtime succeeds and says in the status that a name is unknown. */
#if PLIMSOLL_CUDA_MAJOR >= 12
VGPU_API int cudaGetDriverEntryPoint(const char *name, void **f, unsigned long long flags VGPU_UNUSED, int *status)
{
	return vgpu_result(look_up(name, f, vgpu_cuda_version(), status, status ? VGPU_OK : VGPU_NOT_FOUND));
}

VGPU_API int cudaGetDriverEntryPointByVersion(const char *name, void **f, unsigned version, unsigned long long flags VGPU_UNUSED, int *status)
{
	return vgpu_result(look_up(name, f, (int)version, status, status ? VGPU_OK : VGPU_NOT_FOUND));
}
#else
VGPU_API int cudaGetDriverEntryPoint(const char *name, void **f, unsigned long long flags VGPU_UNUSED)
{
	return vgpu_result(look_up(name, f, vgpu_cuda_version(), NULL, VGPU_NOT_FOUND));
}
#endif
