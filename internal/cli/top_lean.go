package cli

import (
	"bufio"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// leanGrowth is how much the heap of a screen may grow before it is collected,
	// in percent: less than what is usual, for the heap is a few MiB, collecting it
	// takes a millisecond, and the screen stays for hours beside trainings.
	leanGrowth = 25
	// leanPiece is what is mapped of the program at once, at most. Half of it saves a
	// MiB more, which the kernel then needs to keep the areas.
	leanPiece = 8 << 10
)

// beLean makes the process one that stays for hours and should cost nothing: it
// works on one processor, collects its garbage early, and holds of the program's
// file what it uses.
func beLean() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(leanGrowth)
	if maps, err := os.Open("/proc/self/smaps"); err == nil {
		defer maps.Close()
		unmapUnused(maps)
	}
}

// A mapping is a line of /proc/self/smaps.
type mapping struct{ from, to uintptr }

// unmapUnused gives back what the start has touched of files that are mapped to be
// read or run and were not written to. The kernel maps large folios whole, 2 MiB of
// the program for one function; neighbours that differ in a flag are areas of their
// own, and it maps no more than an area at once.
func unmapUnused(f *os.File) {
	var list []mapping
	var now mapping
	scanner := bufio.NewScanner(f)
	for scanner.Scan() {
		fields := strings.Fields(scanner.Text())
		switch {
		case len(fields) > 1 && strings.Contains(fields[0], "-"):
			now = mappingOf(fields)
		case len(fields) > 1 && fields[0] == "Anonymous:" && fields[1] == "0" && now.to > 0:
			list = append(list, now)
		}
	}
	for _, m := range list {
		for at := m.from; at < m.to; at += 2 * leanPiece {
			madvise(at, min(leanPiece, m.to-at), unix.MADV_NOHUGEPAGE)
		}
		madvise(m.from, m.to-m.from, unix.MADV_DONTNEED)
	}
}

// mappingOf is the mapping of a file that is not writable, else the zero one.
func mappingOf(fields []string) mapping {
	if len(fields) < 6 || strings.Contains(fields[1], "w") || !strings.HasPrefix(fields[5], "/") {
		return mapping{}
	}
	from, to, _ := strings.Cut(fields[0], "-")
	a, err := strconv.ParseUint(from, 16, 64)
	b, err2 := strconv.ParseUint(to, 16, 64)
	if err != nil || err2 != nil || a >= b {
		return mapping{}
	}
	return mapping{uintptr(a), uintptr(b)}
}

// madvise gives advice that a kernel may not know; then all stays as it was.
func madvise(at, length uintptr, advice int) {
	unix.Syscall(unix.SYS_MADVISE, at, length, uintptr(advice)) //nolint:errcheck // see above
}
