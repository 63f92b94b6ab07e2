// Command truth captures recorded cases and compares the peaks with those
// that PyTorch's own allocator had: allocated and reserved, to the byte, and
// the message of those that ran out of memory.
//
// usage: truth [-plimsoll BIN] [-python PYTHON] [-every N] [-match TEXT] [-jobs N] FILE.json...
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
)

// A file is one truth file: cases measured on one card.
type file struct {
	path   string
	GPU    string `json:"gpu"`
	Device struct {
		Capacity string `json:"VGPU_CAP"`
	} `json:"device"`
	Cases []struct {
		ID       string   `json:"id"`
		Measured measured `json:"measured"`
	} `json:"cases"`
}

type measured struct {
	Allocated   int64  `json:"peak_allocated_bytes"`
	Reserved    int64  `json:"peak_reserved_bytes"`
	OutOfMemory string `json:"out_of_memory"`
}

func main() {
	r := runner{}
	flag.StringVar(&r.plimsoll, "plimsoll", "bin/plimsoll", "the program")
	flag.StringVar(&r.python, "python", "python3", "the interpreter with the PyTorch of the files")
	flag.StringVar(&r.script, "script", "bars/truth/case.py", "the script that runs a case")
	every := flag.Int("every", 1, "take every Nth case")
	match := flag.String("match", "", "take the cases whose name holds this")
	jobs := flag.Int("jobs", 1, "captures at once")
	flag.Parse()
	var all []job
	for _, path := range flag.Args() {
		f, err := read(path)
		if err != nil {
			fmt.Fprintln(os.Stderr, "read truth:", err)
			os.Exit(2)
		}
		for i, c := range f.Cases {
			if i%*every == 0 && strings.Contains(c.ID, *match) {
				all = append(all, job{f, c.ID, c.Measured})
			}
		}
	}
	count := r.all(all, *jobs)
	fmt.Printf("%d cases: %d equal to the byte, %d more when no value is computed, %d differ\n",
		len(all), count[equal], count[equalWithoutValues], count[differs])
	if count[differs] > 0 || len(all) == 0 {
		os.Exit(1)
	}
}

func read(path string) (*file, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &file{path: path}
	if err := json.Unmarshal(data, f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// all runs the jobs, some at once, prints a line for each and counts how they
// ended.
func (r *runner) all(jobs []job, at int) (count [3]int) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	queue := make(chan job)
	for range max(1, at) {
		wg.Go(func() {
			for j := range queue {
				line, o := r.run(j)
				mu.Lock()
				fmt.Println(line)
				count[o]++
				mu.Unlock()
			}
		})
	}
	for _, j := range jobs {
		queue <- j
	}
	close(queue)
	wg.Wait()
	return count
}
