package launch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Locks are files that say which GPUs are given to commands. They are the same for
// all users of a machine; a lock ends with the process that has it, however that
// ends.
type Locks struct {
	Dir string // "" means the folder that all users share
}

// shared is a folder that every user may write and that a restart empties.
const shared = "/dev/shm/plimsoll-gpus"

// A Lock is a GPU that is taken.
type Lock struct{ fd int }

// Take takes a GPU by its ID; nil if another has it.
func (l Locks) Take(id string) (*Lock, error) {
	dir := l.Dir
	if dir == "" {
		dir = shared
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("make the folder of locks: %w", err)
	}
	os.Chmod(dir, 0o1777) //nolint:errcheck // it is another user's, who did so
	name := filepath.Join(dir, strings.Map(fileCharacter, id)+".lock")
	fd, err := openLock(name)
	if err != nil {
		return nil, fmt.Errorf("lock a GPU: open %s: %w", name, err)
	}
	err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return &Lock{fd}, nil
	}
	unix.Close(fd)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, nil //nolint:nilnil // no lock is the answer
	}
	return nil, fmt.Errorf("lock a GPU: %s: %w", name, err)
}

// openLock opens a lock's file, which may be another user's: that can be read, and
// creating it where it is there is refused in folders that all may write
// (fs.protected_regular).
func openLock(name string) (int, error) {
	const flags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	for {
		fd, err := unix.Open(name, flags, 0)
		if !errors.Is(err, unix.ENOENT) {
			return fd, err
		}
		fd, err = unix.Open(name, flags|unix.O_CREAT|unix.O_EXCL, 0o644)
		if !errors.Is(err, unix.EEXIST) {
			return fd, err
		}
	}
}

// Release gives the GPU back. The file stays: removing it would let two have it.
func (l *Lock) Release() { unix.Close(l.fd) }

// fileCharacter keeps letters, digits and what IDs have beside them.
func fileCharacter(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.':
		return r
	}
	return '_'
}
