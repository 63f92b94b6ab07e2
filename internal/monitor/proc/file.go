package proc

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/plimsoll-dev/plimsoll/series"
)

// maxFile is the most that is read of any file. The largest that counts,
// /proc/stat of a host with a thousand processors, is a tenth of it.
const maxFile = 1 << 20

// A folder is an open folder, of a process or of the host. Files of a folder of a
// process that ended cannot be read, even if its PID was given again.
type folder struct {
	fd  int
	buf []byte // of the last file that was read; grows to what is needed
	// kept are files that stay open, by name; nil where none do.
	kept map[string]int
}

// open opens the folder path below f.
func (f *folder) open(path string) (folder, error) {
	fd, err := unix.Openat(f.fd, path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	return folder{fd: fd, buf: f.buf}, err
}

func (f *folder) close() {
	for _, fd := range f.kept {
		unix.Close(fd)
	}
	unix.Close(f.fd)
}

// staying are the files of a process and of the host that are read with each
// sample. To open and close one takes longer than to read it.
var staying = map[string]bool{
	"stat": true, "schedstat": true, "statm": true, "io": true, "status": true, "wchan": true,
	"proc/stat": true, "proc/meminfo": true, "proc/vmstat": true, "proc/loadavg": true, "proc/diskstats": true, "proc/net/dev": true,
	"proc/pressure/cpu": true, "proc/pressure/io": true, "proc/pressure/memory": true,
}

// inPieces are those of them that come line by line, as far as the kernel's own buffer
// goes. All others come in one piece, which is whole where it does not fill ours.
var inPieces = map[string]bool{"proc/vmstat": true, "proc/diskstats": true, "proc/net/dev": true}

// readKept returns the contents of a file of /proc that stays open. The kernel writes
// it anew for each read from its beginning.
func (f *folder) readKept(name string) ([]byte, error) {
	fd, ok := f.kept[name]
	if !ok {
		var err error
		if fd, err = unix.Openat(f.fd, name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0); err != nil {
			return nil, err
		}
		f.kept[name] = fd
	}
	if f.buf == nil {
		f.buf = make([]byte, 4096)
	}
	pieces := inPieces[name]
	for n := 0; ; {
		m, err := unix.Pread(fd, f.buf[n:], int64(n))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		n += m
		switch {
		case m == 0, n >= maxFile, !pieces && n < len(f.buf):
			return f.buf[:n], nil
		case n == len(f.buf):
			grown := make([]byte, min(maxFile+1, 4*len(f.buf)))
			if n = 0; pieces {
				n = copy(grown, f.buf)
			}
			f.buf = grown
		}
	}
}

// read returns the contents of the file name, until the next read. It never waits:
// what would block, such as a pipe in a hostile folder, is empty.
func (f *folder) read(name string) ([]byte, error) {
	if f.kept != nil && staying[name] {
		return f.readKept(name)
	}
	fd, err := unix.Openat(f.fd, name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if f.buf == nil {
		f.buf = make([]byte, 4096)
	}
	n := 0
	for {
		m, err := unix.Read(fd, f.buf[n:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		n += m
		if m == 0 || n == maxFile {
			return f.buf[:n], nil
		}
		if n == len(f.buf) {
			grown := make([]byte, min(maxFile, 4*len(f.buf)))
			copy(grown, f.buf)
			f.buf = grown
		}
	}
}

// why says what an error of reading means for a value.
func why(err error) series.Status {
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return series.NoPermission
	case errors.Is(err, unix.ESRCH):
		return series.Lost
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EINVAL):
		return series.NotSupported
	}
	return series.Failed
}

// fields calls each with the words of line, up to max of them.
func fields(line []byte, each func(i int, word []byte) bool) {
	n := 0
	for i := 0; i < len(line); {
		for i < len(line) && isBlank(line[i]) {
			i++
		}
		start := i
		for i < len(line) && !isBlank(line[i]) {
			i++
		}
		if start == i || !each(n, line[start:i]) {
			return
		}
		n++
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// lines calls each with the lines of text.
func lines(text []byte, each func(line []byte)) {
	for len(text) > 0 {
		i := 0
		for i < len(text) && text[i] != '\n' {
			i++
		}
		each(text[:i])
		if i == len(text) {
			return
		}
		text = text[i+1:]
	}
}

// number is the decimal number that word begins with.
func number(word []byte) (uint64, bool) {
	var n uint64
	for i, c := range word {
		if c < '0' || c > '9' {
			return n, i > 0
		}
		n = n*10 + uint64(c-'0')
	}
	return n, len(word) > 0
}
