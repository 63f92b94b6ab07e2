package main

import (
	"context"
	"runtime"
	"strings"
	"sync"

	"github.com/plimsoll-dev/plimsoll/internal/catalog"
	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A finder finds models; the catalog, or a test's.
type finder interface {
	Find(ctx context.Context, q catalog.Query) (estimate.Source, error)
}

// An outcome is how the verdict of a case compares with what happened.
type outcome int

const (
	right    outcome = iota
	unsure           // may-not-fit
	falseFit         // ran out of memory, and was said to fit
	falseNo          // ran, and was said not to fit
	refused          // not answered
)

var outcomeNames = [...]string{"right", "may not fit", "FALSE FIT", "FALSE NO", "refused"}

func (o outcome) String() string { return outcomeNames[o] }

// A result is one case and its estimate.
type result struct {
	file     *file
	truth    truth
	estimate *estimate.Estimate
	err      error
	outcome  outcome
	// Relative errors of the peaks over the three steps; only where both ran.
	measurable          bool
	allocated, reserved float64
	outside             bool // what was reserved does not lie in the estimate's interval
	parameters          bool // counted right
}

// runAll estimates every case, on all cores.
func runAll(ctx context.Context, known finder, files []*file, match string) []*result {
	var list []*result
	for _, f := range files {
		for _, c := range f.Cases {
			if strings.Contains(f.GPU+" "+c.ID, match) {
				list = append(list, &result{file: f, truth: c})
			}
		}
	}
	queue := make(chan *result)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for r := range queue {
				r.run(ctx, known)
			}
		})
	}
	for _, r := range list {
		queue <- r
	}
	close(queue)
	wg.Wait()
	return list
}

// run estimates the case and compares.
func (r *result) run(ctx context.Context, known finder) {
	r.parameters = true
	r.estimate, r.err = r.answer(ctx, known)
	if r.err != nil {
		r.outcome = refused
		return
	}
	e, m := r.estimate, r.truth.Measured
	ran := m.OutOfMemory == ""
	switch {
	case e.Verdict == estimate.MayNotFit:
		r.outcome = unsure
	case e.Verdict == estimate.Fits && !ran:
		r.outcome = falseFit
	case e.Verdict == estimate.DoesNotFit && ran:
		r.outcome = falseNo
	}
	if m.Parameters > 0 {
		r.parameters = e.Model.Parameter == m.Parameters && e.Model.Trainable == m.Trainable
	}
	if !ran || m.Allocated <= 0 || m.Reserved <= 0 {
		return
	}
	var allocated, reserved unit.Bytes
	for _, s := range e.Steps { // the recordings begin when the model is built
		allocated, reserved = max(allocated, s.Allocated), max(reserved, s.Reserved)
	}
	r.measurable = true
	r.allocated = float64(allocated)/float64(m.Allocated) - 1
	r.reserved = float64(reserved)/float64(m.Reserved) - 1
	r.outside = e.Peak.Step > 0 && (unit.Bytes(m.Reserved) < e.Peak.Low || unit.Bytes(m.Reserved) > e.Peak.High)
}

func (r *result) answer(ctx context.Context, known finder) (*estimate.Estimate, error) {
	target, err := r.file.target()
	if err != nil {
		return nil, err
	}
	rec, err := r.truth.recipe(r.file.Torch)
	if err != nil {
		return nil, err
	}
	source, err := known.Find(ctx, catalog.Query{Name: r.truth.Model, Config: r.truth.Config, Offline: true, Task: rec.Task, Torch: rec.Torch})
	if err != nil {
		return nil, err
	}
	// The recordings were made on the virtual GPU, where cuDNN takes nothing.
	return estimate.On(ctx, source, rec, target, estimate.Options{Bare: true, ZeroWorkspaces: true})
}
