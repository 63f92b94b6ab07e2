package catalog

import (
	"maps"
	"slices"
)

// A multiple is what composed blocks take, by what is trained.
type multiple struct {
	element int64 // bytes an element
	tensor  int64 // bytes a tensor
	other   int64 // bytes that follow no such rule
}

// scalar is the largest size, in bytes, of a number that there is for each
// tensor, as the count of its steps.
const scalar = 8

// multipleOf finds the rule behind the sizes of blocks, given how many elements
// each trained tensor has: a block for each tensor that is as many times its
// size, a number for each tensor, or a whole multiple of all in few buckets.
func multipleOf(trained, sizes []int64) multiple {
	left := map[int64]int64{} // how many blocks of a size
	for _, n := range sizes {
		left[n]++
	}
	var m multiple
	if len(trained) > 0 {
		m.element = takeElements(left, trained)
		m.tensor = takeScalars(left, int64(len(trained)))
	}
	for size, n := range left {
		m.other += size * n
	}
	var all int64
	for _, n := range trained {
		all += n
	}
	if all > 0 && m.other%all == 0 {
		m.element, m.other = m.element+m.other/all, 0
	}
	return m
}

// takeElements takes away one block for each tensor, all with the same number of
// bytes an element, as often as there are such; and returns these numbers' sum.
func takeElements(left map[int64]int64, trained []int64) int64 {
	var sum int64
	largest := slices.Max(trained)
	for _, size := range slices.Sorted(maps.Keys(left)) {
		if largest == 0 || size%largest != 0 {
			continue
		}
		each := size / largest
		for each > 0 && take(left, trained, each) {
			sum += each
		}
	}
	return sum
}

func take(left map[int64]int64, trained []int64, each int64) bool {
	need := map[int64]int64{}
	for _, n := range trained {
		need[each*n]++
	}
	for size, n := range need {
		if left[size] < n {
			return false
		}
	}
	for size, n := range need {
		left[size] -= n
	}
	return true
}

func takeScalars(left map[int64]int64, tensors int64) int64 {
	var sum int64
	for size := range left {
		if size <= scalar {
			sum += size * (left[size] / tensors)
			left[size] %= tensors
		}
	}
	return sum
}
