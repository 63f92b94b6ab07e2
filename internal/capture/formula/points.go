package formula

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// mostPoints is how many combinations of values a tape is solved from: more take
// more time and tell little more.
const mostPoints = 8

// fewValues is how many values of one variable a tape is solved from at least; what
// is missing is chosen.
const fewValues = 5

// solvedAt are the combinations that a tape is solved from: all of few; of many
// a share in which all values of any two variables meet.
func solvedAt(list []Variable) []symbolic.Dims {
	all := grid(list, func([]int) bool { return true })
	if len(all) <= mostPoints {
		return all
	}
	most := 0
	for _, v := range list {
		most = max(most, len(v.Values))
	}
	// Every most-th diagonal of the grid.
	some := grid(list, func(at []int) bool {
		sum := 0
		for _, i := range at {
			sum += i
		}
		return sum%most == 0
	})
	if len(list) == 2 { // and its corners and middle, which tell sums from products
		ends := [2]int{len(list[0].Values) - 1, len(list[1].Values) - 1}
		some = append(some, grid(list, func(at []int) bool {
			corner, middle := at[0]%ends[0] == 0 && at[1]%ends[1] == 0, at[0] == ends[0]/2 && at[1] == ends[1]/2
			return (corner || middle) && (at[0]+at[1])%most != 0
		})...)
	}
	for _, v := range list { // a variable with more values than the others may lack some
		for _, n := range v.Values {
			if !slices.ContainsFunc(some, func(d symbolic.Dims) bool { return d[v.Symbol] == n }) {
				d := symbolic.Dims{}
				for i, w := range list {
					d[w.Symbol] = w.Values[(len(some)+i)%len(w.Values)]
				}
				d[v.Symbol] = n
				some = append(some, d)
			}
		}
	}
	return some
}

// grid are the combinations of values whose places are wanted.
func grid(list []Variable, wanted func(at []int) bool) []symbolic.Dims {
	var out []symbolic.Dims
	at := make([]int, len(list))
	for {
		if wanted(at) {
			d := symbolic.Dims{}
			for i, v := range list {
				d[v.Symbol] = v.Values[at[i]]
			}
			out = append(out, d)
		}
		i := len(at) - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < len(list[i].Values) {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return out
		}
	}
}

// checkedAt are combinations of values that are nobody's: one between those that
// a tape is solved from, where there is room, and one beyond. They are multiples of
// what all values are multiples of, or of as much of it as leaves room, since a
// script may want that.
func checkedAt(list []Variable) []symbolic.Dims {
	inside, beyond := symbolic.Dims{}, symbolic.Dims{}
	between := false
	for _, v := range list {
		n, ok := v.between()
		inside[v.Symbol], beyond[v.Symbol] = n, v.beyond()
		between = between || ok
	}
	if !between {
		return []symbolic.Dims{beyond}
	}
	return []symbolic.Dims{inside, beyond}
}

// between is a value in the middle of the largest two that have room between
// them; where none have, ok is false and it is one of the values.
func (v Variable) between() (n int64, ok bool) {
	for step := v.step(); ; step = (step + 1) / 2 {
		for i := len(v.Values) - 1; i > 0; i-- {
			low, high := v.Values[i-1], v.Values[i]
			if n := low + (high-low)/step/2*step; n > low {
				return n, true
			}
		}
		if step == 1 {
			return v.Values[len(v.Values)/2], false
		}
	}
}

// beyond is half as much again as the largest value.
func (v Variable) beyond() int64 {
	step, most := v.step(), v.Values[len(v.Values)-1]
	return most + max(most/2/step*step, step)
}
