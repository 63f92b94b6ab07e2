package compose

import (
	"math"
	"slices"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Limits of DistributedDataParallel's buckets in bytes: a bucket is closed when it
// has reached its limit (torch/nn/parallel/distributed.py, 2.15).
const (
	broadcastBucket = 250 << 20
	firstBucket     = 1 << 20
	laterBucket     = 25 << 20
)

// inFlight is how many broadcasts are under way when the oldest is waited for
// (torch/csrc/distributed/c10d/comm.cpp, broadcast_coalesced).
const inFlight = 2

// Replicated is what a module of DistributedDataParallel holds.
type Replicated struct {
	Trainable []Param // parameters that have a gradient, in the module's order
	States    []Param // all parameters in order, then all buffers
	Buffers   []Param // buffers alone
	World     int64   // processes
}

// A DDP writes what DistributedDataParallel takes beside the module with its
// default options: gradients are copied into buckets and back. Nothing is taken in
// a backward pass, since the buckets stay.
type DDP struct {
	module  Replicated
	ready   []int
	calls   int
	buckets []tape.BlockID
}

// NewDDP returns the writer for a module. ready has the indices of Trainable in the
// order in which the first backward pass finishes their gradients; without it they
// are finished from last to first.
func NewDDP(module Replicated, ready []int) *DDP {
	if len(ready) != len(module.Trainable) {
		ready = nil
		for i := range module.Trainable {
			ready = append(ready, len(module.Trainable)-1-i)
		}
	}
	return &DDP{module: module, ready: ready}
}

// Construct writes what the wrapper's making takes: a check that all processes have
// the same shapes, a broadcast of the module from the first of them, and buckets as
// large as can be, one for each type.
func (d *DDP) Construct(w *tape.Writer) {
	d.checkShapes(w)
	broadcast(w, d.module.States)
	sizes := buckets(d.module.Trainable, nil, math.MaxInt64)
	slices.Reverse(sizes)
	d.take(w, sizes)
}

// checkShapes gathers the number of parameters of every process, and sends sizes
// and strides of this one's.
func (d *DDP) checkShapes(w *tape.Writer) {
	var blocks []tape.BlockID
	for range d.module.World + 1 {
		blocks = append(blocks, temporary(w, 8))
	}
	var dimensions int64
	for _, p := range d.module.Trainable {
		dimensions += int64(len(p.Shape))
	}
	if dimensions > 0 {
		blocks = append(blocks, temporary(w, 2*8*dimensions))
	}
	freeReversed(w, blocks)
}

// Forward writes what comes before the module's own forward pass in training. The
// second one makes the buckets anew, now that the order of gradients is known.
func (d *DDP) Forward(w *tape.Writer) {
	d.calls++
	if d.calls == 2 {
		d.rebuild(w)
	}
	broadcast(w, d.module.Buffers)
}

func (d *DDP) rebuild(w *tape.Writer) {
	sizes := buckets(d.module.Trainable, d.ready, firstBucket, laterBucket)
	order := temporary(w, 4*int64(len(d.module.Trainable)+1))
	lengths := temporary(w, 4*int64(len(sizes)))
	w.Free(lengths)
	w.Free(order)
	for _, b := range d.buckets {
		w.Free(b)
	}
	d.take(w, sizes)
}

func (d *DDP) take(w *tape.Writer, sizes []int64) {
	d.buckets = d.buckets[:0]
	for _, bytes := range sizes {
		d.buckets = append(d.buckets, w.Alloc(unit.Bytes(bytes), tape.Communication))
	}
}

// broadcast writes a coalesced broadcast: each bucket of more than one tensor is
// copied into one flat tensor while it is under way.
func broadcast(w *tape.Writer, tensors []Param) {
	var flying []tape.BlockID
	for _, b := range assign(tensors, nil, broadcastBucket) {
		flat := tape.NoBlock
		if b.tensors > 1 {
			flat = w.Alloc(unit.Bytes(b.bytes), tape.Communication)
		}
		flying = append(flying, flat)
		if len(flying) == inFlight {
			land(w, flying[0])
			flying = flying[1:]
		}
	}
	for _, flat := range flying {
		land(w, flat)
	}
}

func land(w *tape.Writer, flat tape.BlockID) {
	if flat != tape.NoBlock {
		w.Free(flat)
	}
}

// A bucket is some tensors of one type.
type bucket struct {
	first   int // index of its first tensor
	tensors int
	bytes   int64
}

func buckets(tensors []Param, order []int, limits ...int64) []int64 {
	var sizes []int64
	for _, b := range assign(tensors, order, limits...) {
		sizes = append(sizes, b.bytes)
	}
	return sizes
}

// assign is compute_bucket_assignment_by_size of torch/csrc/distributed/c10d/
// reducer.cpp: tensors go, in order, into a bucket of their type, whose first one
// has the first limit. Without an order buckets are sorted by their first tensors;
// with one they stand as they were closed, and those left open come last.
func assign(tensors []Param, order []int, limits ...int64) []bucket {
	type open struct {
		bucket
		element int64
		closed  int
	}
	var kinds []open
	var done []bucket
	for k := range tensors {
		i := k
		if order != nil {
			i = order[k]
		}
		p := tensors[i]
		at := slices.IndexFunc(kinds, func(o open) bool { return o.element == p.Element })
		if at < 0 {
			at = len(kinds)
			kinds = append(kinds, open{element: p.Element})
		}
		o := &kinds[at]
		if o.tensors == 0 {
			o.first = i
		}
		o.tensors++
		o.bytes += p.bytes()
		if o.bytes >= limits[min(o.closed, len(limits)-1)] {
			done = append(done, o.bucket)
			o.bucket = bucket{}
			o.closed++
		}
	}
	for _, o := range slices.Backward(kinds) {
		if o.tensors > 0 {
			done = append(done, o.bucket)
		}
	}
	if order == nil {
		slices.SortFunc(done, func(a, b bucket) int { return a.first - b.first })
	}
	return done
}
