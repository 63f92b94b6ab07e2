package exporter

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/demo"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A clock stands until it is moved.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newClock() *clock { return &clock{time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)} }

// played is an exporter that has seen some time of the demo.
func played(t testing.TB, c *clock, o Options, seconds int) *Exporter {
	t.Helper()
	m := demo.New(1, c.now)
	s := monitor.NewSampler(monitor.Options{Source: m, Host: m.Host(), Now: c.now})
	o.Now, o.Version, o.Source = c.now, "test", "demo"
	e := New(o)
	for range seconds {
		e.Observe(s.Sample(t.Context()))
		c.at = c.at.Add(time.Second)
	}
	return e
}

// get is what the handler answers.
func get(t testing.TB, e *Exporter, path, accept string) (int, string) {
	t.Helper()
	h, err := e.Handler()
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

const openMetrics = "application/openmetrics-text; version=1.0.0"

// has reports whether a line of text begins with prefix and, behind it, holds all
// words.
func has(text, prefix string, words ...string) bool {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, prefix) {
			continue
		}
		all := true
		for _, w := range words {
			all = all && strings.Contains(line, w)
		}
		if all {
			return true
		}
	}
	return false
}

func TestMetricsOfTheDemo(t *testing.T) {
	code, text := get(t, played(t, newClock(), Options{Processes: 20, DCGM: true}, 130), "/metrics", "")
	if code != http.StatusOK {
		t.Fatalf("status %d: %s", code, text)
	}
	for _, want := range [][]string{
		{"plimsoll_gpu_busy_ratio{", `gpu="0"`},
		{"plimsoll_gpu_memory_total_bytes{", `gpu="6:0"`},
		{"plimsoll_gpu_energy_joules_total{", `gpu="0"`},
		{"plimsoll_gpu_throttle_seconds_total{", `gpu="3"`, `reason="thermal"`},
		{"plimsoll_gpu_clock_reason{", `gpu="3"`, `reason="hw_thermal_slowdown"`, " 1"},
		{"plimsoll_gpu_clock_reason{", `gpu="3"`, `reason="gpu_idle"`, " 0"},
		{"plimsoll_gpu_sample_status{", `gpu="4"`, `status="stuck"`, " 1"},
		{"plimsoll_gpu_sample_status{", `gpu="5"`, `status="lost"`, " 1"},
		{"plimsoll_process_gpu_memory_used_bytes{", `name="python"`, `job="slurm:48211"`},
		{"plimsoll_process_cpu_seconds_total{"},
		{"plimsoll_host_cpu_seconds_total "},
		{"plimsoll_lost_gpu_seconds_total{"},
		{"plimsoll_finding{"},
		{"plimsoll_samples_total 130"},
		{"plimsoll_sample_age_seconds 1"},
		{"DCGM_FI_DEV_GPU_UTIL{", `device="nvidia0"`},
		{"DCGM_FI_DEV_FB_USED{", `gpu="0"`},
	} {
		if !has(text, want[0], want[1:]...) {
			t.Errorf("no series of %v", want)
		}
	}
	for _, not := range [][]string{
		{"plimsoll_gpu_busy_ratio{", `gpu="4"`}, // stuck: the last value is no value
		{"plimsoll_gpu_busy_ratio{", `gpu="5"`}, // lost
		{"plimsoll_gpu_busy_ratio{", `gpu="6"`}, // cut into instances: not supported
		{"plimsoll_gpu_fan_ratio{"},             // the card has none
		{"plimsoll_process_gpu_memory_used_bytes{", `gpu="4"`},
	} {
		if has(text, not[0], not[1:]...) {
			t.Errorf("what is not known has a series: %v", not)
		}
	}
}

var counters = regexp.MustCompile(`# HELP (\S+) (.*)\n# TYPE \S+ counter\n`)

func TestFormsAreWhatPromtoolWants(t *testing.T) {
	e := played(t, newClock(), Options{Processes: 20}, 70)
	if _, text := get(t, e, "/metrics", openMetrics); !strings.HasSuffix(text, "# EOF\n") {
		t.Error("OpenMetrics does not end as it must")
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed (Debian: prometheus)")
	}
	for _, accept := range []string{"", openMetrics} {
		_, text := get(t, e, "/metrics", accept)
		if accept == openMetrics {
			// promtool reads the older form, which calls counters by the names of
			// their series; a Prometheus that asks for this form is tested beside.
			text = counters.ReplaceAllString(text, "# HELP ${1}_total $2\n# TYPE ${1}_total counter\n")
		}
		cmd := exec.CommandContext(t.Context(), promtool, "check", "metrics")
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
			t.Errorf("promtool check metrics (%s): %v\n%s", accept, err, out)
		}
	}
}

func TestOldValuesAreLeftOut(t *testing.T) {
	c := newClock()
	e := New(Options{Now: c.now, Version: "test", Source: "demo"})
	if code, why := get(t, e, "/readyz", ""); code != http.StatusServiceUnavailable || !strings.Contains(why, "no sample") {
		t.Errorf("without a sample: %d, %s", code, why)
	}
	if code, text := get(t, e, "/metrics", ""); code != http.StatusOK || has(text, "plimsoll_gpu_") {
		t.Errorf("without a sample: %d, %s", code, text)
	}
	e = played(t, c, Options{}, 3)
	if code, why := get(t, e, "/readyz", ""); code != http.StatusOK {
		t.Errorf("with a fresh one: %d, %s", code, why)
	}
	c.at = c.at.Add(time.Minute)
	_, text := get(t, e, "/metrics", "")
	if has(text, "plimsoll_gpu_") || !has(text, "plimsoll_sample_age_seconds 61") {
		t.Errorf("a minute later:\n%s", text)
	}
	if code, _ := get(t, e, "/readyz", ""); code != http.StatusServiceUnavailable {
		t.Errorf("a minute later: %d", code)
	}
	if code, _ := get(t, e, "/healthz", ""); code != http.StatusOK {
		t.Errorf("the exporter is well: %d", code)
	}
}

// TestHostileNames scrapes a machine whose names are no text, whose IDs repeat and
// whose PIDs, too.
func TestHostileNames(t *testing.T) {
	c := newClock()
	e := New(Options{Now: c.now, Processes: 5, DCGM: true})
	d := series.Device{ID: "a\xff", Name: "\xfe", Vendor: "nvidia", Status: series.OK}
	d.Values.Set(series.Busy, series.Of(0.5))
	s := series.Sample{Devices: []series.Device{d, d}}
	for range 20 {
		p := series.Process{PID: 7, Name: "\xff\n\"", Uses: []series.Use{{Device: d.ID}, {Device: d.ID}, {Device: "none"}}}
		p.Uses[0].Values.Set(series.UseMemory, series.Of(1))
		s.Processes = append(s.Processes, p)
	}
	e.Observe(s)
	if code, text := get(t, e, "/metrics", ""); code != http.StatusOK || !has(text, "plimsoll_gpu_busy_ratio") || strings.Contains(text, "rror") {
		t.Errorf("%d: %s", code, text)
	}
}

func TestLostTimeIsCounted(t *testing.T) {
	c := newClock()
	e := New(Options{Now: c.now})
	for i := range 11 {
		s := series.Sample{Since: time.Duration(i) * 2 * time.Second}
		for _, id := range []string{"held", "free"} {
			d := series.Device{ID: id, Status: series.OK}
			d.Values.Set(series.Busy, series.Of(0.25))
			s.Devices = append(s.Devices, d)
		}
		s.Processes = []series.Process{{PID: 7, Uses: []series.Use{{Device: "held"}}}}
		e.Observe(s)
	}
	sum := 0.0
	for _, v := range e.lost {
		sum += v
	}
	if sum != 15 { // 20 s of one GPU, three quarters of it idle
		t.Errorf("%v s are lost, want 15: %v", sum, e.lost)
	}
	e.Observe(series.Sample{Since: 24 * time.Hour, Devices: e.sample.Devices, Processes: e.sample.Processes})
	for _, v := range e.lost {
		sum -= v
	}
	if sum != 0 {
		t.Errorf("a day without samples counts as lost: %v", e.lost)
	}
}

func TestProcessesAreBounded(t *testing.T) {
	c := newClock()
	e := New(Options{Now: c.now, Processes: 3})
	s := series.Sample{Devices: []series.Device{{ID: "a", Status: series.OK}}}
	for i := range 1000 {
		p := series.Process{PID: i + 1, Uses: []series.Use{{Device: "a"}}}
		p.Uses[0].Values.Set(series.UseMemory, series.Of(float64(i)))
		s.Processes = append(s.Processes, p)
	}
	e.Observe(s)
	_, text := get(t, e, "/metrics", "")
	if n := strings.Count(text, "\nplimsoll_process_gpu_memory_used_bytes{"); n != 3 || !has(text, "plimsoll_process_gpu_memory_used_bytes", `pid="1000"`) {
		t.Errorf("%d processes", n)
	}
}

func TestLandingPage(t *testing.T) {
	code, text := get(t, played(t, newClock(), Options{}, 1), "/", "")
	if code != http.StatusOK || !strings.Contains(text, `href="/metrics"`) {
		t.Errorf("%d: %s", code, text)
	}
	if code, _ := get(t, played(t, newClock(), Options{}, 1), "/etc/passwd", ""); code != http.StatusNotFound {
		t.Errorf("another path: %d", code)
	}
}

// BenchmarkScrape is one scrape of the demo's 8 GPUs and 20 processes.
func BenchmarkScrape(b *testing.B) {
	e := played(b, newClock(), Options{Processes: 20, DCGM: true}, 130)
	h, err := e.Handler()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		if w.Code != http.StatusOK {
			b.Fatal(w.Code)
		}
		if _, err := io.Copy(io.Discard, w.Body); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkObserve is what a sample costs between scrapes, judging included.
func BenchmarkObserve(b *testing.B) {
	c := newClock()
	m := demo.New(1, c.now)
	s := monitor.NewSampler(monitor.Options{Source: m, Host: m.Host(), Now: c.now})
	var list []series.Sample
	for range 200 {
		list = append(list, s.Sample(b.Context()))
		c.at = c.at.Add(time.Second)
	}
	e := New(Options{Now: c.now})
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		e.Observe(list[i%len(list)])
		i++
	}
}
