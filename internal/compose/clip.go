package compose

import "github.com/plimsoll-dev/plimsoll/tape"

// foreachChunk is how many elements one block of a multi-tensor kernel works on,
// kChunkSize of aten/src/ATen/native/cuda/MultiTensorApply.cuh.
const foreachChunk = 65536

// A Clip writes clip_grad_norm_ as torch/nn/utils/clip_grad.py and
// foreach_tensor_norm_cuda (ForeachReduceOp.cu, 2.15) do it.
type Clip struct {
	// Sharded is for parameters of which each process has a part (FSDP2's). The
	// norms are then summed over all processes: as squares, in a copy that the
	// collective returns, and as their roots.
	Sharded bool

	// Padded is for PyTorch 2.6 and all without pytorch/pytorch#190549: partial
	// sums for as many chunks of every tensor as the largest one has.
	Padded bool

	params []Param
	chunks []int64
	groups groups
	norms  []tape.BlockID
}

// NewClip returns the writer of clip_grad_norm_ over all parameters.
func NewClip(params []Param) *Clip {
	c := &Clip{params: params, chunks: make([]int64, len(params))}
	for i, p := range params {
		c.chunks[i] = ceil(p.Elements(), foreachChunk)
	}
	return c
}

// Clip writes one call. The norm that it returns is not kept.
func (c *Clip) Clip(w *tape.Writer, grads []tape.BlockID) {
	w.Phase = tape.Step
	c.norms = c.norms[:0]
	var element int64 // of the widest gradient: the type of the norm
	for _, members := range c.groups.of(c.params, grads) {
		element = max(element, c.params[members[0]].Element)
		c.normsOf(w, members)
	}
	n := int64(len(c.norms))
	if n == 0 {
		return
	}
	stack := temporary(w, n*element)
	var roots tape.BlockID
	if c.Sharded {
		squares, sums := temporary(w, n*element), temporary(w, n*element)
		roots = temporary(w, n*element)
		w.Free(squares)
		w.Free(sums)
	}
	total := temporary(w, element)
	if c.Sharded {
		w.Free(roots)
	}
	w.Free(stack)
	freeReversed(w, c.norms)

	// The coefficient: max_norm / (total + 1e-6), which is a sum, a reciprocal and
	// a product; then its clamp.
	sum, inverse := temporary(w, element), temporary(w, element)
	coefficient := temporary(w, element)
	w.Free(inverse)
	w.Free(sum)
	clamped := temporary(w, element)
	w.Free(coefficient)
	w.Free(clamped)
	w.Free(total)
}

// normsOf writes the norms of one group: where each tensor's chunks begin, a
// partial sum for every chunk, and a norm for every tensor.
func (c *Clip) normsOf(w *tape.Writer, members []int) {
	var chunks, most int64
	for _, i := range members {
		chunks += c.chunks[i]
		most = max(most, c.chunks[i])
	}
	tensors := int64(len(members))
	begins := tape.NoBlock
	if c.Padded {
		chunks = most * tensors
	} else {
		begins = temporary(w, 8*(tensors+1))
	}
	partial := temporary(w, 4*chunks)
	for _, i := range members {
		c.norms = append(c.norms, temporary(w, c.params[i].Element))
	}
	w.Free(partial)
	if !c.Padded {
		w.Free(begins)
	}
}
