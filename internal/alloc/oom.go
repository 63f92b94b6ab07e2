package alloc

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// An OOMError is torch.OutOfMemoryError: what was asked for and how the
// memory stood when it failed. All amounts are in bytes.
type OOMError struct {
	Version   Version
	Device    int
	Requested unit.Bytes // what the operator asked for
	Rounded   unit.Bytes // the block that would have been needed
	Segment   unit.Bytes // what the driver was asked for; PyTorch prints it as "tried to allocate"
	Total     unit.Bytes // of the device
	Free      unit.Bytes // by the driver
	Limit     unit.Bytes // by set_per_process_memory_fraction, when Limited
	Limited   bool
	Process   unit.Bytes // what this process holds on the device; 0 prints no line about it
	Allocated unit.Bytes // in blocks
	Private   unit.Bytes // free in private pools
	Reserved  unit.Bytes // in segments

	Expandable bool       // expandable segments are on
	Range      unit.Bytes // length of a new expandable segment, when it is too short for the request
	Rejected   bool       // by throw_on_cudamalloc_oom, before the driver was asked
}

// outOfMemory counts the failure and describes it.
func (d *device) outOfMemory(r *request) *OOMError {
	d.scalars.ooms++
	e := d.describe(r)
	e.Expandable = d.expandable
	if size, _ := d.extentSize(r.small); r.expandable && size < r.size {
		e.Range = d.settings.Reserve.size(d.total)
	}
	return e
}

// reject counts a request that is refused because it would exceed the
// device, before cached memory is given back.
func (d *device) reject(r *request) *OOMError {
	d.scalars.rejections++
	e := d.describe(r)
	e.Rejected = true
	return e
}

func (d *device) describe(r *request) *OOMError {
	return &OOMError{
		Version: d.settings.Version, Device: d.number, Requested: r.asked, Rounded: r.size, Segment: r.segment,
		Total: d.total, Free: d.driver.available(), Limit: d.limit, Limited: d.limited,
		Allocated: d.current(allocatedBytes), Private: d.freePrivate(), Reserved: d.reserved,
	}
}

// freePrivate is what lies free in private pools and cannot serve others.
func (d *device) freePrivate() unit.Bytes {
	var sum unit.Bytes
	for _, p := range d.privates {
		for _, h := range p.halves {
			for _, i := range d.freeBlocks(h, nil) {
				sum += d.blocks[i].size
			}
		}
	}
	return sum
}

// oomWording is the text of one range of versions. The amounts are those of
// A12 of the reference; %[n]s are its fields.
type oomWording struct {
	since  Version
	source string
	text   func(e *OOMError) string
}

// oomWordings are the wordings, newest first.
var oomWordings = []oomWording{
	{v210, "run of 2.15.0", func(e *OOMError) string { return e.modern(true) + e.remedy() }},
	{vLimitInText, "run of 2.6.0", func(e *OOMError) string { return e.modern(true) + hint + olderURL }},
	{v22, "c10/cuda/CUDACachingAllocator.cpp, 2.4", func(e *OOMError) string { return e.modern(false) + hint + olderURL }},
	{v21, "c10/cuda/CUDACachingAllocator.cpp, 2.1", (*OOMError).text21},
	{Version{1, 10}, "run of 2.0.1", func(e *OOMError) string { return e.early("reserved in total by PyTorch") + splitHint }},
	{Version{1, 4}, "public logs", func(e *OOMError) string { return e.early("reserved in total by PyTorch") }},
	{Version{1, 0}, "public logs", func(e *OOMError) string { return e.early("cached") }},
}

const (
	hint      = "If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  "
	newestURL = "(https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)"
	olderURL  = "(https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)"
	splitHint = " If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF"
)

// Error returns PyTorch's text.
func (e *OOMError) Error() string {
	if e.Requested >= hugeRequest {
		return "CUDA out of memory. Tried to allocate more than 1EB memory."
	}
	if e.Rejected {
		return "CUDA out of memory. Allocation was preemptively rejected because it would exceed per_process_memory_fraction limit. Requested size: " + formatSize(e.Requested)
	}
	for _, w := range oomWordings {
		if e.Version.since(w.since) {
			return w.text(e)
		}
	}
	return e.early("cached")
}

// remedy is the advice at the end of the newest text.
func (e *OOMError) remedy() string {
	switch {
	case e.Range > 0:
		return fmt.Sprintf("This allocation exceeds the expandable-segment reserve of %s for this stream, and a single allocation cannot span expandable segments. "+
			"Raise PYTORCH_CUDA_ALLOC_CONF expandable_segments_reserve or expandable_segments_reserve_by_class (or unset it) so that a segment is at least %s.",
			formatSize(e.Range), formatSize(e.Segment))
	case e.Expandable:
		return "expandable_segments is enabled. If instead the process is running out of virtual address space (VSZ), expandable segments may be over-reserving VA " +
			"(each segment reserves ~9/8 of device memory, times the number of streams); reduce it via PYTORCH_CUDA_ALLOC_CONF expandable_segments_reserve / expandable_segments_reserve_by_class."
	}
	return hint + newestURL
}

func (e *OOMError) modern(showLimit bool) string {
	limit := ""
	if showLimit && e.Limited {
		limit = formatSize(e.Limit) + " allowed; "
	}
	private := ""
	if e.Private > 0 {
		private = "with " + formatSize(e.Private) + " allocated in private pools (e.g., CUDA Graphs), "
	}
	used := e.Allocated + e.Private
	return fmt.Sprintf("CUDA out of memory. Tried to allocate %s. GPU %d has a total capacity of %s of which %s is free. %s%s"+
		"Of the allocated memory %s is allocated by PyTorch, %sand %s is reserved by PyTorch but unallocated. ",
		formatSize(e.Segment), e.Device, formatSize(e.Total), formatSize(e.Free), e.process(), limit,
		formatSize(used), private, formatSize(e.Reserved-used))
}

func (e *OOMError) text21() string {
	return fmt.Sprintf("CUDA out of memory. Tried to allocate %s. GPU %d has a total capacty of %s of which %s is free. %s"+
		"Of the allocated memory %s is allocated by PyTorch, and %s is reserved by PyTorch but unallocated. "+
		"If reserved but unallocated memory is large try setting max_split_size_mb to avoid fragmentation.  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF",
		formatSize(e.Segment), e.Device, formatSize(e.Total), formatSize(e.Free), e.process(), formatSize(e.Allocated), formatSize(e.Reserved-e.Allocated))
}

func (e *OOMError) early(reserved string) string {
	limit := ""
	if e.Limited {
		limit = formatSize(e.Limit) + " allowed; "
	}
	return fmt.Sprintf("CUDA out of memory. Tried to allocate %s (GPU %d; %s total capacity; %s already allocated; %s free; %s%s %s)",
		formatSize(e.Segment), e.Device, formatSize(e.Total), formatSize(e.Allocated), formatSize(e.Free), limit, formatSize(e.Reserved), reserved)
}

func (e *OOMError) process() string {
	if e.Process == 0 {
		return ""
	}
	return "Including non-PyTorch memory, this process has " + formatSize(e.Process) + " memory in use. "
}

// formatSize mirrors format_size.
func formatSize(b unit.Bytes) string {
	switch {
	case b <= unit.KiB:
		return fmt.Sprintf("%d bytes", int64(b))
	case b <= unit.MiB:
		return fmt.Sprintf("%.2f KiB", float64(b)/float64(unit.KiB))
	case b <= unit.GiB:
		return fmt.Sprintf("%.2f MiB", float64(b)/float64(unit.MiB))
	default:
		return fmt.Sprintf("%.2f GiB", float64(b)/float64(unit.GiB))
	}
}
