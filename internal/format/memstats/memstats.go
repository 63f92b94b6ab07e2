// Package memstats reads what PyTorch counts about its allocator: the
// dictionary of torch.cuda.memory_stats, printed by Python or stored as JSON,
// and the table of torch.cuda.memory_summary. Either may stand among other
// lines of a log.
//
// The table rounds: a size in it is down to the unit that it shows. What the
// numbers mean is the business of diagnose.
package memstats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Source says which text the counters were read from.
type Source string

// The sources.
const (
	Dictionary Source = "memory_stats"
	Table      Source = "memory_summary"
)

// Stats are counters of one device at one moment.
type Stats struct {
	Source Source
	Device int // -1 when the text does not say
	Offset int64
	// Values are the counters under the names of torch.cuda.memory_stats:
	// "allocated_bytes.all.current".
	Values map[string]int64
	// Unit is the coarsest unit that a size was written in, 1 when sizes are
	// exact.
	Unit unit.Bytes
}

// Get returns a counter and whether the text has it.
func (s *Stats) Get(name string) (unit.Bytes, bool) {
	v, ok := s.Values[name]
	return unit.Bytes(v), ok
}

// largest is how much of a file is read, mostStats how many dumps are kept.
const (
	largest   = 64 << 20
	mostStats = 10000
)

// The signs of the two texts.
var (
	tableSign = []byte("PyTorch CUDA memory summary")
	dictSign  = regexp.MustCompile(`\.(?:all|large_pool|small_pool)\.(?:current|peak|allocated|freed)["']|["'](?:allocated_bytes|active_bytes|reserved_bytes|allocation|active|segment)["']: ?\{`)
)

// Detect reports whether a file that begins with prefix is one of the two
// texts. 4 KiB are enough.
func Detect(prefix []byte) bool {
	prefix = prefix[:min(len(prefix), 4<<10)]
	if bytes.Contains(prefix, tableSign) {
		return true
	}
	text := bytes.TrimLeft(prefix, " \t\r\n")
	if !bytes.HasPrefix(text, []byte("{")) && !bytes.HasPrefix(text, []byte("[")) && !bytes.HasPrefix(text, []byte("OrderedDict(")) && !bytes.HasPrefix(text, []byte("defaultdict(")) {
		return false
	}
	return dictSign.Match(prefix)
}

// ErrNone says that a text has no counters.
var ErrNone = errors.New("no counters of PyTorch's allocator")

// Read returns every dump of counters in a text, in its order. When the text
// ends inside of one it returns what it read and an error that wraps
// input.ErrTruncated.
func Read(r io.Reader, name string) ([]*Stats, error) {
	data, err := io.ReadAll(io.LimitReader(r, largest+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > largest {
		return nil, &input.SyntaxError{File: name, Offset: largest, Msg: fmt.Sprintf("counters are looked for in the first %s only", unit.Bytes(largest))}
	}
	var out []*Stats
	cut := false
	for at := 0; at < len(data) && len(out) < mostStats; {
		s, end, whole := next(data, at)
		if s == nil {
			break
		}
		out, cut, at = append(out, s), !whole, end
	}
	switch {
	case len(out) == 0:
		return nil, &input.SyntaxError{File: name, Offset: -1, Msg: ErrNone.Error()}
	case cut:
		return out, fmt.Errorf("%s: byte %d: %w", name, len(data), input.ErrTruncated)
	}
	return out, nil
}

// next finds the next dump from a place on.
func next(data []byte, at int) (s *Stats, end int, whole bool) {
	table := index(data, tableSign, at)
	dict, from := -1, at
	for dict < 0 {
		key, start := firstKey(data, from)
		if key < 0 {
			break
		}
		if table >= 0 && table < key {
			break
		}
		s, end, whole := readDict(data, start)
		if len(s.Values) > 0 {
			return s, end, whole
		}
		from = key + 1
	}
	if table < 0 {
		return nil, 0, false
	}
	return readTable(data, table)
}

func index(data, sign []byte, at int) int {
	if i := bytes.Index(data[at:], sign); i >= 0 {
		return at + i
	}
	return -1
}

// firstKey finds the first word of a dictionary of counters, and where the
// dictionary begins.
func firstKey(data []byte, at int) (key, start int) {
	found := dictSign.FindIndex(data[at:])
	if found == nil {
		return -1, -1
	}
	key = at + found[0]
	start = bytes.LastIndexAny(data[at:key], "{[")
	if start < 0 {
		return key, at
	}
	return key, at + start
}

// metrics are the rows of the table by the key of their counters.
var metrics = []struct {
	name, key string
	size      bool
}{
	{"Allocated memory", "allocated_bytes", true}, {"Active memory", "active_bytes", true}, {"Requested memory", "requested_bytes", true},
	{"GPU reserved memory", "reserved_bytes", true}, {"Non-releasable memory", "inactive_split_bytes", true},
	{"Allocations", "allocation", false}, {"Active allocs", "active", false}, {"GPU reserved segments", "segment", false},
	{"Non-releasable allocs", "inactive_split", false}, {"Oversize allocations", "oversize_allocations", false}, {"Oversize GPU segments", "oversize_segments", false},
}

// columns are the numbers of a row, in their order.
var columns = []string{"current", "peak", "allocated", "freed"}

// readTable reads the table whose title stands at a place.
func readTable(data []byte, at int) (s *Stats, end int, whole bool) {
	s = &Stats{Source: Table, Device: -1, Offset: int64(at), Values: map[string]int64{}, Unit: 1}
	rows, key, size := 0, "", false
	for end = at; end < len(data); {
		line := data[end:]
		if n := bytes.IndexByte(line, '\n'); n >= 0 {
			line = line[:n]
		}
		next := end + len(line) + 1
		if end > at && bytes.Contains(line, tableSign) {
			return s, end, rows > 0
		}
		text := strings.TrimSpace(strings.Trim(strings.TrimSpace(string(line)), "|"))
		switch {
		case strings.HasPrefix(text, "===") && rows > 0:
			return s, min(next, len(data)), true
		case rows > 0 && !strings.Contains(text, "|") && strings.Trim(text, "-=|") != "":
			return s, end, false // another line: the table was cut
		}
		s.title(text)
		if k, isSize, pool, ok := rowOf(text, key, size); ok {
			key, size = k, isSize
			s.row(text, key+"."+pool, size)
			rows++
		}
		end = next
	}
	return s, len(data), false
}

// title reads the device and the counts above the rows.
func (s *Stats) title(text string) {
	if _, rest, ok := strings.Cut(text, "device ID "); ok {
		if _, err := fmt.Sscanf(rest, "%d", &s.Device); err != nil {
			s.Device = -1
		}
	}
	for words, key := range map[string]string{"CUDA OOMs: ": "num_ooms", "cudaMalloc retries: ": "num_alloc_retries"} {
		if _, rest, ok := strings.Cut(text, words); ok {
			var n int64
			if _, err := fmt.Sscanf(rest, "%d", &n); err == nil {
				s.Values[key] = n
			}
		}
	}
}

// rowOf tells which counters a row has; rows of a pool belong to the last row
// of all pools.
func rowOf(text, last string, size bool) (key string, isSize bool, pool string, ok bool) {
	name, _, found := strings.Cut(text, "|")
	name = strings.TrimSpace(name)
	switch {
	case !found:
		return "", false, "", false
	case name == "from large pool" && last != "":
		return last, size, "large_pool", true
	case name == "from small pool" && last != "":
		return last, size, "small_pool", true
	}
	for _, m := range metrics {
		if m.name == name {
			return m.key, m.size, "all", true
		}
	}
	return "", false, "", false
}

// row reads the numbers of a row.
func (s *Stats) row(text, prefix string, size bool) {
	prefix = strings.Replace(strings.Replace(prefix, "oversize_allocations.all", "oversize_allocations", 1), "oversize_segments.all", "oversize_segments", 1)
	for i, cell := range strings.Split(text, "|")[1:] {
		var n int64
		var u string
		if i >= len(columns) {
			return
		}
		if _, err := fmt.Sscanf(strings.TrimSpace(cell)+" ", "%d %s", &n, &u); err != nil && n == 0 && !strings.HasPrefix(strings.TrimSpace(cell), "0") {
			continue
		}
		scale := scaleOf(u, size)
		if scale == 0 || n < 0 || n > int64(unit.EiB)/scale {
			continue
		}
		s.Values[prefix+"."+columns[i]] = n * scale
		if size && i < 2 { // totals of a run are coarser, and tell less
			s.Unit = max(s.Unit, unit.Bytes(scale))
		}
	}
}

// scaleOf is what a unit of the table stands for: sizes in powers of 1024, as
// they are in the old tables that write MB, counts in thousands.
func scaleOf(u string, size bool) int64 {
	if !size {
		return map[string]int64{"": 1, "K": 1e3, "M": 1e6}[u]
	}
	if u == "" {
		return 0
	}
	return map[byte]int64{'B': 1, 'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30, 'T': 1 << 40, 'P': 1 << 50}[u[0]]
}
