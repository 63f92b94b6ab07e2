package attribute_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/attribute"
	"github.com/plimsoll-dev/plimsoll/tape"
)

func TestTelling(t *testing.T) {
	for _, c := range []struct {
		want bool
		f    tape.Frame
	}{
		{true, tape.Frame{Name: "wrapper", File: "/home/me/train.py"}},
		{false, tape.Frame{Name: "_call_impl", File: "/env/lib/python3.11/site-packages/torch/nn/modules/module.py"}},
		{true, tape.Frame{Name: "forward", File: "/env/lib/python3.11/site-packages/torch/nn/modules/linear.py"}},
		{false, tape.Frame{Name: "_PyEval_EvalFrameDefault", File: "ceval.c"}},
		{false, tape.Frame{Name: "torch::unwind::unwind()", File: "??"}},
		{true, tape.Frame{Name: "at::native::mm(at::Tensor const&)", File: "??"}},
		{false, tape.Frame{}},
	} {
		if got := attribute.Telling(c.f); got != c.want {
			t.Errorf("%+v is telling: %v", c.f, got)
		}
	}
}
