// Package all is the list of the formats a report can be printed in.
package all

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/report/html"
	"github.com/plimsoll-dev/plimsoll/internal/report/json"
	"github.com/plimsoll-dev/plimsoll/internal/report/text"
)

// A Format is a name that --format takes and its renderer.
type Format struct {
	Name   string
	Help   string
	Render report.Renderer
}

// Formats returns every format; the first is the default.
func Formats() []Format {
	return []Format{
		{"text", "for people", text.Render},
		{"json", "for programs, with a schema", json.Render},
		{"html", "one page that needs no network", html.Render},
	}
}

// Names returns the names of the formats in the same order.
func Names() []string {
	var names []string
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}

// Lookup returns the format of that name.
func Lookup(name string) (Format, error) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("format %q is not one of %s", name, strings.Join(Names(), ", "))
}
