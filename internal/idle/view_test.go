package idle

import (
	"slices"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A total that was not asked for between two samples grew in all of them alike; one
// that could not be read is not known there.
func TestGrowthOfWhatWasNotAskedFor(t *testing.T) {
	for _, row := range []struct {
		between series.Value
		want    []float64
	}{
		{series.Value{}, []float64{2, 2, 2, 2}},
		{series.Without(series.Failed), []float64{2, 0, 0, 2}},
	} {
		samples := make([]series.Sample, 5)
		for i := range samples {
			samples[i].Since = time.Duration(i) * time.Second
			vs := &samples[i].Host.Values
			vs.Set(series.HostDiskRead, row.between)
			if i != 2 && i != 3 {
				vs.Set(series.HostDiskRead, series.Of(float64(2*i)))
			}
		}
		got := newScene(samples).host.of(series.HostDiskRead)[1:]
		for i := range got {
			if got[i] != got[i] {
				got[i] = 0
			}
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("with %v between: %v, want %v", row.between, got, row.want)
		}
	}
}
