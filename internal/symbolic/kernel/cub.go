package kernel

// What CUB's device-wide algorithms ask for as temporary storage. Each part is
// rounded up to 256 bytes and one more alignment is added; tiles are by CUB's tuning for
// the card's capability, and were found by the sizes at which a recording jumps.
const (
	cubAlignment = 256
	cubSource    = "cub/device/dispatch/%s of CUDA 13.2's CCCL; tile sizes from recordings on the virtual GPU"
)

func cubTemporaries(parts ...int64) int64 {
	total := int64(cubAlignment - 1)
	for _, p := range parts {
		total = sum(total, roundUp(p, cubAlignment))
	}
	return total
}

// byCapability picks from what holds for 7.x, 8.0, 8.6 to 8.9, and 9.0 and later.
func byCapability(d Device, turing, a100, ampere, hopper int64) int64 {
	switch {
	case d.Capability < 80:
		return turing
	case d.Capability == 80:
		return a100
	case d.Capability < 90:
		return ampere
	}
	return hopper
}

// cubSort is for the radix sort of n pairs of a key, of which bits count, and a 64-bit
// value.
func cubSort(d Device, n, key, bits int64) int64 {
	const digits = 256
	tile := byCapability(d, 2816, 3840, 3840, 4608)
	if key <= 4 {
		tile = byCapability(d, 2816, 3072, 3072, 5376)
	}
	portion := (1<<28 - 1) / tile * tile
	passes, portions := ceilDiv(bits, 8), ceilDiv(n, portion)
	var keys, values int64
	if passes > 1 {
		keys, values = product(n, key), product(n, 8)
	}
	return cubTemporaries(
		product(portions, passes, digits, 8),
		product(ceilDiv(min(n, portion), tile), digits, 4),
		keys, values,
		product(portions, passes, 4))
}

// cubTiles is for an algorithm that passes partial results from tile to tile, in words
// of 16 bytes; a second part is never empty.
func cubTiles(n, tile int64, second ...int64) int64 {
	return cubTemporaries(append([]int64{product(sum(ceilDiv(n, tile), 32), 16)}, second...)...)
}

func cubUnique(d Device, n int64) int64 {
	return cubTiles(n, byCapability(d, 320, 1344, 320, 4928), 1)
}

// cubScan is for a running sum of n elements of 8 or 4 bytes.
func cubScan(n, element int64) int64 {
	if element <= 4 {
		return cubTiles(n, 3840)
	}
	return cubTiles(n, 896, 1)
}

func cubSelect(d Device, n int64) int64 {
	tile := byCapability(d, 1280, 4608, 1280, 8448)
	if d.Capability >= 100 {
		tile = 7040
	}
	return cubTiles(n, tile)
}
