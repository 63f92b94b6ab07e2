// Package webpage makes the one script of a page and the policy that lets
// nothing else run. It is what the pages of reports and of recordings share.
package webpage

import (
	"crypto/sha256"
	_ "embed" // amounts
	"encoding/base64"
	"io/fs"
	"strings"
)

// amounts writes bytes, numbers and shares. Every page's script begins with it.
//
//go:embed amounts.js
var amounts string

// Script joins files, in order, each of which uses only what stands before it,
// into one script that leaves no name behind.
func Script(files fs.FS, names []string) (string, error) {
	var b strings.Builder
	b.WriteString("(() => {\n'use strict';\n" + amounts)
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return "", err
		}
		b.Write(text)
	}
	b.WriteString("})();\n")
	return b.String(), nil
}

// Amounts is the part of a script that all pages have.
func Amounts() string { return amounts }

// Policy is the Content-Security-Policy of a page that runs this one script and
// loads nothing, but for what more allows, such as "img-src data:".
func Policy(script string, more ...string) string {
	sum := sha256.Sum256([]byte(script))
	parts := append([]string{
		"default-src 'none'", "style-src 'unsafe-inline'", "base-uri 'none'", "form-action 'none'",
		"script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'",
	}, more...)
	return strings.Join(parts, "; ")
}
