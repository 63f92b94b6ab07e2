package input

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestReaderReadsWhatIsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(0, 3*windowSize).Draw(t, "size")
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(i * 31)
		}
		r := NewReader(bytes.NewReader(data), int64(size), "f", Limits{})
		for at := 0; at < size; {
			if r.Offset() != int64(at) || r.Remaining() != int64(size-at) {
				t.Fatalf("at %d: offset %d, remaining %d", at, r.Offset(), r.Remaining())
			}
			n := rapid.IntRange(1, size-at).Draw(t, "n")
			if rapid.Bool().Draw(t, "skip") {
				if err := r.Skip(int64(n)); err != nil {
					t.Fatal(err)
				}
			} else if got, err := r.Next(int64(n)); err != nil || !bytes.Equal(got, data[at:at+n]) {
				t.Fatalf("Next(%d) at %d: %d bytes, %v", n, at, len(got), err)
			}
			at += n
		}
		if _, err := r.Next(1); !errors.Is(err, ErrTruncated) {
			t.Fatalf("Next after the end: %v", err)
		}
	})
}

func TestReaderRefusesClaims(t *testing.T) {
	r := NewReader(strings.NewReader("abc"), 3, "f.pickle", Limits{MaxString: 100})
	if _, err := r.Next(50); !errors.Is(err, ErrTruncated) {
		t.Errorf("more than the file holds: %v", err)
	}
	for _, n := range []int64{101, 1 << 40, -1} {
		var syntax *SyntaxError
		if _, err := r.Next(n); !errors.As(err, &syntax) || syntax.Offset != 0 || syntax.File != "f.pickle" {
			t.Errorf("Next(%d): %v", n, err)
		}
	}
	if err := r.Skip(4); !errors.Is(err, ErrTruncated) {
		t.Errorf("Skip past the end: %v", err)
	}
	if b, err := r.Next(3); err != nil || string(b) != "abc" {
		t.Errorf("Next(3) after refusals: %q, %v", b, err)
	}
}

func TestReaderWithAWrongSize(t *testing.T) {
	r := NewReader(strings.NewReader("abc"), 1<<30, "f", Limits{})
	if _, err := r.Next(10); !errors.Is(err, ErrTruncated) {
		t.Errorf("size says 1 GiB, file has 3 bytes: %v", err)
	}
	r = NewReader(strings.NewReader("abc"), 1<<30, "f", Limits{})
	if _, err := r.Next(1 << 20); !errors.Is(err, ErrTruncated) {
		t.Errorf("a long string of a file that has 3 bytes: %v", err)
	}
}

func TestReaderRewinds(t *testing.T) {
	r := NewReader(strings.NewReader("abc"), 3, "f", Limits{})
	for range 2 {
		if w, err := r.Window(16); err != nil || string(w) != "abc" {
			t.Fatalf("Window = %q, %v", w, err)
		}
		r.Advance(3)
		if w, err := r.Window(1); err != nil || len(w) != 0 {
			t.Fatalf("Window at the end = %q, %v", w, err)
		}
		r.Rewind()
	}
}

func TestSyntaxErrorNamesThePlace(t *testing.T) {
	got := (&SyntaxError{"a.pickle", 12, "no"}).Error()
	if want := "a.pickle: byte 12: no"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	got = (&SyntaxError{"a.pickle", -1, "no"}).Error()
	if want := "a.pickle: no"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
