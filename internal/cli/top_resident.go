package cli

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// giveBack takes the pages of files that the process has mapped and not written, its
// program's above all, out of its memory. Most were needed to begin only; what is
// needed again comes back from the kernel's cache, sixteen pages at a time and not
// two MiB.
func giveBack() {
	unix.Prctl(unix.PR_SET_THP_DISABLE, 1, 0, 0, 0) //nolint:errcheck // then it takes more
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer f.Close()
	type area struct {
		from, to uintptr
	}
	var areas []area
	var now area
	candidate := false
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		words := strings.Fields(line)
		if from, to, ok := strings.Cut(words[0], "-"); ok && len(words) >= 5 {
			a, err1 := strconv.ParseUint(from, 16, 64)
			b, err2 := strconv.ParseUint(to, 16, 64)
			candidate = err1 == nil && err2 == nil && len(words) == 6 && strings.HasPrefix(words[5], "/") && words[1][1] == '-' && words[1][3] == 'p'
			now = area{uintptr(a), uintptr(b)}
			continue
		}
		if candidate && words[0] == "Anonymous:" && words[1] == "0" {
			areas = append(areas, now)
		}
	}
	for _, a := range areas {
		const piece = 1 << 16
		for at, k := a.from, 0; at < a.to; at, k = at+piece, k+1 {
			if k%2 == 0 {
				unix.Syscall(unix.SYS_MADVISE, at, min(piece, a.to-at), unix.MADV_RANDOM)
			}
		}
		unix.Syscall(unix.SYS_MADVISE, a.from, a.to-a.from, unix.MADV_DONTNEED)
	}
	_ = unsafe.Pointer(nil)
}
