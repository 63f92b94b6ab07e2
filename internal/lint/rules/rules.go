// Package rules lists all lint rules. A rule is a folder; README.md says how to
// add one.
package rules

//go:generate go run ./gen
