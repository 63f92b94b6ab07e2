package smilog

import (
	"bufio"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// orderOf is the order of bytes of a text in UTF-16, which is what PowerShell writes a
// command's output in; nil for other texts.
func orderOf(prefix []byte) binary.ByteOrder {
	switch {
	case len(prefix) < 2:
	case prefix[0] == 0xff && prefix[1] == 0xfe:
		return binary.LittleEndian
	case prefix[0] == 0xfe && prefix[1] == 0xff:
		return binary.BigEndian
	}
	return nil
}

// text is the beginning of a file in UTF-8.
func text(prefix []byte) []byte {
	order := orderOf(prefix)
	if order == nil {
		return prefix
	}
	units := make([]uint16, len(prefix)/2)
	for i := range units {
		units[i] = order.Uint16(prefix[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// A narrow reads UTF-16 as UTF-8. A half of a character that stands alone, and half a
// unit at the end, are replaced.
type narrow struct {
	src   *bufio.Reader
	order binary.ByteOrder
	ready []byte
}

// Read reads at least one character.
func (n *narrow) Read(p []byte) (int, error) {
	for len(n.ready) == 0 {
		unit, err := n.unit()
		if err != nil {
			return 0, err
		}
		r := rune(unit)
		if utf16.IsSurrogate(r) {
			r = utf8.RuneError
			if next, err := n.src.Peek(2); err == nil {
				if both := utf16.DecodeRune(rune(unit), rune(n.order.Uint16(next))); both != utf8.RuneError {
					r = both
					n.src.Discard(2) //nolint:errcheck // they are there
				}
			}
		}
		n.ready = utf8.AppendRune(n.ready[:0], r)
	}
	k := copy(p, n.ready)
	n.ready = n.ready[k:]
	return k, nil
}

func (n *narrow) unit() (uint16, error) {
	var b [2]byte
	if _, err := io.ReadFull(n.src, b[:]); err != nil {
		if err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		return 0, err
	}
	return n.order.Uint16(b[:]), nil
}
