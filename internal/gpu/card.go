// Package gpu is the table of graphics cards: what CUDA says about each of
// them, where every number comes from, and how to find one by the names people
// write.
//
// Capacity is what CUDA reports as the device's total. That is less than the
// number on the box, and on most cards less than what nvidia-smi prints.
//
// The package reads no hardware: it knows cards, not machines.
package gpu

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Card is one row of the table: a card as a program sees it.
type Card struct {
	Name    string   // as the table and the output write it, "H100 SXM5 80GB"
	Family  string   // the words that any spelling must have, "h100", "3090 ti"
	Aliases []string // further spellings, beyond what Lookup derives from the names
	Vendor  string   // "NVIDIA", "AMD", "Apple", "Intel", "Google"
	Arch    string   // "Hopper"

	// DeviceName is what torch.cuda.get_device_name returns,
	// "NVIDIA H100 80GB HBM3".
	DeviceName string

	// Capability is the compute capability without its point: 90 is 9.0, 0 is
	// a card without one. CapabilityName is it as the table writes it ("9.0",
	// "gfx942").
	Capability     int
	CapabilityName string

	Multiprocessors       int
	MultiprocessorsSource Source

	// Limits is what the compute capability alone decides.
	Limits Limits

	// Capacity is what CUDA reports as total_memory. Drivers differ by some
	// MiB: CapacityRange holds the values seen, or what is possible where no
	// exact value is known. Typical equals Capacity. 0 means that the card has
	// no memory of its own, or that nothing is known.
	Capacity      unit.Bytes
	CapacityRange Interval
	// CapacityDriver is the CUDA version of the driver that reported Capacity,
	// "12.4", or "" when that is not known.
	CapacityDriver string

	// Context is what a process takes on the device before PyTorch's allocator
	// asks for anything, and while kernels are loaded.
	Context Interval

	L2        unit.Bytes // level 2 cache, 0 when not known
	DriverMiB int        // total that nvidia-smi prints, MiB, 0 when not known
	Marketed  int        // size on the box, GB as the maker counts them

	MemoryType string
	Rates      Rates
	PCIe       string
	Watts      int
	Notes      string

	preference int      // among cards of one family, 1 is what the bare name means
	words      []string // further words that a spelling may have
	known      []string // every word that a spelling may have
}

// Rates are peak speeds from data sheets; 0 is "not offered or not known".
// Matrix rates are dense, with fp32 accumulation, in 10^12 operations a second.
type Rates struct {
	Bandwidth    float64 // device memory, 10^9 bytes a second
	Interconnect float64 // to other cards, both directions, 10^9 bytes a second
	FP32         float64
	TF32         float64
	FP16         float64
	BF16         float64
	FP8          float64
}

// Exact reports whether Capacity was read from a card, not derived from a
// rounded number.
func (c Card) Exact() bool {
	return c.Capacity > 0 && !c.CapacityRange.Source.Derived
}

// Capturable returns nil when a script can be captured on a virtual card of
// this kind, and one sentence that says why not otherwise.
func (c Card) Capturable() error {
	switch {
	case c.Vendor != "NVIDIA":
		return fmt.Errorf("%s is made by %s, and a capture imitates NVIDIA's CUDA", c.Name, c.Vendor)
	case c.Capacity == 0:
		return fmt.Errorf("%s shares the memory of its host, so that its capacity is not a property of the card", c.Name)
	}
	return nil
}
