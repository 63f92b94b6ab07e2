package capture

import "testing"

func TestOnlyUnknownValuesMakeALowerBound(t *testing.T) {
	dependent := func(line int, exact bool) helperOperator {
		return helperOperator{Operator{Op: "nonzero", File: "/u/train.py", Line: line, Count: 2}, exact}
	}
	for name, c := range map[string]struct {
		ops   []helperOperator
		bound bool
		known []bool
	}{
		"values that were computed":     {[]helperOperator{dependent(3, true)}, false, []bool{true}},
		"values that were not":          {[]helperOperator{dependent(3, false)}, true, []bool{false}},
		"a line with both":              {[]helperOperator{dependent(3, true), dependent(3, false)}, true, []bool{false}},
		"two lines, one of them known":  {[]helperOperator{dependent(3, false), dependent(4, true)}, true, []bool{false, true}},
		"no operator of this kind made": {nil, false, nil},
	} {
		var r Result
		r.takeFrom(written{result: helperResult{Dependent: c.ops}})
		if r.LowerBound != c.bound || len(r.Operators) != len(c.known) {
			t.Errorf("%s: lower bound %v, %+v", name, r.LowerBound, r.Operators)
			continue
		}
		for i, known := range c.known {
			if r.Operators[i].Known != known {
				t.Errorf("%s: %+v, want known %v", name, r.Operators[i], known)
			}
		}
	}
}
