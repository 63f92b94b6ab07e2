// Command coverage asks plimsoll estimate the core questions about every built-in
// model's structure, and counts those that it answers, answers without a doubt, and
// refuses.
//
// A question is a head, a mode, a precision, an implementation of attention, a way
// of checkpointing and a class of cards; of torchvision's models a mode, a precision
// and a layout of memory. A refusal is not an error: it says that nothing was
// recorded. But it is a question without an answer.
//
// usage: coverage [-o docs/coverage.md] [-family NAME] [-v]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/plimsoll-dev/plimsoll/internal/catalog"
)

func main() {
	out := flag.String("o", "docs/coverage.md", "the page to write, empty for none")
	family := flag.String("family", "", "ask about one family, torchvision for its models; no page is written")
	verbose := flag.Bool("v", false, "print every question that is refused")
	flag.Parse()
	if err := run(*out, *family, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(2)
	}
}

// run asks, prints the counts and writes the page.
func run(out, family string, verbose bool) error {
	rows, err := askAll(context.Background(), catalog.New(catalog.System{Getenv: os.Getenv}), family)
	if err != nil {
		return err
	}
	for _, r := range rows {
		fmt.Println(r)
		if verbose {
			fmt.Println("  doubts:", r.doubts)
			for _, q := range r.refused {
				fmt.Println("  refused:", q)
			}
		}
	}
	sum := total(rows)
	fmt.Println(sum)
	fmt.Println("doubts:", sum.doubts)
	if out == "" || family != "" {
		return nil
	}
	return writePage(out, rows)
}
