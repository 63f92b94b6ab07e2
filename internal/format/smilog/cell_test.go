package smilog_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/format/smilog"
	"github.com/plimsoll-dev/plimsoll/series"
)

func TestCells(t *testing.T) {
	for _, row := range []struct {
		unit, cell string
		want       series.Value
	}{
		{"%", " 85 %", series.Of(0.85)},
		{"%", "85", series.Of(0.85)},
		{"%", "0 %", series.Of(0)},
		{"MiB", "40000 MiB", series.Of(40000 << 20)},
		{"MiB", "1 234", series.Of(1234 << 20)},
		{"GiB", "1.5", series.Of(1.5 * (1 << 30))},
		{"W", "72,31 W", series.Of(72.31)},
		{"W", "1.072,31", series.Of(1072.31)},
		{"W", "1,072.31 W", series.Of(1072.31)},
		{"MHz", "1965 MHz", series.Of(1965e6)},
		{"", "0x0000000000000004", series.Of(4)},
		{"", "P8", series.Of(8)},
		{"MB/s", "1210", series.Of(1210e6)},
		{"", "12 KB/s", series.Of(12e3)},
		{"MB", "12", series.Of(12 << 20)},
		{"%", "[N/A]", series.Without(series.NotSupported)},
		{"%", "[Not Supported]", series.Without(series.NotSupported)},
		{"%", "[Unknown Error]", series.Without(series.Failed)},
		{"%", "[GPU is lost]", series.Without(series.Lost)},
		{"%", "[Insufficient Permissions]", series.Without(series.NoPermission)},
		{"%", "ERR!", series.Without(series.Failed)},
		{"%", "", series.Value{}},
		{"%", "85 cats", series.Without(series.Failed)},
		{"%", "-5 %", series.Without(series.Failed)},
		{"%", "NaN", series.Without(series.Failed)},
		{"%", "1e400", series.Without(series.Failed)},
		{"C", "-5", series.Of(-5)},
	} {
		if got := smilog.Number(row.cell, row.unit); got != row.want {
			t.Errorf("%q in %q is %v, want %v", row.cell, row.unit, got, row.want)
		}
	}
}

func FuzzCell(f *testing.F) {
	f.Add("85 %")
	f.Add("1.072,31 W")
	f.Fuzz(func(t *testing.T, cell string) {
		if v := smilog.Number(cell, "W"); v.Status != series.OK && v.V != 0 {
			t.Errorf("%q is %v", cell, v)
		}
	})
}
