package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/input"
)

// file is a safetensors file with a header and bytes of data.
func file(header string, data int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, data)...)
}

func readBytes(b []byte) (*Header, error) {
	return Read(bytes.NewReader(b), int64(len(b)), "m.safetensors")
}

const good = `{"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2,3],"data_offsets":[8,32]},"a":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]},"s":{"dtype":"I64","shape":[],"data_offsets":[32,40]}}   `

func TestRead(t *testing.T) {
	h, err := readBytes(file(good, 40))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(h.Tensors); got != "[{a BF16 [4] 0 8} {b F32 [2 3] 8 32} {s I64 [] 32 40}]" {
		t.Error(got)
	}
	if h.Metadata["format"] != "pt" || h.Tensors[1].Elements() != 6 || h.Tensors[2].Elements() != 1 {
		t.Errorf("%+v", h)
	}
	if !Detect(file(good, 0)) || Detect([]byte("PK\x03\x04 and more")) || Detect(nil) {
		t.Error("Detect")
	}
}

func TestTruncatedAtEveryByte(t *testing.T) {
	whole := file(good, 40)
	for n := range whole {
		if _, err := readBytes(whole[:n]); err == nil {
			t.Errorf("no error for %d of %d bytes", n, len(whole))
		}
	}
}

func TestLies(t *testing.T) {
	one := func(dtype, shape, offsets string) string {
		return fmt.Sprintf(`{"w":{"dtype":%q,"shape":%s,"data_offsets":%s}}`, dtype, shape, offsets)
	}
	tests := []struct {
		name, header string
		data         int
		want         string
	}{
		{"two tensors in one place", `{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}}`, 6, `tensor "b" begins at byte 2, inside`},
		{"a hole", `{"a":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}}`, 8, "nothing describes bytes 0 to 4"},
		{"bytes at the end", one("U8", "[4]", "[0,4]"), 5, "1 bytes stand behind"},
		{"data that is not there", one("U8", "[4]", "[0,4]"), 3, "its tensors have 4 bytes, 3 are there"},
		{"offsets the wrong way", one("U8", "[4]", "[4,0]"), 4, "a beginning and an end are wanted"},
		{"negative offsets", one("U8", "[4]", "[-4,0]"), 4, "-4 is no size"},
		{"offsets beyond all files", one("U8", "[4]", "[0,99999999999999999999]"), 4, "is no size"},
		{"three offsets", one("U8", "[4]", "[0,4,8]"), 4, "more than 2 numbers"},
		{"a size that does not fit", one("F32", "[4]", "[0,4]"), 4, "has 4 bytes, but [4] of F32 takes 16"},
		{"an unknown type", one("F12", "[4]", "[0,4]"), 4, `type "F12"`},
		{"a shape that overflows", one("F32", "[4294967296,4294967296,4294967296]", "[0,4]"), 4, "larger than any file"},
		{"half a size", one("F32", "[1.5]", "[0,4]"), 4, "1.5 is no size"},
		{"too many dimensions", one("U8", "["+strings.Repeat("1,", 20)+"1]", "[0,1]"), 1, "more than 16 numbers"},
		{"half a byte", one("F4", "[3]", "[0,1]"), 1, "has 1 bytes"},
		{"the same name twice", `{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2, `"a" is described twice`},
		{"a key too many", `{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"x":1}}`, 0, `has "x", which the format does not know`},
		{"a list", `[]`, 0, `[ where "{" should stand`},
		{"metadata that is not text", `{"__metadata__":{"a":1}}`, 0, `metadata "a" is not text`},
		{"more behind the object", `{} {}`, 0, "something stands behind"},
		{"not JSON", `{nonsense`, 0, "header is not JSON"},
		{"deep nesting", `{"a":{"shape":` + strings.Repeat("[", 50000), 0, "where a number should stand"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := readBytes(file(tc.header, tc.data))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want %q", err, tc.want)
			}
			if strings.Contains(err.Error(), "\n") || len(err.Error()) > 300 {
				t.Errorf("not one clear line: %q", err)
			}
		})
	}
}

func TestHeaderLength(t *testing.T) {
	for _, n := range []uint64{0, 1, MaxHeaderBytes + 1, 1 << 63} {
		var bad *input.SyntaxError
		if _, err := readBytes(append(binary.LittleEndian.AppendUint64(nil, n), "{}"...)); !errors.As(err, &bad) {
			t.Errorf("length %d: %v", n, err)
		}
	}
	if _, err := readBytes(append(binary.LittleEndian.AppendUint64(nil, MaxHeaderBytes), "{}"...)); !errors.Is(err, input.ErrTruncated) {
		t.Errorf("a header longer than the file: %v", err)
	}
}

func write(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func tensor(name, dtype, shape string, bytes int) string {
	return fmt.Sprintf(`{%q:{"dtype":%q,"shape":%s,"data_offsets":[0,%d]}}`, name, dtype, shape, bytes)
}

func TestReadDir(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadDir(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no files: %v", err)
	}
	write(t, dir, SingleFile, file(good, 40))
	c, err := ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if n, exact := c.Parameters(); n != 10 || !exact || !c.Has("a") || c.Has("z") {
		t.Errorf("%d parameters, exact %v", n, exact)
	}
	write(t, dir, "other.safetensors", file(tensor("w", "F16", "[3]", 6), 6))
	write(t, dir, IndexFile, []byte("nonsense"))
	if c, err = ReadDir(dir); err != nil || !c.Has("a") {
		t.Errorf("one file goes before an index: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, SingleFile)); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "x-1.safetensors", file(tensor("w", "F16", "[8]", 16), 16))
	write(t, dir, "x-2.safetensors", file(tensor("h.0.attn.bias", "F32", "[1,1,2,2]", 16), 16))
	write(t, dir, IndexFile, []byte(`{"metadata":{"total_size":32},"weight_map":{"w":"x-1.safetensors","h.0.attn.bias":"x-2.safetensors"}}`))
	if c, err = ReadDir(dir); err != nil {
		t.Fatal(err)
	}
	if n, exact := c.Parameters(); n != 8 || !exact {
		t.Errorf("%d parameters beside a mask, exact %v", n, exact)
	}
	for name, want := range map[string]int64{"x-1.safetensors": 8, "other.safetensors": 3} {
		if c, err = ReadModel(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if n, _ := c.Parameters(); n != want {
			t.Errorf("the model of %s: %d parameters", name, n)
		}
	}
	write(t, dir, "x-2.safetensors", []byte("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n"))
	if _, err := ReadDir(dir); !errors.Is(err, ErrAbsent) {
		t.Errorf("a pointer of Git LFS: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "x-2.safetensors")); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadDir(dir); !errors.Is(err, ErrAbsent) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	write(t, dir, "x-2.safetensors", file(tensor("w", "F16", "[8]", 16), 16))
	if _, err := ReadDir(dir); err == nil || !strings.Contains(err.Error(), "is in another file, too") {
		t.Errorf("the same tensor twice: %v", err)
	}
	write(t, dir, "x-2.safetensors", file(tensor("v", "F16", "[8]", 16), 16))
	if _, err := ReadDir(dir); err == nil || !strings.Contains(err.Error(), "is not where the index says") {
		t.Errorf("a tensor that the index does not know: %v", err)
	}
	write(t, dir, "x-2.safetensors", file(`{}`, 0))
	if _, err := ReadDir(dir); err == nil || !strings.Contains(err.Error(), "is missing, which the index promises") {
		t.Errorf("a tensor that is missing: %v", err)
	}
}

func TestIndexRefused(t *testing.T) {
	for text, want := range map[string]string{
		``:                                   "ends early",
		`{`:                                  "ends early",
		`[]`:                                 "no map of names to files",
		`{"weight_map":{"w":1}}`:             "no map of names to files",
		`{"weight_map":{}}`:                  "names 0 files",
		`{"weight_map":{"w":"../x"}}`:        "not a safetensors file beside it",
		`{"weight_map":{"w":"/etc/passwd"}}`: "not a safetensors file beside it",
		`{"weight_map":{"w":"x.bin"}}`:       "not a safetensors file beside it",
		`{nonsense`:                          "invalid character",
	} {
		if _, err := ParseIndex("i.json", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestPackedWeights(t *testing.T) {
	for _, text := range []string{tensor("a.qweight", "I32", "[4]", 16), tensor("a.weight", "I8", "[4]", 4), tensor("a.weight_scale_inv", "F32", "[1]", 4)} {
		h, err := Parse("f", []byte(text), -1)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Join(map[string]*Header{"f": h}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, exact := c.Parameters(); exact {
			t.Errorf("%s is exact", text)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(file(good, 40))
	f.Add(file(`{}`, 0))
	f.Add(file(tensor("w", "F4", "[2,0]", 0), 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := readBytes(b)
		if err != nil {
			return
		}
		c, err := Join(map[string]*Header{"f": h}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := c.Parameters(); n < 0 || n > 2*int64(len(b)) {
			t.Errorf("%d parameters in %d bytes", n, len(b))
		}
	})
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte(`{"weight_map":{"w":"x-1.safetensors"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if x, err := ParseIndex("f", b); err == nil && (len(x.Files) == 0 || len(x.Holder) == 0) {
			t.Errorf("%+v", x)
		}
	})
}
