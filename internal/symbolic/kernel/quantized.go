package kernel

// quantized is what products with weights in 4 bits ask for.
func quantized() []Function {
	return []Function{{
		Name:      "unpacked_weight",
		Args:      []string{"tokens", "features_out: rows of the weight", "features_in: columns of the weight", "element"},
		Doc:       "the weight that bitsandbytes unpacks for a product with many tokens; with few it multiplies what is packed. On 7.5, of 16 bits are those of fp16",
		Source:    "bitsandbytes/backends/cuda/ops.py, gemm_4bit and _gemm_4bit_use_custom_cuda, 0.50",
		Operators: []string{"_dequant_linear_fallback"},
		Decides:   true,
		Eval: sized(4, func(d Device, a []int64) int64 {
			p := packed{d.Capability, int64(d.Multiprocessors), ceilDiv(a[1], 64), a[0], a[1], a[2]}
			if p.multiplied(a[3]) {
				return 0
			}
			return product(a[1], a[2], a[3])
		}),
	}}
}

// packed is a product of tokens with a weight in 4 bits, on a card; blocks are the
// kernel's, each of 64 rows, of which a multiprocessor works on one in a wave.
type packed struct {
	capability    int
	processors    int64
	blocks        int64
	tokens        int64
	rows, columns int64
}

// multiplied reports whether the weight stays packed. Bitsandbytes has measured up to
// how many tokens that is faster, by the card, the waves of blocks and the weight's
// shape.
func (p packed) multiplied(element int64) bool {
	const (
		scaled = 64      // columns that share a scale
		few    = 4       // tokens
		many   = 1536    // tokens
		small  = 4 << 20 // elements of a weight
	)
	switch {
	case p.columns%scaled != 0 || p.tokens > many:
		return false
	case p.tokens <= few:
		return true
	case element == 4 || p.capability < 75: // no matrix units for them
		return p.tokens < 8
	case p.capability == 87 || p.capability/10 == 11: // not measured
		return false
	case p.capability/10 == 10:
		return p.tokens <= p.mostOnB200()
	case product(p.rows, p.columns) < small:
		return p.tokens <= p.mostOfSmall()
	case p.tokens < 8:
		return !p.deepAndFew()
	}
	return p.tokens <= min(512, p.mostOfLarge())
}

// waves reports whether the blocks are at least num/den waves.
func (p packed) waves(num, den int64) bool {
	return product(p.blocks, den) >= product(p.processors, num)
}

// upTo reports whether the blocks are at most one den-th of a wave.
func (p packed) upTo(den int64) bool { return product(p.blocks, den) <= p.processors }

// hbm reports whether the card's memory is of that kind.
func (p packed) hbm() bool { return p.capability == 80 || p.capability/10 == 9 }

// deep reports whether the weight has at least so many times as many columns as rows.
func (p packed) deep(times int64) bool { return p.columns >= product(p.rows, times) }

// deeper is deep, but more than so many times.
func (p packed) deeper(times int64) bool { return p.columns > product(p.rows, times) }

// either is a where a condition holds, b elsewhere.
func either(condition bool, a, b int64) int64 {
	if condition {
		return a
	}
	return b
}

func (p packed) mostOnB200() int64 {
	switch {
	case p.waves(3, 1):
		return 32
	case p.waves(1, 1) && !p.deep(1):
		return 8
	}
	return 0
}

// mostOfSmall is for weights of fewer than 4 Mi elements.
func (p packed) mostOfSmall() int64 {
	if product(p.columns, 2) < p.rows {
		return p.mostOfFlat()
	}
	switch quarter := p.upTo(4); {
	case p.capability == 80 && quarter && !p.deep(1):
		return 384
	case p.capability == 80 && quarter:
		return either(p.upTo(8), 32, 128)
	case p.capability == 75 && !p.waves(1, 1) && p.tokens > 8:
		return 64
	case quarter:
		return either(!p.deep(1) || p.hbm(), 32, 23)
	case p.upTo(2):
		return 16
	}
	return 0
}

// mostOfFlat is for small weights with fewer columns than half their rows.
func (p packed) mostOfFlat() int64 {
	switch low := !p.waves(1, 3); {
	case p.capability == 80:
		return either(low, 1536, 512)
	case p.capability/10 == 9:
		return either(low, 512, 320)
	case p.capability == 75 && !p.waves(3, 1) && p.columns >= 1024:
		return 64
	case p.capability == 75 && !p.waves(3, 1) && p.columns >= 704:
		return 96
	case p.capability == 75 || p.waves(1, 1):
		return 320
	}
	return either(product(p.blocks, p.columns) > product(p.processors, 320), 192, 320)
}

// deepAndFew are the products of 5 to 7 tokens with large weights that are faster
// unpacked.
func (p packed) deepAndFew() bool {
	if !p.hbm() || p.tokens < 6 || p.blocks < either(p.capability/10 == 9, 36, 48) {
		return false
	}
	switch {
	case p.deeper(1):
		return !p.waves(3, 4)
	case p.columns < p.rows:
		return false
	case p.capability == 80:
		return !p.waves(3, 5)
	}
	return p.waves(3, 5) && !p.waves(3, 4)
}

// mostOfLarge is for 8 tokens and more with weights of 4 Mi elements and more.
func (p packed) mostOfLarge() int64 {
	switch {
	case p.capability == 75:
		return p.mostOnT4()
	case p.capability == 80:
		return p.mostOnA100()
	case p.capability == 86:
		return p.mostOnA10()
	case p.capability/10 == 9:
		return p.mostOnH100()
	case p.capability == 121 && p.waves(1, 1):
		return 256
	case p.capability == 120:
		return p.mostOnRTX5090()
	}
	return p.mostOnRTX4090()
}

func (p packed) mostOnT4() int64 {
	switch {
	case p.waves(3, 1):
		return either(p.deep(1), 64, 128)
	case p.halfWave():
		return 64
	}
	return 32
}

// halfWave reports whether the blocks are at least half as many as the
// multiprocessors, which is rounded down.
func (p packed) halfWave() bool { return p.blocks >= p.processors/2 }

func (p packed) mostOnA100() int64 {
	switch {
	case p.waves(3, 1):
		return 128
	case p.waves(1, 1):
		return either(p.deep(1), 32, 64)
	case p.deep(3) && !p.upTo(4):
		return 0
	case p.columns == p.rows && p.blocks >= 48 && !p.waves(3, 5):
		return 0
	case !p.waves(1, 2) && !p.deeper(1):
		return 128
	case !p.waves(1, 2) && p.waves(1, 3):
		return 0
	case p.halfWave() && !p.deep(1):
		return 128
	}
	return 16
}

func (p packed) mostOnA10() int64 {
	switch {
	case p.waves(1, 1):
		return 128
	case p.halfWave():
		return 64
	}
	return 16
}

func (p packed) mostOnH100() int64 {
	switch {
	case p.waves(3, 1):
		return 64
	case p.waves(2, 1):
		return 48
	case p.waves(1, 1):
		return 32
	case p.halfWave() && (!p.deep(1) || p.waves(3, 4)):
		return 16
	}
	return 0
}

func (p packed) mostOnRTX5090() int64 {
	switch {
	case p.waves(3, 1):
		return 256
	case p.waves(2, 1):
		return 128
	case p.waves(4, 5):
		return either(p.deep(1), 96, 64)
	case p.halfWave():
		return either(product(p.columns, 2) >= p.rows && p.blocks >= 128, 64, 8)
	case p.deeper(2) && p.blocks > 64:
		return 16
	}
	return 8
}

// mostOnRTX4090 is for all other cards, too.
func (p packed) mostOnRTX4090() int64 {
	switch {
	case p.waves(3, 1):
		return 256
	case p.waves(2, 1):
		return 128
	case p.waves(4, 5) && (p.deeper(2) || p.blocks >= 200):
		return 128
	case p.waves(4, 5) && p.deep(1):
		return either(p.processors >= 60, 128, 32)
	case p.waves(4, 5):
		return 64
	case p.halfWave() && p.deeper(2):
		return 64
	case p.halfWave():
		return either(p.blocks >= 64, 8, 32)
	case p.deeper(1) && p.blocks <= 48:
		return either(p.deep(3), 12, 10)
	}
	return either(p.deeper(2) || p.blocks < 48, 16, 8)
}
