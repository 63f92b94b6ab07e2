// Package hub finds the description of a model that a user names: a config.json
// or a directory with one, a model known by name, the local cache of Hugging
// Face's libraries, or their hub over HTTPS, in this order.
//
// From the hub it reads config.json and the headers of safetensors files,
// never weights, and never code. It writes nothing.
//
// Environment and HTTP client come in as parameters; nothing here looks at the
// process's own.
package hub

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/family"
	"github.com/plimsoll-dev/plimsoll/internal/format/safetensors"
)

// Where a description came from, as Model.Source says it.
const (
	FromFile    = "file"
	FromBuiltin = "builtin"
	FromCache   = "cache"
	FromHub     = "hub"
)

// DefaultTimeout is how long one request may take, its body included.
const DefaultTimeout = 10 * time.Second

// A Resolver finds models. The zero value knows paths and built-in names.
type Resolver struct {
	// Getenv looks up HF_HOME, HF_HUB_CACHE, HF_ENDPOINT, HF_TOKEN,
	// HF_HUB_OFFLINE and their like; nil is an empty environment.
	Getenv func(string) string
	// HTTP makes requests; nil is as if Offline were set.
	HTTP    *http.Client
	Offline bool          // never ask the hub
	Timeout time.Duration // of one request; zero is DefaultTimeout
}

// Found is a model and what its checkpoint stores, where that could be seen.
type Found struct {
	*family.Model
	Checkpoint *safetensors.Checkpoint // nil when there is none to look at
}

// Compare compares the checkpoint with how many parameters the model has. It
// returns nil when they agree or nothing can be said: no checkpoint was seen,
// it is of another head, or its weights are packed.
func (f *Found) Compare(parameters int64) *family.Warning {
	if f.Checkpoint == nil || f.Stored != f.Class {
		return nil
	}
	stored, exact := f.Checkpoint.Parameters()
	if !exact {
		return nil
	}
	return f.CompareStored(stored, parameters)
}

// Model finds and reads the model that the user calls name. Of o, the task
// and the assumed family matter. Errors that the user can do something about
// are *family.Error.
func (r *Resolver) Model(ctx context.Context, name string, o family.Options) (*Found, error) {
	if d, err := r.local(name); d != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return d.read(o)
	}
	if e, ok := family.FindBuiltin(name); ok {
		m, err := e.Model(o)
		if err != nil {
			return nil, err
		}
		return &Found{Model: m}, nil
	}
	id, err := parseID(name)
	if err != nil {
		return nil, err
	}
	if d, err := r.cached(id); d != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return d.read(o)
	}
	if !id.onHub() {
		return nil, unknownName(name)
	}
	if r.offline() {
		return nil, r.notCached(id)
	}
	d, err := r.fetch(ctx, id)
	if err != nil {
		return nil, err
	}
	return d.read(o)
}

// A description is a config.json and what stands beside it.
type description struct {
	name, source string
	file         string // what errors call the config
	config       []byte
	checkpoint   *safetensors.Checkpoint
	warnings     []family.Warning
}

// read makes the description a model.
func (d *description) read(o family.Options) (*Found, error) {
	o.Name, o.Source, o.File = d.name, d.source, d.file
	o.OwnHead = d.checkpoint != nil && d.checkpoint.Has("lm_head.weight")
	m, err := family.FromConfig(d.config, o)
	if err != nil {
		return nil, err
	}
	m.Warnings = append(m.Warnings, d.warnings...)
	return &Found{Model: m, Checkpoint: d.checkpoint}, nil
}

// weights takes what a checkpoint says. That there is none is usual; that it is
// damaged or not all there is worth a warning, no more: an estimate does not
// need it.
func (d *description) weights(c *safetensors.Checkpoint, err error) {
	switch {
	case err == nil:
		d.checkpoint = c
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNoFile):
		d.warnings = append(d.warnings, unchecked(err))
	}
}

// unchecked is the warning for weights that cannot be compared.
func unchecked(err error) family.Warning {
	return family.Warning{Code: "unchecked-weights", Message: "the weights were not compared with the config: " + oneLine(err)}
}

// oneLine is an error's text without line breaks.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// env is a variable of the environment that came in.
func (r *Resolver) env(key string) string {
	if r.Getenv == nil {
		return ""
	}
	return strings.TrimSpace(r.Getenv(key))
}

// on reports whether a variable is set to something that means yes, as
// huggingface_hub reads it.
func (r *Resolver) on(key string) bool {
	switch strings.ToUpper(r.env(key)) {
	case "1", "ON", "YES", "TRUE":
		return true
	}
	return false
}

func (r *Resolver) offline() bool {
	return r.Offline || r.HTTP == nil || r.on("HF_HUB_OFFLINE") || r.on("TRANSFORMERS_OFFLINE")
}
