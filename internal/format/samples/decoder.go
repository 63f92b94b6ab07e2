package samples

import (
	"encoding/binary"
	"fmt"
)

// A decoder takes numbers and strings off the front of a frame's content. After
// the first that is not there it returns zeros and keeps the complaint.
type decoder struct {
	b   []byte
	bad error
}

func (d *decoder) fail(format string, args ...any) {
	if d.bad == nil {
		d.bad = fmt.Errorf(format, args...)
	}
	d.b = nil
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail("a number is cut")
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail("a column is cut")
		return 0
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

func (d *decoder) bytes(n int) []byte {
	if n > len(d.b) {
		d.fail("a column is cut")
		return nil
	}
	p := d.b[:n]
	d.b = d.b[n:]
	return p
}

// count is a number of things, each of which takes at least a byte.
func (d *decoder) count(most int, what string) int {
	n := d.uvarint()
	if n > uint64(most) || n > uint64(len(d.b)) {
		d.fail("%d %s are more than there can be", n, what)
		return 0
	}
	return int(n)
}

func (d *decoder) string(most int) string {
	return string(d.bytes(d.count(most, "bytes of a string")))
}
