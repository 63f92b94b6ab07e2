/* prop_layout.h: struct cudaDeviceProp of one CUDA major. Included once per
 * layout that a build needs, with PROP_STRUCT and PROP_MAJOR defined; the names
 * are ours, the order and the types are the interface's.
 * Source: driver_types.h of CUDA 11.7, 12.4 and 13.2. */
struct PROP_STRUCT {
	char name[256];
	unsigned char uuid[16];
	char luid[8];
	unsigned luid_mask;
	size_t total_bytes;
	size_t shared_per_block;
	int registers_per_block;
	int warp;
	size_t pitch;
	int threads_per_block;
	int block_dim[3];
	int grid_dim[3];
#if PROP_MAJOR < 13
	int clock_khz;
#endif
	size_t constant_bytes;
	int major, minor;
	size_t texture_alignment, texture_pitch_alignment;
#if PROP_MAJOR < 13
	int overlap;
#endif
	int multiprocessors;
#if PROP_MAJOR < 13
	int watchdog;
#endif
	int integrated;
	int maps_host;
#if PROP_MAJOR < 13
	int compute_mode;
#endif
	int texture_1d[2]; /* plain, mipmapped */
#if PROP_MAJOR < 13
	int texture_1d_linear;
#endif
	int textures[23]; /* from maxTexture2D to maxTextureCubemapLayered */
	int surfaces[14]; /* from maxSurface1D to maxSurfaceCubemapLayered */
	size_t surface_alignment;
	int concurrent_kernels;
	int ecc;
	int pci_bus, pci_device, pci_domain;
	int tcc;
	int copy_engines;
	int unified_addressing;
#if PROP_MAJOR < 13
	int memory_clock_khz;
#endif
	int bus_bits;
	int l2_bytes;
	int persisting_l2_bytes;
	int threads_per_multiprocessor;
	int stream_priorities;
	int l1_global, l1_local;
	size_t shared_per_multiprocessor;
	int registers_per_multiprocessor;
	int managed_memory;
	int multi_board, multi_board_group;
	int host_atomics;
#if PROP_MAJOR < 13
	int single_to_double;
#endif
	int pageable_access;
	int concurrent_managed;
	int preemption;
	int registered_pointers;
	int cooperative;
#if PROP_MAJOR < 13
	int cooperative_multi;
#endif
	size_t shared_per_block_optin;
	int host_page_tables;
	int direct_managed;
	int blocks_per_multiprocessor;
	int access_window_bytes;
	size_t shared_reserved_per_block;
#if PROP_MAJOR >= 12
	int host_register;
	int sparse_arrays;
	int host_register_read_only;
	int timeline_semaphores;
	int memory_pools;
	int rdma;
	unsigned rdma_flush;
	int rdma_ordering;
	unsigned pool_handles;
	int deferred_arrays;
	int ipc_events;
	int cluster_launch;
	int unified_functions;
#endif
#if PROP_MAJOR == 12
	int reserved[63];
#elif PROP_MAJOR == 13
	int numa_config, numa_id;
	int mps;
	int host_numa_id;
	unsigned gpu_pci_device, gpu_pci_subsystem;
	int host_numa_ipc;
	int reserved[56];
#endif
};
