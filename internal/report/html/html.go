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
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/report"
)

//go:embed page/*
var files embed.FS

// scripts are the files of the page's one script, in order: each uses only
// what stands before it.
var scripts = []string{"bytes.js", "model.js", "scale.js", "paint.js", "list.js", "view.js", "keys.js", "main.js"}

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
	script, err := joinScripts()
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
		Report: clean(r), Style: template.CSS(style), Script: template.JS(script), Policy: policy(script),
		Chart: newChart(r.Timelines), Heading: strings.TrimSpace("plimsoll " + r.Command),
	}
	var out bytes.Buffer
	if err := t.Execute(&out, p); err != nil {
		return fmt.Errorf("print %s as HTML: %w", r.Command, err)
	}
	_, err = w.Write(out.Bytes())
	return err
}

func joinScripts() (string, error) {
	var b strings.Builder
	b.WriteString("(() => {\n'use strict';\n")
	for _, name := range scripts {
		text, err := files.ReadFile("page/" + name)
		if err != nil {
			return "", err
		}
		b.Write(text)
	}
	b.WriteString("})();\n")
	return b.String(), nil
}

// policy is the page's Content-Security-Policy: it loads nothing and runs
// the one script whose hash it names.
func policy(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; script-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
