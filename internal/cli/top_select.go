package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A gpuSelection are the devices that were asked for; empty asks for all.
type gpuSelection []string

func parseSelection(text string) gpuSelection {
	var out gpuSelection
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

// has reports whether a device was asked for. A GPU that is cut brings its
// instances along.
func (g gpuSelection) has(d *series.Device, label string) bool {
	return len(g) == 0 || slices.ContainsFunc(g, func(term string) bool { return selects(term, d, label) })
}

func selects(term string, d *series.Device, label string) bool {
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

// check reports a term that selects nothing.
func (g gpuSelection) check(devices []series.Device, labels map[string]string) error {
	for _, term := range g {
		if slices.ContainsFunc(devices, func(d series.Device) bool { return selects(term, &d, labels[d.ID]) }) {
			continue
		}
		names := make([]string, len(devices))
		for i, d := range devices {
			names[i] = labels[d.ID]
		}
		return WithHint(fmt.Errorf("there is no GPU %q", term), "there are "+strings.Join(names, ", ")+"; a UUID or a PCI address may be given, too")
	}
	return nil
}
