package smilog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/series"
)

// read reads a whole log.
func read(t testing.TB, text string) (*Reader, []*series.Sample) {
	t.Helper()
	r, err := NewReader(strings.NewReader(text), "gpu.log")
	if err != nil {
		t.Fatal(err)
	}
	var list []*series.Sample
	for {
		s, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r, list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
}

// want checks values of a device.
func want(t *testing.T, d *series.Device, values map[series.Counter]series.Value) {
	t.Helper()
	for c, v := range values {
		got := d.Values.Get(c)
		if got.Status != v.Status || v.Status == series.OK && (got.V-v.V > 1e-6*v.V+1e-9 || v.V-got.V > 1e-6*v.V+1e-9) {
			t.Errorf("%s of %s is %v, want %v", c.Info().Name, d.ID, got, v)
		}
	}
}

const twoGPUs = `timestamp, index, name, uuid, utilization.gpu [%], utilization.memory [%], memory.used [MiB], memory.total [MiB], power.draw [W], temperature.gpu, pstate, clocks_throttle_reasons.active, fan.speed [%]
2026/11/30 12:00:00.101, 0, NVIDIA H100 80GB HBM3, GPU-aa, 97 %, 41 %, 71234 MiB, 81559 MiB, 612.34 W, 64, P0, 0x0000000000000004, [N/A]
2026/11/30 12:00:00.105, 1, NVIDIA H100 80GB HBM3, GPU-bb, 0 %, 0 %, 1 MiB, 81559 MiB, 71.02 W, 31, P0, 0x0000000000000001, [N/A]
2026/11/30 12:00:01.101, 0, NVIDIA H100 80GB HBM3, GPU-aa, 100 %, 44 %, 71234 MiB, 81559 MiB, [Unknown Error], 65, P0, 0x0000000000000004, [N/A]
2026/11/30 12:00:01.105, 1, [GPU is lost], GPU-bb, [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost]
`

func TestQuery(t *testing.T) {
	r, list := read(t, twoGPUs)
	if len(list) != 2 || len(list[0].Devices) != 2 || len(r.Left()) > 0 {
		t.Fatalf("%d samples, left %v", len(list), r.Left())
	}
	if list[1].Since != time.Second || !list[0].Wall.Equal(time.Date(2026, 11, 30, 12, 0, 0, 101e6, time.UTC)) {
		t.Errorf("times %v, %v", list[0].Wall, list[1].Since)
	}
	d := &list[0].Devices[0]
	want(t, d, map[series.Counter]series.Value{
		series.Busy: series.Of(0.97), series.MemoryBusy: series.Of(0.41), series.MemoryUsed: series.Of(71234 << 20), series.Power: series.Of(612.34), series.Temperature: series.Of(64),
		series.PerformanceState: series.Of(0), series.ThrottleReasons: series.Of(4), series.Fan: series.Without(series.NotSupported), series.ClockSM: {},
	})
	if d.ID != "GPU-aa" || d.Name != "NVIDIA H100 80GB HBM3" || d.Index != 0 {
		t.Errorf("device %+v", d)
	}
	want(t, &list[0].Devices[1], map[series.Counter]series.Value{series.Busy: series.Of(0)})
	want(t, &list[1].Devices[0], map[series.Counter]series.Value{series.Power: series.Without(series.Failed)})
	if lost := list[1].Devices[1]; lost.Status != series.Lost || lost.Values.Get(series.Busy).Status != series.Lost {
		t.Errorf("the lost GPU is %v, %v", lost.Status, lost.Values.Get(series.Busy))
	}
}

// TestSpellings are one row, as different options, locales and programs write it.
func TestSpellings(t *testing.T) {
	for name, text := range map[string]string{
		"units":     "timestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W]\n2026/11/30 12:00:00.000, 3, 97 %, 1234 MiB, 300.50 W\n",
		"nounits":   "timestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W]\n2026/11/30 12:00:00.000, 3, 97, 1234, 300.50\n",
		"order":     "power.draw [W], memory.used [MiB], index, timestamp, utilization.gpu [%]\n300.50 W, 1234 MiB, 3, 2026/11/30 12:00:00.000, 97 %\n",
		"no spaces": "timestamp,index,utilization.gpu [%],memory.used [MiB],power.draw [W]\n2026/11/30 12:00:00.000,3,97 %,1234 MiB,300.50 W\n",
		"semicolon": "timestamp;index;utilization.gpu [%];memory.used [MiB];power.draw [W]\n30.11.2026 12:00:00;3;97 %;1234 MiB;300,50 W\n",
		"comma":     "timestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W]\n2026/11/30 12:00:00,000, 3, 97 %, 1234 MiB, 300,50 W\n",
		"tabs":      "timestamp\tindex\tutilization.gpu\tmemory.used\tpower.draw\n11/30/2026 12:00:00\t3\t97\t1,234\t300.50\n",
		"quoted":    "\"timestamp\",\"index\",\"utilization.gpu [%]\",\"memory.used [MiB]\",\"power.draw [W]\"\n\"2026-11-30 12:00:00\",\"3\",\"97 %\",\"1234 MiB\",\"300.50 W\"\n",
		"windows":   "\ufefftimestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W]\r\n2026/11/30 12:00:00.000, 3, 97 %, 1234 MiB, 300.50 W\r\n",
		"epoch":     "timestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W]\n1796040000, 3, 97 %, 1234 MiB, 300.50 W\n",
		"lead":      "Mon Nov 30 11:59:59 2026\nstarting\ntimestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W]\n2026/11/30 12:00:00.000, 3, 97 %, 1234 MiB, 300.50 W\n",
		"unknown":   "timestamp, index, made.up [x], utilization.gpu [%], memory.used [MiB], power.draw [W]\n2026/11/30 12:00:00.000, 3, whatever, 97 %, 1234 MiB, 300.50 W\n",
		"thousands": "timestamp;index;utilization.gpu [%];memory.used [MiB];power.draw [W]\n30.11.2026 12:00:00;3;97 %;1.234,0 MiB;300,50 W\n",
	} {
		t.Run(name, func(t *testing.T) {
			r, list := read(t, text)
			if len(list) != 1 || len(list[0].Devices) != 1 {
				t.Fatalf("%d samples; left %v", len(list), r.Left())
			}
			d := &list[0].Devices[0]
			want(t, d, map[series.Counter]series.Value{series.Busy: series.Of(0.97), series.MemoryUsed: series.Of(1234 << 20), series.Power: series.Of(300.5)})
			if d.Index != 3 || !list[0].Wall.Equal(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)) {
				t.Errorf("index %d at %v", d.Index, list[0].Wall)
			}
		})
	}
}

func TestHeadersRepeatAndChange(t *testing.T) {
	r, list := read(t, `timestamp, index, utilization.gpu [%]
2026/11/30 12:00:00.000, 0, 10 %
timestamp, index, utilization.gpu [%]
2026/11/30 12:00:01.000, 0, 20 %
index, timestamp, power.draw [W], utilization.gpu [%]
0, 2026/11/30 12:00:02.000, 50.00 W, 30 %
Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.  Reboot the system to recover this GPU
0, 2026/11/30 12:00:03.000, 50.00 W
0, 2026/11/30 12:00:04.000, 50.00 W, 40 %
`)
	var busy []string
	for _, s := range list {
		busy = append(busy, fmt.Sprintf("%.2f", s.Devices[0].Values.Get(series.Busy).V))
	}
	if got := strings.Join(busy, " "); got != "0.10 0.20 0.30 0.40" {
		t.Errorf("busy %s", got)
	}
	if len(r.Left()) != 2 || !strings.Contains(r.Left()[0], "GPU is lost") || !strings.Contains(r.Left()[1], "3 cells under a header of 4") {
		t.Errorf("left %q", r.Left())
	}
}

func TestComputeApps(t *testing.T) {
	_, list := read(t, `timestamp, gpu_uuid, pid, process_name, used_gpu_memory [MiB]
2026/11/30 12:00:00.000, GPU-aa, 100, /usr/bin/python3, 1000 MiB
2026/11/30 12:00:00.001, GPU-bb, 100, /usr/bin/python3, 2000 MiB
2026/11/30 12:00:00.002, GPU-bb, 101, [Not Found], [N/A]
2026/11/30 12:00:01.000, GPU-aa, 100, /usr/bin/python3, 1100 MiB
`)
	if len(list) != 2 || len(list[0].Processes) != 2 || len(list[0].Devices) != 2 {
		t.Fatalf("%d samples, %+v", len(list), list[0])
	}
	p := list[0].Processes[0]
	if p.PID != 100 || p.Name != "python3" || len(p.Uses) != 2 || p.Uses[1].Device != "GPU-bb" || p.Uses[1].Values.Get(series.UseMemory) != series.Of(2000<<20) {
		t.Errorf("process %+v", p)
	}
	if v := list[0].Processes[1].Uses[0].Values.Get(series.UseMemory); v.Status != series.NotSupported {
		t.Errorf("memory that is not told is %v", v)
	}
}

func TestDmon(t *testing.T) {
	r, list := read(t, `#Date       Time        gpu   pwr gtemp mtemp    sm   mem   enc   dec   jpg   ofa  mclk  pclk     fb
#YYYYMMDD   HH:MM:SS    Idx     W     C     C     %     %     %     %     %     %   MHz   MHz     MB
 20261130   12:00:00      0   612    64     -    97    41     0     0     -     -  2619  1965  71234
 20261130   12:00:00      1    71    31     -     0     0     0     0     -     -  2619   345      1
# Date       Time        gpu   pwr gtemp mtemp    sm   mem   enc   dec   jpg   ofa  mclk  pclk     fb
 20261130   12:00:01      0   600    64     -    98    41     0     0     -     -  2619  1965  71234
`)
	if len(list) != 2 || len(list[0].Devices) != 2 || r.Kind != "nvidia-smi dmon" || len(r.Left()) > 0 {
		t.Fatalf("%s: %d samples, left %v", r.Kind, len(list), r.Left())
	}
	want(t, &list[0].Devices[0], map[series.Counter]series.Value{
		series.Power: series.Of(612), series.Busy: series.Of(0.97), series.MemoryBusy: series.Of(0.41), series.ClockSM: series.Of(1965e6), series.MemoryUsed: series.Of(71234 << 20),
	})
	if list[1].Since != time.Second || list[0].Devices[1].Index != 1 {
		t.Errorf("%v", list[1].Since)
	}
	r, list = read(t, "# gpu    pwr  gtemp     sm\n# Idx      W      C      %\n    0     71     34      0\n    0     72     34      1\n")
	if len(list) != 2 || list[1].Since != time.Second || len(r.Left()) > 0 || r.Untimed() == "" {
		t.Errorf("without times: %d samples, left %v, %q", len(list), r.Left(), r.Untimed())
	}
}

// TestDmonAsCSV is dmon --format csv, whose values stand between commas.
func TestDmonAsCSV(t *testing.T) {
	r, list := read(t, "#gpu, pwr, gtemp, mtemp, sm, mem\n#Idx, W, C, C, %, %\n0, 412, 62, -, 99, 51\n1, 70, 33, -, 0, 0\n0, 413, 62, -, 98, 50\n")
	if len(list) != 2 || len(list[0].Devices) != 2 || r.Kind != "nvidia-smi dmon" {
		t.Fatalf("%s: %d samples, left %v", r.Kind, len(list), r.Left())
	}
	want(t, &list[0].Devices[0], map[series.Counter]series.Value{series.Power: series.Of(412), series.Busy: series.Of(0.99), series.MemoryBusy: series.Of(0.51)})
}

const dcgmiLog = `#Entity   GPUTL  POWER        TOTEC        SMACT        FBUSD   NVLTX
ID               W            mJ                        MB
GPU 0     98     412.331      2.07e+11     0.873        61440   123456
GPU 1     0      70.120       1500         0.000        3       N/A
#Entity   GPUTL  POWER        TOTEC        SMACT        FBUSD   NVLTX
ID
GPU 0     97     N/A          2.07e+11     0.870        61440   1
GPU 1     0      70.130       1500         0.000        3       1
GPU-I 3   N/A    N/A          N/A          0.100        3       1
`

func TestDcgmi(t *testing.T) {
	r, list := read(t, dcgmiLog)
	if len(list) != 2 || len(list[1].Devices) != 2 || r.Kind != "dcgmi dmon" || len(r.Left()) != 1 || r.Untimed() == "" {
		t.Fatalf("%s: %d samples, left %v", r.Kind, len(list), r.Left())
	}
	want(t, &list[0].Devices[0], map[series.Counter]series.Value{
		series.Busy: series.Of(0.98), series.Power: series.Of(412.331), series.Energy: series.Of(2.07e8), series.SMActive: series.Of(0.873), series.MemoryUsed: series.Of(61440 << 20),
	})
	want(t, &list[1].Devices[0], map[series.Counter]series.Value{series.Power: series.Without(series.NotSupported)})
	if list[1].Since != time.Second || list[1].Devices[1].Index != 1 {
		t.Errorf("%v after the first, GPU %d", list[1].Since, list[1].Devices[1].Index)
	}
}

// TestUTF16 reads what PowerShell makes of a log.
func TestUTF16(t *testing.T) {
	_, want := read(t, twoGPUs)
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		text := order.AppendUint16(nil, 0xfeff)
		for _, unit := range utf16.Encode([]rune(strings.ReplaceAll(twoGPUs, "\n", "\r\n"))) {
			text = order.AppendUint16(text, unit)
		}
		if !Detect(text[:min(len(text), 4096)]) {
			t.Errorf("%v: it is no log", order)
		}
		if r, got := read(t, string(text)); len(got) != len(want) || len(r.Left()) > 0 || got[1].Devices[0].Values.Get(series.Busy) != want[1].Devices[0].Values.Get(series.Busy) {
			t.Errorf("%v: %d samples of %d, left %v", order, len(got), len(want), r.Left())
		}
		if _, got := read(t, string(text[:len(text)-1])); len(got) != len(want) {
			t.Errorf("%v, cut in a character: %d samples", order, len(got))
		}
	}
}

// TestRefused says what other texts about GPUs are, and what to do.
func TestRefused(t *testing.T) {
	head, rows, _ := strings.Cut(twoGPUs, "\n")
	for begins, want := range map[string]string{
		"Tue Mar  5 14:00:00 2024\n+-----+\n| NVIDIA-SMI 535.104.05   Driver Version: 535 |\n": "table for people",
		"\n==============NVSMI LOG==============\n":                                            "one moment",
		"h1  Tue Mar 5 2024\n[0] A100 | 51'C,  97 % | 40312 / 81920 MB | root(40000M)\n":       "gpustat's table",
		rows:                           "without its header",
		"0, 97 %, 40312 MiB\n":         "without its header",
		"97, 1234, 300\n98, 2, 3\n":    "",
		"epoch, loss\n1, 0.5\n":        "",
		head + "\n":                    "",
		"loss went down by 10 %, fine": "",
	} {
		msg, hint, ok := Refused([]byte(begins))
		if Detect([]byte(begins)) {
			continue
		}
		if ok != (want != "") || !strings.Contains(msg, want) || ok && hint == "" {
			t.Errorf("%q: %q, %q; want %q", begins, msg, hint, want)
		}
	}
}

func TestPmon(t *testing.T) {
	r, list := read(t, `# gpu         pid   type     sm    mem    enc    dec    fb   command
# Idx           #    C/G      %      %      %      %    MB   name
    0       1234     C     45     20      -      -  1000   python
    0       1235     G      -      -      -      -    20   Xorg
    1          -     -      -      -      -      -     -   -
    0       1234     C     46     20      -      -  1000   python
    1       1300     C     10      1      -      -   500   python
`)
	if r.Kind != "nvidia-smi pmon" || len(list) != 2 || len(list[0].Devices) != 2 || len(list[0].Processes) != 2 || len(list[1].Processes) != 2 {
		t.Fatalf("%s: %d samples, %+v", r.Kind, len(list), list)
	}
	u := list[0].Processes[0].Uses[0]
	if u.Device != "index:0" || u.Values.Get(series.UseBusy) != series.Of(0.45) || u.Values.Get(series.UseMemory) != series.Of(1000<<20) {
		t.Errorf("use %+v", u)
	}
	if v := list[0].Processes[1].Uses[0]; v.Kind != series.Graphics || v.Values.Get(series.UseBusy).Status != series.NotSupported {
		t.Errorf("use %+v", v)
	}
}

const scrapes = `# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-aa",pci_bus_id="00000000:18:00.0",device="nvidia0",modelName="NVIDIA H100",Hostname="node1",DCGM_FI_DRIVER_VERSION="570.86.15"} 97
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-bb",device="nvidia1",modelName="a \"b\", c",Hostname="node1"} 0
# HELP DCGM_FI_DEV_FB_USED Framebuffer memory used (in MiB).
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-aa"} 71234
DCGM_FI_DEV_FB_USED{gpu="1",UUID="GPU-bb"} 9223372036854775794
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="0",UUID="GPU-aa"} 5000
DCGM_FI_DEV_XID_ERRORS{gpu="0",UUID="GPU-aa"} 0
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-aa"} 98
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-bb"} 1
`

func TestScrapes(t *testing.T) {
	r, list := read(t, scrapes)
	if r.Kind != "dcgm-exporter" || len(list) != 2 || len(list[0].Devices) != 2 {
		t.Fatalf("%s: %d samples, left %v", r.Kind, len(list), r.Left())
	}
	want(t, &list[0].Devices[0], map[series.Counter]series.Value{series.Busy: series.Of(0.97), series.MemoryUsed: series.Of(71234 << 20), series.Energy: series.Of(5), series.XID: {}})
	want(t, &list[0].Devices[1], map[series.Counter]series.Value{series.Busy: series.Of(0), series.MemoryUsed: series.Without(series.NotSupported)})
	if list[0].Host.Name != "node1" || list[0].Host.Driver != "570.86.15" || list[0].Devices[1].Name != `a "b", c` {
		t.Errorf("host %+v, name %q", list[0].Host, list[0].Devices[1].Name)
	}
	_, list = read(t, "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 1 1796040000000\nDCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 2 1796040030000\n")
	if len(list) != 2 || list[1].Since != 30*time.Second {
		t.Errorf("with times: %d samples", len(list))
	}
}

const gpustatLog = `{
    "hostname": "node1",
    "driver_version": "570.86.15",
    "query_time": "2026-11-30T12:00:00.123456",
    "gpus": [{"index": 0, "uuid": "GPU-aa", "name": "NVIDIA H100", "temperature.gpu": 64, "fan.speed": null, "utilization.gpu": 97, "power.draw": 612, "enforced.power.limit": 700,
      "memory.used": 71234, "memory.total": 81559, "processes": [{"username": "ada", "command": "python", "gpu_memory_usage": 71000, "pid": 1234}]}]
}
{"hostname": "node1", "query_time": "2026-11-30T12:00:02.123456", "gpus": [{"index": 0, "uuid": "GPU-aa", "name": "NVIDIA H100", "utilization.gpu": 0, "processes": []}]}
`

func TestGpustat(t *testing.T) {
	r, list := read(t, gpustatLog)
	if r.Kind != "gpustat JSON" || len(list) != 2 || len(r.Left()) > 0 {
		t.Fatalf("%s: %d samples, left %v", r.Kind, len(list), r.Left())
	}
	want(t, &list[0].Devices[0], map[series.Counter]series.Value{series.Busy: series.Of(0.97), series.Fan: series.Without(series.NotSupported), series.MemoryUsed: series.Of(71234 << 20)})
	want(t, &list[1].Devices[0], map[series.Counter]series.Value{series.Busy: series.Of(0), series.Power: series.Without(series.NotSupported)})
	if p := list[0].Processes[0]; p.PID != 1234 || p.User != "ada" || p.Uses[0].Values.Get(series.UseMemory) != series.Of(71000<<20) {
		t.Errorf("process %+v", p)
	}
	if list[1].Since != 2*time.Second || list[0].Host.Name != "node1" {
		t.Errorf("%v, %+v", list[1].Since, list[0].Host)
	}
}

func TestClockThatIsPutBack(t *testing.T) {
	_, list := read(t, "timestamp, index, utilization.gpu [%]\n2026/11/30 12:00:00.000, 0, 1 %\n2026/11/30 11:00:00.000, 0, 2 %\n2026/11/30 11:00:01.000, 0, 3 %\n")
	if len(list) != 3 || list[1].Since != 0 || list[2].Since != time.Second {
		t.Errorf("%d samples; %v, %v", len(list), list[1].Since, list[2].Since)
	}
}

func TestDaysAndMonths(t *testing.T) {
	var c clock
	if got := c.read("13/02/2026 10:00:00"); got.Month() != time.February {
		t.Errorf("13/02 is %v", got)
	}
	if got := c.read("03/02/2026 10:00:00"); got.Day() != 3 {
		t.Errorf("03/02 after 13/02 is %v", got)
	}
}

func TestForeign(t *testing.T) {
	for _, text := range []string{"", "hello, world\n", "Traceback (most recent call last):\n  File \"train.py\", line 1\n", "{\"a\": 1}", "97, 1234, 300\n98, 1234, 301\n", "epoch, loss, accuracy\n1, 0.5, 0.9\n", "name, index\n"} {
		if Detect([]byte(text)) && text != "name, index\n" {
			t.Errorf("%q is taken for a log of GPUs", text)
		}
		_, err := NewReader(strings.NewReader(text), "file")
		if _, ok := errors.AsType[*input.SyntaxError](err); !ok && text != "name, index\n" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestCutAnywhere reads logs that end anywhere: no number of a cut log differs from
// the whole one's.
func TestCutAnywhere(t *testing.T) {
	nounits := strings.NewReplacer(" %,", ",", " MiB,", ",", " W,", ",").Replace(twoGPUs)
	for _, text := range []string{twoGPUs, nounits, scrapes, gpustatLog, dcgmiLog} {
		_, all := read(t, text)
		for cut := range text {
			r, err := NewReader(strings.NewReader(text[:cut]), "cut")
			if err != nil {
				continue
			}
			for n := 0; ; n++ {
				s, err := r.Next()
				if err != nil {
					break
				}
				for i := range s.Devices {
					whole := &all[n].Devices[i]
					for _, info := range series.Counters(series.ScopeDevice) {
						v := s.Devices[i].Values.Get(info.Counter)
						if v.Status == series.OK && v != whole.Values.Get(info.Counter) {
							t.Fatalf("cut at %d: %s is %v, in the whole log %v", cut, info.Name, v, whole.Values.Get(info.Counter))
						}
					}
				}
			}
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, text := range []string{twoGPUs, scrapes, gpustatLog, dcgmiLog, "\xff\xfea\x00", "# gpu pid type sm mem fb command\n 0 1 C 1 1 1 a b\n", "#Time gpu pwr sm\n 12:00:00 0 1 2\n"} {
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		r, err := NewReader(strings.NewReader(text), "fuzz")
		if err != nil {
			return
		}
		for {
			if _, err := r.Next(); err != nil {
				return
			}
		}
	})
}

func BenchmarkQuery(b *testing.B) {
	head, rows, _ := strings.Cut(twoGPUs, "\n")
	text := head + "\n" + strings.Repeat(rows, 2000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		read(b, text)
	}
}
