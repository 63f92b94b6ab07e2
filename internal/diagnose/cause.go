package diagnose

// A Memory says whose memory ran out.
type Memory uint8

// Whose memory it is.
const (
	Neither Memory = iota // nothing ran out
	Device
	Host
)

// String is for JSON and for people.
func (m Memory) String() string { return [...]string{"none", "device", "host"}[m] }

// A Cause is why memory ran out, or what only looks like it.
type Cause struct {
	ID     string // stays
	Memory Memory
	Words  string // what it is, one sentence
}

// Causes returns the table, in the order of the documentation.
func Causes() []Cause { return causeTable }

var causeTable = []Cause{
	{"device_full", Device, "what the process itself keeps alive fills the card, and the request that failed was only the last one"},
	{"other_process", Device, "another process on the same GPU holds the memory"},
	{"extra_contexts", Device, "other ranks or workers have opened a CUDA context on this GPU and do nothing else there"},
	{"request_over_device", Device, "what is asked for at once is larger than the whole device"},
	{"single_huge_request", Device, "one request is so large that no arrangement of the other memory serves it"},
	{"single_allocation_limit", Device, "the platform limits the size of one allocation, whatever is free"},
	{"fragmentation", Device, "the allocator holds enough unused memory, in pieces that are too small"},
	{"free_but_refused", Device, "the device has more free than was asked for, so its size is not what decides"},
	{"process_cap", Device, "a limit that was set for the process is reached before the card is full"},
	{"driver_sees_less", Device, "the driver reports less memory than the machine has"},
	{"library_memory_outside_torch", Device, "the process holds much memory beside PyTorch's allocator: other libraries or runtimes"},
	{"gather_buffers", Device, "sharded parameters are gathered into buffers that do not fit"},
	{"attention_quadratic", Device, "attention scores or masks of sequence length squared are materialised"},
	{"logits_materialised", Device, "logits of all tokens times the whole vocabulary are materialised"},
	{"context_creation_failed", Device, "the CUDA context or the buffers of collectives could not be made; PyTorch's allocator was not involved"},
	{"ambiguous_library_alloc", Device, "a library got no memory for its handle: the card is full, or an earlier error broke the context"},
	{"disguised_not_oom", Neither, "it looks like a lack of memory and is an index or a label out of range"},
	{"disguised_oom", Device, "the status of a library that means that device memory ran out"},
	{"nccl_buffers", Device, "the collective library found no memory for its buffers because the framework holds it all"},
	{"not_device_memory", Neither, "a kernel wants more on-chip memory or registers for a block than the GPU has"},
	{"checkpoint_reentrant_no_grad", Neither, "re-entrant activation checkpointing got inputs that need no gradients, and cuts gradients off"},
	{"corrupt_size", Neither, "a size that no memory has: garbage was taken for a size"},
	{"unified_memory_limit", Device, "the share of the machine's memory that the GPU may use is used up"},
	{"serving_headroom", Device, "the KV cache was made so large that nothing is left beside it"},
	{"kv_cache_too_small", Device, "weights and activations leave too little for the KV cache"},
	{"compute_buffer_too_big", Device, "the buffer for activations is unusually large, not the weights and not the KV cache"},
	{"weights_do_not_fit", Device, "the parameters themselves do not fit"},
	{"dataset_on_gpu", Device, "a whole data set is copied to the GPU as one tensor"},
	{"host_ram", Host, "the memory of the machine ran out"},
	{"host_commit_limit", Host, "Windows has promised all the memory it has to processes"},
	{"host_shm", Host, "shared memory, /dev/shm, is full"},
	{"host_pinned", Host, "pinned memory of the host ran out"},
	{"job_memory_limit", Host, "the memory limit of the job or the container is reached"},
	{"input_starved", Neither, "data comes more slowly than the GPU takes it"},
}

var causes = func() map[string]*Cause {
	out := map[string]*Cause{}
	for i := range causeTable {
		out[causeTable[i].ID] = &causeTable[i]
	}
	return out
}()
