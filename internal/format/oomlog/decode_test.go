package oomlog

import (
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
)

// wide is a text in UTF-16 with its mark.
func wide(text string, order binary.AppendByteOrder) string {
	var out []byte
	for _, u := range append([]uint16{0xfeff}, utf16.Encode([]rune(text))...) {
		out = order.AppendUint16(out, u)
	}
	return string(out)
}

func TestDecoded(t *testing.T) {
	const text = "step 1 \U0001F600\r\nRuntimeError: CUDA error: out of memory\r\n"
	long := strings.Repeat("\U0001F600", 30000) + "x"
	for _, c := range []struct{ in, want string }{
		{wide(text, binary.LittleEndian), text}, {wide(text, binary.BigEndian), text}, {text, text}, {"", ""}, {"a", "a"}, {"\xff\xfe", ""},
		{"\xff\xfea", ""}, {"\xff\xfe\x3d\xd8", "\ufffd"}, {"\xff\xfe\x3d\xd8a\x00", "\ufffda"}, {wide(long, binary.LittleEndian), long},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)), iotest.DataErrReader(strings.NewReader(c.in))} {
			got, err := io.ReadAll(Decoded(r))
			if err != nil || string(got) != c.want {
				t.Errorf("%.40q: %.40q, %v", c.in, got, err)
			}
		}
	}
	log, err := Scan(t.Context(), Decoded(strings.NewReader(wide(text, binary.LittleEndian))), "ps.log")
	if err != nil || len(log.Messages) != 1 || log.Messages[0].Line != 2 {
		t.Errorf("%+v, %v", log, err)
	}
}
