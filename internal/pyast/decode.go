package pyast

import (
	"bytes"
	"errors"
	"regexp"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrBinary marks a file that is no text.
var ErrBinary = errors.New("not text: it has NUL bytes")

// coding is how a file names its encoding (PEP 263).
var coding = regexp.MustCompile(`^[ \t\f]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)`)

// Decode gives a file's text as UTF-8, and the name of its encoding: "utf-8",
// "utf-8-sig", "utf-16" or "latin-1". Text that is none of them byte by byte
// is read as latin-1, so that positions stay and the ASCII around it is right.
func Decode(raw []byte) (text []byte, encoding string, err error) {
	switch {
	case bytes.HasPrefix(raw, []byte{0xEF, 0xBB, 0xBF}) && utf8.Valid(raw):
		return raw[3:], "utf-8-sig", nil
	case bytes.HasPrefix(raw, []byte{0xFF, 0xFE}), bytes.HasPrefix(raw, []byte{0xFE, 0xFF}):
		return fromUTF16(raw), "utf-16", nil
	case bytes.IndexByte(raw, 0) >= 0:
		return nil, "", ErrBinary
	case utf8.Valid(raw) && !declaresLatin(raw):
		return raw, "utf-8", nil
	}
	out := make([]byte, 0, len(raw)+len(raw)/8)
	for _, b := range raw {
		out = utf8.AppendRune(out, rune(b))
	}
	return out, "latin-1", nil
}

// declaresLatin reports whether one of the first two lines says that the file
// is latin-1, in which every byte string is valid.
func declaresLatin(raw []byte) bool {
	for range 2 {
		line, rest, _ := bytes.Cut(raw, []byte("\n"))
		if m := coding.FindSubmatch(line); m != nil {
			switch string(bytes.ToLower(m[1])) {
			case "latin-1", "iso-8859-1", "latin1", "iso8859-1":
				return true
			}
			return false
		}
		raw = rest
	}
	return false
}

func fromUTF16(raw []byte) []byte {
	big := raw[0] == 0xFE
	var units []uint16
	for i := 2; i+1 < len(raw); i += 2 {
		lo, hi := raw[i], raw[i+1]
		if big {
			lo, hi = hi, lo
		}
		units = append(units, uint16(hi)<<8|uint16(lo))
	}
	return []byte(string(utf16.Decode(units)))
}

// Encode turns text that Decode gave back into bytes of that encoding, or
// reports that it cannot.
func Encode(text []byte, encoding string) ([]byte, error) {
	switch encoding {
	case "utf-8":
		return text, nil
	case "utf-8-sig":
		return append([]byte{0xEF, 0xBB, 0xBF}, text...), nil
	case "latin-1":
		out := make([]byte, 0, len(text))
		for _, r := range string(text) {
			if r > 0xFF {
				return nil, errors.New("a character is not in latin-1")
			}
			out = append(out, byte(r))
		}
		return out, nil
	}
	return nil, errors.New("files in " + encoding + " are not written")
}
