package main

import (
	"fmt"
	"testing"
)

// The questions are a thousand different ones: the same twice would cost less.
func TestQuestionsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range recipes() {
		seen[fmt.Sprint(r)] = true
	}
	if len(seen) != questions {
		t.Errorf("%d questions", len(seen))
	}
}
