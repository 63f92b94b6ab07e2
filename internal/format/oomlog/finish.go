package oomlog

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/pattern"
	"github.com/plimsoll-dev/plimsoll/unit"
)

func bytesOf(n int64) unit.Bytes { return unit.Bytes(n) }

// onlyAlone refuses words that the longer messages begin with.
func onlyAlone(m *Message) bool {
	if len(m.Fields) > 0 {
		return true
	}
	for _, next := range []string{".triedtoallocate", "occurred", ".triedto"} {
		if strings.HasPrefix(m.next, next) {
			return false
		}
	}
	return true
}

// notCupy leaves CuPy's message to its own kind.
func notCupy(m *Message) bool { return !strings.HasPrefix(m.next, "(allocated") }

func binaryPrefix(m *Message) bool    { return strings.HasSuffix(m.unit, "ib") }
func notBinaryPrefix(m *Message) bool { return !binaryPrefix(m) }

// onlySeries refuses single lines; a series makes its message itself.
func onlySeries(*Message) bool { return false }

// oneWord tells Kubernetes' reason from "OOM Killed" in a sentence, and from
// Docker's field that is false.
func oneWord(m *Message) bool {
	return strings.Contains(m.Text, "OOMKilled") && !strings.HasPrefix(m.next, `":false`)
}

// finishFile names the program that the file belongs to.
func finishFile(m *Message) bool {
	if strings.Contains(squeezed(m.Text), "xgboost") {
		m.Framework = "xgboost"
	}
	return true
}

// onlyLine refuses words that are not all of their line.
func onlyLine(m *Message) bool {
	return strings.EqualFold(strings.TrimRight(strings.TrimSpace(m.Text), ":"), squeezed(m.Kind.Form))
}

// onlyKilled takes the word alone for a message only where it is all of the
// line.
func onlyKilled(m *Message) bool {
	if _, told := m.Fields["pid"]; told {
		return true
	}
	said := strings.TrimSpace(m.Text)
	return said == "Killed" || exitKilled.MatchString(squeezed(said)) || strings.HasPrefix(said, "zsh: killed")
}

// exitKilled is a line that tells of status 137, which is 128 and SIGKILL, or
// of a task that Slurm saw killed.
var exitKilled = pattern.New(`(?:exitcode"?:?|exitedwithcode|exitstatus)137\b|^srun:error:.*killed$|diedthroughsignalkill`)

// noLimit is what the backend prints when no limit is set: 2^64 bytes.
const noLimit = 1 << 62

// shortAsync is the message without sizes: an exception's name or a program's
// marks stand before it, and nothing but a full stop after it.
var shortAsync = pattern.New(`(?:OutOfMemoryError:|!!!) ?Allocation on device ?\.?\s*$`)

// longAsync is how the long form goes on after the words of the short one.
var longAsync = pattern.New(`^\d*would`)

var onDevice = pattern.New(`ondevice(\d{1,4})$`)

// finishAsync drops a limit that is none and reads the device, which stands
// before the words that are looked for.
func finishAsync(m *Message) bool {
	if longAsync.MatchString(m.next) {
		return false // the long form comes
	}
	if len(m.Fields) == 0 && !strings.Contains(squeezed(m.Text), "wouldexceed") {
		return shortAsync.MatchString(m.Text)
	}
	if m.Fields["allowed_bytes"] >= noLimit {
		delete(m.Fields, "allowed_bytes")
	}
	if at := onDevice.FindStringSubmatch(m.prior); at != nil {
		m.setGPU(at[1])
	}
	return true
}

// setGPU sets the device from digits that a regular expression found.
func (m *Message) setGPU(digits string) {
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		m.Fields["gpu_index"] = n
	}
}

// ncclDevice is how NCCL's lines begin: host:pid:tid [device].
var ncclDevice = pattern.New(`:\d+:\d+ \[(\d{1,4})\] `)

func finishNCCL(m *Message) bool {
	if at := ncclDevice.FindStringSubmatch(m.Text); at != nil {
		m.setGPU(at[1])
	}
	return true
}

// widths are the bytes of one element, by the names that TensorFlow and NumPy
// print.
var widths = map[string]int64{
	"float": 4, "float32": 4, "double": 8, "float64": 8, "half": 2, "float16": 2, "bfloat16": 2, "float128": 16,
	"int8": 1, "uint8": 1, "bool": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8,
	"complex64": 8, "complex128": 16,
}

// widthOf is the width of the type that text begins with, the longest name
// first.
func widthOf(text string) (width int64, known bool) {
	best := ""
	for name, w := range widths {
		if strings.HasPrefix(text, name) && len(name) > len(best) {
			best, width = name, w
		}
	}
	return width, best != ""
}

// elements is the product of a shape such as 100,4096,32.
func elements(shape string) (int64, bool) {
	n := int64(1)
	for _, d := range strings.Split(strings.Trim(shape, ","), ",") {
		size, err := strconv.ParseInt(d, 10, 64)
		if err != nil || size < 0 || size > 0 && n > (1<<60)/size {
			return 0, false
		}
		n *= size
	}
	return n, true
}

var (
	onGPU  = pattern.New(`gpu:(\d{1,4})`)
	ofNode = pattern.New(`_device="[^"]{0,80}(?i:gpu):(\d{1,4})"`)
	ofPool = pattern.New(`^gpu_(\d{1,4})_bfc`)
)

// floatWidth is what a tensor has whose type is not printed.
const floatWidth = 4

// finishShape computes what the tensor takes. Messages of old versions print
// no type: float is assumed, as of nearly all tensors that are this large.
func finishShape(m *Message) bool {
	n, ok := elements(m.Words["shape"])
	if !ok {
		return true
	}
	width, known := widthOf(m.Words["dtype"])
	if !known {
		width = floatWidth
		m.Words["assumed"] = "float32"
	}
	if n <= (1<<62)/width {
		m.Fields["requested_bytes"] = n * width
	}
	if at := onGPU.FindStringSubmatch(m.Words["device"]); at != nil {
		m.setGPU(at[1])
	}
	m.poolDevice()
	if _, there := m.Fields["gpu_index"]; !there && m.Words["device"] == "" {
		// The operation of the graph stands after it, with its device.
		around := m.Text + "\n" + strings.Join(m.After[:min(len(m.After), 3)], "\n")
		if at := ofNode.FindStringSubmatch(around); at != nil {
			m.setGPU(at[1])
		}
	}
	return true
}

func (m *Message) poolDevice() {
	if at := ofPool.FindStringSubmatch(m.Words["allocator"]); at != nil {
		m.setGPU(at[1])
	}
}

// finishPool refuses requests that may fail and says whose pool it was.
func finishPool(m *Message) bool {
	if strings.HasPrefix(m.next, "withfreed_by_count=0") {
		return false // "this is not a failure, but may mean that there could be performance gains"
	}
	if exact, there := m.Fields["rounded_bytes"]; there {
		m.Fields["requested_bytes"] = exact
		delete(m.Fields, "rounded_bytes")
	}
	m.poolDevice()
	return true
}

// finishArray computes an array's bytes exactly where its type is known.
func finishArray(m *Message) bool {
	n, ok := elements(m.Words["shape"])
	dtype := m.Words["dtype"]
	if dtype != "" {
		dtype += m.next // a line may break in it
	}
	if width, known := widthOf(dtype); ok && known && n <= (1<<62)/width {
		m.Fields["requested_host_bytes"] = n * width
	}
	return true
}

// finishKV refuses the line of a cache that has room.
func finishKV(m *Message) bool {
	kv, there := m.Fields["kv_bytes"]
	return !there || kv <= 0
}

// finishStartup reads a size whose unit stands after the next one.
func finishStartup(m *Message) bool {
	v, n := amount([]byte(m.Words["free"] + "gib"))
	if n > 0 {
		m.Fields["free_bytes"] = v
	}
	return true
}

// forkWords are in lines of ik_llama.cpp only.
var forkWords = [][]byte{[]byte("c^KV"), []byte("ik_llama")}

func finishGGML(m *Message) bool {
	around := []byte(strings.Join(m.Before, "\n"))
	for _, w := range forkWords {
		if bytes.Contains(around, w) {
			m.Framework = "llama.cpp fork"
		}
	}
	return true
}

// exceptions are how the exception is named, and since when.
var exceptions = []struct{ class, first, last string }{
	{"torch.cuda.outofmemoryerror:", "1.13", "2.4"},
	{"torch.outofmemoryerror:", "2.5", ""},
}

// refine narrows the range of versions by the name of the exception, and finds
// the process itself in the list.
func (m *Message) refine() {
	if strings.HasPrefix(m.Framework, "pytorch") {
		for _, c := range exceptions {
			if strings.Contains(m.prior, c.class) {
				m.Version = narrowed(m.Version, c.first, c.last)
			}
		}
	}
	m.findSelf()
}

// narrowed is the part of a range "2.2-2.8" from first to last.
func narrowed(versions, first, last string) string {
	low, high, isRange := strings.Cut(versions, "-")
	if !isRange {
		high = low
	}
	if versionLess(low, first) {
		low = first
	}
	if last != "" && versionLess(last, high) {
		high = last
	}
	if versionLess(high, low) {
		return versions
	}
	if low == high {
		return low
	}
	return low + "-" + high
}

func versionLess(a, b string) bool {
	ma, na := versionParts(a)
	mb, nb := versionParts(b)
	return ma < mb || ma == mb && na < nb
}

func versionParts(v string) (major, minor int) {
	a, rest, _ := strings.Cut(v, ".")
	b, _, _ := strings.Cut(rest, ".")
	major, _ = strconv.Atoi(a)
	minor, _ = strconv.Atoi(b)
	return major, minor
}

// Bounds of what a process takes beside PyTorch's allocator: a context and the
// workspaces of libraries.
const (
	leastContext = 400 << 20
	mostContext  = 26 * unit.GiB / 10
	// rounding is how far sums of printed sizes may be off.
	rounding = 32 * unit.MiB
)

// findSelf finds the entry of the process list that is the failing process
// itself, as the driver sees it from outside of its container. PyTorch names
// its own process where it knows its number; then no other entry is it.
func (m *Message) findSelf() {
	reserved, ok := m.Reserved()
	_, named := m.Fields["this_process_bytes"]
	if !ok || named || len(m.Processes) == 0 {
		return
	}
	total, free := m.Fields["total_bytes"], m.Fields["free_bytes"]
	outside := unit.Bytes(total-free) - reserved
	best, least := -1, unit.Bytes(0)
	for i, p := range m.Processes {
		beside := p.Bytes - reserved
		if beside < -rounding {
			continue
		}
		// What is in use has no room for this entry beside what we hold
		// ourselves, so that they are the same; else it looks like a
		// process with a context.
		if p.Bytes <= outside+rounding && (beside < leastContext || beside > mostContext) {
			continue
		}
		if best < 0 || beside < least {
			best, least = i, beside
		}
	}
	if best >= 0 {
		m.SelfPID = m.Processes[best].PID
		m.Fields["self_pid"] = m.SelfPID
	}
}

// Reserved is what PyTorch's allocator holds, from whichever numbers the
// message has.
func (m *Message) Reserved() (unit.Bytes, bool) {
	if v, ok := m.Get("reserved_bytes"); ok {
		return v, true
	}
	allocated, ok := m.Get("allocated_bytes")
	if !ok {
		return 0, false
	}
	if v, ok := m.Get("cached_bytes"); ok {
		return allocated + v, true
	}
	if v, ok := m.Get("reserved_unallocated_bytes"); ok {
		return allocated + v, true
	}
	return 0, false
}
