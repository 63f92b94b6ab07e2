package gpu

import "github.com/plimsoll-dev/plimsoll/unit"

// Limits are the properties that follow from the compute capability. PyTorch
// sizes its reductions, sorts and attention kernels by them, and so its
// temporary allocations.
type Limits struct {
	ThreadsPerMultiprocessor    int
	BlocksPerMultiprocessor     int
	RegistersPerMultiprocessor  int
	SharedMemory                unit.Bytes // of one multiprocessor
	SharedMemoryPerBlock        unit.Bytes // that a kernel may ask for at most (opt-in)
	SharedMemoryDefaultPerBlock unit.Bytes // that a kernel may use without asking
	SharedMemoryReserved        unit.Bytes // that the driver keeps of each block
}

// limitsSource is where every row of limits was read.
var limitsSource = Source{
	ID:    "cuda-guide",
	Title: "CUDA C++ Programming Guide, section Compute Capabilities, tables of technical specifications",
	Where: "https://docs.nvidia.com/cuda/cuda-c-programming-guide/#compute-capabilities",
}

// LimitsSource says where Limits come from.
func LimitsSource() Source { return limitsSource }

const blockDefault = 48 * unit.KiB // the same for every capability

// limits by capability.
var limits = map[int]Limits{
	37:  {2048, 16, 128 << 10, 112 * unit.KiB, 48 * unit.KiB, blockDefault, 0},
	60:  {2048, 32, 64 << 10, 64 * unit.KiB, 48 * unit.KiB, blockDefault, 0},
	61:  {2048, 32, 64 << 10, 96 * unit.KiB, 48 * unit.KiB, blockDefault, 0},
	70:  {2048, 32, 64 << 10, 96 * unit.KiB, 96 * unit.KiB, blockDefault, 0},
	75:  {1024, 16, 64 << 10, 64 * unit.KiB, 64 * unit.KiB, blockDefault, 0},
	80:  {2048, 32, 64 << 10, 164 * unit.KiB, 163 * unit.KiB, blockDefault, unit.KiB},
	86:  {1536, 16, 64 << 10, 100 * unit.KiB, 99 * unit.KiB, blockDefault, unit.KiB},
	87:  {1536, 16, 64 << 10, 164 * unit.KiB, 163 * unit.KiB, blockDefault, unit.KiB},
	89:  {1536, 24, 64 << 10, 100 * unit.KiB, 99 * unit.KiB, blockDefault, unit.KiB},
	90:  {2048, 32, 64 << 10, 228 * unit.KiB, 227 * unit.KiB, blockDefault, unit.KiB},
	100: {2048, 32, 64 << 10, 228 * unit.KiB, 227 * unit.KiB, blockDefault, unit.KiB},
	103: {2048, 32, 64 << 10, 228 * unit.KiB, 227 * unit.KiB, blockDefault, unit.KiB},
	120: {1536, 24, 64 << 10, 100 * unit.KiB, 99 * unit.KiB, blockDefault, unit.KiB},
	121: {1536, 24, 64 << 10, 100 * unit.KiB, 99 * unit.KiB, blockDefault, unit.KiB},
}
