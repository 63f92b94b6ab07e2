package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/plimsoll-dev/plimsoll/internal/history"
	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/internal/lint/workspace"
)

// causeRules say which mistakes in code make a GPU idle for which causes: what
// a recording measured of a cause is what the mistakes cost together, at most.
var causeRules = []struct {
	cause string // of internal/idle
	rules []string
}{
	{"no-workers", []string{"loader-no-workers", "decode-in-loop", "tokenize-in-loop", "uint8-to-float-before-transfer"}},
	{"few-workers", []string{"loader-no-workers", "decode-in-loop", "tokenize-in-loop"}},
	{"cpu-decode", []string{"loader-no-workers", "decode-in-loop", "tokenize-in-loop"}},
	{"epoch-boundary", []string{"loader-rebuilt-in-loop", "loader-consumed-for-len"}},
	{"pageable-copies", []string{"pin-memory-missing", "non-blocking-missing", "cpu-tensor-then-move", "uint8-to-float-before-transfer"}},
	{"narrow-link", []string{"uint8-to-float-before-transfer"}},
	{"step-sync", []string{"item-every-step", "synchronize-every-step", "jax-wait-every-step", "empty-cache-every-step"}},
	{"small-kernels", []string{"python-loop-over-tensor", "optimizer-tensor-by-tensor"}},
	{"checkpoint-stall", []string{"save-every-step", "save-on-all-ranks"}},
	{"compilation", []string{"compile-in-loop", "cudnn-benchmark-variable-shapes"}},
	{"evaluation", []string{"eval-every-step"}},
	{"communication", []string{"ddp-accumulates-without-no-sync", "barrier-every-step"}},
}

// A lintShare is the part of the time that a cause cost a GPU.
type lintShare struct {
	cause  string
	share  float64
	device string // "GPU 2"
}

// lintShares are the shares of a run, and whose it is.
type lintShares struct {
	causes map[string]lintShare
	file   string
}

// of is the largest share that a finding of a rule is a reason of.
func (s *lintShares) of(rule string) (most lintShare) {
	for _, row := range causeRules {
		for _, name := range row.rules {
			if found := s.causes[row.cause]; name == rule && found.share > most.share {
				most = found
			}
		}
	}
	return most
}

// add takes in what a cause cost on a device.
func (s *lintShares) add(device, cause string, lost, judged float64) {
	if judged <= 0 || lost <= 0 {
		return
	}
	if share := min(1, lost/judged); share > s.causes[cause].share {
		s.causes[cause] = lintShare{cause, share, device}
	}
}

// price gives a finding of a rule of utilisation its share of the time.
func (s *lintShares) price(f workspace.Finding) workspace.Finding {
	found := s.of(f.Name)
	if found.share == 0 {
		return f
	}
	f.Share, f.ShareOf = found.share, found.cause
	f.Cost = fmt.Sprintf("at most %.0f %% of the time in %s, on %s: %s (%s)%s%s", 100*found.share, s.file, found.device, titleOf(found.cause), found.cause, inGeneral, f.Cost)
	return f
}

// isRecording reports whether a file is a recording of GPUs.
func isRecording(name string) (bool, error) {
	f, _, err := input.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	prefix := make([]byte, 4<<10)
	n, _ := f.ReadAt(prefix, 0) // what is wrong is told by who reads on
	return isSampleFile(prefix[:n]), nil
}

// recordedShares reads a recording of GPUs.
func recordedShares(ctx context.Context, name string) (*lintShares, error) {
	file, err := openSamples(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var h history.History
	for n := 0; ; n++ {
		sample, err := file.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && n%256 == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("--with %s: %w", name, err)
		}
		h.Add(sample)
	}
	h.Finish()
	out := &lintShares{causes: map[string]lintShare{}, file: name}
	for _, host := range h.Hosts {
		for _, d := range host.Devices {
			for _, c := range d.Judged.Ranked() {
				out.add(labelOf(host, d), c.Cause, c.Lost.Seconds(), d.Judged.Judged.Seconds())
			}
		}
	}
	return out, nil
}

// An idledDevice is what the answers of run and replay say of a GPU's time.
type idledDevice struct {
	Label  string
	Judged float64 `json:"judged_seconds"`
	Causes []struct {
		Cause string
		Lost  float64 `json:"lost_seconds"`
	}
}

// answeredShares takes the shares from an answer of plimsoll run or replay; nil
// if raw is none.
func answeredShares(name string, raw []byte) *lintShares {
	var doc struct {
		Schema  string
		Devices []idledDevice
		Hosts   []struct{ Devices []idledDevice }
	}
	if err := json.Unmarshal(raw, &doc); err != nil || doc.Schema != "plimsoll.run/1" && doc.Schema != "plimsoll.replay/1" {
		return nil
	}
	out := &lintShares{causes: map[string]lintShare{}, file: name}
	for _, host := range doc.Hosts {
		doc.Devices = append(doc.Devices, host.Devices...)
	}
	for _, d := range doc.Devices {
		for _, c := range d.Causes {
			out.add(d.Label, c.Cause, c.Lost, d.Judged)
		}
	}
	return out
}
