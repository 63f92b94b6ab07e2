package smi_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/smi"
	"github.com/plimsoll-dev/plimsoll/series"
)

// text has two GPUs: one that works, with an instance, and one that says little.
const text = `<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
	<timestamp>Mon Jan  1 00:00:00 2026</timestamp>
	<driver_version>550.54.15</driver_version>
	<cuda_version>12.4</cuda_version>
	<attached_gpus>2</attached_gpus>
	<gpu id="00000000:18:00.0">
		<product_name>NVIDIA H100 80GB HBM3</product_name>
		<uuid>GPU-1</uuid>
		<minor_number>3</minor_number>
		<mig_mode><current_mig>Enabled</current_mig></mig_mode>
		<mig_devices><mig_device><index>0</index><gpu_instance_id>9</gpu_instance_id><compute_instance_id>0</compute_instance_id>
			<fb_memory_usage><total>9856 MiB</total><used>13 MiB</used></fb_memory_usage></mig_device></mig_devices>
		<pci><pci_gpu_link_info><pcie_gen><max_link_gen>5</max_link_gen><current_link_gen>1</current_link_gen></pcie_gen>
			<link_widths><max_link_width>16x</max_link_width><current_link_width>8x</current_link_width></link_widths></pci_gpu_link_info>
			<tx_util>1000 KB/s</tx_util></pci>
		<fan_speed>N/A</fan_speed>
		<performance_state>P0</performance_state>
		<clocks_event_reasons><clocks_event_reason_gpu_idle>Not Active</clocks_event_reason_gpu_idle><clocks_event_reason_sw_power_cap>Active</clocks_event_reason_sw_power_cap>
			<clocks_event_reason_hw_thermal_slowdown>Active</clocks_event_reason_hw_thermal_slowdown></clocks_event_reasons>
		<fb_memory_usage><total>81559 MiB</total><reserved>551 MiB</reserved><used>40000 MiB</used><free>41008 MiB</free></fb_memory_usage>
		<utilization><gpu_util>85 %</gpu_util><memory_util>[Unknown Error]</memory_util></utilization>
		<temperature><gpu_temp>64 C</gpu_temp></temperature>
		<gpu_power_readings><power_draw>N/A</power_draw><instant_power_draw>612.50 W</instant_power_draw><current_power_limit>700.00 W</current_power_limit></gpu_power_readings>
		<clocks><sm_clock>1965 MHz</sm_clock></clocks>
		<processes>
			<process_info><gpu_instance_id>N/A</gpu_instance_id><pid>4242</pid><type>C</type><process_name>python</process_name><used_memory>30000 MiB</used_memory></process_info>
			<process_info><gpu_instance_id>9</gpu_instance_id><pid>4243</pid><type>M+C</type><used_memory>N/A</used_memory></process_info>
		</processes>
	</gpu>
	<gpu id="00000000:3B:00.0">
		<uuid>GPU-2</uuid>
		<utilization><gpu_util>0 %</gpu_util></utilization>
		<fb_memory_usage><total>N/A</total></fb_memory_usage>
	</gpu>
</nvidia_smi_log>
`

func TestXML(t *testing.T) {
	r := smi.ParseXML(strings.NewReader(text))
	if r.Driver != "550.54.15" || r.CUDA != "12.4" || len(r.Devices) != 3 || len(r.Problems) != 0 || !r.UnifiedMemory {
		t.Fatalf("driver %q, CUDA %q, %d devices, problems %v, unified %v", r.Driver, r.CUDA, len(r.Devices), r.Problems, r.UnifiedMemory)
	}
	g, m, other := r.Devices[0], r.Devices[1], r.Devices[2]
	if g.ID != "GPU-1" || g.PCI != "0000:18:00.0" || g.Minor != 3 || g.MIG != "on" || m.Parent != "GPU-1" || other.Index != 1 {
		t.Errorf("devices: %+v, %+v, %+v", g, m, other)
	}
	for c, want := range map[series.Counter]series.Value{
		series.Busy: series.Of(0.85), series.MemoryBusy: series.Without(series.Failed), series.MemoryTotal: series.Of(81559 << 20),
		series.MemoryUsed: series.Of(40000 << 20), series.MemoryReserved: series.Of(551 << 20), series.Power: series.Of(612.5), series.PowerLimit: series.Of(700),
		series.Temperature: series.Of(64), series.Fan: series.Without(series.NotSupported), series.ClockSM: series.Of(1965e6),
		series.ThrottleReasons: series.Of(0x44), series.PerformanceState: series.Of(0), series.PCIeGeneration: series.Of(1), series.PCIeWidth: series.Of(8),
		series.PCIeSent: series.Of(1e6), series.Energy: {},
	} {
		if got := g.Values.Get(c); got != want {
			t.Errorf("%s is %v, want %v", c.Info().Name, got, want)
		}
	}
	if v := m.Values.Get(series.MemoryUsed); v != series.Of(13<<20) {
		t.Errorf("an instance uses %v", v)
	}
	if v := m.Values.Get(series.Busy); v.Status != series.NotSupported {
		t.Errorf("an instance is busy by %v", v)
	}
	if v := other.Values.Get(series.ThrottleReasons); v.Status != series.NotSupported {
		t.Errorf("reasons that are not told are %v", v)
	}
	if u := r.Uses[4242]; len(u) != 1 || u[0].Device != "GPU-1" || u[0].Kind != series.Compute || u[0].Values.Get(series.UseMemory) != series.Of(30000<<20) {
		t.Errorf("4242: %+v", u)
	}
	if u := r.Uses[4243]; len(u) != 1 || u[0].Device != m.ID || u[0].Kind != series.Shared || u[0].Values.Get(series.UseMemory).Status != series.NotSupported {
		t.Errorf("4243: %+v", u)
	}
}

func TestXMLCutAnywhere(t *testing.T) {
	for i := range len(text) - len("</nvidia_smi_log>\n") {
		r := smi.ParseXML(strings.NewReader(text[:i]))
		if i > 100 && len(r.Problems) == 0 {
			t.Fatalf("cut at %d: no problem is told", i)
		}
		if strings.Contains(text[:i], "</gpu>") && len(r.Devices) == 0 {
			t.Fatalf("cut at %d: the first GPU is lost", i)
		}
	}
}

func FuzzXML(f *testing.F) {
	f.Add(text)
	f.Fuzz(func(t *testing.T, s string) {
		for _, d := range smi.ParseXML(strings.NewReader(s)).Devices {
			for _, v := range d.Values {
				if v.Status != series.OK && v.V != 0 {
					t.Errorf("%v", v)
				}
			}
		}
	})
}

// command makes a program that stands for nvidia-smi.
func command(t *testing.T, script string) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), "nvidia-smi")
	if err := os.WriteFile(at, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return at
}

func TestPrograms(t *testing.T) {
	for name, row := range map[string]struct {
		script string
		status series.Status
		says   string
	}{
		"version mismatch":  {"echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 18", series.Failed, "different versions"},
		"driver not loaded": {"echo \"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\"; exit 9", series.Failed, "not loaded"},
		"lost":              {"exit 15", series.Lost, "lost"},
		"unknown":           {"echo no; exit 255", series.Failed, "error 255"},
		"killed":            {"kill -9 $$", series.Failed, "run nvidia-smi"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := smi.Open(t.Context(), smi.Options{Path: command(t, row.script), Now: time.Now})
			var u *monitor.Unavailable
			if !errors.As(err, &u) || u.Status != row.status || !strings.Contains(u.Msg, row.says) || u.Hint == "" && row.says != "error 255" {
				t.Errorf("error is %#v", err)
			}
		})
	}
	if _, err := smi.Open(t.Context(), smi.Options{Path: "no-such-program", Now: time.Now}); err == nil {
		t.Error("a program that is missing is no error")
	}
}

func TestGPUThatIsLost(t *testing.T) {
	at := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := smi.Open(t.Context(), smi.Options{Now: time.Now, Path: command(t, "cat "+at+"; echo 'Unable to determine the device handle for GPU0000:5E:00.0: GPU is lost.  Reboot the system to recover this GPU' >&2; exit 15")})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Read(t.Context())
	if err != nil || len(r.Devices) != 4 {
		t.Fatalf("%d devices, %v", len(r.Devices), err)
	}
	if d := r.Devices[3]; d.Status != series.Lost || d.PCI != "0000:5e:00.0" || d.Values.Get(series.Busy).Status != series.Lost {
		t.Errorf("the lost one is %+v", d)
	}
}

func TestProgramThatHangs(t *testing.T) {
	dir := t.TempDir()
	at, slow := filepath.Join(dir, "text"), filepath.Join(dir, "slow")
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := smi.Open(t.Context(), smi.Options{Now: time.Now, Patience: 400 * time.Millisecond, Path: command(t, "test -e "+slow+" && exec sleep 60; cat "+at)})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(slow, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	read := func(patience time.Duration) (monitor.Reading, error) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		began := time.Now()
		defer func() {
			if took := time.Since(began); took > time.Second {
				t.Errorf("a read took %v", took)
			}
		}()
		return s.Read(ctx)
	}
	r, err := read(50 * time.Millisecond)
	if err != nil || r.Devices[0].Status != series.OK || r.Devices[0].StaleFor <= 0 {
		t.Fatalf("while it may still come the device is %v, stale for %v; %v", r.Devices[0].Status, r.Devices[0].StaleFor, err)
	}
	time.Sleep(200 * time.Millisecond)
	r, err = read(0)
	if err != nil || r.Devices[0].Status != series.Stuck {
		t.Fatalf("after that it is %v; %v", r.Devices[0].Status, err)
	}
	var u *monitor.Unavailable
	time.Sleep(600 * time.Millisecond)
	if _, err = read(900 * time.Millisecond); !errors.As(err, &u) || u.Status != series.Stuck {
		t.Errorf("a program that was ended is %v", err)
	}
	if err := os.Remove(slow); err != nil {
		t.Fatal(err)
	}
	if r, err = read(900 * time.Millisecond); err != nil || r.Devices[0].StaleFor != 0 {
		t.Errorf("after it answers again: %v", err)
	}
}
