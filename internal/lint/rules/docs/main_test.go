package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPagesAreCurrent compares docs/rules with the rules.
func TestPagesAreCurrent(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "..", "docs", "rules")
	want := pages()
	for name, text := range want {
		have, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(have) != text {
			t.Errorf("docs/rules/%s is not current: make rules writes it", name)
		}
	}
	have, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range have {
		if want[filepath.Base(name)] == "" {
			t.Errorf("docs/rules/%s is of no rule: make rules removes it", filepath.Base(name))
		}
	}
}
