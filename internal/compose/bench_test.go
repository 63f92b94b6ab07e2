package compose

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// BenchmarkSteps writes three clipped and scaled steps of 300 parameters.
func BenchmarkSteps(b *testing.B) {
	var params []Param
	for i := range 300 {
		params = append(params, Param{Shape: []int64{int64(1000 + i), 1024}, Element: 4})
	}
	grads := make([]tape.BlockID, len(params))
	d := kernel.Device{Capability: 80, Multiprocessors: 108, ThreadsPerMultiprocessor: 2048}
	for _, name := range Optimizers() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				var w tape.Writer
				o, err := NewOptimizer(name, params, d)
				if err != nil {
					b.Fatal(err)
				}
				f := Finish{Clip: NewClip(params), Scaler: &Scaler{}, Optimizer: o}
				o.Construct(&w)
				for range 3 {
					f.Step(&w, grads)
				}
			}
		})
	}
}
