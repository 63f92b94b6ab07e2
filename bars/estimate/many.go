package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/catalog"
	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/gpu"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
)

const (
	questions = 1000
	cores     = 2
	card      = "h100"
)

// many is a thousand estimates of one model in this process, each of another
// recipe, as a planner asks them: does it fit, and what does it take.
func many(ctx context.Context) ([]bar, error) {
	runtime.GOMAXPROCS(cores)
	source, err := catalog.New(catalog.System{Getenv: os.Getenv}).Find(ctx, catalog.Query{Name: model, Offline: true})
	if err != nil {
		return nil, err
	}
	choice, err := gpu.Lookup(card)
	if err != nil {
		return nil, err
	}
	target := estimate.TargetOf(choice.Card, 1)
	asked := recipes()
	fits, failed := atomic.Int64{}, make([]error, len(asked))
	begin, before := time.Now(), processor()
	var next atomic.Int64
	var wait sync.WaitGroup
	for range cores {
		wait.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(asked); i = next.Add(1) - 1 {
				e, err := estimate.On(ctx, source, asked[i], target, estimate.Options{Bare: true})
				if failed[i] = err; err == nil && e.Verdict == estimate.Fits {
					fits.Add(1)
				}
			}
		})
	}
	wait.Wait()
	took, used := time.Since(begin), processor()-before
	if err := errors.Join(failed...); err != nil {
		return nil, err
	}
	return []bar{{
		fmt.Sprintf("%d estimates of %s, %d cores", questions, model, cores), took.Seconds(), 2, "s",
		fmt.Sprintf("processor time %.2f s, %.1f ms each; %d of them fit", used.Seconds(), milliseconds(used)/questions, fits.Load()),
	}}, nil
}

// recipes are a thousand ways to train.
func recipes() []recipe.Recipe {
	var list []recipe.Recipe
	for batch := int64(1); ; batch++ {
		for _, seq := range []int64{512, 1024, 2048, 4096} {
			for _, precision := range []recipe.Precision{recipe.BF16, recipe.AmpBF16, recipe.FP32} {
				for _, optimizer := range []string{"adamw", "adamw-fused", "adamw-8bit", "sgd-momentum"} {
					for _, checkpoint := range []string{"none", "full"} {
						if len(list) == questions {
							return list
						}
						list = append(list, recipe.Recipe{Batch: batch, Seq: seq, Precision: precision, Optimizer: optimizer, Checkpoint: checkpoint})
					}
				}
			}
		}
	}
}

// processor is the processor time of this process so far.
func processor() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
