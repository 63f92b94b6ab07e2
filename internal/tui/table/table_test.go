package table

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/series"
	"github.com/plimsoll-dev/plimsoll/unit"
	"pgregory.net/rapid"
)

// process makes one; a negative amount is one that is not known.
func process(pid, parent int, device string, memory unit.Bytes, cpuSeconds float64) series.Process {
	p := series.Process{PID: pid, Parent: parent, Started: uint64(pid), Status: series.OK, User: "ann", Name: "python", Command: fmt.Sprintf("python job%d.py", pid)}
	p.Values.Set(series.CPUTime, series.Of(cpuSeconds))
	if device != "" {
		u := series.Use{Device: device, Kind: series.Compute}
		u.Values.Set(series.UseMemory, series.Of(float64(memory)))
		if memory < 0 {
			u.Values.Set(series.UseMemory, series.Without(series.NoPermission))
		}
		p.Uses = append(p.Uses, u)
	}
	return p
}

func devices(n int) []series.Device {
	var out []series.Device
	for i := range n {
		out = append(out, series.Device{ID: fmt.Sprintf("GPU-%d", i), Index: i, Status: series.OK})
	}
	return out
}

func pids(rows []Row) string {
	var out []string
	for i := range rows {
		out = append(out, strings.Repeat(" ", rows[i].Depth)+fmt.Sprint(rows[i].PID))
	}
	return strings.Join(out, ",")
}

func twoSamples() (before, now series.Sample) {
	before = series.Sample{Since: 10 * time.Second, Devices: devices(2), Processes: []series.Process{
		process(10, 1, "GPU-0", 5*unit.GiB, 100), process(11, 10, "", 0, 50), process(12, 10, "", 0, 60), process(20, 1, "GPU-1", 9*unit.GiB, 7), process(30, 1, "GPU-1", -1, 0),
	}}
	now = series.Sample{Since: 12 * time.Second, Devices: devices(2), Processes: []series.Process{
		process(10, 1, "GPU-0", 5*unit.GiB, 101), process(11, 10, "", 0, 52), process(12, 10, "", 0, 61), process(20, 1, "GPU-1", 9*unit.GiB, 8), process(30, 1, "GPU-1", -1, 0),
	}}
	return before, now
}

func TestRatesNeedTheSameProcess(t *testing.T) {
	before, now := twoSamples()
	now.Processes[3].Started++ // another process has this PID now
	rows := Rows(&now, &before)
	if v, ok := rows[0].CPU.Get(); !ok || v != 0.5 {
		t.Errorf("1 s of processor time in 2 s is %v, %v", v, ok)
	}
	if rows[3].CPU.Status != series.Absent {
		t.Errorf("a PID that was given again has a rate of %v", rows[3].CPU)
	}
	if rows[0].Workers != 2 || rows[0].WorkersCPU.V != 1.5 {
		t.Errorf("workers: %d with %v", rows[0].Workers, rows[0].WorkersCPU)
	}
	for _, r := range Rows(&now, nil) {
		if r.CPU.Status != series.Absent {
			t.Errorf("one sample alone gives a rate: %v", r.CPU)
		}
	}
}

func TestRate(t *testing.T) {
	for _, c := range []struct {
		was, is series.Value
		seconds float64
		want    series.Value
	}{
		{series.Of(1), series.Of(3), 2, series.Of(1)},
		{series.Of(1), series.Of(1), 2, series.Of(0)},
		{series.Of(3), series.Of(1), 2, series.Value{}}, // it began anew
		{series.Of(1), series.Of(3), 0, series.Value{}},
		{series.Of(1), series.Of(3), -1, series.Value{}}, // the clock went back
		{series.Without(series.NoPermission), series.Of(3), 1, series.Value{}},
		{series.Of(1), series.Without(series.NoPermission), 1, series.Without(series.NoPermission)},
	} {
		if got := Rate(c.was, c.is, c.seconds); got != c.want {
			t.Errorf("from %v to %v in %v s: %v, want %v", c.was, c.is, c.seconds, got, c.want)
		}
	}
}

func TestMemoryOfSeveralDevices(t *testing.T) {
	now := series.Sample{Devices: devices(4), Processes: []series.Process{process(1, 0, "GPU-0", unit.GiB, 0), process(2, 0, "GPU-1", unit.GiB, 0)}}
	for i, d := range []string{"GPU-1", "GPU-2"} {
		now.Processes[0].Uses = append(now.Processes[0].Uses, process(1, 0, d, unit.Bytes(i+1)*unit.GiB, 0).Uses...)
	}
	now.Processes[1].Uses = append(now.Processes[1].Uses, process(1, 0, "GPU-3", -1, 0).Uses...)
	rows := Rows(&now, nil)
	if rows[0].GPUs != "0-2" || rows[0].Memory != series.Of(float64(4*unit.GiB)) {
		t.Errorf("GPUs %s, memory %v", rows[0].GPUs, rows[0].Memory)
	}
	if rows[1].GPUs != "1,3" || rows[1].Memory.Status != series.NoPermission {
		t.Errorf("a sum with an unknown part is %v on %s", rows[1].Memory, rows[1].GPUs)
	}
}

func TestSorted(t *testing.T) {
	before, now := twoSamples()
	for _, c := range []struct {
		by      string
		reverse bool
		want    string
	}{
		{"memory", false, "20,10,11,12,30"},
		{"memory", true, "10,20,11,12,30"},
		{"cpu", false, "11,10,12,20,30"},
		{"pid", true, "10,11,12,20,30"},
		{"command", true, "30,20,12,11,10"},
	} {
		rows := Sorted(nil, Rows(&now, &before), ColumnNamed(c.by), c.reverse)
		if got := pids(rows); got != c.want {
			t.Errorf("by %s, reverse %v: %s, want %s", c.by, c.reverse, got, c.want)
		}
	}
}

func TestFilter(t *testing.T) {
	before, now := twoSamples()
	now.Processes[3].User = "Bob"
	now.Processes[3].Job = "slurm:77"
	for _, c := range []struct{ filter, want string }{
		{"", "10,11,12,20,30"},
		{"job1", "10,11,12"},
		{"JOB20", "20"},
		{"user=bob", "20"},
		{"-user=bob", "10,11,12,30"},
		{"slurm", "20"},
		{"memory>4GiB", "10,20"},
		{"-memory>6GiB", "10"}, // what is not known is neither
		{"memory<=5GiB", "10"},
		{"gpu=1", "20,30"},
		{"gpu=1 memory>1GiB", "20"},
		{"cpu>50", "11"},
		{"cpu>=50%", "10,11,12,20"},
		{"-python", ""},
		{"pid=12", "12"},
	} {
		f, err := ParseFilter(c.filter)
		if err != nil {
			t.Errorf("%q: %v", c.filter, err)
			continue
		}
		if got := pids(Keep(Rows(&now, &before), f, true)); got != c.want {
			t.Errorf("%q keeps %s, want %s", c.filter, got, c.want)
		}
	}
	if f, _ := ParseFilter("user=bob cpu>3"); !f.Rates() {
		t.Error("a filter on the processors needs two samples")
	}
	if f, _ := ParseFilter("user=bob memory>3"); f.Rates() {
		t.Error("a filter on memory needs one sample")
	}
}

func TestFilterErrors(t *testing.T) {
	for _, c := range []struct{ filter, want string }{
		{"memory>4GB", "write 4GiB"}, {"colour=red", "no column is called"}, {"user>bob", "only = compares"}, {"cpu>x", "no amount of cpu"},
		{"-", "a term is missing"}, {"cpu>nan", "no number"}, {"memory>", "want a number"},
	} {
		if _, err := ParseFilter(c.filter); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q in it", c.filter, err, c.want)
		}
	}
}

func FuzzParseFilter(f *testing.F) {
	for _, s := range []string{"user=ann memory>10GiB -cpu<5", "gpu=0-3,6:1", "-", "=", ">=1", "a>b>c"} {
		f.Add(s)
	}
	before, now := twoSamples()
	f.Fuzz(func(_ *testing.T, s string) {
		if filter, err := ParseFilter(s); err == nil {
			Keep(Rows(&now, &before), filter, true)
		}
	})
}

func TestTree(t *testing.T) {
	rows := func(parents ...int) []Row {
		var out []Row
		for i, p := range parents {
			out = append(out, Row{Process: &series.Process{PID: i + 1, Parent: p}})
		}
		return out
	}
	for _, c := range []struct {
		name    string
		parents []int
		want    string
	}{
		{"children follow their parent", []int{0, 0, 1, 2, 3}, "1, 3,  5,2, 4"},
		{"a parent that is not there", []int{99, 1}, "1, 2"},
		{"its own parent", []int{1, 1}, "1, 2"},
		{"a circle", []int{2, 1, 0}, "3,1, 2"},
	} {
		if got := pids(Tree(rows(c.parents...))); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Whoever made the parents up, no row is lost and none comes twice.
func TestTreeKeepsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parents := rapid.SliceOfN(rapid.IntRange(0, 20), 0, 20).Draw(t, "parents")
		var rows []Row
		for i, p := range parents {
			rows = append(rows, Row{Process: &series.Process{PID: i, Parent: p}})
		}
		var got []int
		for _, r := range Tree(rows) {
			got = append(got, r.PID)
		}
		slices.Sort(got)
		for i := range parents {
			if len(got) != len(parents) || got[i] != i {
				t.Fatalf("%d rows became %v", len(parents), got)
			}
		}
	})
}

func TestSpan(t *testing.T) {
	for _, c := range []struct {
		labels []string
		want   string
	}{
		{nil, ""}, {[]string{"3"}, "3"}, {[]string{"3", "1", "2", "7"}, "1-3,7"}, {[]string{"6:1", "0", "0"}, "0,6:1"},
	} {
		if got := Span(c.labels); got != c.want {
			t.Errorf("%v is %q, want %q", c.labels, got, c.want)
		}
	}
}

func BenchmarkRows(b *testing.B) {
	before := series.Sample{Devices: devices(8)}
	for i := range 10_000 {
		before.Processes = append(before.Processes, process(i, i/4, fmt.Sprintf("GPU-%d", i%8), unit.GiB, float64(i)))
	}
	now := before
	now.Since = time.Second
	b.ReportAllocs()
	for b.Loop() {
		rows := Rows(&now, &before)
		Sorted(nil, rows, ColumnNamed("cpu"), false)
		Tree(rows)
	}
}
