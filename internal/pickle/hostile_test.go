package pickle

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/internal/input"
)

func TestRefuses(t *testing.T) {
	deep := strings.Repeat("](", 200)
	tuples := strings.Repeat("\x85", 200)
	for _, c := range []struct {
		name, data string
		want       string // in the message
		offset     int64
	}{
		{"a global", "\x80\x02cos\nsystem\n.", `opcode GLOBAL of "os.system" is refused`, 2},
		{"a stack global", "\x80\x04\x8c\x02os\x8c\x06system\x93.", `opcode STACK_GLOBAL of "os.system" is refused`, 14},
		{"a call", "\x80\x02NNR.", "opcode REDUCE is refused: it makes an object or calls", 4},
		{"a persistent id", "\x80\x02NQ.", "opcode BINPERSID is refused", 3},
		{"an opcode of protocol 0", "\x80\x02I1\n.", "opcode INT is refused: it belongs to protocols 0 and 1", 2},
		{"a byte that is no opcode", "\x80\x02\xff.", "0xff is no pickle opcode", 2},
		{"protocol 1", "\x80\x01N.", "pickle protocol 1; protocols 2 to 5 are read", 0},
		{"protocol 6", "\x80\x06N.", "pickle protocol 6", 0},
		{"text", "hello", "no pickle of protocol 2 to 5: the first byte is 0x68", 0},
		{"a string of 1 TiB", "\x80\x04\x8d\x00\x00\x00\x00\x00\x01\x00\x00.", "string of 1099511627776 bytes is over the limit", 11},
		{"a string of -1 bytes", "\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff.", "over the limit", 11},
		{"a memo slot that is not set", "\x80\x02h\x07.", "memo slot 7 is read before it is set", 2},
		{"a wild memo slot", "\x80\x02Nr\xff\xff\xff\xff.", "memo slot 4294967295 is set, after 0 others", 3},
		{"an empty stack", "\x80\x02.", "STOP needs 1 values, the stack has 0", 2},
		{"memo of nothing", "\x80\x04\x94h\x00.", "MEMOIZE needs 1 values", 2},
		{"no mark", "\x80\x02]e.", "APPENDS without a MARK", 3},
		{"no list", "\x80\x02}(Ne.", "APPENDS finds no list below its items", 5},
		{"no dict", "\x80\x02](NNu.", "SETITEMS finds no dict below its items", 6},
		{"a key without a value", "\x80\x02}(Nu.", "SETITEMS finds a key without a value", 5},
		{"below a mark", "\x80\x02]N(a.", "APPEND needs 1 values, the stack has 0", 5},
		{"open lists", "\x80\x02" + deep, "nested more than 100 deep", 205},
		{"nested tuples", "\x80\x02N" + tuples + ".", "nested more than 100 deep", 103},
		{"many lists", "\x80\x02" + strings.Repeat("]", 3000), "more than 1000 values are held", 1002},
		{"many values", "\x80\x02" + strings.Repeat("N", 3000), "more than 1000 values wait on the stack", 1002},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := load([]byte(c.data), input.Limits{MaxValues: 1000})
			var syntax *input.SyntaxError
			if !errors.As(err, &syntax) || !strings.Contains(syntax.Msg, c.want) || syntax.Offset != c.offset {
				t.Errorf("got %v\nwant byte %d: %s", err, c.offset, c.want)
			}
		})
	}
}

func TestReadsOddThings(t *testing.T) {
	for _, c := range []struct {
		name, data string
		want       any
	}{
		{"a list that holds itself", "\x80\x04]\x94h\x00a.", "..."},
		{"a dict memoised after it was filled", "\x80\x02](}(X\x01\x00\x00\x00aK\x01uq\x00h\x00e.", []any{map[string]any{"a": int64(1)}, map[string]any{"a": int64(1)}}},
		{"the address 2^63 in nine bytes", "\x80\x02\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00.", uint64(1 << 63)},
		{"an integer of 20 bytes", "\x80\x02\x8a\x14aaaaaaaaaaaaaaaaaaaa.", "huge"},
		{"2^64", "\x80\x02\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01.", "huge"},
		{"-2^63-1", "\x80\x02\x8a\x09\xff\xff\xff\xff\xff\xff\xff\x7f\xff.", "huge"},
		{"zero in no bytes", "\x80\x02\x8a\x00.", int64(0)},
		{"-1 in 12 bytes", "\x80\x02\x8a\x0c\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff.", int64(-1)},
		{"text that is not UTF-8", "\x80\x02X\x03\x00\x00\x00\xed\xa0\x80.", "\ufffd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := load([]byte(c.data), input.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if list, ok := got.([]any); ok && c.want == "..." {
				if len(list) != 1 {
					t.Errorf("got %v", got)
				}
				return
			}
			if !cmp.Equal(got, c.want) {
				t.Errorf("got %#v, want %#v", got, c.want)
			}
		})
	}
}

func TestTruncatedAtEveryByte(t *testing.T) {
	whole := "\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01a\x94]\x94(K\x01M\x02\x03J\x04\x05\x06\x07\x8a\x02\x01\x02" +
		"G@\x09!\xfbTD-\x18\x86\x94eX\x03\x00\x00\x00bcd\x94h\x02\x8c\x01c\x94h\x03u."
	if _, err := load([]byte(whole), input.Limits{}); err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if _, err := load([]byte(whole[:n]), input.Limits{}); !errors.Is(err, input.ErrTruncated) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func FuzzRun(f *testing.F) {
	f.Add([]byte("\x80\x04]\x94h\x00a."))
	f.Add([]byte("\x80\x02](}(X\x01\x00\x00\x00aK\x01uq\x00h\x00e."))
	f.Add([]byte("\x80\x02\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00."))
	f.Add([]byte("\x80\x05\x95\x10\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01a\x94]\x94(K\x01M\x02\x03NeX\x01\x00\x00\x00bK\x01K\x02\x86\x94u."))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := load(data, input.Limits{MaxValues: 1 << 16})
		var syntax *input.SyntaxError
		if err != nil && !errors.As(err, &syntax) && !errors.Is(err, input.ErrTruncated) {
			t.Errorf("neither a syntax error nor truncated: %v", err)
		}
	})
}
