package dcgm

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/series"
)

func TestTable(t *testing.T) {
	names, counters := map[string]bool{}, map[series.Counter]bool{}
	for _, m := range Metrics {
		if names[m.Name] || counters[m.Counter] || m.Times <= 0 || m.Help == "" || m.Counter.Scope() != series.ScopeDevice {
			t.Errorf("row %+v", m)
		}
		names[m.Name], counters[m.Counter] = true, true
	}
}

func TestBlanksAreNoValues(t *testing.T) {
	util := Metrics[5]
	for v, want := range map[float64]series.Value{
		97: series.Of(0.97), 0: series.Of(0),
		2147483632: series.Without(series.NotSupported), 2147483635: series.Without(series.NoPermission),
		9223372036854775794: series.Without(series.NotSupported), 140737488355330: series.Without(series.NotSupported),
	} {
		if got := util.Value(v); got != want {
			t.Errorf("%v is %v, want %v", v, got, want)
		}
	}
	used := Metrics[11]
	if got := used.Value(81559); got != series.Of(81559<<20) {
		t.Errorf("81559 MiB are %v", got)
	}
}
