package smi

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/format/smilog"
	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A node is an element of nvidia-smi's XML, whose elements have changed their
// names and places from driver to driver.
type node struct {
	XMLName  xml.Name
	ID       string `xml:"id,attr"`
	Text     string `xml:",chardata"`
	Children []node `xml:",any"`
}

// find returns the first element below n at a path such as "clocks/sm_clock".
func (n *node) find(path string) *node {
	name, rest, deeper := strings.Cut(path, "/")
	for i := range n.Children {
		c := &n.Children[i]
		if c.XMLName.Local != name {
			continue
		}
		if !deeper {
			return c
		}
		if found := c.find(rest); found != nil {
			return found
		}
	}
	return nil
}

// text is the text of an element, or "".
func (n *node) text(path string) string {
	if f := n.find(path); f != nil {
		return strings.TrimSpace(f.Text)
	}
	return ""
}

// elements are where a counter stands; of those with one counter the first that is
// there counts.
var elements = []struct {
	path string
	c    series.Counter
	unit string // where the text names none
}{
	{"utilization/gpu_util", series.Busy, "%"},
	{"utilization/memory_util", series.MemoryBusy, "%"},
	{"utilization/encoder_util", series.EncoderBusy, "%"},
	{"utilization/decoder_util", series.DecoderBusy, "%"},
	{"fb_memory_usage/total", series.MemoryTotal, "MiB"},
	{"fb_memory_usage/used", series.MemoryUsed, "MiB"},
	{"fb_memory_usage/reserved", series.MemoryReserved, "MiB"},
	{"fb_memory_usage/free", series.MemoryFree, "MiB"},
	{"gpu_power_readings/average_power_draw", series.Power, "W"},
	{"gpu_power_readings/power_draw", series.Power, "W"},
	{"gpu_power_readings/instant_power_draw", series.Power, "W"},
	{"power_readings/power_draw", series.Power, "W"},
	{"gpu_power_readings/current_power_limit", series.PowerLimit, "W"},
	{"power_readings/enforced_power_limit", series.PowerLimit, "W"},
	{"power_readings/power_limit", series.PowerLimit, "W"},
	{"temperature/gpu_temp", series.Temperature, "C"},
	{"temperature/gpu_temp_slow_threshold", series.TemperatureLimit, "C"},
	{"fan_speed", series.Fan, "%"},
	{"clocks/sm_clock", series.ClockSM, "MHz"},
	{"max_clocks/sm_clock", series.ClockSMMax, "MHz"},
	{"clocks/mem_clock", series.ClockMemory, "MHz"},
	{"max_clocks/mem_clock", series.ClockMemoryMax, "MHz"},
	{"performance_state", series.PerformanceState, ""},
	{"pci/pci_gpu_link_info/pcie_gen/current_link_gen", series.PCIeGeneration, ""},
	{"pci/pci_gpu_link_info/pcie_gen/max_link_gen", series.PCIeGenerationMax, ""},
	{"pci/pci_gpu_link_info/link_widths/current_link_width", series.PCIeWidth, "x"},
	{"pci/pci_gpu_link_info/link_widths/max_link_width", series.PCIeWidthMax, "x"},
	{"pci/tx_util", series.PCIeSent, "KB/s"},
	{"pci/rx_util", series.PCIeReceived, "KB/s"},
	{"ecc_errors/volatile/dram_uncorrectable", series.ECCUncorrected, ""},
	{"ecc_errors/volatile/double_bit/total", series.ECCUncorrected, ""},
	{"remapped_row/remapped_row_unc", series.RemappedRows, ""},
	{"remapped_rows/remapped_row_unc", series.RemappedRows, ""},
}

// ParseXML reads what nvidia-smi -q -x prints. A text that is cut gives the GPUs
// before the cut, and a problem.
func ParseXML(from io.Reader) monitor.Reading {
	r := monitor.Reading{Uses: map[int][]series.Use{}}
	dec := xml.NewDecoder(from)
	for {
		token, err := dec.Token()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				r.Problems = append(r.Problems, broken(err, len(r.Devices)))
			}
			return r
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local == "nvidia_smi_log" {
			continue
		}
		var n node
		if err := dec.DecodeElement(&n, &start); err != nil {
			r.Problems = append(r.Problems, broken(err, len(r.Devices)))
			return r
		}
		switch start.Name.Local {
		case "driver_version":
			r.Driver = strings.TrimSpace(n.Text)
		case "cuda_version":
			r.CUDA = known(strings.TrimSpace(n.Text))
		case "gpu":
			addGPU(&r, &n)
		}
	}
}

func broken(err error, devices int) series.Problem {
	return series.Problem{Source: name, Status: series.Failed, What: fmt.Sprintf("what nvidia-smi printed ends or breaks after %d GPUs: %v", devices, err)}
}

// known is text, or "" where it says that there is none.
func known(text string) string {
	if strings.HasPrefix(text, "N/A") || strings.HasPrefix(text, "[") {
		return ""
	}
	return text
}

func addGPU(r *monitor.Reading, n *node) {
	index := 0
	for _, d := range r.Devices {
		if d.Parent == "" {
			index++
		}
	}
	d := series.Device{
		ID: known(n.text("uuid")), Index: index, Name: known(n.text("product_name")), Vendor: "nvidia", PCI: pciAddress(n.ID), Minor: -1, Status: series.OK,
	}
	if v, ok := smilog.Number(n.text("minor_number"), "").Get(); ok {
		d.Minor = int(v)
	}
	if d.ID == "" {
		d.ID = "pci:" + d.PCI
	}
	readElements(n, &d.Values)
	d.Values.Set(series.ThrottleReasons, throttleReasons(n))
	lost := 0
	for _, v := range d.Values {
		if v.Status == series.Lost {
			lost++
		}
	}
	if lost > 0 {
		d.Status, d.Problem = series.Lost, monitor.CodeLost.String()
		d.Values = monitor.WithoutAll(series.ScopeDevice, series.Lost)
		r.Problems = append(r.Problems, series.Problem{Source: name, Status: series.Lost, What: fmt.Sprintf("GPU %d: %s", index, monitor.CodeLost)})
	}
	// Memory that is not supported, of a GPU that has all else, is the host's.
	if d.Values.Get(series.MemoryTotal).Status == series.NotSupported {
		r.UnifiedMemory = true
	}
	if n.text("mig_mode/current_mig") == "Enabled" {
		d.MIG = "on"
	}
	r.Devices = append(r.Devices, d)
	instances := addInstances(r, n, d)
	addProcesses(r, n, d, instances)
}

func readElements(n *node, vs *series.Values) {
	for _, e := range elements {
		if vs.Get(e.c).Status == series.OK {
			continue
		}
		f := n.find(e.path)
		if f == nil {
			continue
		}
		vs.Set(e.c, smilog.Number(f.Text, e.unit))
	}
}

func throttleReasons(n *node) series.Value {
	for _, kind := range []string{"event", "throttle"} {
		list := n.find("clocks_" + kind + "_reasons")
		if list == nil {
			continue
		}
		var mask series.ThrottleReason
		told := false
		for _, c := range list.Children {
			bit := series.ReasonNamed(strings.TrimPrefix(c.XMLName.Local, "clocks_"+kind+"_reason_"))
			switch strings.TrimSpace(c.Text) {
			case "Active":
				mask |= bit
				told = true
			case "Not Active":
				told = true
			}
		}
		if told {
			return series.Of(float64(mask))
		}
	}
	return series.Without(series.NotSupported)
}

// addInstances adds the MIG instances of a GPU and returns their IDs by the number
// of their GPU instance. nvidia-smi -q does not tell their UUIDs.
func addInstances(r *monitor.Reading, n *node, parent series.Device) map[string]string {
	ids := map[string]string{}
	list := n.find("mig_devices")
	if list == nil {
		return ids
	}
	for i := range list.Children {
		m := &list.Children[i]
		gi := m.text("gpu_instance_id")
		if m.XMLName.Local != "mig_device" || gi == "" {
			continue
		}
		d := series.Device{
			ID: parent.ID + "/" + gi + "/" + m.text("compute_instance_id"), Index: i, Parent: parent.ID, Name: parent.Name + " MIG", Vendor: "nvidia", PCI: parent.PCI, Minor: parent.Minor,
			MIG: "instance " + gi, Status: series.OK, Values: monitor.WithoutAll(series.ScopeDevice, series.NotSupported),
		}
		if v, ok := smilog.Number(m.text("index"), "").Get(); ok {
			d.Index = int(v)
		}
		readElements(m, &d.Values)
		ids[gi] = d.ID
		r.Devices = append(r.Devices, d)
	}
	return ids
}

func addProcesses(r *monitor.Reading, n *node, d series.Device, instances map[string]string) {
	list := n.find("processes")
	if list == nil {
		return
	}
	for i := range list.Children {
		p := &list.Children[i]
		pid, ok := smilog.Number(p.text("pid"), "").Get()
		if !ok || pid < 1 {
			continue
		}
		// A process may draw and compute at once: "C+G".
		kind, _, _ := strings.Cut(p.text("type"), "+")
		u := series.Use{Device: d.ID, Kind: series.UseKind(kind)}
		if strings.HasPrefix(kind, string(series.Shared)) {
			u.Kind = series.Shared
		}
		if id, ok := instances[p.text("gpu_instance_id")]; ok {
			u.Device = id
		}
		u.Values.Set(series.UseMemory, smilog.Number(p.text("used_memory"), "MiB"))
		u.Values.Set(series.UseBusy, series.Without(series.NotSupported))
		r.Uses[int(pid)] = append(r.Uses[int(pid)], u)
	}
}

// pciAddress is 00000000:01:00.0 as 0000:01:00.0, in lower case.
func pciAddress(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if len(s) == len("00000000:01:00.0") {
		s = s[4:]
	}
	return s
}

// lostLine is what nvidia-smi says of a GPU that it cannot reach.
var lostLine = regexp.MustCompile(`(?i)unable to determine the device handle for (?:gpu\d*:?\s*)?([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]):?\s*(.*)`)

// troubles reads what nvidia-smi says beside the XML, and adds GPUs that are lost.
func troubles(text []byte, r *monitor.Reading) []series.Problem {
	var out []series.Problem
	for _, m := range lostLine.FindAllSubmatch(text, 64) {
		pci := pciAddress(string(m[1]))
		d := series.Device{
			ID: "pci:" + pci, Index: len(r.Devices), Vendor: "nvidia", PCI: pci, Minor: -1, Status: series.Lost, Problem: string(m[2]),
			Values: monitor.WithoutAll(series.ScopeDevice, series.Lost),
		}
		r.Devices = append(r.Devices, d)
		out = append(out, series.Problem{Source: name, Status: series.Lost, What: "GPU " + pci + ": " + string(m[2])})
	}
	return out
}
