package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/solve"
)

// A unit is the jobs of a variant on one device, and where their recordings go: a
// name made of all that decides what is recorded.
type unit struct {
	device kernel.Device
	lines  []string
	path   string
}

// planned are the jobs of a variant, by device.
type planned struct {
	units  []unit
	at     [][2]int // unit and line of each job
	solved int      // the jobs from this on are for the check
}

// planned finds where the recordings of a variant are, or will be.
func (r *recorder) planned(rw *row, v variant) (planned, error) {
	jobs, solved := v.jobs(rw)
	p := planned{solved: solved}
	given, err := rw.given(v)
	if err != nil {
		return p, err
	}
	index := map[kernel.Device]int{}
	for _, j := range jobs {
		data, err := json.Marshal(line{given, j})
		if err != nil {
			return p, err
		}
		k, ok := index[j.Device]
		if !ok {
			k = len(p.units)
			index[j.Device] = k
			p.units = append(p.units, unit{device: j.Device})
		}
		p.at = append(p.at, [2]int{k, len(p.units[k].lines)})
		p.units[k].lines = append(p.units[k].lines, string(data))
	}
	for k := range p.units {
		u := &p.units[k]
		digest := sha256.Sum256([]byte(fmt.Sprint(r.sourcesOf(v), r.versions, "\n", strings.Join(u.lines, "\n"))))
		u.path = filepath.Join(r.cache, fmt.Sprintf("%x.jsonl.gz", digest[:12]))
	}
	return p, nil
}

// A line is what py/ reads: a job, and what it needs to know of the family.
type line struct {
	Row json.RawMessage `json:"row"`
	Job job             `json:"job"`
}

// A source is a file of py/ and a digest of it.
type source struct{ name, digest string }

func sourcesIn(folder string) ([]source, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.py"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no *.py in %s: run this in the repository's root", folder)
	}
	var list []source
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		list = append(list, source{filepath.Base(path), fmt.Sprintf("%x", sha256.Sum256(text))})
	}
	return list, nil
}

// onlyFor are the files of py/ that only some variants run; every one runs all others.
var onlyFor = map[string]func(v variant) bool{
	"adapt.py":    func(v variant) bool { return len(v.LoRA) > 0 },
	"infer.py":    func(v variant) bool { return v.Mode == "infer" },
	"nf4.py":      func(v variant) bool { return v.Quantize != "" },
	"shard.py":    func(v variant) bool { return v.Shard != "" },
	"unpadded.py": func(v variant) bool { return v.Unpadded },
	"vision.py":   func(v variant) bool { return v.Model != "" },
}

// sourcesOf are the files that a variant is recorded by.
func (r *recorder) sourcesOf(v variant) []source {
	var list []source
	for _, s := range r.sources {
		if runs := onlyFor[s.name]; runs == nil || runs(v) {
			list = append(list, s)
		}
	}
	return list
}

// isCached reports whether all recordings of a variant are in the cache.
func (r *recorder) isCached(rw *row, v variant) bool {
	p, err := r.planned(rw, v)
	return err == nil && !slices.ContainsFunc(p.units, func(u unit) bool { return !u.isCached() })
}

func (u *unit) isCached() bool {
	_, err := os.Stat(u.path)
	return err == nil
}

// failed is the file beside a unit's recordings that says that jobs of it failed.
// They are tried again by the next run, since py/ may be right then.
func (u *unit) failed() string { return u.path + ".failed" }

func (u *unit) isDone() bool {
	_, err := os.Stat(u.failed())
	return u.isCached() && err != nil
}

// recordings are those of a variant. A job that failed is left out, and failed
// says why; a variant needs most of them.
func (r *recorder) recordings(rw *row, v variant) (recs []*solve.Recording, solved int, failed string, err error) {
	p, err := r.planned(rw, v)
	if err != nil {
		return nil, 0, "", err
	}
	read := make([][]*solve.Recording, len(p.units))
	for k, u := range p.units {
		if read[k], err = readAll(u.path); err != nil {
			return nil, 0, "", err
		}
		if len(read[k]) != len(u.lines) {
			return nil, 0, "", fmt.Errorf("%s has %d recordings, not %d", u.path, len(read[k]), len(u.lines))
		}
	}
	for i, at := range p.at {
		rec := read[at[0]][at[1]]
		if rec.Error != "" {
			failed = rec.Error
			continue
		}
		recs = append(recs, rec)
		if i < p.solved {
			solved++
		}
	}
	if solved < p.solved*2/3 {
		return nil, 0, failed, fmt.Errorf("%d of %d recordings: %s", solved, p.solved, failed)
	}
	return recs, solved, failed, nil
}
