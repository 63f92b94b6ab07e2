package amd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/amd"
	"github.com/plimsoll-dev/plimsoll/series"
)

const gpu = "sys/class/drm/card1/device/"

// machine writes the files of a machine with one AMD GPU below a new folder.
func machine(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		gpu + "vendor": "0x1002\n", gpu + "device": "0x740c\n", gpu + "uevent": "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:c1:00.0\n", gpu + "unique_id": "a1b2\n",
		gpu + "product_name": "AMD Instinct MI250X\n", gpu + "gpu_busy_percent": "73\n", gpu + "mem_info_vram_total": "68702699520\n", gpu + "mem_info_vram_used": "1000000\n",
		gpu + "current_link_width": "16\n", gpu + "current_link_speed": "16.0 GT/s PCIe\n", gpu + "max_link_speed": "32.0 GT/s PCIe\n",
		gpu + "pp_dpm_sclk": "0: 500Mhz\n1: 1700Mhz *\n", gpu + "power/runtime_status": "active\n",
		gpu + "hwmon/hwmon3/power1_average": "203000000\n", gpu + "hwmon/hwmon3/temp1_input": "41000\n", gpu + "hwmon/hwmon3/freq1_input": "1650000000\n",
		"sys/class/drm/card0/device/vendor": "0x10de\n", "sys/class/drm/card1-DP-1/device/vendor": "0x1002\n",
		"proc/77/fdinfo/5": "pos: 0\ndrm-driver: amdgpu\ndrm-pdev: 0000:c1:00.0\ndrm-client-id: 9\ndrm-memory-vram: 2048 KiB\ndrm-engine-compute: 1000000000 ns\ndrm-engine-gfx: 5 ns\n",
		"proc/77/fdinfo/6": "drm-driver: amdgpu\ndrm-pdev: 0000:c1:00.0\ndrm-client-id: 9\ndrm-memory-vram: 2048 KiB\ndrm-engine-compute: 1000000000 ns\n",
		"proc/77/fdinfo/7": "drm-driver: i915\ndrm-pdev: 0000:c1:00.0\ndrm-client-id: 1\ndrm-memory-vram: 4 KiB\n",
	} {
		write(t, root, name, text)
	}
	for _, n := range []string{"5", "6", "7"} {
		if err := os.MkdirAll(filepath.Join(root, "proc/77/fd"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/dev/dri/renderD128", filepath.Join(root, "proc/77/fd", n)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	at := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, s monitor.Source) monitor.Reading {
	t.Helper()
	r, err := s.Read(t.Context())
	if err != nil || len(r.Devices) != 1 {
		t.Fatalf("%d devices, %v", len(r.Devices), err)
	}
	return r
}

func TestGPU(t *testing.T) {
	now := time.Unix(1000, 0)
	root := machine(t)
	s, err := amd.Open(t.Context(), amd.Options{Root: root, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	r := read(t, s)
	d := r.Devices[0]
	if d.ID != "amd:a1b2" || d.PCI != "0000:c1:00.0" || d.Name != "AMD Instinct MI250X" || d.Status != series.OK {
		t.Errorf("GPU is %+v", d)
	}
	for c, want := range map[series.Counter]series.Value{
		series.Busy: series.Of(0.73), series.MemoryBusy: series.Without(series.NotSupported), series.MemoryTotal: series.Of(68702699520), series.MemoryUsed: series.Of(1000000),
		series.MemoryFree: series.Of(68702699520 - 1000000), series.Power: series.Of(203), series.PowerLimit: series.Without(series.NotSupported),
		series.Temperature: series.Of(41), series.ClockSM: series.Of(1650e6), series.ClockSMMax: series.Of(1700e6), series.PCIeGeneration: series.Of(4),
		series.PCIeGenerationMax: series.Of(5), series.PCIeWidth: series.Of(16), series.Fan: series.Without(series.NotSupported),
	} {
		if got := d.Values.Get(c); got != want {
			t.Errorf("%s is %v, want %v", c.Info().Name, got, want)
		}
	}
	u := r.Uses[77]
	if len(u) != 1 || u[0].Kind != series.Compute || u[0].Values.Get(series.UseMemory) != series.Of(2048<<10) || u[0].Values.Get(series.UseBusy).Status != series.Absent {
		t.Fatalf("at first, uses are %+v", u)
	}
	now = now.Add(2 * time.Second)
	for _, n := range []string{"5", "6"} {
		b, err := os.ReadFile(filepath.Join(root, "proc/77/fdinfo", n))
		if err != nil {
			t.Fatal(err)
		}
		write(t, root, "proc/77/fdinfo/"+n, strings.ReplaceAll(string(b), "1000000000 ns", "1500000000 ns"))
	}
	if v := read(t, s).Uses[77][0].Values.Get(series.UseBusy); v != series.Of(0.25) {
		t.Errorf("half a second of work in two is %v", v)
	}
}

func TestGPUThatSleepsIsNotRead(t *testing.T) {
	root := machine(t)
	write(t, root, gpu+"power/runtime_status", "suspended\n")
	s, err := amd.Open(t.Context(), amd.Options{Root: root, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	r := read(t, s)
	if d := r.Devices[0]; d.Values.Get(series.Busy).Status != series.NotSupported || !strings.Contains(d.Problem, "sleeps") || len(r.Problems) != 1 {
		t.Errorf("a GPU that sleeps is %+v", d)
	}
}

func TestGPUThatIsGone(t *testing.T) {
	root := machine(t)
	s, err := amd.Open(t.Context(), amd.Options{Root: root, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(root, "sys/class/drm/card1")); err != nil {
		t.Fatal(err)
	}
	if d := read(t, s).Devices[0]; d.Status != series.Lost || d.Values.Get(series.Power).Status != series.Lost {
		t.Errorf("a GPU that is gone is %+v", d)
	}
}

func TestRubbish(t *testing.T) {
	root := machine(t)
	for _, name := range []string{"gpu_busy_percent", "mem_info_vram_total", "pp_dpm_sclk", "current_link_speed", "hwmon/hwmon3/power1_average"} {
		for _, bad := range []string{"", "-5", "x", strings.Repeat("9", 9000), "\x00"} {
			write(t, root, gpu+name, bad)
			s, err := amd.Open(t.Context(), amd.Options{Root: root, Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range read(t, s).Devices[0].Values {
				if v.Status != series.OK && v.V != 0 || v.V < 0 {
					t.Errorf("%s of %q is %v", name, bad[:min(len(bad), 9)], v)
				}
			}
		}
	}
	if _, err := amd.Open(t.Context(), amd.Options{Root: t.TempDir(), Now: time.Now}); err == nil {
		t.Error("a machine without GPUs is no error")
	}
}
