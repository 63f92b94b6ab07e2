package safetensors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/input"
)

// Names that Transformers gives to files.
const (
	SingleFile = "model.safetensors"
	IndexFile  = "model.safetensors.index.json"
)

// Limits of an index.
const (
	MaxIndexBytes = 64 << 20
	maxFiles      = 4096
)

// An Index says which file of a checkpoint holds which tensor.
type Index struct {
	Files  []string // sorted
	Holder map[string]string
}

// ParseIndex reads a model.safetensors.index.json. Files that are not beside
// the index are refused.
func ParseIndex(name string, data []byte) (*Index, error) {
	if len(data) > MaxIndexBytes {
		return nil, syntax(name, -1, "%d bytes are more than an index has (limit %d)", len(data), MaxIndexBytes)
	}
	var doc struct {
		Map map[string]string `json:"weight_map"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&doc); err != nil {
		var bad *json.SyntaxError
		if errors.As(err, &bad) {
			return nil, syntax(name, bad.Offset, "%s", bad)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, syntax(name, int64(len(data)), "ends early")
		}
		return nil, syntax(name, dec.InputOffset(), "weight_map is no map of names to files")
	}
	x := &Index{Holder: doc.Map}
	files := map[string]bool{}
	for _, f := range doc.Map {
		if f == "" || strings.ContainsAny(f, "/\\:\x00") || strings.HasPrefix(f, ".") || !strings.HasSuffix(f, ".safetensors") {
			return nil, syntax(name, -1, "weight_map names the file %q, which is not a safetensors file beside it", shortened(f))
		}
		files[f] = true
	}
	if len(files) == 0 || len(files) > maxFiles {
		return nil, syntax(name, -1, "weight_map names %d files", len(files))
	}
	x.Files = slices.Sorted(maps.Keys(files))
	return x, nil
}

// A Checkpoint is what the files of a model hold together.
type Checkpoint struct {
	Tensors map[string]Tensor
}

// Join puts the headers of the files together. index may be nil for a model
// of one file.
func Join(headers map[string]*Header, index *Index) (*Checkpoint, error) {
	c := &Checkpoint{Tensors: map[string]Tensor{}}
	for _, file := range slices.Sorted(maps.Keys(headers)) {
		for _, t := range headers[file].Tensors {
			if _, twice := c.Tensors[t.Name]; twice {
				return nil, syntax(file, -1, "tensor %q is in another file, too", shortened(t.Name))
			}
			if index != nil && index.Holder[t.Name] != file {
				return nil, syntax(file, -1, "tensor %q is not where the index says", shortened(t.Name))
			}
			c.Tensors[t.Name] = t
		}
	}
	if index == nil {
		return c, nil
	}
	for _, name := range slices.Sorted(maps.Keys(index.Holder)) {
		if _, ok := c.Tensors[name]; !ok {
			return nil, syntax(index.Holder[name], -1, "tensor %q is missing, which the index promises", shortened(name))
		}
	}
	return c, nil
}

// ErrAbsent says that weights are not, or not all, where a model's other files
// are. That is no fault of the files that are there.
var ErrAbsent = errors.New("the weights are not all there")

// ReadFile reads the header of a file.
func ReadFile(path string) (*Header, error) {
	f, size, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if pointer(f) {
		return nil, fmt.Errorf("%s: %w: Git LFS left a pointer in its place", path, ErrAbsent)
	}
	return Read(f, size, path)
}

// pointer reports whether a file is what Git LFS leaves for one that was not
// downloaded.
func pointer(f io.ReaderAt) bool {
	const begin = "version https://git-lfs"
	b := make([]byte, len(begin))
	_, err := f.ReadAt(b, 0)
	return err == nil && string(b) == begin
}

// ReadDir reads the headers of a model in a directory, of model.safetensors
// before such of an index, as Transformers does. The error is fs.ErrNotExist,
// wrapped, when the directory has no safetensors of a model.
func ReadDir(dir string) (*Checkpoint, error) {
	c, err := readOne(filepath.Join(dir, SingleFile))
	if !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	index, err := readIndex(dir)
	if err != nil {
		return nil, err
	}
	return readIndexed(dir, index)
}

// ReadModel reads the headers of the model that a file belongs to: of all files
// of its index, or of the file alone when no index names it.
func ReadModel(path string) (*Checkpoint, error) {
	dir, base := filepath.Split(path)
	switch index, err := readIndex(dir); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case slices.Contains(index.Files, base):
		return readIndexed(dir, index)
	}
	return readOne(path)
}

func readOne(path string) (*Checkpoint, error) {
	h, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Join(map[string]*Header{filepath.Base(path): h}, nil)
}

func readIndex(dir string) (*Index, error) {
	path := filepath.Join(dir, IndexFile)
	data, err := input.ReadFile(path, MaxIndexBytes)
	if err != nil {
		return nil, err
	}
	return ParseIndex(path, data)
}

func readIndexed(dir string, index *Index) (*Checkpoint, error) {
	headers := map[string]*Header{}
	for _, f := range index.Files {
		h, err := ReadFile(filepath.Join(dir, f))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w: it names %s", filepath.Join(dir, IndexFile), ErrAbsent, f)
		}
		if err != nil {
			return nil, err
		}
		headers[f] = h
	}
	return Join(headers, index)
}

// Has reports whether the checkpoint stores a tensor.
func (c *Checkpoint) Has(name string) bool {
	_, ok := c.Tensors[name]
	return ok
}

// buffers are the ends of names that Transformers and torchvision store but
// that are no parameters, or were none when older checkpoints were written.
var buffers = []string{
	".inv_freq", ".position_ids", ".attn.bias", ".attn.masked_bias", ".attention.bias", ".attention.masked_bias",
	".running_mean", ".running_var", ".num_batches_tracked", ".e_score_correction_bias", ".embed_positions",
	"final_logits_bias", ".token_type_ids",
}

// Parameters is how many parameters the checkpoint stores: buffers are left
// out, tied weights are there once. exact is false when weights are packed
// into whole numbers, so that the shapes do not say how many there are.
func (c *Checkpoint) Parameters() (n int64, exact bool) {
	exact = true
	for name, t := range c.Tensors {
		switch {
		case t.buffer():
		case t.DType.Floating():
			n += t.Elements()
		case strings.HasSuffix(name, "weight"):
			exact = false
		}
	}
	for name := range c.Tensors {
		for _, packed := range []string{".qweight", ".weight_packed", ".absmax", ".weight_scale_inv", ".weight_scale"} {
			exact = exact && !strings.HasSuffix(name, packed)
		}
	}
	return n, exact
}

// buffer reports whether the tensor is stored but no parameter. A ".bias" of
// four dimensions is a causal mask.
func (t Tensor) buffer() bool {
	if strings.HasSuffix(t.Name, ".bias") && len(t.Shape) != 4 {
		return false
	}
	return slices.ContainsFunc(buffers, func(end string) bool { return strings.HasSuffix(t.Name, end) })
}
