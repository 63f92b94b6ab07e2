package cli

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// noRun stands under every answer of an estimate.
const noRun = "Nothing was run: what PyTorch allocates for this architecture was recorded and solved for its dimensions, and its allocator was replayed."

// noRunOfScript stands under answers from a script's tape.
const noRunOfScript = "Nothing was run: the script was captured on a virtual GPU at other values, its sizes were solved as formulas, and PyTorch's allocator was replayed."

func noteOf(e *estimate.Estimate) string {
	if e.Script != nil {
		return noRunOfScript
	}
	return noRun
}

// estimateReport turns an estimate into what there is to say.
func estimateReport(e *estimate.Estimate, o estimateOptions) *report.Report {
	return &report.Report{
		Command: "estimate", Subject: subjectOf(e),
		Verdict: estimateVerdict(e), Reason: estimateReason(e), Remedies: shortRemedies(e),
		Sections: estimateSections(e, o), Timelines: playedTimeline(e, o),
		Warnings: estimateWarningsOf(e), Notes: []string{noteOf(e)}, Provenance: estimateProvenance(e), Data: e,
	}
}

// subjectOf is "gpt2, causal-lm, train, batch 8 x 1,024 tokens, amp-fp16, adamw".
func subjectOf(e *estimate.Estimate) string {
	if e.Script != nil {
		return scriptSubject(e)
	}
	r := e.Recipe
	parts := []string{e.Model.Name, string(e.Task), string(e.Mode), batchOf(r), string(r.Precision)}
	optional := func(s, skip string) {
		if s != "" && s != skip {
			parts = append(parts, s)
		}
	}
	optional(r.Optimizer, "")
	if r.LoRA != nil {
		optional(fmt.Sprintf("LoRA r=%d on %s", r.LoRA.Rank, strings.Join(r.LoRA.Targets, "+")), "")
	}
	optional(r.Quantize, "")
	if r.Checkpoint != "" && r.Checkpoint != "none" {
		parts = append(parts, "checkpoint "+r.Checkpoint)
	}
	optional(r.Attention, "sdpa")
	optional(r.Shard, "")
	return strings.Join(parts, ", ")
}

func batchOf(r recipe.Recipe) string {
	out := fmt.Sprintf("batch %d", r.Batch)
	if r.Seq > 0 {
		out += fmt.Sprintf(" x %s tokens", report.Grouped(r.Seq))
	}
	if r.ImageHeight > 0 {
		out += fmt.Sprintf(" of %d x %d pixels", r.ImageHeight, r.ImageWidth)
	}
	if r.Accumulate > 1 {
		out += fmt.Sprintf(", accumulated %d times", r.Accumulate)
	}
	return out
}

func estimateAnswer(v estimate.Verdict) report.Answer { return answerOf(string(v)) }

func estimateVerdict(e *estimate.Estimate) report.Verdict {
	p, g := e.Peak, e.GPU
	v := report.Verdict{
		Answer: estimateAnswer(e.Verdict), Word: strings.ReplaceAll(string(e.Verdict), "-", " "),
		Method: "estimated from " + recordings(e),
		Gauge:  report.Gauge{Low: p.Low, Need: p.Device, High: p.High, Capacity: g.Capacity},
	}
	if !e.Exact {
		v.Method += "; some sizes are approximate"
	}
	offers := fmt.Sprintf("%s offers %s", g.Name, g.Capacity)
	if g.Count > 1 {
		offers = fmt.Sprintf("each %s offers %s", g.Name, g.Capacity)
	}
	need := &v.Gauge
	if p.Needs > 0 {
		need.Need, need.Low, need.High = p.Needs, min(p.Low, p.Needs), max(p.High, p.Needs)
	}
	v.Sentence = fmt.Sprintf("needs %s, %s", need.Need, offers)
	if e.Verdict == estimate.MayNotFit {
		v.Sentence = fmt.Sprintf("needs %s, from %s to %s; %s", need.Need, need.Low, need.High, offers)
	}
	return v
}

// recordings names the versions that an answer rests on.
func recordings(e *estimate.Estimate) string {
	w := e.RecordedWith
	if e.Script != nil {
		return "captures of the script with PyTorch " + w.Torch
	}
	out := "recordings of PyTorch " + w.Torch
	if w.Transformers != "" {
		out += " with Transformers " + w.Transformers
	}
	if w.TorchVision != "" {
		out += " with torchvision " + w.TorchVision
	}
	return out
}

func estimateReason(e *estimate.Estimate) string {
	p := e.Peak
	module, operator, both := strings.Cut(p.Site, ", ")
	if !both {
		module, operator = "", p.Site
	}
	if p.Phase == "step" {
		module = ""
	}
	at := place(p.Phase, p.Step, module, operator)
	if at == "" {
		return ""
	}
	return "the peak is" + at
}

// shownRemedies is how many cures the short answer names.
const shownRemedies = 4

// shortRemedies are the cures that suffice; where none does alone, those that
// save the most.
func shortRemedies(e *estimate.Estimate) []report.Remedy {
	if e.Verdict == estimate.Fits {
		return nil
	}
	var out []report.Remedy
	for _, f := range e.Findings {
		if f.Verdict == estimate.Fits {
			out = append(out, remedyOf(f))
		}
	}
	if len(out) == 0 {
		for _, f := range bySavings(e.Findings) {
			r := remedyOf(f)
			r.Cost = strings.ReplaceAll(string(f.Verdict), "-", " ") + " by itself"
			out = append(out, r)
		}
	}
	return out[:min(len(out), shownRemedies)]
}

func remedyOf(f estimate.Finding) report.Remedy {
	return report.Remedy{Action: f.Action, Need: f.Then(), Saves: f.Saves, Exactness: report.Exactness(f.Exactness)}
}

// estimateWarningsOf says of each warning what follows.
func estimateWarningsOf(e *estimate.Estimate) []report.Warning {
	var out []report.Warning
	for _, w := range e.Warnings {
		out = append(out, report.Warning{Code: w.Code, Message: w.Message})
	}
	return out
}

// origin says where a model's configuration was read.
func origin(source string) string {
	if source == "builtin" {
		return "built in"
	}
	return "from the " + source
}

func estimateProvenance(e *estimate.Estimate) []report.Fact {
	facts := []report.Fact{{Name: "PyTorch", Value: e.RecordedWith.Torch}}
	if v := e.RecordedWith.Transformers; v != "" {
		facts = append(facts, report.Fact{Name: "Transformers", Value: v})
	}
	if v := e.RecordedWith.TorchVision; v != "" {
		facts = append(facts, report.Fact{Name: "torchvision", Value: v})
	}
	card := e.GPU.Name
	if e.GPU.Count > 1 {
		card = fmt.Sprintf("%d x %s", e.GPU.Count, card)
	}
	if e.GPU.Note != "" {
		card += " (" + e.GPU.Note + ")"
	}
	facts = append(facts, report.Fact{Name: "card", Value: card})
	if e.Script != nil {
		facts = append(facts, report.Fact{Name: "captured on", Value: e.Script.Card})
	}
	facts = append(facts, report.Fact{Name: "model", Value: fmt.Sprintf("%s, %s parameters, %s", e.Model.Family, report.Grouped(e.Model.Parameter), origin(e.Model.Source))})
	if e.Recipe.AllocConf != "" {
		facts = append(facts, report.Fact{Name: "allocator", Value: e.Recipe.AllocConf})
	}
	return facts
}

// A part is one category of a peak, for people.
type part struct {
	key, label string
	bytes      unit.Bytes
}

// partsOf are the categories of a peak, in the order that a capture shows them.
func partsOf(c estimate.Categories) []part {
	return []part{
		{"parameter", "parameters", c.Parameter}, {"master_weight", "master weights", c.MasterWeight}, {"buffer", "buffers", c.Buffer},
		{"gradient", "gradients", c.Gradient}, {"optimizer", "optimizer state", c.Optimizer}, {"activation", "activations", c.Activation},
		{"input", "inputs", c.Input}, {"kv_cache", "KV cache", c.KVCache}, {"temporary", "temporaries", c.Temporary},
		{"workspace", "workspaces", c.Workspace}, {"communication", "communication", c.Communication}, {"unknown", "not named", c.Unknown},
		{"rounding", "rounding", c.Rounding}, {"cached", "cached", c.Cached}, {"context", "CUDA context", c.Context},
	}
}
