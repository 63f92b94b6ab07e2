package words

import (
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/series"
)

func TestPercentHasNoFalseZero(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.0001: "<1", 0.5: "50", 0.998: "99", 1: "100", 3.98: "398"} {
		if got := Percent(series.Of(v)); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
	if got := Percent(series.Without(series.NotSupported)); got != "" {
		t.Errorf("what is not known is %q", got)
	}
}

func TestAmountsSayWhatIsNotKnown(t *testing.T) {
	none := series.Without(series.NotSupported)
	gib := func(v float64) series.Value { return series.Of(v * (1 << 30)) }
	for _, c := range []struct{ got, want string }{
		{MemoryOf(gib(68.4), gib(79.6)), "68.4/79.6 GiB"}, {MemoryOf(none, gib(80)), "–/80.0 GiB"}, {MemoryOf(gib(3), none), "3.00 GiB"}, {MemoryOf(none, none), "–"},
		{MemoryOf(gib(137.2), gib(139.8)), "137.2/139.8 GiB"}, {MemoryOf(gib(0.0001), gib(80)), "<0.1/80.0 GiB"}, {MemoryOf(gib(0), gib(80)), "0.0/80.0 GiB"},
		{OfMost(series.Of(612.4), series.Of(700), "W"), "612/700 W"}, {OfMost(series.Of(612.4), none, "W"), "612 W"}, {OfMost(none, series.Of(700), "W"), "–"},
		{Whole(series.Of(1980e6), 1e6, "MHz"), "1980 MHz"}, {Whole(none, 1, "°C"), "–"},
		{PercentOf(series.Of(0.97)), "97 %"}, {PercentOf(none), "–"},
		{PerSecond(gib(1)), "1.00 GiB/s"}, {PerSecond(none), "–"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestTimes(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 45 * time.Second: "45 s", 14 * time.Minute: "14 min", 3 * time.Hour: "3 h", 96 * time.Hour: "4 days",
	} {
		if got := About(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
	for _, c := range []struct {
		from, to time.Duration
		want     string
	}{
		{12 * time.Minute, 17 * time.Minute, "12–17 min"}, {50 * time.Second, 3 * time.Minute, "50 s–3 min"}, {time.Minute, time.Minute, "60 s"},
	} {
		if got := Between(c.from, c.to); got != c.want {
			t.Errorf("%v to %v is %q, want %q", c.from, c.to, got, c.want)
		}
	}
	if got := Clock(3723 * time.Second); got != "1:02:03" {
		t.Errorf("a clock shows %q", got)
	}
}
