//go:build cgo && linux

package nvml_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/nvml"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/nvml/fake"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/proc"
	"github.com/plimsoll-dev/plimsoll/series"
)

// childVariable names the test whose body this process runs, with the scripted
// library where the loader finds it.
const childVariable = "PLIMSOLL_NVML_CHILD"

// full is a folder with the library that has all symbols, built once.
var full = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "plimsoll-nvml")
	if err != nil {
		return "", err
	}
	return dir, fake.Build(context.Background(), dir)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv(childVariable) == "" {
		if dir, err := full(); err == nil {
			os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

// A driver is the scripted one, inside the process that has it.
type driver struct {
	t      *testing.T
	script string
}

// says gives the driver another script, at once.
func (d driver) says(text string) {
	d.t.Helper()
	next := d.script + ".next"
	if err := os.WriteFile(next, []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
	if err := os.Rename(next, d.script); err != nil {
		d.t.Fatal(err)
	}
}

// withDriver runs body in a process of its own that has the scripted driver, as
// this one cannot load a library anew.
func withDriver(t *testing.T, script string, absent []string, body func(t *testing.T, d driver)) {
	t.Helper()
	if os.Getenv(childVariable) == t.Name() {
		body(t, driver{t, os.Getenv(fake.ScriptVariable)})
		return
	}
	if os.Getenv(childVariable) != "" {
		return
	}
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("needs a C compiler")
	}
	dir, err := full()
	if absent != nil {
		dir = t.TempDir()
		err = fake.Build(t.Context(), dir, absent...)
	}
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(at, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(t.Name(), "/")
	for i := range parts {
		parts[i] = "^" + parts[i] + "$"
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run="+strings.Join(parts, "/"), "-test.timeout=60s")
	cmd.Env = append(os.Environ(), childVariable+"="+t.Name(), "LD_LIBRARY_PATH="+dir, fake.ScriptVariable+"="+at)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// freeze is the longest that anything may take.
const freeze = time.Second

// read reads once and checks that it took no longer than allowed, and that no
// value which could not be read has a number.
func read(t *testing.T, s monitor.Source) (monitor.Reading, error) {
	t.Helper()
	began := time.Now()
	r, err := s.Read(t.Context())
	if took := time.Since(began); took > freeze {
		t.Errorf("a read took %v", took)
	}
	for _, d := range r.Devices {
		for _, row := range series.Counters(series.ScopeDevice) {
			if v := d.Values.Get(row.Counter); v.Status != series.OK && v.V != 0 {
				t.Errorf("%s: %s is %v and %v at once", d.ID, row.Name, v.V, v.Status)
			}
		}
	}
	return r, err
}

func open(t *testing.T) monitor.Source {
	t.Helper()
	return openFor(t, nvml.Options{Now: time.Now})
}

func openFor(t *testing.T, o nvml.Options) monitor.Source {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), freeze)
	defer cancel()
	s, err := nvml.Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		began := time.Now()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > freeze {
			t.Errorf("closing took %v", took)
		}
	})
	return s
}

// values compares some values of a device.
func values(t *testing.T, d series.Device, want map[series.Counter]float64) {
	t.Helper()
	for c, v := range want {
		if got, ok := d.Values.Get(c).Get(); !ok || got < v-1e-6 || got > v+1e-6 {
			t.Errorf("%s: %s is %v, %v; want %v", d.ID, c.Info().Name, got, d.Values.Get(c).Status, v)
		}
	}
}

func statuses(t *testing.T, d series.Device, want series.Status, counters ...series.Counter) {
	t.Helper()
	for _, c := range counters {
		if got := d.Values.Get(c).Status; got != want {
			t.Errorf("%s: %s is %v, want %v", d.ID, c.Info().Name, got, want)
		}
	}
}

const mib = 1 << 20

func TestHealthy(t *testing.T) {
	withDriver(t, `driver 550.54.15
cuda 12040
gpu 0 util=85 memutil=40 total=81559 used=40000 reserved=551 power=612.5 limit=700 energy=1234 temp=64 sm=1965 mem=2619 reasons=0x4 vpower=2.5 vthermal=0 nvtx=100 nvrx=200 ecc=1 remapped=2
gpu 1
proc 0 4242 30000 70 C
proc 0 4243 na - G
proc 0 4244 100 0 M
`, nil, func(t *testing.T, _ driver) {
		s := open(t)
		r, err := read(t, s)
		if err != nil {
			t.Fatal(err)
		}
		if r.Driver != "550.54.15" || r.CUDA != "12.4" || len(r.Devices) != 2 || len(r.Problems) != 0 {
			t.Fatalf("driver %s, CUDA %s, %d devices, problems %v", r.Driver, r.CUDA, len(r.Devices), r.Problems)
		}
		g := r.Devices[0]
		if g.ID != "GPU-fa4e0000-0000-4000-8000-000000000001" || g.PCI != "0000:18:00.0" || g.Name != "NVIDIA H100 80GB HBM3" || g.Status != series.OK || g.MIG != "" {
			t.Errorf("GPU 0 is %+v", g)
		}
		values(t, g, map[series.Counter]float64{
			series.Busy: 0.85, series.MemoryBusy: 0.4, series.MemoryTotal: 81559 * mib, series.MemoryUsed: 40000 * mib, series.MemoryReserved: 551 * mib,
			series.MemoryFree: (81559 - 40000 - 551) * mib, series.Power: 612.5, series.PowerLimit: 700, series.Energy: 1234, series.Temperature: 64,
			series.TemperatureLimit: 87, series.ClockSM: 1965e6, series.ClockMemory: 2619e6, series.ThrottleReasons: 4, series.ThrottlePower: 2.5,
			series.ThrottleThermal: 0, series.NVLinkSent: 100 << 10, series.NVLinkReceived: 200 << 10, series.ECCUncorrected: 1, series.RemappedRows: 2,
			series.PCIeGeneration: 5, series.PCIeWidthMax: 16, series.PerformanceState: 0,
		})
		statuses(t, g, series.NotSupported, series.Fan) // it has none
		if u := r.Uses[4242]; len(u) != 1 || u[0].Kind != series.Compute || u[0].Values.Get(series.UseMemory) != series.Of(30000*mib) || u[0].Values.Get(series.UseBusy) != series.Of(0.7) {
			t.Errorf("use of 4242 is %+v", u)
		}
		if u := r.Uses[4243]; u[0].Kind != series.Graphics || u[0].Values.Get(series.UseMemory).Status != series.NotSupported {
			t.Errorf("memory that the driver does not know is %+v", u)
		}
		if u := r.Uses[4244]; u[0].Values.Get(series.UseBusy).Status != series.Absent {
			t.Errorf("a process without a sample is busy by %v", u[0].Values.Get(series.UseBusy))
		}
	})
}

func TestLostGPU(t *testing.T) {
	for name, lost := range map[string]int{"the handle is there": 1, "the handle is gone": 2} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			withDriver(t, fmt.Sprintf("gpus 4\ngpu 1 lost=%d\n", lost), nil, func(t *testing.T, _ driver) {
				r, err := read(t, open(t))
				if err != nil || len(r.Devices) != 4 {
					t.Fatalf("%d devices, %v; want 4, the lost one among them", len(r.Devices), err)
				}
				for i, g := range r.Devices {
					want := series.OK
					if i == 1 {
						want = series.Lost
					}
					if g.Index != i || g.Status != want {
						t.Errorf("GPU %d is %v with index %d", i, g.Status, g.Index)
					}
				}
				for _, row := range series.Counters(series.ScopeDevice) {
					statuses(t, r.Devices[1], series.Lost, row.Counter)
				}
				if len(r.Problems) != 1 || !strings.Contains(r.Problems[0].What, "GPU 1: the GPU is lost") {
					t.Errorf("problems: %v", r.Problems)
				}
			})
		})
	}
}

func TestGPUThatIsLostWhileWatchedAndComesBack(t *testing.T) {
	withDriver(t, "gpus 2\n", nil, func(t *testing.T, d driver) {
		s := open(t)
		before, _ := read(t, s)
		d.says("gpus 2\ngpu 1 lost=2\n")
		lost, _ := read(t, s)
		if g := lost.Devices[1]; g.Status != series.Lost || g.ID != before.Devices[1].ID {
			t.Errorf("a GPU that is lost is %v, %s", g.Status, g.ID)
		}
		d.says("gpus 2\ngpu 1 util=7\n")
		back, _ := read(t, s)
		values(t, back.Devices[1], map[series.Counter]float64{series.Busy: 0.07})
	})
}

func TestDriverThatDoesNotStart(t *testing.T) {
	for name, row := range map[string]struct {
		code   int
		status series.Status
		says   string
	}{
		"version_mismatch": {18, series.Failed, "different versions"},
		"not_loaded":       {9, series.Failed, "not loaded"},
		"no_permission":    {4, series.NoPermission, "not permit"},
		"lost":             {15, series.Lost, "lost"},
		"unknown":          {999, series.Failed, "error 999"},
	} {
		t.Run(name, func(t *testing.T) {
			withDriver(t, fmt.Sprintf("gpus 2\ninit %d\n", row.code), nil, func(t *testing.T, _ driver) {
				_, err := nvml.Open(t.Context(), nvml.Options{})
				var u *monitor.Unavailable
				if !errors.As(err, &u) || u.Status != row.status || !strings.Contains(u.Msg, row.says) {
					t.Fatalf("error is %v, want %v that says %q", err, row.status, row.says)
				}
				if u.Hint == "" && row.code != 999 {
					t.Error("it says nothing of what to try")
				}
			})
		})
	}
}

func TestNoGPUs(t *testing.T) {
	withDriver(t, "driver 550.1\n", nil, func(t *testing.T, _ driver) {
		if r, err := read(t, open(t)); err != nil || len(r.Devices) != 0 {
			t.Errorf("without GPUs: %d devices, %v", len(r.Devices), err)
		}
	})
}

func TestUnifiedMemory(t *testing.T) {
	withDriver(t, "gpu 0 unified=1 util=50\n", nil, func(t *testing.T, _ driver) {
		r, err := read(t, open(t))
		if err != nil || !r.UnifiedMemory {
			t.Fatalf("unified memory is %v, %v", r.UnifiedMemory, err)
		}
		statuses(t, r.Devices[0], series.NotSupported, series.MemoryTotal, series.MemoryUsed, series.MemoryFree, series.MemoryReserved)
		values(t, r.Devices[0], map[series.Counter]float64{series.Busy: 0.5})
	})
}

func TestInstances(t *testing.T) {
	withDriver(t, "gpu 0 util=99 used=30000\nslice 0 3g.40gb 40448 22000\nslice 0 1g.10gb 9856 13\nproc 0 77 21000 - C 0\ngpu 1\n", nil, func(t *testing.T, _ driver) {
		r, err := read(t, open(t))
		if err != nil || len(r.Devices) != 4 {
			t.Fatalf("%d devices, %v; want 2 GPUs and 2 instances", len(r.Devices), err)
		}
		whole, big, small := r.Devices[0], r.Devices[1], r.Devices[2]
		if whole.MIG != "on" || big.MIG != "3g.40gb" || small.MIG != "1g.10gb" || big.Parent != whole.ID || !strings.HasPrefix(big.ID, "MIG-") {
			t.Errorf("whole %+v, instance %+v", whole, big)
		}
		statuses(t, whole, series.NotSupported, series.Busy, series.MemoryBusy)
		statuses(t, big, series.NotSupported, series.Busy, series.Power)
		values(t, big, map[series.Counter]float64{series.MemoryTotal: 40448 * mib, series.MemoryUsed: 22000 * mib})
		values(t, small, map[series.Counter]float64{series.MemoryUsed: 13 * mib})
		if u := r.Uses[77]; len(u) != 1 || u[0].Device != big.ID {
			t.Errorf("a process in an instance is on %+v", u)
		}
		if r.Devices[3].MIG != "" {
			t.Error("a GPU that is not cut is shown as cut")
		}
	})
}

func TestCallThatHangs(t *testing.T) {
	for _, call := range []string{"nvmlDeviceGetUtilizationRates", "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetComputeRunningProcesses_v3", "*"} {
		t.Run(strings.ReplaceAll(call, "*", "any"), func(t *testing.T) {
			script := "gpus 8\ngpu 3 util=42 temp=55\n"
			withDriver(t, script, nil, func(t *testing.T, d driver) {
				s := open(t)
				first, _ := read(t, s)
				if call == "nvmlDeviceGetHandleByIndex_v2" {
					// Only asked for once: let it be asked again.
					d.says(script + "gpu 3 lost=2\n")
					_, _ = read(t, s)
				}
				d.says(script + "hang " + call + " 3 forever\n")
				for i := range 3 {
					began := time.Now()
					r, err := read(t, s)
					if err != nil || len(r.Devices) != 8 {
						t.Fatalf("%d devices, %v", len(r.Devices), err)
					}
					if took := time.Since(began); i > 0 && took > 300*time.Millisecond {
						t.Errorf("a GPU that is known to hang made a read wait for %v", took)
					}
					for j, g := range r.Devices {
						if (j == 3) != (g.Status != series.OK) {
							t.Errorf("read %d: GPU %d is %v", i, j, g.Status)
						}
					}
					if g := r.Devices[3]; g.Status == series.Stuck {
						if g.StaleFor <= 0 || g.ID != first.Devices[3].ID {
							t.Errorf("a stuck GPU is %s, stale for %v", g.ID, g.StaleFor)
						}
						values(t, g, map[series.Counter]float64{series.Temperature: 55})
					}
				}
				d.says(script)
				for range 50 {
					time.Sleep(20 * time.Millisecond)
					if r, _ := read(t, s); r.Devices[3].Status == series.OK {
						return
					}
				}
				t.Error("the GPU never came back")
			})
		})
	}
}

func TestGPUThatHangsFromTheBeginning(t *testing.T) {
	withDriver(t, "gpus 3\nhang * 1 forever\n", nil, func(t *testing.T, _ driver) {
		r, err := read(t, open(t))
		if err != nil || len(r.Devices) != 3 {
			t.Fatalf("%d devices, %v", len(r.Devices), err)
		}
		if g := r.Devices[1]; g.Status != series.Stuck || g.ID != "nvidia:1" || !strings.Contains(g.Problem, "nvmlDeviceGetHandleByIndex has not returned") {
			t.Errorf("it is %+v", g)
		}
		for _, row := range series.Counters(series.ScopeDevice) {
			statuses(t, r.Devices[1], series.Stuck, row.Counter)
		}
	})
}

func TestDriverThatHangsAtItsStart(t *testing.T) {
	withDriver(t, "gpus 3\nhang nvmlInit * forever\n", nil, func(t *testing.T, d driver) {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		s, err := nvml.Open(ctx, nvml.Options{Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		var u *monitor.Unavailable
		if _, err := read(t, s); !errors.As(err, &u) || u.Status != series.Stuck {
			t.Errorf("a driver that hangs is %v", err)
		}
		d.says("gpus 3\n")
		for range 50 {
			time.Sleep(20 * time.Millisecond)
			if r, err := read(t, s); err == nil && len(r.Devices) == 3 {
				return
			}
		}
		t.Error("the driver started and was not seen")
	})
}

// TestOldDrivers leaves functions out. None of them may end the process, and what
// they told is not supported, not 0.
func TestOldDrivers(t *testing.T) {
	for name, row := range map[string]struct {
		absent []string
		status map[series.Counter]series.Status
		check  func(t *testing.T, r monitor.Reading)
	}{
		"memory_of_the_first_version": {
			absent: []string{"nvmlDeviceGetMemoryInfo_v2"},
			status: map[series.Counter]series.Status{series.MemoryReserved: series.NotSupported},
			check: func(t *testing.T, r monitor.Reading) {
				values(t, r.Devices[0], map[series.Counter]float64{series.MemoryUsed: (1000 + 551) * mib})
			},
		},
		"no_memory": {
			absent: []string{"nvmlDeviceGetMemoryInfo", "nvmlDeviceGetMemoryInfo_v2"},
			status: map[series.Counter]series.Status{series.MemoryUsed: series.NotSupported, series.MemoryTotal: series.NotSupported},
		},
		"processes_of_the_first_version": {
			absent: []string{"nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses_v3"},
			check: func(t *testing.T, r monitor.Reading) {
				if u := r.Uses[4242]; len(u) != 1 || u[0].Values.Get(series.UseMemory) != series.Of(300*mib) {
					t.Errorf("use is %+v", u)
				}
			},
		},
		"old_names": {
			absent: []string{"nvmlInit_v2", "nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetCurrentClocksEventReasons", "nvmlSystemGetCudaDriverVersion_v2", "nvmlEventSetWait_v2"},
			check: func(t *testing.T, r monitor.Reading) {
				values(t, r.Devices[0], map[series.Counter]float64{series.ThrottleReasons: 1, series.Busy: 0.5})
			},
		},
		"hardly_anything": {
			status: map[series.Counter]series.Status{series.Busy: series.NotSupported, series.Power: series.NotSupported, series.Energy: series.NotSupported, series.ThrottleReasons: series.NotSupported, series.NVLinkSent: series.NotSupported},
		},
		"new_temperature": {
			absent: []string{"nvmlDeviceGetTemperature"},
			check: func(t *testing.T, r monitor.Reading) {
				values(t, r.Devices[0], map[series.Counter]float64{series.Temperature: 30})
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			absent := row.absent
			if name == "hardly_anything" {
				absent = allBut(t, "nvmlInit_v2", "nvmlShutdown", "nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2")
			}
			withDriver(t, "gpu 0 util=50 used=1000\nproc 0 4242 300 - C\n", absent, func(t *testing.T, _ driver) {
				s := open(t)
				for range 3 {
					r, err := read(t, s)
					if err != nil || len(r.Devices) != 1 {
						t.Fatalf("%d devices, %v", len(r.Devices), err)
					}
					for c, want := range row.status {
						statuses(t, r.Devices[0], want, c)
					}
					if row.check != nil {
						row.check(t, r)
					}
				}
			})
		})
	}
}

// allBut are the symbols of the scripted library but some.
func allBut(t *testing.T, keep ...string) []string {
	t.Helper()
	dir, err := full()
	if err != nil {
		t.Skip("needs a C compiler")
	}
	out, err := exec.CommandContext(t.Context(), "nm", "-D", "--defined-only", filepath.Join(dir, "libnvidia-ml.so.1")).Output()
	if err != nil {
		t.Skip("needs nm")
	}
	kept := strings.Join(keep, " ") + " "
	var names []string
	for line := range strings.SplitSeq(string(out), "\n") {
		if i := strings.LastIndex(line, " nvml"); i >= 0 && !strings.Contains(kept, line[i+1:]+" ") {
			names = append(names, line[i+1:])
		}
	}
	if len(names) < 50 {
		t.Fatalf("the library has %d other symbols", len(names))
	}
	return names
}

func TestProfile(t *testing.T) {
	withDriver(t, "gpu 0 util=99 smactive=40 occupancy=20 tensor=10 dram=30\ngpu 1\ngpu 2 util=80 smactive=50 tensor=na\nslice 2 1g.10gb 9856 13\n", nil, func(t *testing.T, d driver) {
		s := open(t)
		first, _ := read(t, s)
		statuses(t, first.Devices[0], series.Absent, series.SMActive) // nothing to compare with
		statuses(t, first.Devices[1], series.NotSupported, series.SMActive, series.DRAMActive)
		for range 2 {
			r, _ := read(t, s)
			values(t, r.Devices[0], map[series.Counter]float64{series.SMActive: 0.4, series.SMOccupancy: 0.2, series.TensorActive: 0.1, series.DRAMActive: 0.3, series.Busy: 0.99})
			statuses(t, r.Devices[1], series.NotSupported, series.SMActive)
			values(t, r.Devices[3], map[series.Counter]float64{series.SMActive: 0.5, series.Busy: 0.8})
			statuses(t, r.Devices[3], series.NotSupported, series.TensorActive)
		}
		d.says("gpu 0 lost=1\ngpu 1\ngpu 2\n")
		lost, _ := read(t, s)
		statuses(t, lost.Devices[0], series.Lost, series.SMActive)
		d.says("gpu 0 smactive=70\ngpu 1\ngpu 2\n")
		_, _ = read(t, s)
		back, _ := read(t, s)
		values(t, back.Devices[0], map[series.Counter]float64{series.SMActive: 0.7})
	})
}

func TestValuesOverTime(t *testing.T) {
	withDriver(t, "gpus 2\n", nil, func(t *testing.T, d driver) {
		table := d.script + ".csv"
		if err := os.WriteFile(table, []byte("seconds,gpu,power,util\n0,1,100,10\n0.4,1,,na\n0.8,1,300,90\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		d.says("gpus 2\ngpu 1 util=5\ncsv " + table + "\n")
		s := open(t)
		seen := map[series.Value]bool{}
		for range 150 {
			r, _ := read(t, s)
			values(t, r.Devices[0], map[series.Counter]float64{series.Busy: 0})
			seen[r.Devices[1].Values.Get(series.Busy)] = true
			if seen[series.Of(0.9)] {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if !seen[series.Of(0.1)] || !seen[series.Without(series.NotSupported)] || !seen[series.Of(0.9)] || seen[series.Of(0.05)] {
			t.Errorf("busy was %v", seen)
		}
	})
}

func TestDriverWithLongEntriesOfProcesses(t *testing.T) {
	withDriver(t, "driver 535.86.10\ngpu 0\nproc 0 4242 300 50 C\n", nil, func(t *testing.T, _ driver) {
		r, err := read(t, open(t))
		if err != nil || len(r.Uses) != 0 || len(r.Problems) != 1 {
			t.Errorf("uses %v, problems %v, %v", r.Uses, r.Problems, err)
		}
	})
}

func TestRubbishInTheListOfProcesses(t *testing.T) {
	withDriver(t, "gpu 0\nproc 0 0 1 1 C\nproc 0 999999999 1 1 C\nproc 0 12 5 101 C\n", nil, func(t *testing.T, _ driver) {
		r, _ := read(t, open(t))
		if len(r.Uses) != 1 || len(r.Problems) != 1 {
			t.Errorf("uses %v, problems %v", r.Uses, r.Problems)
		}
		if v := r.Uses[12][0].Values.Get(series.UseBusy); v.Status == series.OK {
			t.Errorf("busy by %v", v.V)
		}
	})
}

// TestBusyOfProcesses asks by the call of new drivers, by that of old ones, and
// where neither answers.
func TestBusyOfProcesses(t *testing.T) {
	const script = "gpus 2\ngpu 0 util=90\nproc 0 4242 300 70 C\nproc 0 4243 300 - C\n"
	const newer, older = "nvmlDeviceGetProcessesUtilizationInfo", "nvmlDeviceGetProcessUtilization"
	for name, row := range map[string]struct {
		script string
		absent []string
		want   series.Value
	}{
		"of_Blackwell":             {"fail " + older + " * 3\n", nil, series.Of(0.7)},
		"of_a_driver_before_550":   {"", []string{newer}, series.Of(0.7)},
		"of_a_GPU_without_the_new": {"fail " + newer + " * 3\n", nil, series.Of(0.7)},
		"of_a_later_version":       {"fail " + newer + " * 25\n", nil, series.Of(0.7)},
		"of_neither":               {"fail " + newer + " * 3\nfail " + older + " * 3\n", nil, series.Without(series.Absent)},
		"of_a_driver_that_fails":   {"fail " + newer + " * 999\n", nil, series.Of(0.7)},
	} {
		t.Run(name, func(t *testing.T) {
			withDriver(t, script+row.script, row.absent, func(t *testing.T, _ driver) {
				s := open(t)
				for range 3 {
					r, err := read(t, s)
					if err != nil {
						t.Fatal(err)
					}
					if got := r.Uses[4242][0].Values.Get(series.UseBusy); got != row.want {
						t.Errorf("a process that works is busy by %v, want %v", got, row.want)
					}
					if got := r.Uses[4243][0].Values.Get(series.UseBusy); got.Status != series.Absent {
						t.Errorf("a process without a sample is busy by %v", got)
					}
				}
			})
		})
	}
}

func TestBusyOfProcessesThatHangs(t *testing.T) {
	withDriver(t, "gpus 2\nproc 0 4242 300 70 C\nproc 1 4343 300 60 C\n", nil, func(t *testing.T, d driver) {
		s := open(t)
		_, _ = read(t, s)
		d.says("gpus 2\nproc 0 4242 300 70 C\nproc 1 4343 300 60 C\nhang nvmlDeviceGetProcessesUtilizationInfo 1 forever\n")
		r, _ := read(t, s)
		if r.Devices[0].Status != series.OK || r.Devices[1].Status != series.Stuck || !strings.Contains(r.Devices[1].Problem, "nvmlDeviceGetProcessesUtilizationInfo") {
			t.Errorf("GPU 0 is %v, GPU 1 %v: %s", r.Devices[0].Status, r.Devices[1].Status, r.Devices[1].Problem)
		}
		if got := r.Uses[4242][0].Values.Get(series.UseBusy); got != series.Of(0.7) {
			t.Errorf("a process of the other GPU is busy by %v", got)
		}
	})
}

// TestManyBusyProcesses are more than what is asked for at first.
func TestManyBusyProcesses(t *testing.T) {
	var script strings.Builder
	script.WriteString("gpus 1\n")
	for i := range 3000 {
		fmt.Fprintf(&script, "proc 0 %d 1 %d C\n", 1000+i, 1+i%100)
	}
	withDriver(t, script.String(), nil, func(t *testing.T, _ driver) {
		r, err := read(t, open(t))
		if err != nil || len(r.Uses) != 3000 {
			t.Fatalf("%d processes, %v", len(r.Uses), err)
		}
		for i := range 3000 {
			if got, want := r.Uses[1000+i][0].Values.Get(series.UseBusy), series.Of(float64(1+i%100)/100); got != want {
				t.Errorf("process %d is busy by %v, want %v", 1000+i, got, want)
			}
		}
	})
}

func TestThousandsOfProcesses(t *testing.T) {
	withDriver(t, "gpus 8\nprocs 0 100000 5000 1\nprocs 7 200000 5000 1\n", nil, func(t *testing.T, _ driver) {
		if r, err := read(t, open(t)); err != nil || len(r.Uses) != 10000 {
			t.Errorf("%d processes, %v; want 10000", len(r.Uses), err)
		}
	})
}

func TestNoPermission(t *testing.T) {
	withDriver(t, "gpu 0 util=50\nfail nvmlDeviceGetPowerUsage 0 4\nfail nvmlDeviceGetComputeRunningProcesses_v3 0 4\n", nil, func(t *testing.T, _ driver) {
		r, err := read(t, open(t))
		if err != nil || len(r.Problems) != 1 || r.Problems[0].Status != series.NoPermission {
			t.Fatalf("problems %v, %v", r.Problems, err)
		}
		statuses(t, r.Devices[0], series.NoPermission, series.Power)
		values(t, r.Devices[0], map[series.Counter]float64{series.Busy: 0.5})
	})
}

func TestWhatTakesLongComesLater(t *testing.T) {
	withDriver(t, "gpu 0 tx=1000 rx=2000\nxid 0 48\n", nil, func(t *testing.T, _ driver) {
		s := open(t)
		told := 0
		for range 60 {
			began := time.Now()
			r, _ := read(t, s)
			if took := time.Since(began); took > 100*time.Millisecond {
				t.Errorf("a read waited %v", took)
			}
			for _, p := range r.Problems {
				if strings.Contains(p.What, "XID 48") {
					told++
				}
			}
			g := r.Devices[0]
			if _, ok := g.Values.Get(series.PCIeSent).Get(); ok && told > 0 {
				values(t, g, map[series.Counter]float64{series.PCIeSent: 1e6, series.PCIeReceived: 2e6, series.XID: 48, series.XIDEvents: 1})
				if told != 1 {
					t.Errorf("the error was told %d times", told)
				}
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Error("neither traffic nor the error ever came")
	})
}

// TestPIDsThatAreNotHere joins the scripted driver with this machine's processes.
func TestPIDsThatAreNotHere(t *testing.T) {
	withDriver(t, "gpu 0\nproc 0 4194303 1000 - C\n", nil, func(t *testing.T, d driver) {
		host := proc.New(proc.Options{})
		defer host.Close()
		d.says(fmt.Sprintf("gpu 0\nproc 0 4194303 1000 - C\nproc 0 %d 10 5 C\n", os.Getpid()))
		s := monitor.NewSampler(monitor.Options{Source: open(t), Host: host, Now: time.Now, Rand: rand.New(rand.NewPCG(1, 1))})
		sample := s.Sample(t.Context())
		seen := map[int]series.Process{}
		for _, p := range sample.Processes {
			seen[p.PID] = p
		}
		if p := seen[4194303]; p.Status != series.Lost || len(p.Uses) != 1 {
			t.Errorf("a process that cannot be seen is %+v", p)
		}
		if p := seen[os.Getpid()]; p.Status != series.OK || p.Values.Get(series.CPUTime).Status != series.OK || len(p.Uses) != 1 {
			t.Errorf("this process is %+v", p)
		}
	})
}

// Who looks on for hours has every value at each read, sees those that are shown
// change at once or at the second, and the others within their turn.
func TestSparing(t *testing.T) {
	withDriver(t, "gpus 2\ngpu 0 power=100 temp=40 used=1000 energy=5\nproc 0 4242 300 70 C\nproc 0 4243 300 - C\nproc 1 4242 10 - C\n", nil, func(t *testing.T, d driver) {
		s := openFor(t, nvml.Options{Now: time.Now, Sparing: true})
		before, _ := read(t, s)
		for range 5 {
			r, _ := read(t, s)
			if &r.Uses[4242][0] != &before.Uses[4242][0] || len(r.Uses) != 2 || len(r.Uses[4242]) != 2 {
				t.Fatalf("the same uses are %v", r.Uses)
			}
		}
		d.says("gpus 2\ngpu 0 power=200 temp=50 used=2000 energy=7\nproc 0 4242 400 30 C\nproc 1 4242 10 - C\n")
		seen := map[string]int{}
		for n := 1; n <= 10; n++ {
			r, _ := read(t, s)
			u := r.Uses[4242][0]
			for what, is := range map[string]bool{
				"power": r.Devices[0].Values.Get(series.Power) == series.Of(200), "memory": r.Devices[0].Values.Get(series.MemoryUsed) == series.Of(2000*mib),
				"temperature": r.Devices[0].Values.Get(series.Temperature) == series.Of(50), "energy": r.Devices[0].Values.Get(series.Energy) == series.Of(7),
				"memory of a process": u.Values.Get(series.UseMemory) == series.Of(400*mib), "a process being busy": u.Values.Get(series.UseBusy) == series.Of(0.3),
				"a process having left": r.Uses[4243] == nil,
			} {
				if is && seen[what] == 0 {
					seen[what] = n
				}
			}
			for _, v := range []series.Value{u.Values.Get(series.UseBusy), r.Devices[0].Values.Get(series.Temperature), r.Devices[0].Values.Get(series.Energy)} {
				if v.Status != series.OK {
					t.Errorf("at read %d a value is %v", n, v.Status)
				}
			}
		}
		for what, most := range map[string]int{
			"power": 1, "memory": 1, "temperature": 2, "energy": 8, "memory of a process": 2, "a process being busy": 2, "a process having left": 2,
		} {
			if seen[what] == 0 || seen[what] > most {
				t.Errorf("%s is as it was until read %d, want %d at most", what, seen[what], most)
			}
		}
		if before.Uses[4242][0].Values.Get(series.UseMemory) != series.Of(300*mib) || len(before.Uses) != 2 {
			t.Error("what was told before has changed")
		}
	})
}

func BenchmarkRead(b *testing.B) {
	if os.Getenv(childVariable) == "" {
		b.Skip("run by hand: LD_LIBRARY_PATH and PLIMSOLL_FAKE_NVML as README.md of fake says, and " + childVariable + "=1")
	}
	s, err := nvml.Open(b.Context(), nvml.Options{Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Read(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
