// Package amd reads AMD GPUs from the files of the kernel's amdgpu driver. It needs
// no library.
//
// A GPU that sleeps is left asleep: its files would wake it, so they are not read.
// What a process takes is known for one's own processes only.
package amd

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/series"
)

const (
	name     = "amdgpu"
	vendorID = "0x1002"
)

// Options say where to read. The zero value but for Now reads this machine.
type Options struct {
	Root string // the folder that holds sys and proc; "" means /
	Now  func() time.Time
}

// A source is the driver of this machine.
type source struct {
	root    string
	now     func() time.Time
	cards   []card
	clients clients
	reading monitor.Question[monitor.Reading]
}

// A card is a GPU's folder.
type card struct {
	dir, hwmon string
	self       series.Device
}

// Open looks for GPUs.
func Open(_ context.Context, o Options) (monitor.Source, error) {
	if o.Root == "" {
		o.Root = "/"
	}
	s := &source{root: o.Root, now: o.Now}
	dirs, err := filepath.Glob(filepath.Join(o.Root, "sys/class/drm/card*/device"))
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		base := filepath.Base(filepath.Dir(dir))
		if strings.Contains(base, "-") || text(dir, "vendor") != vendorID {
			continue // a connector, or another's
		}
		s.cards = append(s.cards, newCard(dir))
	}
	if len(s.cards) == 0 {
		return nil, &monitor.Unavailable{Source: name, Status: series.NotSupported, Msg: "there is no AMD GPU with the amdgpu driver", Hint: "see whether /sys/class/drm has a card"}
	}
	slices.SortFunc(s.cards, func(a, b card) int { return strings.Compare(a.self.PCI, b.self.PCI) })
	for i := range s.cards {
		s.cards[i].self.Index = i
	}
	return s, nil
}

func newCard(dir string) card {
	c := card{dir: dir, self: series.Device{Vendor: "amd", Minor: -1, Name: "AMD GPU"}}
	if n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(filepath.Dir(dir)), "card")); err == nil {
		c.self.Minor = n
	}
	for line := range strings.SplitSeq(text(dir, "uevent"), "\n") {
		if pci, ok := strings.CutPrefix(line, "PCI_SLOT_NAME="); ok {
			c.self.PCI = pci
		}
	}
	c.self.ID = "pci:" + c.self.PCI
	if id := text(dir, "unique_id"); id != "" {
		c.self.ID = "amd:" + id
	}
	if product := text(dir, "product_name"); product != "" {
		c.self.Name = product
	} else if id := text(dir, "device"); id != "" {
		c.self.Name = "AMD GPU " + id
	}
	if found, err := filepath.Glob(filepath.Join(dir, "hwmon/hwmon*")); err == nil && len(found) > 0 {
		c.hwmon = found[0]
	}
	return c
}

func (s *source) Name() string { return name }

func (s *source) Close() error { return nil }

// Read reads all GPUs. A file of a GPU that hangs may not return; then what was
// asked is waited for by the next read, and all GPUs are Stuck until it is there.
func (s *source) Read(ctx context.Context) (monitor.Reading, error) {
	if r, ok := s.reading.Ask(ctx, s.read); ok {
		return r, nil
	}
	return monitor.Reading{}, &monitor.Unavailable{Source: name, Status: series.Stuck, Msg: "the files of the driver have not answered", Hint: "see dmesg for errors of amdgpu"}
}

func (s *source) read() monitor.Reading {
	r := monitor.Reading{Uses: map[int][]series.Use{}}
	ids := map[string]string{}
	for i := range s.cards {
		d := s.cards[i].read()
		if d.Status != series.OK {
			r.Problems = append(r.Problems, series.Problem{Source: name, Status: d.Status, What: "GPU " + strconv.Itoa(d.Index) + ": " + d.Problem})
		}
		ids[d.PCI] = d.ID
		r.Devices = append(r.Devices, d)
	}
	s.clients.read(s.root, s.now(), ids, r.Uses)
	return r
}

// files are the files of a GPU that hold one number, and how many of their units
// are one of ours.
var files = []struct {
	file  string
	hwmon bool
	c     series.Counter
	per   float64
}{
	{"gpu_busy_percent", false, series.Busy, 100},
	{"mem_busy_percent", false, series.MemoryBusy, 100},
	{"mem_info_vram_total", false, series.MemoryTotal, 1},
	{"mem_info_vram_used", false, series.MemoryUsed, 1},
	{"current_link_width", false, series.PCIeWidth, 1},
	{"max_link_width", false, series.PCIeWidthMax, 1},
	{"power1_average", true, series.Power, 1e6},
	{"power1_input", true, series.Power, 1e6},
	{"power1_cap", true, series.PowerLimit, 1e6},
	{"temp1_input", true, series.Temperature, 1e3},
	{"temp1_crit", true, series.TemperatureLimit, 1e3},
	{"freq1_input", true, series.ClockSM, 1},
	{"freq2_input", true, series.ClockMemory, 1},
}

// read reads one GPU.
func (c *card) read() series.Device {
	d := c.self
	d.Status = series.OK
	if status := text(c.dir, "power/runtime_status"); status == "suspended" || status == "suspending" {
		d.Status, d.Problem = series.NotSupported, "it sleeps, and reading would wake it"
		d.Values = monitor.WithoutAll(series.ScopeDevice, series.NotSupported)
		return d
	}
	if _, err := os.Stat(c.dir); err != nil {
		d.Status, d.Problem = series.Lost, monitor.CodeGone.String()
		d.Values = monitor.WithoutAll(series.ScopeDevice, series.Lost)
		return d
	}
	for _, f := range files {
		dir := c.dir
		if f.hwmon {
			dir = c.hwmon
		}
		if d.Values.Get(f.c).Status == series.OK {
			continue
		}
		d.Values.Set(f.c, number(dir, f.file, f.per))
	}
	total, ok := d.Values.Get(series.MemoryTotal).Get()
	if used, is := d.Values.Get(series.MemoryUsed).Get(); ok && is {
		d.Values.Set(series.MemoryFree, series.Of(total-used))
	}
	now, most := number(c.hwmon, "fan1_input", 1), number(c.hwmon, "fan1_max", 1)
	d.Values.Set(series.Fan, series.Without(series.NotSupported))
	if now.Status == series.OK && most.Status == series.OK && most.V > 0 {
		d.Values.Set(series.Fan, series.Of(now.V/most.V))
	}
	d.Values.Set(series.ClockSMMax, highest(text(c.dir, "pp_dpm_sclk")))
	d.Values.Set(series.ClockMemoryMax, highest(text(c.dir, "pp_dpm_mclk")))
	d.Values.Set(series.PCIeGeneration, generation(text(c.dir, "current_link_speed")))
	d.Values.Set(series.PCIeGenerationMax, generation(text(c.dir, "max_link_speed")))
	return d
}

// maxFile is the most that is read of a file; those of sysfs are a page at most.
const maxFile = 4096

// text is what a small file says, or "".
func text(dir, file string) string {
	b, err := slurp(filepath.Join(dir, file))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func slurp(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, maxFile)
	n, err := f.Read(b)
	if n == 0 && err != nil {
		return nil, err
	}
	return b[:n], nil
}

func number(dir, file string, per float64) series.Value {
	b, err := slurp(filepath.Join(dir, file))
	switch {
	case os.IsNotExist(err) || dir == "":
		return series.Without(series.NotSupported)
	case os.IsPermission(err):
		return series.Without(series.NoPermission)
	case err != nil:
		return series.Without(series.Failed)
	}
	v, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil || v < 0 && file != "temp1_input" {
		return series.Without(series.Failed)
	}
	return series.Of(float64(v) / per)
}

// highest is the highest clock of a list such as "0: 500Mhz\n1: 2100Mhz *".
func highest(list string) series.Value {
	best := 0.0
	for line := range strings.SplitSeq(list, "\n") {
		_, clock, _ := strings.Cut(line, ":")
		clock, isMHz := strings.CutSuffix(strings.TrimRight(strings.ToLower(clock), " *"), "mhz")
		if v, err := strconv.ParseFloat(strings.TrimSpace(clock), 64); err == nil && isMHz {
			best = max(best, v)
		}
	}
	if best == 0 {
		return series.Without(series.NotSupported)
	}
	return series.Of(best * 1e6)
}

// speeds are transfers a second of each generation of PCIe.
var speeds = []string{"2.5", "5.0", "8.0", "16.0", "32.0", "64.0"}

// generation is that of a speed such as "16.0 GT/s PCIe".
func generation(speed string) series.Value {
	number, _, _ := strings.Cut(speed, " ")
	if i := slices.Index(speeds, number); i >= 0 {
		return series.Of(float64(i + 1))
	}
	return series.Without(series.NotSupported)
}
