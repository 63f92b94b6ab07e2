package hub

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/family"
	"github.com/plimsoll-dev/plimsoll/internal/format/safetensors"
)

// home is the directory of Hugging Face's libraries, or "".
func (r *Resolver) home() string {
	if dir := r.env("HF_HOME"); dir != "" {
		return r.expand(dir)
	}
	if dir := r.env("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(r.expand(dir), "huggingface")
	}
	if dir := cmp.Or(r.env("HOME"), r.env("USERPROFILE")); dir != "" {
		return filepath.Join(dir, ".cache", "huggingface")
	}
	return ""
}

// expand replaces a leading ~, as huggingface_hub does.
func (r *Resolver) expand(dir string) string {
	if rest, ok := strings.CutPrefix(dir, "~"); ok && r.env("HOME") != "" {
		return r.env("HOME") + rest
	}
	return dir
}

// cacheDir is where models are cached, or "".
func (r *Resolver) cacheDir() string {
	if dir := cmp.Or(r.env("HF_HUB_CACHE"), r.env("HUGGINGFACE_HUB_CACHE")); dir != "" {
		return r.expand(dir)
	}
	if dir := r.home(); dir != "" {
		return filepath.Join(dir, "hub")
	}
	return ""
}

// cached reads a model from the cache, whose layout is
// models--ORG--NAME/{refs/REVISION, snapshots/COMMIT/config.json}. It returns
// nil when the model is not there.
func (r *Resolver) cached(i id) (*description, error) {
	root := r.cacheDir()
	if root == "" {
		return nil, nil
	}
	repo := filepath.Join(root, "models--"+strings.ReplaceAll(i.repo, "/", "--"))
	dir, ok := snapshot(repo, i.revision)
	if !ok {
		return nil, nil
	}
	path := filepath.Join(dir, configFile)
	data, err := readLimited(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fileError(path, err)
	}
	d := &description{name: i.String(), source: FromCache, file: path, config: data}
	d.weights(safetensors.ReadDir(dir))
	return d, nil
}

// snapshot is the directory of a revision: the commit that refs names, a
// commit itself, or the only one there is.
func snapshot(repo, rev string) (string, bool) {
	commit := rev
	if ref, err := readLimited(filepath.Join(repo, "refs", filepath.FromSlash(rev))); err == nil {
		commit = strings.TrimSpace(string(ref))
	}
	snapshots := filepath.Join(repo, "snapshots")
	if folder.MatchString(commit) {
		dir := filepath.Join(snapshots, commit)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir, true
		}
	}
	if all, err := os.ReadDir(snapshots); err == nil && len(all) == 1 && rev == "main" {
		return filepath.Join(snapshots, all[0].Name()), true
	}
	return "", false
}

// notCached is the error for a model that only the hub has.
func (r *Resolver) notCached(i id) error {
	where := r.cacheDir()
	if where == "" {
		where = "none: HOME and HF_HOME are not set"
	}
	hint := "without --offline it is looked up on the hub; or give its config.json"
	if !r.Offline && (r.on("HF_HUB_OFFLINE") || r.on("TRANSFORMERS_OFFLINE")) {
		hint = "HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE is set; unset it, or give its config.json"
	}
	return &family.Error{Msg: i.String() + " is no built-in model and not in the local cache (" + where + ")", Hint: hint}
}
