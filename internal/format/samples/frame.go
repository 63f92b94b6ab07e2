package samples

import (
	"encoding/binary"
	"hash/crc32"
	"time"
)

// magic is the first line of a file.
const magic = "plimsoll.series/1\n"

// family is what the first lines of all versions begin with.
const family = "plimsoll.series/"

// Detect reports whether a file that begins with prefix is a recording of samples,
// of this or another version of the format.
func Detect(prefix []byte) bool {
	return len(prefix) >= len(family) && string(prefix[:len(family)]) == family
}

// What frames do to the segment.
const (
	begins    = 'S' // a segment begins
	continues = 'C'
)

const (
	sync       = "PLSF"
	headerSize = 40
	// mostPacked and mostRaw bound what one frame may take, packed and unpacked:
	// 10,000 processes with long commands take some 10 MiB in their first frame.
	mostPacked = 32 << 20
	mostRaw    = 32 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A header is what stands before each frame.
type header struct {
	does        byte
	packed, raw uint32    // bytes of the content as it stands in the file, and unpacked
	first, last time.Time // of the samples, by the hosts' clocks
	sum         uint32    // of the packed content
}

func (h header) append(b []byte) []byte {
	from := len(b)
	b = append(b, sync...)
	b = append(b, h.does, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, h.packed)
	b = binary.LittleEndian.AppendUint32(b, h.raw)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.first.UnixMicro()))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.last.UnixMicro()))
	b = binary.LittleEndian.AppendUint32(b, h.sum)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[from:], castagnoli))
}

// readHeader is the header that stands at the front of b, and whether one does.
func readHeader(b []byte) (header, bool) {
	if len(b) < headerSize || string(b[:4]) != sync || crc32.Checksum(b[:36], castagnoli) != binary.LittleEndian.Uint32(b[36:]) {
		return header{}, false
	}
	h := header{
		does:   b[4],
		packed: binary.LittleEndian.Uint32(b[8:]),
		raw:    binary.LittleEndian.Uint32(b[12:]),
		first:  time.UnixMicro(int64(binary.LittleEndian.Uint64(b[16:]))).UTC(),
		last:   time.UnixMicro(int64(binary.LittleEndian.Uint64(b[24:]))).UTC(),
		sum:    binary.LittleEndian.Uint32(b[32:]),
	}
	return h, (h.does == begins || h.does == continues) && h.packed <= mostPacked && h.raw <= mostRaw
}
