package tape

import (
	"encoding/binary"
	"errors"
	"fmt"
)

var errShort = errors.New("section is too short")

// A decoder takes values from a section's content. After the first error all
// values are zero.
type decoder struct {
	buf []byte
	err error
}

func (c *decoder) fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.buf = nil
}

func (c *decoder) byte() byte {
	if len(c.buf) == 0 {
		c.fail(errShort)
		return 0
	}
	b := c.buf[0]
	c.buf = c.buf[1:]
	return b
}

func (c *decoder) uint() uint64 {
	v, n := binary.Uvarint(c.buf)
	if n <= 0 {
		c.fail(errShort)
		return 0
	}
	c.buf = c.buf[n:]
	return v
}

func (c *decoder) int() int64 {
	v, n := binary.Varint(c.buf)
	if n <= 0 {
		c.fail(errShort)
		return 0
	}
	c.buf = c.buf[n:]
	return v
}

// below reads a number that must be less than limit.
func (c *decoder) below(limit int) int {
	v := c.uint()
	if c.err == nil && v >= uint64(limit) {
		c.fail(fmt.Errorf("number %d is out of range, limit %d", v, limit))
		return 0
	}
	return int(v)
}

func (c *decoder) take(n int) []byte {
	if n > len(c.buf) {
		c.fail(errShort)
		return nil
	}
	b := c.buf[:n]
	c.buf = c.buf[n:]
	return b
}

func (c *decoder) text() string { return string(c.take(c.below(len(c.buf) + 1))) }
