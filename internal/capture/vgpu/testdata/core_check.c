/* core_check.c: runs under the preloaded virtual GPU and says what is wrong.
 * Arguments: names of the checks to run. The machine it expects is the one that
 * core_test.go configures: two devices of 1 GiB with a context of 64 MiB. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int cudaMalloc(void **, size_t), cudaFree(void *), cudaMemGetInfo(size_t *, size_t *), cudaSetDevice(int), cudaGetDevice(int *);
int cudaGetDeviceCount(int *), cudaGetLastError(void), cudaPeekAtLastError(void);
int cudaMemcpy(void *, const void *, size_t, int), cudaMemset(void *, int, size_t);
int cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
int cudaHostAlloc(void **, size_t, unsigned), cudaFreeHost(void *), cudaHostRegister(void *, size_t, unsigned), cudaHostUnregister(void *);
int cudaPointerGetAttributes(void *, const void *);
int cudaStreamCreate(void **), cudaStreamDestroy(void *), cudaStreamSynchronize(void *), cudaStreamBeginCapture(void *, int), cudaStreamEndCapture(void *, void **);
int cudaStreamIsCapturing(void *, int *), cudaStreamWaitEvent(void *, void *, unsigned), cudaMemsetAsync(void *, int, size_t, void *);
int cudaEventCreate(void **), cudaEventRecord(void *, void *), cudaEventElapsedTime(float *, void *, void *), cudaEventDestroy(void *);
int cudaGraphGetNodes(void *, void **, size_t *), cudaGraphInstantiateWithFlags(void **, void *, unsigned long long), cudaGraphLaunch(void *, void *);
int cudaGraphDestroy(void *), cudaGraphExecDestroy(void *), cudaUserObjectCreate(void **, void *, void (*)(void *), unsigned, unsigned);
int cudaGraphRetainUserObject(void *, void *, unsigned, unsigned);
int cudaMallocAsync(void **, size_t, void *), cudaFreeAsync(void *, void *), cudaDeviceGetDefaultMemPool(void **, int), cudaMemPoolGetAttribute(void *, int, void *), cudaMemPoolTrimTo(void *, size_t);
int cudaGraphClone(void **, void *);
int cuMemAddressReserve(uintptr_t *, size_t, size_t, uintptr_t, unsigned long long), cuMemAddressFree(uintptr_t, size_t);
int cuMemCreate(uint64_t *, size_t, const void *, unsigned long long), cuMemRelease(uint64_t), cuMemMap(uintptr_t, size_t, size_t, uint64_t, unsigned long long);
int cuMemUnmap(uintptr_t, size_t), cuMemSetAccess(uintptr_t, size_t, const void *, size_t), cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);
int cuDevicePrimaryCtxGetState(int, unsigned *, int *), cuMemAlloc_v2(uintptr_t *, size_t), cuPointerGetAttribute(void *, int, uintptr_t);
int cuStreamGetCaptureInfo_v2(void *, int *, unsigned long long *, void **, const void **, size_t *), cuStreamGetCaptureInfo_v3(void *, int *, unsigned long long *, void **, const void **, const void **, size_t *);
int nvmlDeviceGetHandleByIndex_v2(unsigned, void **), nvmlDeviceGetComputeRunningProcesses(void *, unsigned *, void *), nvmlDeviceGetMemoryInfo(void *, void *);
int plimsoll_vgpu_abi(void), plimsoll_vgpu_touch(uintptr_t, size_t);
void plimsoll_vgpu_range(uintptr_t *, size_t *), plimsoll_vgpu_books(int, uint64_t[4]);

#define MIB ((size_t)1 << 20)
#define CAPACITY (1024 * MIB)
#define CONTEXT (64 * MIB)

static int wrong;
#define WANT(condition) do { if (!(condition)) { wrong++; printf("%s:%d: %s: not so: %s\n", __FILE__, __LINE__, __func__, #condition); } } while (0)

static uint64_t used(int device)
{
	uint64_t b[4];
	plimsoll_vgpu_books(device, b);
	return b[0];
}

static size_t free_bytes(void)
{
	size_t f = 0, t = 0;
	WANT(cudaMemGetInfo(&f, &t) == 0 && t == CAPACITY);
	return f;
}

static void check_books(void)
{
	void *a, *b, *c;
	uint64_t books[4];
	WANT(plimsoll_vgpu_abi() == 1);
	WANT(free_bytes() == CAPACITY - CONTEXT);
	WANT(cudaMalloc(&a, 1) == 0 && free_bytes() == CAPACITY - CONTEXT - 2 * MIB);
	WANT(cudaMalloc(&b, 2 * MIB + 1) == 0 && used(0) == 6 * MIB);
	WANT(a != b && (uintptr_t)b % (2 * MIB) == 0);
	WANT(cudaMalloc(&c, CAPACITY) == 2 && c == NULL);
	WANT(cudaPeekAtLastError() == 2 && cudaGetLastError() == 2 && cudaGetLastError() == 0);
	WANT(cudaMalloc(&c, CAPACITY - CONTEXT - 6 * MIB) == 0 && free_bytes() == 0);
	WANT(cudaMalloc(&a, 1) == 2);
	WANT(cudaFree(c) == 0 && cudaFree(b) == 0 && cudaFree(NULL) == 0 && used(0) == 2 * MIB);
	WANT(cudaFree((char *)b) == 1 && cudaFree(&books) == 1);
	WANT(cudaMalloc(&a, SIZE_MAX) == 2 && cudaMalloc(&a, SIZE_MAX - 5 * MIB) == 2);
	WANT(cudaMalloc(&a, 0) == 0 && a == NULL);
	plimsoll_vgpu_books(0, books);
	WANT(books[1] == CAPACITY - CONTEXT && books[3] == 2);
}

static void check_devices(void)
{
	int n, d, active;
	unsigned flags;
	void *p;
	WANT(cudaGetDeviceCount(&n) == 0 && n == 2);
	WANT(cuDevicePrimaryCtxGetState(1, &flags, &active) == 0 && !active);
	WANT(cudaSetDevice(1) == 0 && cudaGetDevice(&d) == 0 && d == 1);
	WANT(cudaMalloc(&p, 4 * MIB) == 0 && used(1) == 4 * MIB && used(0) == 0);
	WANT(cuDevicePrimaryCtxGetState(1, &flags, &active) == 0 && active);
	WANT(cudaSetDevice(2) == 101 && cudaSetDevice(-1) == 101 && cudaGetLastError() == 101);
	WANT(cudaFree(p) == 0 && used(1) == 0);
}

static void check_contents(void)
{
	char *p, *q, host[256], big[65537];
	char *huge = malloc(MIB);
	WANT(cudaMalloc((void **)&p, 8 * MIB) == 0 && cudaMalloc((void **)&q, 8 * MIB) == 0);
	memset(big, 7, sizeof big);
	WANT(cudaMemcpy(p + 100, "steer", 6, 1) == 0 && cudaMemcpy(q, p + 100, 6, 3) == 0 && cudaMemcpy(host, q, 6, 2) == 0 && strcmp(host, "steer") == 0);
	WANT(strcmp(p + 100, "steer") == 0); /* readable by the host as it is */
	WANT(cudaMemcpy(p, big, 65536, 1) == 0 && p[65535] == 7 && p[65536] == 0);
	WANT(cudaMemcpy(p + 50, big, 65537, 1) == 0 && p[49] == 7 && p[50] == 0 && p[4096] == 0 && p[65536 + 50] == 0);
	WANT(cudaMemset(p, 3, 1000) == 0 && p[0] == 3 && p[999] == 3 && p[1000] == 0);
	WANT(cudaMemset(p, 3, MIB) == 0 && p[0] == 0 && p[999] == 0);
	memset(huge, 9, MIB);
	WANT(cudaMemcpy(huge, p, MIB, 2) == 0 && huge[0] == 0 && huge[MIB - 1] == 0);
	WANT(cudaMemcpy(q, p, MIB, 3) == 0 && q[0] == 0);
	WANT(cudaMemset(p, 5, 64) == 0 && cudaMemcpy2D(q, 16, p, 8, 4, 3, 3) == 0 && q[3] == 5 && q[4] == 0 && q[16 + 3] == 5 && q[32 + 4] == 0);
	WANT(cudaMemcpy2D(q, 4, p, 8, 8, 3, 3) == 1);
	WANT(cudaMemcpy(NULL, p, 4, 2) == 1 && cudaMemcpy(NULL, NULL, 0, 2) == 0);
	p[0] = 1;
	WANT(cudaFree(p) == 0 && p[0] == 0 && cudaFree(q) == 0);
	free(huge);
}

struct attributes {
	int type, device;
	void *device_pointer, *host_pointer;
	long room[8];
};

static void check_pointers(void)
{
	struct attributes a;
	void *p, *h;
	char own[64];
	int type = -1, ordinal = -1;
	WANT(cudaSetDevice(1) == 0 && cudaMalloc(&p, 5 * MIB) == 0 && cudaHostAlloc(&h, 1000, 0) == 0 && cudaSetDevice(0) == 0);
	WANT(cudaPointerGetAttributes(&a, (char *)p + 5 * MIB - 1) == 0 && a.type == 2 && a.device == 1 && a.device_pointer == (char *)p + 5 * MIB - 1);
	WANT(cudaPointerGetAttributes(&a, (char *)h + 999) == 0 && a.type == 1 && a.host_pointer == (char *)h + 999);
	WANT(cudaPointerGetAttributes(&a, own) == 0 && a.type == 0);
	WANT(cuPointerGetAttribute(&type, 2, (uintptr_t)p) == 0 && type == 2 && cuPointerGetAttribute(&ordinal, 9, (uintptr_t)p) == 0 && ordinal == 1);
	WANT(cuPointerGetAttribute(&type, 2, (uintptr_t)own) == 1);
	WANT(cudaHostRegister(own, sizeof own, 0) == 0 && cudaHostRegister(own + 1, 1, 0) == 712);
	WANT(cudaPointerGetAttributes(&a, own + 63) == 0 && a.type == 1);
	WANT(cudaHostUnregister(own) == 0 && cudaHostUnregister(own) == 713);
	WANT(cudaFree(p) == 0 && cudaPointerGetAttributes(&a, p) == 0 && a.type == 0);
	WANT(cudaFreeHost(h) == 0 && cudaFreeHost(h) == 1);
}

static const int on_device_0[8] = {1, 0, 1, 0}; /* pinned memory of device 0 */

static void check_virtual(void)
{
	uintptr_t p;
	uint64_t a, b;
	struct attributes at;
	int access[3] = {1, 0, 3};
	WANT(cuMemAddressReserve(&p, 2 * CAPACITY, 0, 0, 0) == 0 && used(0) == 0);
	WANT(cudaPointerGetAttributes(&at, (void *)p) == 0);
	WANT(cuMemCreate(&a, 20 * MIB, on_device_0, 0) == 0 && cuMemCreate(&b, 2 * MIB, on_device_0, 0) == 0 && used(0) == 22 * MIB);
	WANT(cuMemCreate(&b, CAPACITY, on_device_0, 0) == 2 && cuMemCreate(&b, 1, on_device_0, 0) == 1);
	WANT(cuMemMap(p, 20 * MIB, 0, a, 0) == 0 && cuMemMap(p + 18 * MIB, 2 * MIB, 0, b, 0) == 1 && cuMemMap(p + 20 * MIB, 2 * MIB, 0, b, 0) == 0);
	WANT(cuMemMap(p + 22 * MIB, 2 * MIB, 0, 77, 0) == 1);
	WANT(cuMemSetAccess(p, 22 * MIB, access, 1) == 0 && cuMemSetAccess(p, 24 * MIB, access, 1) == 1);
	*(char *)p = 1;
	WANT(cuMemRelease(a) == 0 && used(0) == 22 * MIB); /* still mapped */
	WANT(cuMemUnmap(p, 20 * MIB) == 0 && used(0) == 2 * MIB && *(char *)p == 0);
	WANT(cuMemRelease(a) == 1);
	WANT(cuMemAddressFree(p, 2 * CAPACITY) == 1 && cuMemUnmap(p + 20 * MIB, 2 * MIB) == 0 && cuMemAddressFree(p, 2 * CAPACITY) == 0);
	WANT(cuMemRelease(b) == 0 && used(0) == 0);
}

/* More than the whole range in all: addresses are used again. */
static void check_reuse(void)
{
	uintptr_t base;
	size_t span, given = 0;
	plimsoll_vgpu_range(&base, &span);
	WANT(base && span);
	while (given < span + span / 2) {
		void *p, *q;
		if (cudaMalloc(&p, 600 * MIB) || cudaMalloc(&q, 100 * MIB)) {
			WANT(!"an allocation that fits");
			return;
		}
		WANT((uintptr_t)p >= base && (uintptr_t)p + 600 * MIB <= base + span);
		given += 704 * MIB;
		if (cudaFree(p) || cudaFree(q)) {
			WANT(!"a free of what was allocated");
			return;
		}
	}
	WANT(used(0) == 0);
}

static int destroyed;
static void destroy(void *p) { destroyed += p == &destroyed; }

static void check_capture(void)
{
	void *s, *side, *event, *graph, *run, *object, *p;
	int status;
	size_t n = 0;
	unsigned long long id = 0;
	const void *dependencies;
	WANT(cudaMalloc(&p, 4096) == 0 && cudaStreamCreate(&s) == 0 && cudaStreamCreate(&side) == 0 && cudaEventCreate(&event) == 0);
	WANT(cudaStreamBeginCapture(NULL, 0) == 900 && cudaStreamBeginCapture(s, 0) == 0 && cudaStreamBeginCapture(s, 0) != 0);
	WANT(cudaStreamIsCapturing(s, &status) == 0 && status == 1 && cudaStreamIsCapturing(side, &status) == 0 && status == 0);
	WANT(cudaMemsetAsync(p, 0, 4096, s) == 0 && cudaEventRecord(event, s) == 0 && cudaStreamWaitEvent(side, event, 0) == 0);
	WANT(cudaStreamIsCapturing(side, &status) == 0 && status == 1 && cudaMemsetAsync(p, 0, 4096, side) == 0);
	WANT(cuStreamGetCaptureInfo_v2(side, &status, &id, &graph, &dependencies, &n) == 0 && id != 0 && graph != NULL);
	WANT(cudaUserObjectCreate(&object, &destroyed, destroy, 1, 1) == 0 && cudaGraphRetainUserObject(graph, object, 1, 1) == 0);
	WANT(cudaStreamEndCapture(side, &graph) == 903 && cudaStreamEndCapture(s, &graph) == 0);
	WANT(cudaStreamIsCapturing(side, &status) == 0 && status == 0);
	WANT(cudaGraphGetNodes(graph, NULL, &n) == 0 && n == 2);
	WANT(cudaGraphInstantiateWithFlags(&run, graph, 0) == 0 && cudaGraphDestroy(graph) == 0 && destroyed == 0);
	WANT(cudaGraphLaunch(run, s) == 0 && cudaGraphExecDestroy(run) == 0 && destroyed == 1);
	WANT(cudaStreamBeginCapture(s, 0) == 0 && cudaStreamSynchronize(s) == 900 && cudaStreamEndCapture(s, &graph) == 901 && graph == NULL);
	WANT(cudaStreamDestroy(side) == 0 && cudaStreamSynchronize(side) == 400);
}

static void check_events(void)
{
	void *a, *b;
	float ms = 0;
	WANT(cudaEventCreate(&a) == 0 && cudaEventCreate(&b) == 0);
	WANT(cudaEventElapsedTime(&ms, a, b) == 400 && cudaEventRecord(a, NULL) == 0 && cudaEventRecord(b, NULL) == 0);
	WANT(cudaEventElapsedTime(&ms, a, b) == 0 && ms > 0);
	WANT(cudaEventDestroy(a) == 0 && cudaEventDestroy(b) == 0);
}

static void check_pool(void)
{
	void *pool, *p[3];
	uint64_t reserved = 1, in_use = 1;
	WANT(cudaDeviceGetDefaultMemPool(&pool, 0) == 0);
	for (int i = 0; i < 3; i++)
		WANT(cudaMallocAsync(&p[i], 1000, NULL) == 0);
	WANT((char *)p[1] - (char *)p[0] == 1024 && used(0) == 32 * MIB);
	WANT(cudaMemPoolGetAttribute(pool, 7, &in_use) == 0 && in_use == 3 * 1024);
	WANT(cudaFreeAsync(p[1], NULL) == 0 && cudaMallocAsync(&p[1], 512, NULL) == 0 && p[1] == (char *)p[0] + 1024);
	for (int i = 0; i < 3; i++)
		WANT(cudaFreeAsync(p[i], NULL) == 0);
	WANT(cudaFreeAsync(p[0], NULL) == 1);
	WANT(cudaMemPoolTrimTo(pool, 0) == 0 && cudaMemPoolGetAttribute(pool, 5, &reserved) == 0 && reserved == 0 && used(0) == 0);
	WANT(cudaMallocAsync(&p[0], CAPACITY, NULL) == 2);
}

static void check_lookups(void)
{
	void *f;
	int status = -1;
	void *graph;
	WANT(cuGetProcAddress_v2("cuMemAlloc", &f, 12000, 0, &status) == 0 && f == (void *)cuMemAlloc_v2 && status == 0);
	WANT(cuGetProcAddress_v2("cuStreamGetCaptureInfo", &f, 11040, 0, &status) == 0 && f == (void *)cuStreamGetCaptureInfo_v2);
	WANT(cuGetProcAddress_v2("cuStreamGetCaptureInfo", &f, 12040, 0, &status) == 0 && f == (void *)cuStreamGetCaptureInfo_v3);
	WANT(cuGetProcAddress_v2("cuFromTheFuture", &f, 12000, 0, &status) == 0 && f == NULL && status == 1);
	WANT(cuGetProcAddress_v2("cudaMalloc", &f, 12000, 0, &status) == 0 && f == NULL);
	WANT(cudaGraphClone(&graph, NULL) == 801 && cudaGraphClone(&graph, NULL) == 801);
}

static void check_nvml(void)
{
	void *card, *p;
	unsigned count = 4;
	struct {
		unsigned pid;
		uint64_t used;
	} process[4];
	uint64_t memory[3];
	WANT(nvmlDeviceGetHandleByIndex_v2(0, &card) == 0 && nvmlDeviceGetHandleByIndex_v2(2, &p) == 2);
	WANT(nvmlDeviceGetComputeRunningProcesses(card, &count, process) == 0 && count == 0);
	WANT(cudaMalloc(&p, 10 * MIB) == 0);
	WANT(nvmlDeviceGetComputeRunningProcesses(card, &count, process) == 7 && count == 1);
	WANT(nvmlDeviceGetComputeRunningProcesses(card, &count, process) == 0 && count == 1);
	WANT(process[0].pid == (unsigned)getpid() && process[0].used == CONTEXT + 10 * MIB);
	WANT(nvmlDeviceGetMemoryInfo(card, memory) == 0 && memory[0] == CAPACITY && memory[2] == CONTEXT + 10 * MIB && memory[1] + memory[2] == memory[0]);
}

static void *churn(void *unused)
{
	for (int i = 0; i < 2000; i++) {
		void *p;
		if (cudaMalloc(&p, (size_t)(i % 7 + 1) * MIB) || cudaMemset(p, 1, 100) || cudaFree(p))
			return "failed";
	}
	return unused;
}

static void check_threads(void)
{
	pthread_t t[4];
	void *result;
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, churn, NULL);
	for (int i = 0; i < 4; i++)
		WANT(pthread_join(t[i], &result) == 0 && result == NULL);
	WANT(used(0) == 0);
}

static void check_fork(void)
{
	void *p;
	int status;
	WANT(cudaMalloc(&p, MIB) == 0);
	pid_t child = fork();
	if (child == 0)
		_exit(cudaMalloc(&p, MIB) || cudaMemset(p, 1, 10) || *(char *)p != 1 || used(0) != 4 * MIB);
	WANT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0 && used(0) == 2 * MIB);
}

/* Where pages must be opened one by one the helper asks for it first. */
static void check_touch(void)
{
	char *p;
	int outside;
	WANT(cudaMalloc((void **)&p, 4 * MIB) == 0 && plimsoll_vgpu_touch((uintptr_t)p + 5000, 10) == 0);
	p[5000] = 1;
	WANT(cudaMemset(p + MIB, 2, 10) == 0 && p[MIB] == 2);
	WANT(plimsoll_vgpu_touch((uintptr_t)&outside, 4) == -1);
	WANT(cudaFree(p) == 0);
}

/* For core_test.go, which reads it. */
static void print_count(void)
{
	int n = -1;
	cudaGetDeviceCount(&n);
	printf("%d\n", n);
}

static const struct {
	const char *name;
	void (*run)(void);
} checks[] = {
	{"books", check_books}, {"devices", check_devices}, {"contents", check_contents}, {"pointers", check_pointers},
	{"virtual", check_virtual}, {"reuse", check_reuse}, {"capture", check_capture}, {"events", check_events},
	{"pool", check_pool}, {"lookups", check_lookups}, {"nvml", check_nvml}, {"threads", check_threads},
	{"fork", check_fork}, {"touch", check_touch}, {"count", print_count},
};

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t k = 0;
		while (k < sizeof checks / sizeof *checks && strcmp(checks[k].name, argv[i]) != 0)
			k++;
		if (k == sizeof checks / sizeof *checks) {
			printf("no check is called %s\n", argv[i]);
			return 2;
		}
		checks[k].run();
	}
	return wrong != 0;
}
