// Command speed measures a capture of one LoRA step on a Llama with 6.7
// billion parameters, and checks it against the bars: at most 15 seconds in
// all, and less than 3 GiB of host memory.
//
// usage: speed [-plimsoll BIN] [-python PYTHON]
//
// The model is built on the device and, as most scripts do, on the host. The
// processor's time is what the capture takes on a machine that does nothing
// else; the clock's is more when others use the machine.
package main

import (
	"bytes"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/plimsoll-dev/plimsoll/bars/proctree"
	"github.com/plimsoll-dev/plimsoll/unit"
)

//go:embed lora.py
var script []byte

const (
	mostTime   = 15 * time.Second
	mostMemory = 3 * unit.GiB
)

func main() {
	plimsoll := flag.String("plimsoll", "bin/plimsoll", "the program")
	python := flag.String("python", "python3", "the interpreter with PyTorch, transformers and peft")
	flag.Parse()
	ok, err := measure(*plimsoll, *python)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "measure a LoRA step:", err)
		os.Exit(2)
	case !ok:
		os.Exit(1)
	}
}

func measure(plimsoll, python string) (bool, error) {
	dir, err := os.MkdirTemp("", "speed-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "lora.py")
	if err := os.WriteFile(path, script, 0o644); err != nil {
		return false, err
	}
	good := true
	for _, place := range []string{"device", "host"} {
		cmd := exec.Command(plimsoll, "capture", "--gpu", "a100", "--", python, path, place)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		use, err := proctree.Run(cmd)
		if err != nil {
			return false, fmt.Errorf("capture: %w: %s", err, errs.String())
		}
		fmt.Printf("7 B LoRA step, model built on the %-6s  %5.1f s by the clock, %5.1f s of processors; the bar is %.0f s\n",
			place, use.Wall.Seconds(), use.CPU.Seconds(), mostTime.Seconds())
		fmt.Printf("%40s %7s of host memory; the bar is %s\n", "", use.Peak, mostMemory)
		good = good && use.Wall <= mostTime && use.Peak < mostMemory
	}
	return good, nil
}
