package tape

// chunkBits sets the length of a chunk: 65,536 values. Chunks never move, so
// that a long tape is not copied while it grows and wastes at most one chunk.
const (
	chunkBits = 16
	chunkLen  = 1 << chunkBits
)

// A column is an append-only list of small values in chunks.
type column[T any] struct {
	chunks [][]T
}

func (c *column[T]) len() int {
	if len(c.chunks) == 0 {
		return 0
	}
	return (len(c.chunks)-1)<<chunkBits + len(c.chunks[len(c.chunks)-1])
}

func (c *column[T]) at(i int) T { return c.chunks[i>>chunkBits][i&(chunkLen-1)] }

func (c *column[T]) set(i int, v T) { c.chunks[i>>chunkBits][i&(chunkLen-1)] = v }

func (c *column[T]) append(v T) {
	last := len(c.chunks) - 1
	if last < 0 || len(c.chunks[last]) == cap(c.chunks[last]) {
		last = c.grow()
	}
	// Appending in place stores the length alone; through a variable the
	// pointer is stored, too, and the garbage collector told of it.
	c.chunks[last] = append(c.chunks[last], v)
}

// grow makes room in the last chunk, or adds one, and returns its number. Only
// the first chunk grows.
func (c *column[T]) grow() int {
	last := len(c.chunks) - 1
	if last < 0 {
		c.chunks = append(c.chunks, make([]T, 0, 16))
		return 0
	}
	chunk := c.chunks[last]
	if len(chunk) == chunkLen {
		c.chunks = append(c.chunks, make([]T, 0, chunkLen))
		return last + 1
	}
	grown := make([]T, len(chunk), min(2*cap(chunk), chunkLen))
	copy(grown, chunk)
	c.chunks[last] = grown
	return last
}
