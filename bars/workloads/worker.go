package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

// burn computes for d of processor time, however long that takes.
func burn(d time.Duration) {
	end := threadTime() + d
	x := uint64(1)
	for threadTime() < end {
		for range 20_000 {
			x = x*6364136223846793005 + 1442695040888963407
		}
	}
	runtime.KeepAlive(x)
}

// threadTime is the processor time of this thread, which init has tied to the
// goroutine.
func threadTime() time.Duration {
	const clockThread = 3 // CLOCK_THREAD_CPUTIME_ID
	var ts syscall.Timespec
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockThread, uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		panic(errno)
	}
	return time.Duration(ts.Nano())
}

// A task is what a worker does for each batch.
type task struct {
	kind  string        // "decode", "disk", "thrash" or "sleep"
	cpu   time.Duration // processor time
	bytes int           // read from the data file
	start time.Duration // processor time before the first batch
}

func (t task) args() []string {
	return []string{t.kind, t.cpu.String(), strconv.Itoa(t.bytes), t.start.String()}
}

func taskOf(args []string) (t task, err error) {
	t.kind = args[0]
	if t.cpu, err = time.ParseDuration(args[1]); err != nil {
		return t, err
	}
	if t.bytes, err = strconv.Atoi(args[2]); err != nil {
		return t, err
	}
	t.start, err = time.ParseDuration(args[3])
	return t, err
}

// A loader is the workers of a training process. A worker takes a credit, prepares
// a batch and hands over a byte for it.
type loader struct {
	dir            string
	task           task
	n              int
	credits, ready *os.File
	takes, gives   *os.File // the workers' ends
	running        []*exec.Cmd
}

func newLoader(dir string, n int, t task) (*loader, error) {
	l := &loader{dir: dir, task: t, n: n}
	var err error
	if l.takes, l.credits, err = os.Pipe(); err != nil {
		return nil, err
	}
	if l.ready, l.gives, err = os.Pipe(); err != nil {
		return nil, err
	}
	return l, l.begin()
}

// begin starts the workers, with two batches ahead for each.
func (l *loader) begin() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for range l.n {
		c := exec.Command(self, append([]string{"worker", l.dir}, l.task.args()...)...)
		c.ExtraFiles = []*os.File{l.takes, l.gives}
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := c.Start(); err != nil {
			return err
		}
		l.running = append(l.running, c)
	}
	_, err = l.credits.Write(make([]byte, 2*l.n))
	return err
}

// next waits for a batch.
func (l *loader) next() error {
	if _, err := io.ReadFull(l.ready, make([]byte, 1)); err != nil {
		return err
	}
	_, err := l.credits.Write([]byte{0})
	return err
}

// end stops the workers, as at the end of an epoch.
func (l *loader) end() error {
	for _, c := range l.running {
		if err := c.Process.Kill(); err != nil {
			return err
		}
		_ = c.Wait() // it was killed
	}
	// Credits and batches of the old epoch go with their pipes.
	for _, f := range []*os.File{l.credits, l.ready, l.takes, l.gives} {
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// work is a worker process.
func work(dir string, t task) error {
	credits, ready := os.NewFile(3, "credits"), os.NewFile(4, "ready")
	burn(t.start)
	var data *dataFile
	if t.bytes > 0 {
		var err error
		if data, err = openData(filepath.Join(dir, dataName), t.kind == "thrash"); err != nil {
			return err
		}
	}
	for {
		if _, err := io.ReadFull(credits, make([]byte, 1)); err != nil {
			return err
		}
		switch t.kind {
		case "disk":
			if err := data.direct(t.bytes); err != nil {
				return err
			}
		case "thrash":
			if err := data.touch(t.bytes); err != nil {
				return err
			}
		}
		burn(t.cpu)
		if _, err := ready.Write([]byte{0}); err != nil {
			return err
		}
	}
}
