package compose

import (
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// How bitsandbytes stores a weight in 4 bits (bitsandbytes/functional.py,
// quantize_4bit, 0.50): two numbers in a byte and an fp32 scale for each block of
// them. Nested, which its users call double quantization, the scales are stored in
// 8 bits with scales of their own.
const (
	block4bit    = 64
	nestedBlock  = 256
	codebook4bit = 16 * 4
)

// NF4 writes how weights of linear layers become 4-bit ones on the GPU.
type NF4 struct {
	Nested bool
	Device kernel.Device
	shared bool // whether the codebook of nested scales is there
}

// Quantize writes the quantization of one weight, which comes to the GPU for it,
// and returns what stays.
func (q *NF4) Quantize(w *tape.Writer, weight Param) []tape.BlockID {
	stays := func(bytes int64) tape.BlockID { return w.Alloc(unit.Bytes(bytes), tape.Parameter) }
	blocks := ceil(weight.Elements(), block4bit)

	loaded := temporary(w, weight.bytes())
	var scales tape.BlockID
	if q.Nested {
		scales = temporary(w, 4*blocks)
	} else {
		scales = stays(4 * blocks)
	}
	packed := stays(ceil(weight.Elements(), 2))
	values := stays(codebook4bit)
	magnitudes, largest := temporary(w, codebook4bit), temporary(w, 4)
	w.Free(magnitudes)
	w.Free(largest)
	if !q.Nested {
		w.Free(loaded)
		return []tape.BlockID{packed, scales, values}
	}

	offset := stays(4)
	q.mean(w, blocks)
	shifted := temporary(w, 4*blocks)
	if !q.shared {
		q.shared = true
		stays(codebook)
	}
	outer := stays(4 * ceil(blocks, nestedBlock))
	inner := stays(blocks)
	meaning := stays(codebook)
	w.Free(shifted)
	w.Free(scales)
	w.Free(loaded)
	return []tape.BlockID{packed, values, offset, outer, inner, meaning}
}

// mean writes the buffers of the mean of all scales.
func (q *NF4) mean(w *tape.Writer, blocks int64) {
	staging := innerStaging(q.Device, 1, blocks, accumulator)
	if staging == 0 {
		return
	}
	partial, counters := temporary(w, staging), temporary(w, innerCounters(q.Device, 1, blocks))
	w.Free(counters)
	w.Free(partial)
}
