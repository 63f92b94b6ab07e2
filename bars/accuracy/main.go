// Command accuracy scores estimates against recorded cases: the peaks that
// PyTorch's own allocator had, and the runs that ran out of memory. Each case
// goes through the same code as plimsoll estimate, in this process.
//
// usage: accuracy [-o docs/accuracy.md] [-match TEXT] [-v] CASES_DIR|FILE.json...
//
// It exits with 1 when a bar is missed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/plimsoll-dev/plimsoll/internal/catalog"
)

func main() {
	out := flag.String("o", "docs/accuracy.md", "the page to write, empty for none")
	match := flag.String("match", "", "take the cases whose name holds this; no page is written")
	verbose := flag.Bool("v", false, "print every case, not only those that are off")
	flag.Parse()
	missed, err := run(flag.Args(), *out, *match, *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, "accuracy:", err)
		os.Exit(2)
	}
	if missed {
		os.Exit(1)
	}
}

// run scores the cases, prints them and writes the page; missed says that a
// bar was.
func run(paths []string, out, match string, verbose bool) (missed bool, err error) {
	files, err := readFiles(paths)
	if err != nil {
		return false, err
	}
	known := catalog.New(catalog.System{Getenv: os.Getenv})
	results := runAll(context.Background(), known, files, match)
	printCases(os.Stdout, results, verbose)
	s := summarize(results)
	printSummary(os.Stdout, s)
	if out != "" && match == "" {
		if err := writePage(out, files, results); err != nil {
			return false, err
		}
	}
	return s.missed(), nil
}
