package catalog

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/family"
	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
	"github.com/plimsoll-dev/plimsoll/internal/hub"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// A source is a model of a family, played from the family's recordings.
type source struct {
	model *family.Model
	found *hub.Found
	tapes *recordings.File
	notes []reason // what is in doubt whatever the recipe
	molds molds

	seen      sync.Map // *symbolic.Tape to *about
	mixes     sync.Map // of everyKth, by way and K
	fewers    sync.Map // of fewer, by way
	unpaddeds sync.Map // of unpadded, by way

	readWays sync.Once
	ways     []recordings.Way // that there are tapes of
}

func newSource(found *hub.Found, q Query) (*source, error) {
	m := found.Model
	s := &source{model: m, found: found}
	var err error
	if s.tapes, err = s.open(q.Torch); err != nil {
		return nil, err
	}
	s.notes = append(s.notes, s.modelNotes()...)
	return s, nil
}

// open finds the recordings of the version that is nearest to the wanted one.
func (s *source) open(torch string) (*recordings.File, error) {
	name := fileOf(s.model.Library, s.model.Family)
	var versions []string
	for _, v := range recordings.Versions() {
		if slices.Contains(recordings.Families(v), name) {
			versions = append(versions, v)
		}
	}
	if len(versions) == 0 {
		return nil, &estimate.Error{Msg: fmt.Sprintf("%s: there are no recordings of the family %s", s.model.Name, s.model.Family), Hint: tryCapture}
	}
	best := nearest(versions, torch)
	if torch != "" && minor(best) != minor(torch) {
		s.notes = append(s.notes, reason{
			code: "other-version", share: otherVersion,
			message: fmt.Sprintf("%s is not recorded with PyTorch %s: sizes are those of %s", s.model.Family, torch, best),
		})
	}
	return recordings.Open(best, name)
}

// nearest is the version of the same minor release, else the oldest that is
// newer, else the newest. Versions are sorted, the newest first.
func nearest(versions []string, torch string) string {
	best := versions[0]
	for _, v := range versions {
		if minor(v) == minor(torch) {
			return v
		}
		if torch != "" && recordings.Compare(v, torch) > 0 {
			best = v
		}
	}
	return best
}

// minor is the version without its last number, "2.15".
func minor(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}

const tryCapture = "plimsoll capture runs a training script of your own without a GPU and answers exactly"

// Model describes the model.
func (s *source) Model() estimate.Model {
	m, train := s.model, s.training()
	return estimate.Model{
		Name: m.Name, Source: sourceWord(m.Source), Family: m.Family,
		RecordedWith: estimate.RecordedWith{
			Torch: plain(s.tapes.Version("torch")), Transformers: libraryVersion(s, "transformers", family.Transformers), TorchVision: libraryVersion(s, "torchvision", family.Torchvision),
		},
		Dropout: train.dropout, BatchNorm: train.batchNorm, LoRATargets: s.adapters(),
	}
}

// plain is a version without what it was built for.
func plain(version string) string {
	version, _, _ = strings.Cut(version, "+")
	return version
}

func libraryVersion(s *source, name, library string) string {
	if s.model.Library != library {
		return ""
	}
	return plain(s.tapes.Version(name))
}

// sourceWord is where a description came from, in one word.
func sourceWord(from string) string {
	switch from {
	case hub.FromBuiltin, hub.FromCache, hub.FromHub:
		return from
	}
	return hub.FromFile
}

// adapters are the layers that the first recording with adapters has them on.
func (s *source) adapters() []string {
	for _, v := range s.recorded() {
		if len(v.LoRA) > 0 {
			return v.LoRA
		}
	}
	return nil
}

// An about is what catalog looks for in a tape, found once.
type about struct {
	channelsLast bool            // images are
	dropout      bool            // training draws random numbers: the parts of a split batch differ from the whole
	batchNorm    bool            // examples of a batch depend on each other
	attends      bool            // attention in one kernel, which cards choose differently, and which keeps the same whoever needs a gradient
	attention    []symbolic.Expr // what cuDNN's attention asks for
	convs        []symbolic.Expr // what cuDNN's convolutions ask for
	spans        []symbolic.Span // where it was recorded
	guarded      map[string]bool // what happens depends on these dimensions
	unpacks      bool            // it is known when weights in 4 bits are unpacked for a product
}

// about looks a tape over.
func (s *source) about(t *symbolic.Tape) *about {
	if a, ok := s.seen.Load(t); ok {
		return a.(*about)
	}
	way, _ := recordings.ParseWay(t.Title)
	a := &about{channelsLast: way.ChannelsLast, guarded: map[string]bool{}, spans: t.Seen}
	t.EachOp(func(op *symbolic.Op) {
		has := func(word string) bool { return strings.Contains(op.Label, word) }
		a.dropout = a.dropout || has("dropout") || has("bernoulli")
		a.batchNorm = a.batchNorm || has("batch_norm")
		a.attends = a.attends || has("scaled_dot_product")
		a.unpacks = a.unpacks || has("_dequant_linear_fallback")
		switch {
		case op.Free:
		case has("cudnn_attention"):
			a.attention = append(a.attention, op.Bytes)
		case has("cudnn_convolution"):
			a.convs = append(a.convs, op.Bytes)
		}
		for _, c := range op.When {
			c.Left.Names(func(n string) { a.guarded[n] = true })
		}
	})
	s.seen.Store(t, a)
	return a
}

// training is the first tape of training, which tells what a model does.
func (s *source) training() *about {
	for _, v := range s.recorded() {
		if v.Mode != "train" || v.Structure != s.structure() {
			continue
		}
		if t, err := s.tapes.Tape(v.String()); err == nil {
			return s.about(t)
		}
	}
	return &about{}
}

// structure is the recorded structure, for torchvision the model.
func (s *source) structure() string {
	if s.model.Library == family.Torchvision {
		return s.model.Family
	}
	name := s.model.Structure
	row, ok := family.Lookup(s.model.Family)
	if !ok || s.model.Task != recipe.SequenceClassification || s.isRecorded(name) {
		return name
	}
	if untied, ok := row.Untied(name); ok && s.isRecorded(untied) {
		return untied // there is no head to tie
	}
	return name
}

// isRecorded reports whether a structure has tapes of the model's task.
func (s *source) isRecorded(structure string) bool {
	return slices.ContainsFunc(s.recorded(), func(w recordings.Way) bool {
		return w.Structure == structure && w.Task == string(s.model.Task)
	})
}
