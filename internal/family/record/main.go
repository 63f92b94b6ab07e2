// Command record makes the symbolic tapes of a family of models: it records
// small models of the family on the virtual GPU, solves the recordings, checks
// the result against others at dimensions and on cards that it was not solved
// from, and writes it as text.
//
//	make record FAMILY=llama
//	go run ./internal/family/record -python .venv/bin/python -out DIR FAMILY...
//	go run ./internal/family/record -solve FILE.jsonl [-check FILE.jsonl]
//	go run ./internal/family/record -text FILE.sym.zst...
//	go run ./internal/family/record -merge DIR/torch-VERSION [-out DIR]
//	go run ./internal/family/record -list [-missing] [FAMILY...]
//
// What was recorded is kept in the user's cache, so that a run that was stopped
// goes on where it was. The status is 2, and the last lines name the tapes, where
// a tape of the plan could not be made.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(2) //nolint:forbidigo // this is a main
	}
}

// options are the flags.
type options struct {
	python, rows, out, cache, only, plan string
	keepIn, solve, check, merge          string
	jobs                                 int
	verbose, cached, missing, inexact    bool
	text, list                           bool
}

// flagsOf reads the command line: flags, and the names after them.
func flagsOf(args []string) (o options, names []string, err error) {
	flags := flag.NewFlagSet("record", flag.ContinueOnError)
	flags.StringVar(&o.python, "python", "python3", "interpreter with PyTorch and Transformers")
	flags.StringVar(&o.rows, "rows", "internal/family/families", "folder of family rows")
	flags.StringVar(&o.out, "out", "internal/family/recordings", "folder that gets a folder for the version of PyTorch")
	flags.StringVar(&o.cache, "cache", "", "folder of raw recordings; default the user's cache")
	flags.StringVar(&o.only, "only", "", "record only tapes whose key has this in it; the file keeps its others")
	flags.StringVar(&o.plan, "plan", "", "parts of the plan, base,unpadded,infer,adapters,shard; default all; the file keeps its other tapes")
	flags.IntVar(&o.jobs, "jobs", 2, "processes that record at once")
	flags.BoolVar(&o.cached, "cached", false, "record nothing: solve the variants whose recordings are all in the cache, and leave the others out")
	flags.BoolVar(&o.missing, "missing", false, "record only tapes that the file does not have; it keeps its others")
	flags.BoolVar(&o.inexact, "inexact", false, "make only tapes anew that differ from what was recorded, and keep those that then differ less")
	flags.BoolVar(&o.verbose, "v", false, "say every doubt")
	flags.StringVar(&o.keepIn, "keep", "", "write the raw recordings of each tape to this folder, too")
	flags.StringVar(&o.solve, "solve", "", "record nothing: solve this file of raw recordings and write the tape's text")
	flags.StringVar(&o.merge, "merge", "", "record nothing: add the tapes of this folder's files to those of its name in -out, where these lack them or differ more from what was recorded")
	flags.StringVar(&o.check, "check", "", "with -solve: compare the tape with this file instead")
	flags.BoolVar(&o.text, "text", false, "record nothing: print the text of the files of tapes that are named")
	flags.BoolVar(&o.list, "list", false, "record nothing: print FAMILY KEY of each tape that the other flags ask for; of every family where none is named")
	err = flags.Parse(args)
	return o, flags.Args(), err
}

func run(ctx context.Context, args []string) error {
	o, names, err := flagsOf(args)
	if err == nil {
		err = checkPlans(o.plan)
	}
	switch {
	case err != nil:
		return err
	case o.text:
		return printTexts(os.Stdout, names)
	case o.solve != "":
		return look(os.Stdout, o.solve, o.check)
	case o.merge != "":
		return merge(os.Stdout, filepath.Join(o.out, filepath.Base(o.merge)), o.merge)
	case o.list:
		return printPlan(os.Stdout, o, names)
	case len(names) == 0:
		return errors.New("name families: record llama gpt2")
	case o.jobs < 1:
		return fmt.Errorf("-jobs %d: at least one process records", o.jobs)
	}
	if o.cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		o.cache = filepath.Join(dir, "plimsoll", "recordings")
	}
	r, err := newRecorder(ctx, o)
	if err != nil {
		return err
	}
	var missing []string
	for _, name := range names {
		without, err := r.family(ctx, name)
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", name, err), missingError(missing))
		}
		missing = append(missing, without...)
	}
	return missingError(missing)
}

// missingError names the tapes that could not be made; nil where there are none.
func missingError(missing []string) error {
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%d tapes of the plan could not be made:\n  %s", len(missing), strings.Join(missing, "\n  "))
}
