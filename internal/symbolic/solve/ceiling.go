package solve

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// A convolution is its input, filter and output: channels and how an image's
// height H became floor((H+a)/q), and the filter's elements between them.
type convolution [8]int64

// bytes is the size of all three.
func (c convolution) bytes(element int64) symbolic.Expr {
	side := func(channels, a, q int64) symbolic.Term {
		e := [2]int64{a, q}
		return symbolic.Term{Num: channels * element, Den: 1, Factors: []symbolic.Factor{{Dim: "B"}, extent("H", e), extent("W", e)}}
	}
	return symbolic.Sum(side(c[0], c[1], c[2]), side(c[4], c[5], c[6]), symbolic.Term{Num: c[3] * element, Den: 1})
}

// ceiling is what cuDNN's scratch memory of a convolution is taken to stay
// below: its input, filter and output once more, of the largest convolution.
// Which one that is may depend on the batch and the image.
func ceiling(recordings []*Recording) (symbolic.Expr, error) {
	first := recordings[0]
	element := int64(2)
	if first.Job.Precision == "fp32" {
		element = 4
	}
	var convs []convolution
	for _, r := range recordings {
		for _, c := range r.Convolutions {
			if conv := convolution(c); !slices.Contains(convs, conv) {
				convs = append(convs, conv)
			}
		}
	}
	if len(convs) == 0 {
		return symbolic.Expr{}, nil
	}
	var texts []string
	for _, r := range recordings {
		size := func(c convolution) int64 {
			v, _ := c.bytes(element).Eval(r.Job.Dims, r.Job.Device)
			return v
		}
		most := slices.MaxFunc(convs, func(a, b convolution) int { return cmp.Compare(size(a), size(b)) })
		if text := most.bytes(element).String(); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	text := texts[0]
	for _, t := range texts[1:] {
		text = "max(" + text + "," + t + ")"
	}
	e, err := symbolic.Parse(text)
	if err != nil {
		return symbolic.Expr{}, fmt.Errorf("the ceiling of convolutions: %w", err)
	}
	return e, nil
}
