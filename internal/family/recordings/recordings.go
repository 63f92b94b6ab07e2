// Package recordings holds the symbolic tapes of all families, one file for
// each version of PyTorch and family. They are text, packed; make recordings
// prints them. Package record makes them, and nobody else.
package recordings

import (
	"cmp"
	"embed"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

//go:embed torch-*/*.sym.zst
var files embed.FS

const folder = "torch-"

// Versions are the versions of PyTorch that there are recordings of, the newest
// first.
func Versions() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil
	}
	var list []string
	for _, e := range entries {
		list = append(list, strings.TrimPrefix(e.Name(), folder))
	}
	slices.SortFunc(list, func(a, b string) int { return Compare(b, a) })
	return list
}

// Compare orders versions as their numbers do: 2.6.0 is before 2.15.0.
func Compare(a, b string) int {
	x, y := numbers(a), numbers(b)
	return cmp.Or(slices.Compare(x, y), strings.Compare(a, b))
}

func numbers(version string) []int {
	version, _, _ = strings.Cut(version, "+")
	var list []int
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		list = append(list, n)
	}
	return list
}

// Families are those that were recorded with a version, sorted.
func Families(torch string) []string {
	entries, err := files.ReadDir(folder + torch)
	if err != nil {
		return nil
	}
	var list []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), Extension); ok {
			list = append(list, name)
		}
	}
	return list
}

// A File has the tapes of one family. It may be asked by several goroutines at
// once.
type File struct {
	Torch  string // the version of PyTorch
	Family string

	lock       sync.Mutex
	collection *symbolic.Collection
	tapes      map[string]*symbolic.Tape
}

var cache = struct {
	sync.Mutex
	files map[string]*File
}{files: map[string]*File{}}

// Open reads the recordings of a family, once. An empty version is the newest
// that has the family.
func Open(torch, family string) (*File, error) {
	if torch == "" {
		for _, v := range Versions() {
			if slices.Contains(Families(v), family) {
				torch = v
				break
			}
		}
	}
	name := path.Join(folder+torch, family+Extension)
	cache.Lock()
	defer cache.Unlock()
	if f, ok := cache.files[name]; ok {
		return f, nil
	}
	c, err := read(name)
	if err != nil {
		return nil, fmt.Errorf("recordings of %s with PyTorch %s: %w", family, torch, err)
	}
	f := New(c)
	f.Torch, f.Family = torch, family
	cache.files[name] = f
	return f, nil
}

// New is the file of a collection that came from elsewhere.
func New(c *symbolic.Collection) *File {
	return &File{collection: c, tapes: map[string]*symbolic.Tape{}}
}

func read(name string) (*symbolic.Collection, error) {
	packed, err := files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	text, err := Unpack(packed)
	if err != nil {
		return nil, err
	}
	return symbolic.ParseCollection(unsafe.String(unsafe.SliceData(text), len(text))) // nobody else has the bytes
}

// Keys are the names of the tapes, in the order of the file.
func (f *File) Keys() []string { return f.collection.Keys }

// Has reports whether there is a tape with a key.
func (f *File) Has(key string) bool { return f.collection.Has(key) }

// Version is that of a library that the recordings were made with, "" for one
// that they do without.
func (f *File) Version(library string) string {
	for _, m := range f.collection.Meta {
		if m[0] == library {
			return m[1]
		}
	}
	return ""
}

// Tape returns the tape with a key. The caller must not change it.
func (f *File) Tape(key string) (*symbolic.Tape, error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if t, ok := f.tapes[key]; ok {
		return t, nil
	}
	t, err := f.collection.Tape(key)
	if err != nil {
		return nil, err
	}
	f.tapes[key] = t
	return t, nil
}
