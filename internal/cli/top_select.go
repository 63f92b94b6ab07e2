package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A gpuSelection are the devices that were asked for; empty asks for all.
type gpuSelection []string

// parseSelection reads them from a flag. What names none is kept as it is, and selects
// nothing.
func parseSelection(text string) gpuSelection {
	var out gpuSelection
	if strings.Trim(text, ", ") == "" && text != "" {
		return gpuSelection{text}
	}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// leastID is how much of a UUID or PCI address must be given: less than that may be
// an index.
const leastID = 5

// has reports whether a device of a host was asked for. A GPU that is cut brings its
// instances along.
func (g gpuSelection) has(host string, d *series.Device, label string) bool {
	return len(g) == 0 || slices.ContainsFunc(g, func(term string) bool { return selects(term, host, d, label) })
}

// selects reports whether a term selects a device: "1" selects that of every host,
// "node1/1" that of one.
func selects(term, host string, d *series.Device, label string) bool {
	if rest, ok := strings.CutPrefix(term, host+"/"); ok && host != "" {
		term = rest
	}
	if term == label || strings.HasPrefix(label, term+":") {
		return true
	}
	if len(term) < leastID {
		return false
	}
	// NVML writes the domain of a PCI address with eight digits, others with four.
	lower := strings.ToLower(term)
	return strings.HasPrefix(strings.ToLower(d.ID), lower) || strings.EqualFold(d.PCI, term) || strings.HasSuffix(strings.ToLower(d.PCI), ":"+lower) ||
		d.Parent != "" && strings.HasPrefix(strings.ToLower(d.Parent), lower)
}

// check reports a term that selects nothing on any host.
func (g gpuSelection) check(hosts []topState) error {
	for _, term := range g {
		var names []string
		found := false
		for i := range hosts {
			s := &hosts[i].sample
			for j := range s.Devices {
				d, label := &s.Devices[j], hosts[i].labels[s.Devices[j].ID]
				found = found || selects(term, s.Host.Name, d, label)
				if len(hosts) > 1 {
					label = s.Host.Name + "/" + label
				}
				names = append(names, label)
			}
		}
		if found {
			continue
		}
		return WithHint(fmt.Errorf("there is no GPU %q", term), "there are "+strings.Join(names, ", ")+"; a UUID or a PCI address may be given, too")
	}
	return nil
}
