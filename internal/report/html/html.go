// Package html prints a report as one page that needs nothing else: no
// network, no server, no script to read the facts. The script adds the chart
// of memory over time.
//
// Strings of the report are hostile. html/template escapes them for where
// they stand, the chart's data is JSON in a script element that no browser
// runs, and the page's policy allows no script but the embedded one.
package html

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/webpage"
)

//go:embed page/*
var files embed.FS

// scripts are the files of the page's one script, in order: each uses only
// what stands before it.
var scripts = []string{
	"page/model.js", "page/scale.js", "page/paint.js", "page/list.js", "page/view.js", "page/keys.js", "page/main.js",
}

// A page is what the template sees.
type page struct {
	*report.Report
	Style   template.CSS
	Script  template.JS
	Policy  string
	Chart   *chart
	Heading string
}

// Render prints r. The options do not change it.
func Render(w io.Writer, r *report.Report, _ report.Options) error {
	script, err := webpage.Script(files, scripts)
	if err != nil {
		return fmt.Errorf("print %s as HTML: %w", r.Command, err)
	}
	style, err := files.ReadFile("page/style.css")
	if err != nil {
		return fmt.Errorf("print %s as HTML: %w", r.Command, err)
	}
	t, err := template.New("page.html").Funcs(functions).ParseFS(files, "page/*.html")
	if err != nil {
		return fmt.Errorf("print %s as HTML: %w", r.Command, err)
	}
	p := page{
		Report: clean(r), Style: template.CSS(style), Script: template.JS(script), Policy: webpage.Policy(script),
		Chart: newChart(r.Timelines), Heading: strings.TrimSpace("plimsoll " + r.Command),
	}
	var out bytes.Buffer
	if err := t.Execute(&out, p); err != nil {
		return fmt.Errorf("print %s as HTML: %w", r.Command, err)
	}
	_, err = w.Write(out.Bytes())
	return err
}
