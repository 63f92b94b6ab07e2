package alloc

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// From 2.9 on the string is read twice: by a parser that all accelerators
// share and by one for CUDA. Each steps over the options of the other. The
// separators are stepped over without a look at them. Texts and limits were
// read off the parsers of 2.15.0.

// modernOption is an option of one of the two parsers.
type modernOption struct {
	name  string
	since Version
	read  func(p *parser)
}

// acceleratorOptions mirrors c10/core/AllocatorConfig.cpp.
var acceleratorOptions = []modernOption{
	{"max_split_size_mb", v29, (*parser).maxSplit},
	{"max_non_split_rounding_mb", v29, (*parser).nonSplit},
	{"large_segment_size_mb", v210, (*parser).largeSegment},
	{"garbage_collection_threshold", v29, (*parser).gc},
	{"roundup_power2_divisions", v29, (*parser).divisions},
	{"expandable_segments", v29, func(p *parser) { p.settings.Expandable = p.bool() }},
	{"pinned_use_background_threads", v29, func(p *parser) { p.settings.PinnedBackground = p.bool() }},
	{"pinned_max_cached_size_mb", Newest, func(p *parser) { p.settings.PinnedMaxCached = p.megabytes() }},
	{"pinned_max_round_threshold_mb", Newest, func(p *parser) { p.settings.PinnedMaxRoundThreshold = p.megabytes() }},
}

// cudaOptions mirrors c10/cuda/CUDAAllocatorConfig.cpp.
var cudaOptions = []modernOption{
	{"backend", v29, (*parser).backend},
	{"release_lock_on_cudamalloc", v29, func(p *parser) { p.settings.ReleaseLock = p.bool() }},
	{"release_lock_on_hipmalloc", v29, func(p *parser) { p.settings.ReleaseLock = p.bool() }},
	{"pinned_use_cuda_host_register", v29, func(p *parser) { p.settings.PinnedHostRegister = p.bool() }},
	{"pinned_use_hip_host_register", v29, func(p *parser) { p.settings.PinnedHostRegister = p.bool() }},
	{"pinned_num_register_threads", v29, (*parser).threads},
	{"pinned_reserve_segment_size_mb", v29, (*parser).pinnedReserve},
	{"graph_capture_record_stream_reuse", v210, func(p *parser) { p.settings.StreamReuse = p.bool() }},
	{"per_process_memory_fraction", v210, (*parser).fraction},
	{"throw_on_cudamalloc_oom", Newest, func(p *parser) { p.settings.ThrowOnOOM = p.bool() }},
	{"pinned_free_catch_all", Newest, func(p *parser) { p.settings.PinnedFreeCatchAll = p.bool() }},
	{"expandable_segments_reserve", Newest, func(p *parser) { p.settings.Reserve = p.reserve(p.value()) }},
	{"expandable_segments_reserve_by_class", Newest, (*parser).reserveByClass},
}

func (p *parser) find(options []modernOption, key string) *modernOption {
	for i, o := range options {
		if o.name == key && p.version.since(o.since) {
			return &options[i]
		}
	}
	return nil
}

// accelerator reads the options that all accelerators share. The size of
// large segments comes first, because the split limit is checked against it.
func (p *parser) accelerator() {
	for p.at = 0; p.at < len(p.tokens) && p.err == nil; p.at++ {
		if p.tokens[p.at] == "large_segment_size_mb" && p.version.since(v210) {
			p.largeSegment()
		}
	}
	p.pass(acceleratorOptions, cudaOptions, "Accelerator")
}

func (p *parser) cuda() { p.pass(cudaOptions, acceleratorOptions, "CUDA") }

// pass reads its own options and steps over the others.
func (p *parser) pass(own, others []modernOption, name string) {
	for p.at = 0; p.at < len(p.tokens) && p.err == nil; p.at++ {
		key := p.tokens[p.at]
		switch o := p.find(own, key); {
		case o != nil:
			o.read(p)
			p.native = p.native || key != "backend"
		case p.find(others, key) != nil:
			p.skip()
		default:
			p.fail("ValueError", fmt.Sprintf("Unrecognized key '%s' in %s allocator config.", key, name))
		}
		if p.at+1 < len(p.tokens) {
			p.at++ // a comma, if all is well
		}
	}
}

// Places of the checks that PyTorch 2.15.0 names in its texts.
const (
	outOfIndex  = `i < config_.size() INTERNAL ASSERT FAILED at "c10/core/AllocatorConfig.h":54, please report a bug to PyTorch. Index out of bounds in ConfigTokenizer`
	outOfCheck  = `i < config_.size() INTERNAL ASSERT FAILED at "c10/core/AllocatorConfig.h":123, please report a bug to PyTorch. Index out of bounds in ConfigTokenizer`
	unclosedKey = `i < config_.size() INTERNAL ASSERT FAILED at "c10/core/AllocatorConfig.h":114, please report a bug to PyTorch. Expected closing bracket ']' in ConfigTokenizer but reached end of config`
	unclosedSet = `i < tokenizer.size() INTERNAL ASSERT FAILED at "c10/core/AllocatorConfig.cpp":213, please report a bug to PyTorch. Expected closing bracket ']' in ConfigTokenizer but reached end of config`
)

// next moves to the next token and returns it; text is the error when there
// is none.
func (p *parser) next(text string) string {
	if p.err != nil {
		return ""
	}
	p.at++
	t, ok := p.peek(p.at)
	if !ok {
		p.fail("RuntimeError", text)
	}
	return t
}

// value steps over the colon, whatever stands there, and returns the value.
func (p *parser) value() string {
	p.next(outOfCheck)
	return p.next(outOfCheck)
}

// skip steps over an option of the other parser.
func (p *parser) skip() {
	if p.value() != "[" {
		return
	}
	for p.at++; p.at < len(p.tokens) && p.tokens[p.at] != "]"; p.at++ {
	}
	if p.at >= len(p.tokens) {
		p.fail("RuntimeError", unclosedKey)
	}
}

// number reports an error of stoull or stod by Python's class for it.
func (p *parser) number(name string, err error) {
	switch {
	case err == nil:
	case errors.Is(err, errRange):
		p.fail("IndexError", name)
	default:
		p.fail("ValueError", name)
	}
}

func (p *parser) size(text string) uint64 {
	n, err := stoull(text)
	if p.err == nil {
		p.number("stoull", err)
	}
	return n
}

func (p *parser) float() float64 {
	f, err := stod(p.value())
	if p.err == nil {
		p.number("stod", err)
	}
	return f
}

func (p *parser) bool() bool {
	t := p.value()
	if t != "True" && t != "False" {
		p.fail("ValueError", fmt.Sprintf("Expected 'True' or 'False' at index %d in ConfigTokenizer but got '%s'", p.at, t))
	}
	return t == "True"
}

func (p *parser) megabytes() *unit.Bytes {
	b := megabytes(p.size(p.value()))
	return &b
}

func (p *parser) maxSplit() {
	n, least := p.size(p.value()), uint64(p.settings.largeSegment()/unit.MiB)
	if n < least {
		p.fail("ValueError", fmt.Sprintf("CachingAllocator option max_split_size_mb too small, must be >= %d", least))
	}
	p.settings.MaxSplit = megabytes(n)
}

func (p *parser) nonSplit() {
	n, least := p.size(p.value()), uint64(p.settings.largeSegment()/unit.MiB)
	if n < least {
		p.fail("ValueError", fmt.Sprintf("CachingAllocator option max_non_split_rounding_mb too small, must be >= %d", least))
	}
	p.settings.MaxNonSplitRounding = megabytes(n)
}

func (p *parser) largeSegment() {
	n := p.size(p.value())
	if n <= uint64(largeThreshold/unit.MiB) {
		p.fail("ValueError", "CachingAllocator option large_segment_size_mb must be > 10 MB")
	}
	p.settings.LargeSegment = megabytes(n)
}

func (p *parser) gc() {
	f := p.float()
	if !(f > 0 && f < 1) {
		p.fail("ValueError", "garbage_collect_threshold is invalid, set it in (0.0, 1.0)")
	}
	p.settings.GCThreshold = f
}

func (p *parser) fraction() {
	f := p.float()
	if !(f >= 0 && f <= 1) {
		p.fail("ValueError", "per_process_memory_fraction is invalid, set it in [0.0, 1.0]")
	}
	p.settings.Fraction = &f
}

func (p *parser) backend() {
	t := p.value()
	if t != "native" && t != "cudaMallocAsync" {
		p.fail("ValueError", "Unknown allocator backend, options are native and cudaMallocAsync")
	}
	p.settings.Backend, p.async = t, t == "cudaMallocAsync"
}

func (p *parser) threads() {
	n := p.size(p.value())
	switch {
	case !powerOfTwo(n):
		p.fail("ValueError", fmt.Sprintf("Number of register threads has to be power of 2, got %d", n))
	case n > maxRegisterThreads:
		p.fail("ValueError", fmt.Sprintf("Number of register threads should be less than or equal to 128, got %d", n))
	}
	p.settings.PinnedThreads = int(min(n, maxRegisterThreads))
}

func (p *parser) pinnedReserve() {
	n := p.size(p.value())
	if n == 0 {
		p.fail("ValueError", "Pinned reserve segment size has to be greater than 0")
	}
	p.settings.PinnedReserve = megabytes(n)
}

// divisions reads one number for all sizes, or a list.
func (p *parser) divisions() {
	p.next(outOfCheck)
	t := p.next(outOfIndex)
	if t == "[" {
		p.divisionList()
		return
	}
	n := p.size(t)
	if !powerOfTwo(n) {
		p.fail("ValueError", "For roundups, the divisions has to be power of 2 ")
	}
	p.settings.fill(0, intervals, n)
}

func (p *parser) divisionList() {
	first, last := true, 0
	for p.at++; p.at < len(p.tokens) && p.tokens[p.at] != "]" && p.err == nil; p.at++ {
		key := p.tokens[p.at]
		n := p.size(p.value())
		if n != 0 && !powerOfTwo(n) {
			p.fail("ValueError", "For roundups, the divisions has to be power of 2 or 0 to disable roundup ")
		}
		if p.err != nil {
			return
		}
		if key == ">" {
			p.settings.fill(last+1, intervals, n)
		} else {
			mb := p.size(key)
			if !powerOfTwo(mb) {
				p.fail("ValueError", "For roundups, the intervals have to be power of 2 ")
				return
			}
			last = interval(mb)
			if first {
				p.settings.fill(0, last, n)
				first = false
			}
			p.settings.Divisions[last] = n
		}
		if t, ok := p.peek(p.at + 1); !ok {
			p.fail("RuntimeError", outOfIndex)
		} else if t != "]" {
			p.at++ // a comma, if all is well
		}
	}
	if p.at >= len(p.tokens) {
		p.fail("RuntimeError", unclosedSet)
	}
}

// reserve reads a share of the device, "0.5", or a size, "40G". What is
// neither is ignored with a warning.
func (p *parser) reserve(text string) *Reserve {
	number, size := text, unit.Bytes(0)
	if n := len(text); n > 0 && (text[n-1] == 'G' || text[n-1] == 'g') {
		number, size = text[:n-1], unit.GiB
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || !(f > 0) || math.IsInf(f, 0) {
		if p.err == nil {
			p.settings.Warnings = append(p.settings.Warnings, fmt.Sprintf("Ignoring invalid expandable-segment reserve value '%s' in PYTORCH_CUDA_ALLOC_CONF (expected a positive, finite fraction like 0.5 or an absolute size like 40G); using default.", text))
		}
		return nil
	}
	if size == 0 {
		return &Reserve{Share: f}
	}
	return &Reserve{Bytes: unit.Bytes(min(f*float64(size), float64(unlimited)))}
}

// reserveByClass reads [name:0.25,other:40G].
func (p *parser) reserveByClass() {
	p.next(outOfCheck)
	p.next(outOfCheck)
	p.settings.ReserveByClass = map[string]Reserve{}
	for p.err == nil {
		t, ok := p.peek(p.at + 1)
		if !ok {
			p.fail("RuntimeError", outOfCheck)
			return
		}
		if t == "]" {
			p.at++
			return
		}
		name := p.next(outOfIndex)
		p.next(outOfCheck)
		if r := p.reserve(p.next(outOfIndex)); r != nil {
			p.settings.ReserveByClass[name] = *r
		}
		if t, _ := p.peek(p.at + 1); t == "," {
			p.at++
		}
	}
}
