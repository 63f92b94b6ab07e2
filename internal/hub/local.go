package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/family"
	"github.com/plimsoll-dev/plimsoll/internal/format/safetensors"
	"github.com/plimsoll-dev/plimsoll/internal/input"
)

// configFile is what a model's description is called.
const configFile = "config.json"

// maxConfig is the largest config.json that is read; package family has the
// same limit.
const maxConfig = 8 << 20

// local reads name as a path. It returns nil without an error when no path is
// meant: nothing of that name exists, or only a directory without a
// config.json, and the name may well be a model's.
func (r *Resolver) local(name string) (*description, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil && looksLikePath(name):
		return nil, fileError(name, err)
	case err != nil:
		return nil, nil
	case info.IsDir():
		return directory(name)
	case strings.HasSuffix(name, ".safetensors"):
		return byWeights(name)
	}
	return file(name)
}

// looksLikePath reports whether only a path can be meant.
func looksLikePath(name string) bool {
	repo, _, _ := strings.Cut(name, "@") // a revision may have slashes
	return strings.HasPrefix(name, ".") || filepath.IsAbs(name) || strings.HasSuffix(name, ".json") ||
		strings.HasSuffix(name, ".safetensors") || strings.HasPrefix(name, "~") || strings.Count(repo, "/") > 1
}

func fileError(name string, err error) error {
	msg, hint := "cannot be read", "check the path and its permissions"
	var e *fs.PathError
	if errors.As(err, &e) {
		msg += ": " + e.Err.Error()
	}
	if errors.Is(err, fs.ErrNotExist) {
		msg, hint = "does not exist", "a path, a name (plimsoll models) or a hub id is wanted"
	}
	if errors.Is(err, input.ErrNotRegular) {
		hint = "give a config.json, its directory, a name or a hub id"
	}
	return &family.Error{File: name, Msg: msg, Hint: hint}
}

// directory reads a model's directory.
func directory(dir string) (*description, error) {
	path := filepath.Join(dir, configFile)
	data, err := readLimited(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, adapter(dir)
	}
	if err != nil {
		return nil, fileError(path, err)
	}
	d := &description{name: modelName(dir), source: FromFile, file: path, config: data}
	return d, d.beside(safetensors.ReadDir(dir))
}

// byWeights reads the config beside a file of weights, which is compared with
// that file.
func byWeights(name string) (*description, error) {
	dir := filepath.Dir(name)
	path := filepath.Join(dir, configFile)
	data, err := readLimited(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &family.Error{File: name, Msg: "holds weights, and no " + configFile + " is beside it", Hint: "the config of the model is needed"}
	}
	if err != nil {
		return nil, fileError(path, err)
	}
	d := &description{name: modelName(dir), source: FromFile, file: path, config: data}
	return d, d.beside(safetensors.ReadModel(name))
}

// beside takes the weights that were found beside a config on the user's disk. They
// are the user's own, so that a file that contradicts itself is an error.
func (d *description) beside(c *safetensors.Checkpoint, err error) error {
	var syntax *input.SyntaxError
	if errors.As(err, &syntax) || errors.Is(err, input.ErrTruncated) || errors.Is(err, input.ErrNotRegular) {
		return &family.Error{Msg: "the weights beside the config cannot be right: " + oneLine(err), Hint: "fetch the file again, or give a copy of the " + configFile + " in a directory of its own"}
	}
	d.weights(c, err)
	return nil
}

// modelName is what a directory's model is called.
func modelName(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Base(dir)
}

// adapter tells the owner of a directory with a LoRA adapter what to ask for.
func adapter(dir string) error {
	data, err := readLimited(filepath.Join(dir, "adapter_config.json"))
	if err != nil {
		if looksLikePath(dir) {
			return &family.Error{File: dir, Msg: "has no " + configFile, Hint: "give the directory that save_pretrained wrote, or a config.json"}
		}
		return nil
	}
	var doc struct {
		Base string `json:"base_model_name_or_path"`
		Rank int    `json:"r"`
	}
	hint := "name the model it belongs to and add --lora"
	if json.Unmarshal(data, &doc) == nil && doc.Base != "" && len(doc.Base) <= maxID {
		hint = fmt.Sprintf("plimsoll estimate %q --lora r=%d,targets=... estimates the model it belongs to", doc.Base, doc.Rank)
	}
	return &family.Error{File: dir, Msg: "holds an adapter, not a model", Hint: hint}
}

// foreign are files that people pass for a config, by how they begin.
var foreign = []struct{ prefix, reason, hint string }{
	{"GGUF", "is a GGUF file, which says nothing of training", "give the config.json of the model it was made from"},
	{"PK\x03\x04", "is a ZIP archive, as torch.save writes", "give the config.json beside it"},
	{"\x80", "is a pickle", "give the config.json beside it"},
	{"<", "is a web page", "download the file itself: its address has /resolve/ in place of /blob/"},
	{"version https://git-lfs", "is a pointer that Git LFS left", "run git lfs pull"},
}

// file reads a config under whatever name.
func file(name string) (*description, error) {
	data, err := readLimited(name)
	if err != nil {
		return nil, fileError(name, err)
	}
	for _, f := range foreign {
		if strings.HasPrefix(string(data[:min(len(data), 64)]), f.prefix) {
			return nil, &family.Error{File: name, Msg: f.reason, Hint: f.hint}
		}
	}
	if safetensors.Detect(data) {
		return nil, &family.Error{File: name, Msg: "holds weights", Hint: "give the config.json beside it"}
	}
	d := &description{source: FromFile, file: name, config: data}
	if filepath.Base(name) == configFile {
		d.name = modelName(filepath.Dir(name))
		return d, d.beside(safetensors.ReadDir(filepath.Dir(name)))
	}
	d.name = strings.TrimSuffix(filepath.Base(name), ".json")
	return d, nil
}

// readLimited reads a regular file of the size that a config may have. Of a
// larger one it returns the beginning and one byte too many, which package
// family refuses.
func readLimited(path string) ([]byte, error) {
	data, err := input.ReadFile(path, maxConfig+1)
	if errors.Is(err, input.ErrTooLarge) {
		err = nil
	}
	return data, err
}
