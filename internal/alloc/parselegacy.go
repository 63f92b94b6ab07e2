package alloc

import "github.com/plimsoll-dev/plimsoll/unit"

// legacyOption is an option as PyTorch read it up to 2.8, where each one
// checks the colon and its value itself and every error is a RuntimeError.
type legacyOption struct {
	name  string
	since Version
	read  func(p *parser, value string, present bool)
}

// legacyOptions mirrors parseArgs of c10/cuda/CUDACachingAllocator.cpp (2.0)
// and c10/cuda/CUDAAllocatorConfig.cpp (2.1 to 2.8). Texts and limits were
// read off the parsers of 2.0.1 and 2.6.0.
var legacyOptions = []legacyOption{
	{"max_split_size_mb", Version{1, 10}, (*parser).legacyMaxSplit},
	{"max_non_split_rounding_mb", v26, (*parser).legacyNonSplit},
	{"garbage_collection_threshold", Version{1, 12}, (*parser).legacyGC},
	{"backend", v20, (*parser).legacyBackend},
	{"expandable_segments", v21, func(p *parser, v string, ok bool) {
		p.legacyBool(v, ok, "expandable_segments", "", &p.settings.Expandable)
	}},
	{"release_lock_on_cudamalloc", v22, (*parser).legacyReleaseLock},
	{"release_lock_on_hipmalloc", v22, (*parser).legacyReleaseLock},
	{"pinned_use_cuda_host_register", v22, (*parser).legacyHostRegister},
	{"pinned_use_hip_host_register", v22, (*parser).legacyHostRegister},
	{"pinned_num_register_threads", v22, (*parser).legacyThreads},
	{"pinned_use_background_threads", v26, func(p *parser, v string, ok bool) {
		p.legacyBool(v, ok, "pinned_use_background_threads", "Error, expecting pinned_use_background_threads value", &p.settings.PinnedBackground)
	}},
}

func (p *parser) legacyFail(text string) { p.fail("RuntimeError", text) }

// legacy reads all options.
func (p *parser) legacy() {
	for p.at = 0; p.at < len(p.tokens) && p.err == nil; p.at++ {
		key := p.tokens[p.at]
		switch o := p.legacyOption(key); {
		case key == "roundup_power2_divisions":
			if p.legacyToken(":") {
				p.at++
				p.legacyDivisions()
			}
		case o == nil:
			p.legacyFail("Unrecognized CachingAllocator option: " + key)
		default:
			if p.legacyToken(":") {
				p.at++
				value, ok := p.peek(p.at)
				o.read(p, value, ok)
			}
		}
		p.native = p.native || key != "backend"
		if p.err == nil && p.at+1 < len(p.tokens) {
			p.legacyToken(",")
		}
	}
}

func (p *parser) legacyOption(key string) *legacyOption {
	for i, o := range legacyOptions {
		if o.name == key && p.version.since(o.since) {
			return &legacyOptions[i]
		}
	}
	return nil
}

// peek returns token i, if there is one.
func (p *parser) peek(i int) (string, bool) {
	if i >= len(p.tokens) {
		return "", false
	}
	return p.tokens[i], true
}

// legacyToken moves to the next token, which must be the given one.
func (p *parser) legacyToken(want string) bool {
	p.at++
	if got, ok := p.peek(p.at); !ok || got != want {
		p.legacyFail("Error parsing CachingAllocator settings, expected " + want)
		return false
	}
	return true
}

// legacyInt reads a value with stoi, or says that it is missing.
func (p *parser) legacyInt(value string, ok bool, missing string) (uint64, bool) {
	if !ok {
		p.legacyFail(missing)
		return 0, false
	}
	n, err := stoi(value)
	if err != nil {
		p.legacyFail("stoi")
		return 0, false
	}
	return n, true
}

// legacyBool reads True or False; missing is the text for no value where it
// differs from the text for a wrong one.
func (p *parser) legacyBool(value string, ok bool, name, missing string, to *bool) {
	switch {
	case !ok && missing != "":
		p.legacyFail(missing)
	case value != "True" && value != "False":
		p.legacyFail("Expected a single True/False argument for " + name)
	default:
		*to = value == "True"
	}
}

func (p *parser) legacyMaxSplit(value string, ok bool) {
	n, ok := p.legacyInt(value, ok, "Error, expecting max_split_size_mb value")
	if ok && n <= uint64(largeSegment/unit.MiB) {
		p.legacyFail("CachingAllocator option max_split_size_mb too small, must be > 20")
	}
	p.settings.MaxSplit = megabytes(n)
}

func (p *parser) legacyNonSplit(value string, ok bool) {
	n, ok := p.legacyInt(value, ok, "Error, expecting max_non_split_rounding_mb value")
	if ok && n <= uint64(largeSegment/unit.MiB) {
		p.legacyFail("CachingAllocator option max_non_split_rounding_mb too small, must be > 20")
	}
	p.settings.MaxNonSplitRounding = megabytes(n)
}

func (p *parser) legacyGC(value string, ok bool) {
	if !ok {
		p.legacyFail("Error, expecting garbage_collection_threshold value")
		return
	}
	f, err := stod(value)
	switch {
	case err != nil:
		p.legacyFail("stod")
	case !(f > 0):
		p.legacyFail("garbage_collect_threshold too small, set it 0.0~1.0")
	case !(f < 1):
		p.legacyFail("garbage_collect_threshold too big, set it 0.0~1.0")
	}
	p.settings.GCThreshold = f
}

func (p *parser) legacyBackend(value string, ok bool) {
	switch {
	case !ok:
		p.legacyFail("Error parsing backend value")
	case value != "native" && value != "cudaMallocAsync":
		p.legacyFail("Unknown allocator backend, options are native and cudaMallocAsync")
	}
	p.settings.Backend, p.async = value, value == "cudaMallocAsync"
}

func (p *parser) legacyReleaseLock(value string, ok bool) {
	p.legacyBool(value, ok, "release_lock_on_cudamalloc", "", &p.settings.ReleaseLock)
}

func (p *parser) legacyHostRegister(value string, ok bool) {
	p.legacyBool(value, ok, "pinned_use_cuda_host_register", "Error, expecting pinned_use_cuda_host_register value", &p.settings.PinnedHostRegister)
}

// maxRegisterThreads is the most threads that may register pinned memory.
// Mirrors pinned_max_register_threads (PyTorch 2.6).
const maxRegisterThreads = 128

func (p *parser) legacyThreads(value string, ok bool) {
	n, ok := p.legacyInt(value, ok, "Error, expecting pinned_num_register_threads value")
	switch {
	case !ok:
	case !powerOfTwo(n):
		p.legacyFail("Number of register threads has to be power of 2 ")
	case n > maxRegisterThreads:
		p.legacyFail("Number of register threads should be less than or equal to 128")
	}
	p.settings.PinnedThreads = int(n)
}

// legacyDivisions reads one number for all sizes, or a list.
func (p *parser) legacyDivisions() {
	value, ok := p.peek(p.at)
	if ok && value == "[" && p.version.since(v20) {
		p.legacyDivisionList()
		return
	}
	n, ok := p.legacyInt(value, ok, "Error, expecting roundup_power2_divisions value")
	if ok && !powerOfTwo(n) {
		p.legacyFail("For roundups, the divisons has to be power of 2 ")
	}
	p.settings.fill(0, intervals, n)
}

func (p *parser) legacyDivisionList() {
	first, last := true, 0
	for p.at++; p.at < len(p.tokens) && p.tokens[p.at] != "]" && p.err == nil; p.at++ {
		key := p.tokens[p.at]
		if !p.legacyToken(":") {
			return
		}
		p.at++
		value, ok := p.peek(p.at)
		n, ok := p.legacyInt(value, ok, "Error parsing roundup_power2_divisions value")
		if !ok || !p.legacyDivision(n) {
			return
		}
		if key == ">" { // overwrites the last listed interval too; corrected in 2.9
			p.settings.fill(last, intervals, n)
		} else if last, ok = p.legacyInterval(key, first, n); ok {
			first = false
		}
		next, ok := p.peek(p.at + 1)
		if !ok { // PyTorch reads past the end of its list here and crashes
			p.legacyFail("roundup_power2_divisions: ] is missing")
		}
		if ok && next != "]" {
			p.legacyToken(",")
		}
	}
}

// legacyDivision checks a number of divisions; 0 is allowed from 2.1 on.
func (p *parser) legacyDivision(n uint64) bool {
	zero := p.version.since(v21)
	switch {
	case powerOfTwo(n) || n == 0 && zero:
		return true
	case zero:
		p.legacyFail("For roundups, the divisons has to be power of 2 or 0 to disable roundup ")
	default:
		p.legacyFail("For roundups, the divisons has to be power of 2 ")
	}
	return false
}

// legacyInterval sets the entry for sizes from key MiB on and, for the first
// one listed, all entries below it.
func (p *parser) legacyInterval(key string, first bool, n uint64) (entry int, ok bool) {
	mb, err := stoull(key)
	if err != nil {
		p.legacyFail("stoul")
		return 0, false
	}
	if !powerOfTwo(mb) {
		p.legacyFail("For roundups, the intervals have to be power of 2 ")
		return 0, false
	}
	entry = interval(mb)
	if first {
		p.settings.fill(0, entry, n)
	}
	p.settings.Divisions[entry] = n
	return entry, true
}
