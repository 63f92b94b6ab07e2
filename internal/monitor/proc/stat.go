package proc

import "bytes"

// A stat is what /proc/PID/stat says, by the kernel's documentation
// (Documentation/filesystems/proc.rst, table 1-4).
type stat struct {
	name    string
	state   string
	parent  int
	faults  uint64 // major, of all threads
	cpu     uint64 // clock ticks, user and system, of all threads
	threads uint64
	started uint64 // clock ticks since boot
	rss     uint64 // pages
	blocked uint64 // clock ticks that the main thread waited for block devices
}

// Positions of fields after the name, counted from the state.
const (
	fieldState   = 0
	fieldParent  = 1
	fieldFaults  = 9
	fieldUser    = 11
	fieldSystem  = 12
	fieldThreads = 17
	fieldStarted = 19
	fieldRSS     = 21
	fieldBlocked = 39
)

// parseStat reads a line of stat. The name may hold anything, brackets and blanks
// included, so it ends at the last bracket.
func parseStat(line []byte) (stat, bool) {
	open, shut := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || shut < open {
		return stat{}, false
	}
	s := stat{name: string(line[open+1 : shut])}
	seen := 0
	fields(line[shut+1:], func(i int, word []byte) bool {
		n, _ := number(word)
		switch i {
		case fieldState:
			s.state = string(word)
		case fieldParent:
			s.parent = int(n)
		case fieldFaults:
			s.faults = n
		case fieldUser, fieldSystem:
			s.cpu += n
		case fieldThreads:
			s.threads = n
		case fieldStarted:
			s.started = n
		case fieldRSS:
			s.rss = n
		case fieldBlocked:
			s.blocked = n
		}
		seen = i
		return i < fieldBlocked
	})
	return s, seen >= fieldRSS
}
