// Command public captures training scripts that other people published, as
// they are, and says for each what came of it.
//
// usage: public [-plimsoll BIN] [-python PYTHON] [-match TEXT] [-gpu CARD] CHECKOUTS
//
// CHECKOUTS is a folder with a checkout of each repository of the table in
// scripts.go, under the repository's name. Each script runs in a copy of its
// checkout, with data of the right shape made beside it; the copy, the home
// folder and the folder for temporary files are compared before and after,
// and must be the same to the byte.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	r := runner{}
	flag.StringVar(&r.plimsoll, "plimsoll", "bin/plimsoll", "the program")
	flag.StringVar(&r.python, "python", "python3", "the interpreter with PyTorch and the packages of requirements.txt")
	flag.StringVar(&r.gpu, "gpu", "h100", "the card, where a script names none")
	flag.BoolVar(&r.verbose, "v", false, "show what failing scripts printed")
	match := flag.String("match", "", "run the scripts whose name holds this")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: public [flags] CHECKOUTS")
		os.Exit(2)
	}
	r.checkouts = flag.Arg(0)
	if err := r.resolve(); err != nil {
		fmt.Fprintln(os.Stderr, "find the program:", err)
		os.Exit(2)
	}
	failed, ran := 0, 0
	fmt.Println(heading())
	for _, s := range scripts {
		if !strings.Contains(s.name, *match) {
			continue
		}
		o := r.run(s)
		fmt.Println(o.line(s))
		ran++
		if !o.good(s) {
			failed++
		}
	}
	if failed > 0 || ran == 0 {
		fmt.Printf("%d of %d scripts failed\n", failed, ran)
		os.Exit(1)
	}
	fmt.Printf("%d scripts, all as expected\n", ran)
}
