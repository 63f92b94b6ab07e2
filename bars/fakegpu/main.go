// Command fakegpu runs training loops under a capture and under FakeGPU 1.5.5's
// preflight, one after the other on the same machine, and compares what both
// say and what both take.
//
// usage: fakegpu [-plimsoll BIN] [-python PYTHON] [-match TEXT] CHECKOUT
//
// CHECKOUT is FanBB2333/FakeGPU at v1.5.5. The first loops are workloads that
// FakeGPU maintains and calibrates, run from its own file; the others have the
// same shape at sizes that people train. Both sides use the same interpreter
// and PyTorch. Each difference between the peaks is listed block by block.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	b := bench{}
	flag.StringVar(&b.plimsoll, "plimsoll", "bin/plimsoll", "the program")
	flag.StringVar(&b.python, "python", "python3", "the interpreter with PyTorch, transformers and peft")
	match := flag.String("match", "", "run the loops whose name holds this")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: fakegpu [flags] CHECKOUT")
		os.Exit(2)
	}
	if err := b.prepare(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "prepare the comparison:", err)
		os.Exit(2)
	}
	defer os.RemoveAll(b.dir)
	fmt.Println(heading())
	var found []result
	for _, l := range loops {
		if !strings.Contains(l.name, *match) {
			continue
		}
		r, err := b.compare(l)
		if err != nil {
			fmt.Fprintf(os.Stderr, "compare %s: %v\n", l.name, err)
			os.RemoveAll(b.dir)
			os.Exit(2) //nolint:gocritic // the folder is removed above
		}
		fmt.Println(r.lines(l))
		found = append(found, r)
	}
	fmt.Println()
	for i, r := range found {
		if i > 0 {
			fmt.Println()
		}
		fmt.Println(r.trace())
	}
}

// A loop is one training loop and how each side starts it.
type loop struct {
	name     string
	workload string // of FakeGPU's own file; empty for ours
	argument string // of loops.py
}

var loops = []loop{
	{name: "tiny_transformer_step", workload: "tiny_transformer_step"},
	{name: "gradient_checkpointing_step", workload: "gradient_checkpointing_step"},
	{name: "hf_tiny_gpt2_step", workload: "hf_tiny_gpt2_step"},
	{name: "peft_lora_tiny_step", workload: "peft_lora_tiny_step"},
	{name: "checkpointing, 16 blocks of 2048", argument: "checkpointing"},
	{name: "GPT-2 124M, 4 x 512", argument: "gpt2"},
	{name: "LoRA on GPT-2 774M, 2 x 256", argument: "lora"},
}

// maintained is the file of FakeGPU's workloads.
const maintained = "verification/calibration_rtx3090ti.py"

// card is the one that FakeGPU's workloads are calibrated on, as either names it.
const (
	card    = "3090ti"
	profile = "rtx3090ti"
)

// real is the script and arguments with which the loop runs on a card.
func (l loop) real(dir string) []string {
	if l.workload == "" {
		return []string{filepath.Join(dir, "loops.py"), l.argument}
	}
	return []string{maintained, "--worker", "real", "--workload", l.workload, "--repeats", "1", "--warmup-runs", "0"}
}

// fake is the same for FakeGPU.
func (l loop) fake(dir string) []string {
	if l.workload == "" {
		return l.real(dir)
	}
	return []string{maintained, "--worker", "fakecuda", "--workload", l.workload, "--profile", profile}
}
