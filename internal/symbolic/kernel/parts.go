package kernel

import (
	"math"
	"slices"
)

// largeReductions are the buffers of a reduction whose input the kernel's 32-bit
// offsets do not reach: it is then halved along its slowest dimension until they do, and
// each part has buffers of its own, freed before the next part's.
func largeReductions() []Function {
	const (
		element = "element: bytes of an element of the input"
		part    = "part: 0 for the first"
	)
	return []Function{
		{
			Name:      "reduce_accumulation",
			Args:      []string{"outputs", "inputs", element},
			Doc:       "the result in float32 while parts are added to it, where input and result are of 16 bits",
			Source:    reduceSource,
			Operators: reduceOperators,
			Eval: sized(3, func(_ Device, a []int64) int64 {
				if a[2] != 2 || reachable(product(a[0], a[1]), a[2]) {
					return 0
				}
				return product(a[0], 4)
			}),
		},
		{
			Name:      "reduce_outer_part",
			Args:      []string{"outputs", "inputs", "accumulator", element, part},
			Doc:       "reduce_outer of one part",
			Source:    reduceSource,
			Operators: reduceOperators,
			Eval: sized(5, func(d Device, a []int64) int64 {
				return reduceOuter(d, a[0], a[0], nthPart(a[1], a[0], a[3], a[4])).staging(a[2])
			}),
		},
		{
			Name:      "reduce_outer_part_semaphores",
			Args:      []string{"outputs", "inputs", element, part},
			Doc:       "reduce_outer_semaphores of one part",
			Source:    reduceSource,
			Operators: reduceOperators,
			Eval: sized(4, func(d Device, a []int64) int64 {
				return reduceOuter(d, a[0], a[0], nthPart(a[1], a[0], a[2], a[3])).semaphores()
			}),
		},
		{
			Name:      "reduce_batch_part",
			Args:      []string{"images", "outputs: channels", "inputs: elements summed into each, of one image", "accumulator", element, part},
			Doc:       "reduce_inner of one part, of [images, channels, H, W] to [channels]: parts are of images",
			Source:    reduceSource,
			Operators: reduceOperators,
			Eval: sized(6, func(d Device, a []int64) int64 {
				return reduceInner(d, a[1], product(nthPart(a[0], product(a[1], a[2]), a[4], a[5]), a[2])).staging(a[3])
			}),
		},
		{
			Name:      "reduce_batch_part_semaphores",
			Args:      []string{"images", "outputs", "inputs", element, part},
			Doc:       "reduce_inner_semaphores of one part",
			Source:    reduceSource,
			Operators: reduceOperators,
			Eval: sized(5, func(d Device, a []int64) int64 {
				return reduceInner(d, a[1], product(nthPart(a[0], product(a[1], a[2]), a[3], a[4]), a[2])).semaphores()
			}),
		},
		{
			Name:      "reduce_all_part",
			Args:      []string{"inputs", "accumulator", element, part},
			Doc:       "reduce_inner of one part, of everything to one result",
			Source:    reduceSource,
			Operators: reduceOperators,
			Eval: sized(4, func(d Device, a []int64) int64 {
				return reduceInner(d, 1, nthPart(a[0], 1, a[2], a[3])).staging(a[1])
			}),
		},
	}
}

// reachable reports whether 32-bit offsets reach all of n contiguous elements.
func reachable(n, element int64) bool {
	return n <= math.MaxInt32 && product(n, element) <= math.MaxInt32-1+element
}

// A Part is how many steps of the slowest dimension one part of a large reduction has,
// and how many parts are like it.
type Part struct{ Steps, Count int64 }

// Parts returns the parts in which a reduction works whose input has n steps of the given
// elements: one where 32-bit offsets reach all of it. Parts are halves of halves, so that
// few differ; equal ones stand together, where the first of them comes.
func Parts(n, step, element int64) []Part {
	var parts []Part
	add := func(list []Part, steps, count int64) []Part {
		i := slices.IndexFunc(list, func(p Part) bool { return p.Steps == steps })
		if i < 0 {
			return append(list, Part{steps, count})
		}
		list[i].Count = sum(list[i].Count, count)
		return list
	}
	for level := []Part{{n, 1}}; len(level) > 0; {
		var next []Part
		for _, p := range level {
			if p.whole(step, element) {
				parts = add(parts, p.Steps, p.Count)
				continue
			}
			next = add(next, p.Steps/2, p.Count)
			next = add(next, p.Steps-p.Steps/2, p.Count)
		}
		level = next
	}
	return parts
}

// whole reports whether a part is not split again.
func (p Part) whole(step, element int64) bool {
	return p.Steps <= 1 || reachable(product(p.Steps, step), element)
}

// nthPart is the size of a part of a dimension of n steps of the given elements, 0 beyond
// the last part.
func nthPart(n, step, element, part int64) int64 {
	if n == 0 || step == 0 || element == 0 {
		return 0
	}
	counts := map[int64]int64{}
	var count func(n int64) int64
	count = func(n int64) int64 {
		if (Part{Steps: n}).whole(step, element) {
			return 1
		}
		c, ok := counts[n]
		if !ok {
			c = sum(count(n/2), count(n-n/2))
			counts[n] = c
		}
		return c
	}
	if part >= count(n) {
		return 0
	}
	for count(n) > 1 {
		if first := count(n / 2); part < first {
			n /= 2
		} else {
			part -= first
			n -= n / 2
		}
	}
	return n
}
