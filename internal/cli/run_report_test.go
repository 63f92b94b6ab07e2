package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/internal/idle"
	"github.com/plimsoll-dev/plimsoll/internal/idle/period"
	"github.com/plimsoll-dev/plimsoll/internal/job"
	"github.com/plimsoll-dev/plimsoll/internal/launch"
)

func TestPeriodWords(t *testing.T) {
	known := period.Answer{Status: period.Known, Seconds: 2.36, Error: 0.004, Parts: 1, Cycles: 25.2}
	accumulated := known
	accumulated.Parts = 5
	fast := period.Answer{Status: period.TooFast, Fastest: 0.4}
	for _, row := range []struct {
		a        period.Answer
		interval time.Duration
		want     string
	}{
		{known, time.Second, "2.36 s (±0.4 %, seen 25 times)"},
		{accumulated, time.Second, "2.36 s (±0.4 %, seen 25 times), with 5 waves in each, as where steps are accumulated"},
		{fast, time.Second, "faster than this sampling can see, which is 0.4 s"},
		{fast, 5 * time.Second, "faster than this sampling can see, which is 0.4 s; --interval 200ms sees more"},
		{period.Answer{Status: period.None}, time.Second, "nothing that repeats was seen"},
		{period.Answer{Status: period.TooFew}, time.Second, "too little was seen to tell"},
	} {
		if got := periodWords(row.a, row.interval); got != row.want {
			t.Errorf("%+v at %v: %q, want %q", row.a, row.interval, got, row.want)
		}
	}
}

// Whose remedies are shown is named in the reason.
func TestAllCausesAreTheReason(t *testing.T) {
	a := idle.Answer{Verdict: "The GPU waits for a disk: 30 % of the time.", Findings: []finding.Finding{{Verdict: "the GPU waits for a disk: 30 % of the time"}, {Verdict: "other work takes processors: 20 % of the time"}}}
	if got, want := allCauses(&a), a.Verdict+" Also other work takes processors: 20 % of the time."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestIntervalsInWords(t *testing.T) {
	for _, row := range []struct {
		interval, took time.Duration
		want           string
	}{
		{time.Second, 12 * time.Second, " of 200ms on average"},
		{time.Second, 5 * time.Minute, " of 200ms on average in the first minute, then of 1s on average"},
		{100 * time.Millisecond, 5 * time.Minute, " of 100ms on average"},
	} {
		r := jobRun{o: runOptions{Interval: row.interval}}
		if got := r.intervals(row.took); got != row.want {
			t.Errorf("%v for %v: %q, want %q", row.interval, row.took, got, row.want)
		}
	}
}

// Workers that are left to end by themselves are in nobody's account.
func TestProcessorTimeOfWorkersThatWereLeft(t *testing.T) {
	r := jobRun{job: &job.Job{CPU: job.CPU{Used: 7}}}
	if got := r.cpu(launch.End{CPU: time.Second}); got != 7*time.Second {
		t.Errorf("of 7 s that were seen %v are told", got)
	}
	if got := r.cpu(launch.End{CPU: time.Minute}); got != time.Minute {
		t.Errorf("of a minute that the kernel counts %v are told", got)
	}
}

func TestProcessesThatGoOn(t *testing.T) {
	if one, many := goOn(1), goOn(3); !strings.Contains(one, "one of its processes goes on") || !strings.Contains(many, "3 of its processes go on") {
		t.Errorf("%q and %q", one, many)
	}
}
