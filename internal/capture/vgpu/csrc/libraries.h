/* libraries.h: the libraries that the virtual GPU stands for, the name each has
 * in the log, and the code with which each says "not supported". */
#ifndef PLIMSOLL_LIBRARIES_H
#define PLIMSOLL_LIBRARIES_H

/* cuDNN renumbered its codes in version 9; PyTorch 2.4 was the first to use it. */
#ifndef PLIMSOLL_CUDNN_MAJOR
#define PLIMSOLL_CUDNN_MAJOR 9
#endif

#define VGPU_LIBRARIES(_) \
	_(RUNTIME, "cudart", 801)       /* cudaErrorNotSupported */ \
	_(DRIVER, "cuda", 801)          /* CUDA_ERROR_NOT_SUPPORTED */ \
	_(NVML, "nvml", 3)              /* NVML_ERROR_NOT_SUPPORTED */ \
	_(CUBLAS, "cublas", 15)         /* CUBLAS_STATUS_NOT_SUPPORTED */ \
	_(CUBLASLT, "cublaslt", 15)     /* CUBLAS_STATUS_NOT_SUPPORTED */ \
	_(CUDNN, "cudnn", PLIMSOLL_CUDNN_MAJOR >= 9 ? 3000 : 9) /* CUDNN_STATUS_NOT_SUPPORTED */ \
	_(CUFFT, "cufft", 16)           /* CUFFT_NOT_SUPPORTED */ \
	_(CURAND, "curand", 999)        /* CURAND_STATUS_INTERNAL_ERROR */ \
	_(CUSOLVER, "cusolver", 9)      /* CUSOLVER_STATUS_NOT_SUPPORTED */ \
	_(CUSPARSE, "cusparse", 10)     /* CUSPARSE_STATUS_NOT_SUPPORTED */ \
	_(CUSPARSELT, "cusparselt", 10) /* CUSPARSE_STATUS_NOT_SUPPORTED */ \
	_(NCCL, "nccl", 5)              /* ncclInvalidUsage */ \
	_(NVRTC, "nvrtc", 11)           /* NVRTC_ERROR_INTERNAL_ERROR */ \
	_(NVJITLINK, "nvjitlink", 6)    /* NVJITLINK_ERROR_INTERNAL */ \
	_(CUPTI, "cupti", 27)           /* CUPTI_ERROR_NOT_SUPPORTED */ \
	_(NVTX, "nvtx", 0)              /* marks have no status */ \
	_(CUFILE, "cufile", 5003)       /* CU_FILE_PLATFORM_NOT_SUPPORTED */ \
	_(NVSHMEM, "nvshmem", 7)        /* NVSHMEMX_ERROR_INTERNAL */ \
	_(NVJPEG, "nvjpeg", 9)          /* NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED */ \
	_(NPP, "npp", -9999)            /* NPP_NOT_SUPPORTED_MODE_ERROR */ \
	_(OTHER, "other", 1)

enum vgpu_library {
#define VGPU_LIBRARY_ENUM(id, name, code) VGPU_##id,
	VGPU_LIBRARIES(VGPU_LIBRARY_ENUM)
#undef VGPU_LIBRARY_ENUM
	VGPU_LIBRARY_COUNT
};

#endif
