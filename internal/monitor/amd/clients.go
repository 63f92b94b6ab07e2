package amd

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/series"
)

// clients are the processes on GPUs, as the kernel tells them in
// /proc/PID/fdinfo (Documentation/gpu/drm-usage-stats.rst).
type clients struct {
	last   map[engine]uint64 // nanoseconds at the last read
	lastAt time.Time
}

// An engine is a part of a GPU that works for a client.
type engine struct {
	pid    int
	device string
	name   string
}

// A usage is what one process has of one GPU.
type usage struct {
	vram    float64
	hasVRAM bool
	engines map[string]uint64
}

// maxHandles is how many open files of one process are looked at.
const maxHandles = 4096

// read adds the uses of all processes that may be looked into. ids are the GPUs'
// by PCI address.
func (c *clients) read(root string, now time.Time, ids map[string]string, uses map[int][]series.Use) {
	current := map[engine]uint64{}
	elapsed := now.Sub(c.lastAt)
	processes, err := os.ReadDir(filepath.Join(root, "proc"))
	if err != nil {
		return
	}
	for _, p := range processes {
		pid, err := strconv.Atoi(p.Name())
		if err != nil {
			continue
		}
		for pci, u := range usages(filepath.Join(root, "proc", p.Name())) {
			id, ok := ids[pci]
			if !ok {
				continue
			}
			use := series.Use{Device: id, Kind: series.Graphics}
			if u.engines["compute"] > u.engines["gfx"] {
				use.Kind = series.Compute
			}
			use.Values.Set(series.UseMemory, series.Without(series.NotSupported))
			if u.hasVRAM {
				use.Values.Set(series.UseMemory, series.Of(u.vram))
			}
			var busiest uint64
			known := len(u.engines) > 0 && c.last != nil && elapsed > 0
			for name, ns := range u.engines {
				e := engine{pid, id, name}
				current[e] = ns
				if before, ok := c.last[e]; ok && ns >= before {
					busiest = max(busiest, ns-before)
				} else {
					known = false
				}
			}
			if known {
				use.Values.Set(series.UseBusy, series.Of(min(1, float64(busiest)/float64(elapsed))))
			}
			uses[pid] = append(uses[pid], use)
		}
	}
	c.last, c.lastAt = current, now
}

// usages are what a process has, by the PCI address of the GPU. Several open files
// may stand for one client, which counts once.
func usages(dir string) map[string]usage {
	handles, err := os.Open(filepath.Join(dir, "fd"))
	if err != nil {
		return nil
	}
	defer handles.Close()
	names, err := handles.Readdirnames(maxHandles)
	if err != nil {
		return nil
	}
	var out map[string]usage
	seen := map[string]bool{}
	for _, n := range names {
		target, err := os.Readlink(filepath.Join(dir, "fd", n))
		if err != nil || !strings.HasPrefix(target, "/dev/dri/") && target != "/dev/kfd" {
			continue
		}
		pci, client, u := parseInfo(filepath.Join(dir, "fdinfo", n))
		if pci == "" || client != "" && seen[pci+client] {
			continue
		}
		seen[pci+client] = true
		if out == nil {
			out = map[string]usage{}
		}
		sum := out[pci]
		if sum.engines == nil {
			sum.engines = map[string]uint64{}
		}
		sum.vram, sum.hasVRAM = sum.vram+u.vram, sum.hasVRAM || u.hasVRAM
		for name, ns := range u.engines {
			sum.engines[name] += ns
		}
		out[pci] = sum
	}
	return out
}

// parseInfo reads one file of fdinfo. Newer kernels tell drm-resident-vram, older
// ones drm-memory-vram.
func parseInfo(path string) (pci, client string, u usage) {
	f, err := os.Open(path)
	if err != nil {
		return "", "", u
	}
	defer f.Close()
	u.engines = map[string]uint64{}
	driver := ""
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		key, value, ok := strings.Cut(lines.Text(), ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		switch {
		case key == "drm-driver":
			driver = value
		case key == "drm-pdev":
			pci = value
		case key == "drm-client-id":
			client = value
		case key == "drm-resident-vram", key == "drm-memory-vram" && !u.hasVRAM:
			u.vram, u.hasVRAM = amount(value)
		case strings.HasPrefix(key, "drm-engine-") && !strings.HasPrefix(key, "drm-engine-capacity-"):
			number, unit, _ := strings.Cut(value, " ")
			if ns, err := strconv.ParseUint(number, 10, 64); err == nil && unit == "ns" {
				u.engines[strings.TrimPrefix(key, "drm-engine-")] = ns
			}
		}
	}
	if driver != "amdgpu" {
		return "", "", usage{}
	}
	return pci, client, u
}

// amount is a number of bytes with the kernel's units.
func amount(s string) (float64, bool) {
	number, unit, _ := strings.Cut(s, " ")
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return 0, false
	}
	switch unit {
	case "":
		return float64(n), true
	case "KiB":
		return float64(n) * (1 << 10), true
	case "MiB":
		return float64(n) * (1 << 20), true
	}
	return 0, false
}
