package pickle

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/input"
)

// framed is a pickle of protocol 4 that is large enough to be scanned from
// two sides: strings that are memoised, some of which come again later.
func framed() []byte {
	out := []byte{opProto, 4}
	var body []byte
	flush := func() {
		out = append(out, opFrame)
		out = binary.LittleEndian.AppendUint64(out, uint64(len(body)))
		out = append(out, body...)
		body = body[:0]
	}
	body = append(body, ']', opMemoize)
	for n := 1; len(out) < largeFile+largeFile/8; n++ {
		body = append(body, 0x8c, 8)
		body = binary.LittleEndian.AppendUint64(body, 0x4141414141414141)
		body = append(body, opMemoize, 'a')
		if n%7 == 0 {
			body = append(body, opLongBinGet)
			body = binary.LittleEndian.AppendUint32(body, uint32(n-n/3))
			body = append(body, 'a')
		}
		if len(body) > 64<<10 {
			flush()
		}
	}
	body = append(body, opStop)
	flush()
	return out
}

func TestTwoScannersFindWhatOneDoes(t *testing.T) {
	data := framed()
	in := input.NewReader(bytes.NewReader(data), int64(len(data)), "f", input.Limits{})
	if m := middleFrame(in); m < int64(len(data))/2 || m > int64(len(data))/2+128<<10 {
		t.Fatalf("the middle is at %d of %d", m, len(data))
	}
	got, err := scan(in)
	if err != nil {
		t.Fatal(err)
	}
	var one scanner
	if err := one.run(in.Part(0, int64(len(data)))); err != nil {
		t.Fatal(err)
	}
	one.plan.seal()
	if got.count == 0 || got.count != one.plan.count || !slices.Equal(got.read, one.plan.read) {
		t.Errorf("two scanners find %d slots, one %d", got.count, one.plan.count)
	}
	for cut := len(data) - 1; cut > len(data)/2; cut -= len(data) / 9 {
		part := input.NewReader(bytes.NewReader(data[:cut]), int64(cut), "f", input.Limits{})
		if _, err := scan(part); err != nil {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
}
