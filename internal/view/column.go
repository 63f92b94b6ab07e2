package view

import "encoding/binary"

// A column is a list of numbers as the page reads them: varints, the signed
// ones zigzag.
type column struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
	Bytes int    `json:"bytes"`
	data  []byte
	last  int64
}

func (c *column) put(v uint64) {
	c.data = binary.AppendUvarint(c.data, v)
	c.Count++
}

// step puts the difference from the last value.
func (c *column) step(v int64) {
	c.data = binary.AppendVarint(c.data, v-c.last)
	c.last = v
	c.Count++
}
