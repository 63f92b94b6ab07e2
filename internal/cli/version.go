package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is the version that a release build sets with -ldflags; a build from
// a checkout leaves it empty and is named by its commit.
var release string

// build is what there is to say about this binary.
type build struct {
	Schema   string `json:"schema"`
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Cgo      bool   `json:"cgo"`
}

func buildVersion() build {
	b := build{
		Schema:   "plimsoll.version/1",
		Version:  release,
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		case "CGO_ENABLED":
			b.Cgo = s.Value == "1"
		}
	}
	if b.Version == "" {
		b.Version = "devel"
	}
	return b
}

func newVersionCommand(stdio IO) *cobra.Command {
	var out Output
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version and how it was built",
		Example: "  plimsoll version\n  plimsoll version --format json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := out.validate(); err != nil {
				return err
			}
			return out.write(stdio, func(w io.Writer) error { return renderVersion(w, buildVersion(), out.Format) })
		},
	}
	out.addFlags(cmd, "text", "json")
	return cmd
}

func renderVersion(w io.Writer, b build, format string) error {
	if format == "json" {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(b)
	}
	commit := b.Commit
	if len(commit) > 12 {
		commit = commit[:12]
	}
	if commit == "" {
		commit = "unknown commit"
	} else if b.Modified {
		commit += " with changes"
	}
	_, err := fmt.Fprintf(w, "plimsoll %s (%s, %s, %s)\n", b.Version, commit, b.Go, b.Platform)
	return err
}
