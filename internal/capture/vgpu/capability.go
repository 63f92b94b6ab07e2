package vgpu

import "github.com/plimsoll-dev/plimsoll/unit"

// limits are the properties that all cards of one compute capability share.
type limits struct {
	capability           int        // 90 is 9.0
	threads              int        // per multiprocessor
	blocks               int        // per multiprocessor
	sharedOptin          unit.Bytes // per block
	sharedMultiprocessor unit.Bytes
	sharedReserved       unit.Bytes // per block, by the driver
}

const kib = unit.Bytes(1024)

// capabilityLimits is sorted by capability. Source: CUDA C++ Programming Guide
// 13.0, "Technical Specifications per Compute Capability"; capabilities before
// 7.5: edition 12.9. The opt-in size is the multiprocessor's less the 1 KiB
// that the driver keeps per block from 8.0 on.
var capabilityLimits = []limits{
	{50, 2048, 32, 48 * kib, 64 * kib, 0},
	{52, 2048, 32, 48 * kib, 96 * kib, 0},
	{53, 2048, 32, 48 * kib, 64 * kib, 0},
	{60, 2048, 32, 48 * kib, 64 * kib, 0},
	{61, 2048, 32, 48 * kib, 96 * kib, 0},
	{62, 2048, 32, 48 * kib, 64 * kib, 0},
	{70, 2048, 32, 96 * kib, 96 * kib, 0},
	{72, 2048, 32, 96 * kib, 96 * kib, 0},
	{75, 1024, 16, 64 * kib, 64 * kib, 0},
	{80, 2048, 32, 163 * kib, 164 * kib, 1 * kib},
	{86, 1536, 16, 99 * kib, 100 * kib, 1 * kib},
	{87, 1536, 16, 163 * kib, 164 * kib, 1 * kib},
	{89, 1536, 24, 99 * kib, 100 * kib, 1 * kib},
	{90, 2048, 32, 227 * kib, 228 * kib, 1 * kib},
	{100, 2048, 32, 227 * kib, 228 * kib, 1 * kib},
	{103, 2048, 32, 227 * kib, 228 * kib, 1 * kib},
	{110, 1536, 24, 227 * kib, 228 * kib, 1 * kib},
	{120, 1536, 24, 99 * kib, 100 * kib, 1 * kib},
	{121, 1536, 24, 99 * kib, 100 * kib, 1 * kib},
}

// limitsOf returns the limits of a capability; for one that is not listed those
// of the highest that is lower.
func limitsOf(capability int) limits {
	found := capabilityLimits[0]
	for _, l := range capabilityLimits {
		if l.capability <= capability {
			found = l
		}
	}
	return found
}
