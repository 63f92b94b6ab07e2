package gpu

// A Library takes device memory outside PyTorch's allocator, so that neither
// memory_allocated nor memory_reserved shows it.
type Library struct {
	Name   string // "NCCL"
	When   string // what a program does to load it, as a clause after "when"
	Memory Interval
}

// Libraries returns what else a process may hold on a card, for reports that
// explain the difference between reserved and device memory.
func Libraries() []Library { return libraries }

var libraries = []Library{
	{
		Name: "NCCL",
		When: "a process group has run its first collective, and again for each communicator",
		Memory: context(300, 700, 4400, Source{
			ID:    "nccl-memory",
			Title: "544 and 688 MB a communicator on 4 x A100 (NVIDIA/nccl#964); 10 MiB a channel and peer, 3.3 GB more on 8 x H100 after an all-to-all (NVIDIA/nccl#1685)",
			Where: "https://github.com/NVIDIA/nccl/issues/964",
		}),
	},
	{
		Name: "all kernels at once",
		When: "CUDA_MODULE_LOADING=EAGER is set",
		Memory: context(350, 362, 700, Source{
			ID:    "eager-loading",
			Title: "666,632,192 bytes against 287,047,680 with lazy loading (pytorch/pytorch#86509)",
			Where: "https://github.com/pytorch/pytorch/issues/86509",
		}),
	},
}
