package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Output is where an answer goes and in which form: the flags --format and -o,
// which mean the same in every command.
type Output struct {
	Format string // one of the formats that addFlags was given
	File   string // "" or "-" is standard output

	formats []string
}

// addFlags gives cmd the two flags. The first format is the default.
func (o *Output) addFlags(cmd *cobra.Command, formats ...string) {
	o.formats = formats
	cmd.Flags().StringVar(&o.Format, "format", formats[0], "form of the answer: "+strings.Join(formats, ", "))
	cmd.Flags().StringVarP(&o.File, "output", "o", "", "write the answer to `FILE` instead of standard output")
	complete(cmd, "format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

// validate reports a format that the command does not have.
func (o *Output) validate() error {
	if slices.Contains(o.formats, o.Format) {
		return nil
	}
	return WithHint(fmt.Errorf("format %q is not known", o.Format), "--format takes "+strings.Join(o.formats, ", "))
}

// write hands the destination to render. A file appears under its name only
// when it is whole, so that a failed command leaves the old one in place.
func (o *Output) write(stdio IO, render func(io.Writer) error) error {
	if o.File == "" || o.File == "-" {
		return render(stdio.Out)
	}
	if err := writeFile(o.File, render); err != nil {
		return fmt.Errorf("write %s: %w", o.File, err)
	}
	return nil
}

// writeFile renders into a temporary neighbour of name and renames it. A name
// that exists and is no ordinary file (/dev/null, a pipe) is written to as it
// is.
func writeFile(name string, render func(io.Writer) error) (err error) {
	if info, statErr := os.Stat(name); statErr == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return firstError(render(f), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if err := firstError(render(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
