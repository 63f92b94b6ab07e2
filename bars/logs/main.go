// Command logs measures plimsoll explain on logs: how fast it reads one of
// training with an error at its end, and, given a folder of logs with what
// people concluded from them, how many of its answers are theirs.
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
	good, err := speed(*plimsoll, *mb)
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
func speed(plimsoll string, mb int) (bool, error) {
	name, size, err := write(mb)
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
	fmt.Printf("%d MB: %.0f MB/s by the clock, %.0f MB/s of processor time, %d MiB of memory (at least %d MB/s)\n", size/1e6, rate/wall, rate/cpu, peak, leastSpeed)
	return rate/wall >= leastSpeed, nil
}

// write makes a log as training writes it, with an error at the end.
func write(mb int) (name string, size int64, err error) {
	f, err := os.CreateTemp("", "training-*.log")
	if err != nil {
		return "", 0, err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for step := 0; size < int64(mb)*1e6; step++ {
		n, err := fmt.Fprintf(w, "2026-01-02 03:04:05,678 [INFO] trainer.py:123 step %d loss %.4f lr 3.0e-04 grad_norm %.3f mem 71.3 GiB allocated tok/s %d\n",
			step, 3/float64(step%100+1), 1/float64(step%17+1), 10000+step%5000)
		if err != nil {
			return f.Name(), size, err
		}
		size += int64(n)
		if step%7 == 0 {
			n, err = fmt.Fprintf(w, "Epoch 3:  %d%%|█████▌    | %d/1000 [03:21<04:12,  1.32it/s, v_num=3]\r", step%100, step%1000)
			if err != nil {
				return f.Name(), size, err
			}
			size += int64(n)
		}
	}
	n, err := w.WriteString(message)
	size += int64(n)
	if err == nil {
		err = w.Flush()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return f.Name(), size, err
}
