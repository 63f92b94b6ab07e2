// Command logs measures plimsoll explain on logs: how fast it reads one of
// training with an error at its end and one of crashes that are all different,
// and, given a folder of logs with what people concluded from them, how many of
// its answers are theirs.
//
// usage: logs [-plimsoll BIN] [-mb N] [-cases DIR]
//
// It exits with 1 when less than 200 MB are read in a second by the clock, when
// a field or "GPU memory or not" differs, or fewer than 95 % of the causes are
// the expected ones.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

const leastSpeed = 200 // MB/s

// message stands at the end of the log.
const message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 572.00 MiB. GPU 0 has a total capacity of 39.49 GiB of which 300.00 MiB is free. " +
	"Including non-PyTorch memory, this process has 39.10 GiB memory in use. Of the allocated memory 38.00 GiB is allocated by PyTorch, and 320.00 MiB is reserved by PyTorch but unallocated.\n"

func main() {
	plimsoll := flag.String("plimsoll", "bin/plimsoll", "the program")
	mb := flag.Int("mb", 1000, "size of the log in MB")
	dir := flag.String("cases", os.Getenv("PLIMSOLL_CASES"), "folder with oom/expected.json")
	flag.Parse()
	if flag.NArg() != 0 || *mb < 1 {
		fmt.Fprintln(os.Stderr, "usage: logs [-plimsoll BIN] [-mb N] [-cases DIR]")
		os.Exit(2)
	}
	good := true
	var err error
	for _, of := range []contents{{"training", training}, {"crashes", crashes}} {
		var fast bool
		if fast, err = speed(*plimsoll, of, *mb); err != nil {
			break
		}
		good = good && fast
	}
	if err == nil && *dir != "" {
		var right bool
		right, err = answers(*plimsoll, *dir)
		good = good && right
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "logs:", err)
		os.Exit(2)
	}
	if !good {
		os.Exit(1)
	}
}

// speed reads a log of that size.
func speed(plimsoll string, of contents, mb int) (bool, error) {
	name, size, err := write(of.lines, mb)
	if err != nil {
		return false, err
	}
	defer os.Remove(name)
	cmd := exec.Command(plimsoll, "explain", "--format", "json", "-o", os.DevNull, name)
	cmd.Stderr = os.Stderr
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		return false, err
	}
	wall := time.Since(begin).Seconds()
	cpu := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	peak := int64(0)
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		peak = usage.Maxrss / 1024
	}
	rate := float64(size) / 1e6
	fmt.Printf("%s, %d MB: %.0f MB/s by the clock, %.0f MB/s of processor time, %d MiB of memory (at least %d MB/s)\n", of.name, size/1e6, rate/wall, rate/cpu, peak, leastSpeed)
	return rate/wall >= leastSpeed, nil
}

// Contents are what a log consists of.
type contents struct {
	name  string
	lines func(w io.Writer, n int) error // the n-th lines
}

// training are lines as training writes them.
func training(w io.Writer, n int) error {
	_, err := fmt.Fprintf(w, "2026-01-02 03:04:05,678 [INFO] trainer.py:123 step %d loss %.4f lr 3.0e-04 grad_norm %.3f mem 71.3 GiB allocated tok/s %d\n",
		n, 3/float64(n%100+1), 1/float64(n%17+1), 10000+n%5000)
	if err == nil && n%7 == 0 {
		_, err = fmt.Fprintf(w, "Epoch 3:  %d%%|█████▌    | %d/1000 [03:21<04:12,  1.32it/s, v_num=3]\r", n%100, n%1000)
	}
	return err
}

// crashes are errors with a traceback, each of other sizes.
func crashes(w io.Writer, n int) error {
	_, err := fmt.Fprintf(w, "Traceback (most recent call last):\n  File \"train.py\", line 33, in step\n    loss = model(x)\n"+
		"RuntimeError: CUDA out of memory. Tried to allocate %d.%02d MiB (GPU %d; 15.78 GiB total capacity; %d.%02d GiB already allocated; %d.00 MiB free; 14.50 GiB reserved in total by PyTorch)\n",
		20+n%4000, n%100, n%8, 10+n%4, n/7%100, n%20)
	return err
}

// counter counts what is written through it.
type counter struct {
	w *bufio.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// write makes a log of lines with an error at the end.
func write(lines func(w io.Writer, n int) error, mb int) (name string, size int64, err error) {
	f, err := os.CreateTemp("", "training-*.log")
	if err != nil {
		return "", 0, err
	}
	c := &counter{w: bufio.NewWriterSize(f, 1<<20)}
	for n := 0; err == nil && c.n < int64(mb)*1e6; n++ {
		err = lines(c, n)
	}
	if err == nil {
		_, err = io.WriteString(c, message)
	}
	if err == nil {
		err = c.w.Flush()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return f.Name(), c.n, err
}
