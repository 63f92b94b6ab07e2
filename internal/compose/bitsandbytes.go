package compose

import "github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"

// What bitsandbytes' optimizers keep in 8 bits (bitsandbytes/optim/optimizer.py,
// 0.50): tensors of at least 4,096 elements, in blocks with a scale each. Smaller
// ones stay fp32, as all of them do in its 32-bit optimizers.
const (
	smallest8bit  = 4096
	smallestPaged = 1e5 // elements of the smallest tensor in managed memory
	block8bit     = 256
	codebook      = 256 * 4 // what each 8-bit value means, one for all parameters
)

func full(p Param, _ kernel.Device) int64 { return product(4, p.Elements()) }

func eightBit(p Param, d kernel.Device) int64 {
	if p.Elements() < smallest8bit {
		return full(p, d)
	}
	return p.Elements()
}

func scales(p Param, _ kernel.Device) int64 {
	if p.Elements() < smallest8bit {
		return 0
	}
	return 4 * ceil(p.Elements(), block8bit)
}

func meanings(p Param, _ kernel.Device) int64 {
	if p.Elements() < smallest8bit {
		return 0
	}
	return codebook
}

// pagedEightBit leaves large states to managed memory, which CUDA moves between
// card and host and PyTorch's allocator does not see.
func pagedEightBit(p Param, d kernel.Device) int64 {
	if p.Elements() >= smallestPaged {
		return 0
	}
	return eightBit(p, d)
}
