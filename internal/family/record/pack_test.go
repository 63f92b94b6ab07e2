//go:build cgo

package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
)

// What is packed comes back, and the same text is always the same bytes.
func TestPacked(t *testing.T) {
	t.Parallel()
	text := bytes.Repeat([]byte("part steady begin once 7\n"), 5000)
	one, err1 := packed(text)
	two, err2 := packed(text)
	back, err3 := recordings.Unpack(one)
	if err := errors.Join(err1, err2, err3); err != nil || !bytes.Equal(one, two) || !bytes.Equal(back, text) {
		t.Errorf("packed twice it differs, or came back otherwise: %v", err)
	}
}
