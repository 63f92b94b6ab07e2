package main

import (
	"crypto/rand"
	mrand "math/rand/v2"
	"os"
	"runtime"
	"syscall"
)

// The data set lies in one file. A disk that is slow cannot be had on any machine;
// that reads wait for the disk can: they go around the page cache (O_DIRECT), or
// what the cache holds is thrown out before it is read again.

const (
	dataName  = "data"
	dataBytes = 96 << 20
	page      = 4096
)

// makeData writes the file once; all runs read it.
func makeData(path string) error {
	if s, err := os.Stat(path); err == nil && s.Size() == dataBytes {
		return nil
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	block := make([]byte, 1<<20)
	for range dataBytes / len(block) {
		if _, err := rand.Read(block); err != nil {
			return err
		}
		if _, err := f.Write(block); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

type dataFile struct {
	fd     int
	buf    []byte // aligned to a page, as O_DIRECT wants it
	mapped []byte
}

func openData(path string, mapped bool) (*dataFile, error) {
	flags := syscall.O_RDONLY
	if !mapped {
		flags |= syscall.O_DIRECT
	}
	fd, err := syscall.Open(path, flags, 0)
	if err != nil {
		return nil, err
	}
	d := &dataFile{fd: fd}
	if mapped {
		d.mapped, err = syscall.Mmap(fd, 0, dataBytes, syscall.PROT_READ, syscall.MAP_SHARED)
		return d, err
	}
	d.buf, err = syscall.Mmap(-1, 0, 16*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	return d, err
}

// direct reads bytes from random places of the disk.
func (d *dataFile) direct(bytes int) error {
	for n := 0; n < bytes; n += len(d.buf) {
		at := mrand.Int64N((dataBytes - int64(len(d.buf))) / page)
		if _, err := syscall.Pread(d.fd, d.buf, at*page); err != nil {
			return err
		}
	}
	return nil
}

// touch reads mapped pages that are in the page cache no more. It leaves none
// mapped: the kernel keeps what any process has mapped, so another worker could not
// throw it out.
func (d *dataFile) touch(bytes int) error {
	const (
		random    = 1 // MADV_RANDOM: no reading ahead
		adviseNot = 4 // POSIX_FADV_DONTNEED, MADV_DONTNEED
	)
	size := (bytes + page - 1) / page * page
	at := mrand.IntN((dataBytes-size)/page) * page
	part := d.mapped[at : at+size]
	if _, _, errno := syscall.Syscall6(syscall.SYS_FADVISE64, uintptr(d.fd), uintptr(at), uintptr(size), adviseNot, 0, 0); errno != 0 {
		return errno
	}
	if err := syscall.Madvise(part, random); err != nil {
		return err
	}
	sum := byte(0)
	for i := 0; i < size; i += page {
		sum += part[i]
	}
	runtime.KeepAlive(sum)
	return syscall.Madvise(part, adviseNot)
}
