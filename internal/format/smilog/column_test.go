package smilog_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/format/smilog"
	"github.com/plimsoll-dev/plimsoll/series"
)

func TestCells(t *testing.T) {
	for _, row := range []struct {
		heading, cell string
		want          series.Value
	}{
		{"utilization.gpu [%]", " 85 %", series.Of(0.85)},
		{"utilization.gpu [%]", "85", series.Of(0.85)},
		{"utilization.gpu", "0 %", series.Of(0)},
		{"memory.used [MiB]", "40000 MiB", series.Of(40000 << 20)},
		{"memory.used [MiB]", "1 234", series.Of(1234 << 20)},
		{"memory.used [GiB]", "1.5", series.Of(1.5 * (1 << 30))},
		{"power.draw [W]", "72,31 W", series.Of(72.31)},
		{"power.draw [W]", "1.072,31", series.Of(1072.31)},
		{"power.draw [W]", "1,072.31 W", series.Of(1072.31)},
		{"clocks.sm [MHz]", "1965 MHz", series.Of(1965e6)},
		{"clocks_throttle_reasons.active", "0x0000000000000004", series.Of(4)},
		{"pstate", "P8", series.Of(8)},
		{"fan.speed [%]", "[N/A]", series.Without(series.NotSupported)},
		{"utilization.gpu [%]", "[Not Supported]", series.Without(series.NotSupported)},
		{"utilization.gpu [%]", "[Unknown Error]", series.Without(series.Failed)},
		{"utilization.gpu [%]", "[GPU is lost]", series.Without(series.Lost)},
		{"utilization.gpu [%]", "[Insufficient Permissions]", series.Without(series.NoPermission)},
		{"utilization.gpu [%]", "ERR!", series.Without(series.Failed)},
		{"utilization.gpu [%]", "", series.Value{}},
		{"utilization.gpu [%]", "85 cats", series.Without(series.Failed)},
		{"utilization.gpu [%]", "-5 %", series.Without(series.Failed)},
		{"utilization.gpu [%]", "NaN", series.Without(series.Failed)},
		{"utilization.gpu [%]", "1e400", series.Without(series.Failed)},
		{"temperature.gpu", "-5", series.Of(-5)},
	} {
		c, ok := smilog.FindColumn(row.heading)
		if !ok {
			t.Errorf("there is no column %q", row.heading)
			continue
		}
		if got := c.Parse(row.cell); got != row.want {
			t.Errorf("%s: %q is %v, want %v", row.heading, row.cell, got, row.want)
		}
	}
	if _, ok := smilog.FindColumn("name"); ok {
		t.Error("a name is a counter")
	}
}

func FuzzCell(f *testing.F) {
	f.Add("85 %")
	f.Add("1.072,31 W")
	f.Fuzz(func(t *testing.T, cell string) {
		c, _ := smilog.FindColumn("power.draw [W]")
		if v := c.Parse(cell); v.Status != series.OK && v.V != 0 {
			t.Errorf("%q is %v", cell, v)
		}
	})
}
