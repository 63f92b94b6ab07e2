package solve

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
)

// A guard and its opposite never agree.
func TestOpposite(t *testing.T) {
	t.Parallel()
	g, err := symbolic.ParseGuard("floor(H+3,4)>6&B<=1&49*B*H-W>0")
	if err != nil {
		t.Fatal(err)
	}
	o := opposite(g)
	if again, err := symbolic.ParseGuard(o.String()); err != nil || again.String() != o.String() {
		t.Errorf("%s is read as %s: %v", o, again, err)
	}
	for b := int64(1); b < 4; b++ {
		for h := int64(17); h < 32; h++ {
			for _, w := range []int64{1, 49 * h, 5000} {
				d := symbolic.Dims{"B": b, "H": h, "W": w}
				yes, err1 := g.Holds(d, kernel.Device{})
				no, err2 := o.Holds(d, kernel.Device{})
				if err1 != nil || err2 != nil || yes == no {
					t.Fatalf("%v: %s is %v, %s is %v: %v %v", d, g, yes, o, no, err1, err2)
				}
			}
		}
	}
}

// The ceiling is that of the largest convolution, which may be another one for
// another batch.
func TestCeiling(t *testing.T) {
	t.Parallel()
	recs := []*Recording{
		{Job: Job{Precision: "fp32", Dims: symbolic.Dims{"B": 64, "H": 64, "W": 64}}, Convolutions: [][8]int64{{3, 0, 1, 27, 8, 1, 2}, {8, 1, 2, 1 << 17, 8, 3, 4}}},
		{Job: Job{Precision: "fp32", Dims: symbolic.Dims{"B": 1, "H": 64, "W": 64}}},
	}
	e, err := ceiling(recs)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{4 * (64*3*64*64 + 27 + 64*8*32*32), 4 * (8*32*32 + 1<<17 + 8*16*16)} {
		if got, err := e.Eval(recs[i].Job.Dims, kernel.Device{}); err != nil || got != want {
			t.Errorf("%s is %d for %v, want %d: %v", e, got, recs[i].Job.Dims, want, err)
		}
	}
}
