package alloc

import (
	"fmt"
	"strconv"
	"strings"
)

// A Version is a release of PyTorch whose allocator is simulated. The zero
// value stands for the newest known one, which is Newest.
type Version struct{ Major, Minor int }

// Newest is the version that the zero Version stands for.
var Newest = Version{2, 15}

// Versions in which the allocator changed. Those marked ~ in the reference
// are known only to lie between two versions that were looked at.
var (
	v20  = Version{2, 0}  // expandable segments do not exist yet
	v21  = Version{2, 1}  // expandable segments
	v22  = Version{2, 2}  // new wording of the out-of-memory text
	v26  = Version{2, 6}  // max_non_split_rounding_mb
	v29  = Version{2, 9}  // options are parsed by c10/core/AllocatorConfig
	v210 = Version{2, 10} // large_segment_size_mb~, no limit at fraction 1~
)

// ParseVersion reads the beginning of torch.__version__: "2.6.0+cu124".
func ParseVersion(s string) (Version, error) {
	major, rest, ok := strings.Cut(s, ".")
	minor := strings.TrimRight(rest, "\n")
	if i := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		minor = rest[:i]
	}
	a, errA := strconv.Atoi(major)
	b, errB := strconv.Atoi(minor)
	if !ok || errA != nil || errB != nil || a < 1 || b < 0 {
		return Version{}, fmt.Errorf("PyTorch version %q: want something like 2.6.0", s)
	}
	return Version{a, b}, nil
}

// String writes the version as "2.6".
func (v Version) String() string {
	v = v.known()
	return strconv.Itoa(v.Major) + "." + strconv.Itoa(v.Minor)
}

func (v Version) known() Version {
	if v == (Version{}) {
		return Newest
	}
	return v
}

// since reports whether v is w or later.
func (v Version) since(w Version) bool {
	v = v.known()
	return v.Major > w.Major || v.Major == w.Major && v.Minor >= w.Minor
}

// Changes whose release is not known exactly; each lies after the version
// that was seen without it and at or before the one seen with it.
var (
	vPrivateExpandable = Version{2, 5} // seen without in 2.4, with in 2.6
	vLimitInText       = Version{2, 5} // seen without in 2.4, with in 2.6
	vPoolFlushes       = v210          // seen without in 2.6, with in 2.15
	vNewestFirst       = v29           // seen without in 2.4, with in 2.15
)
