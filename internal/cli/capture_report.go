package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/capture"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// noGPU stands under every answer of a capture.
const noGPU = "No GPU was used: PyTorch ran on a virtual one, with its own allocator. Its memory is real, the numbers that the script computed are not."

// captureReport turns captures, one for each card, into what there is to say.
func captureReport(captures []*capture.Capture, o captureOptions) *report.Report {
	first := captures[0]
	r := oneReport(first, o)
	if len(captures) == 1 {
		return r
	}
	set := captureSet{Schema: "plimsoll.captures/1"}
	table := &report.Table{Columns: cardColumns}
	worst := first.Result
	for _, c := range captures {
		set.Captures = append(set.Captures, c.Result)
		table.Rows = append(table.Rows, cardRow(c.Result.Verdicts[0]))
		if answerOf(c.Result.Verdict) > answerOf(worst.Verdict) {
			worst = c.Result
		}
		if c != first {
			r.Timelines = append(r.Timelines, timelines(c, o)...)
		}
	}
	r.Data = set
	r.Verdict = verdictOf(worst)
	if worst != first.Result {
		r.Verdict.Sentence += "; what follows is about " + first.Result.GPU.Name
	}
	// This table takes the place of the one that only replays.
	r.Sections = slices.DeleteFunc(r.Sections, func(s report.Section) bool { return s.Title == cardsTitle })
	cards := report.Section{Title: cardsTitle, Lead: "the script was run once as each of them", Table: table}
	r.Sections = append([]report.Section{cards}, r.Sections...)
	return r
}

const cardsTitle = "Cards"

// captureSet is the document of several captures.
type captureSet struct {
	Schema   string            `json:"schema"`
	Captures []*capture.Result `json:"captures"`
}

// oneReport is the report of one capture.
func oneReport(c *capture.Capture, o captureOptions) *report.Report {
	res := c.Result
	return &report.Report{
		Command: "capture", Subject: strings.Join(res.Command, " "),
		Verdict: verdictOf(res), Reason: reasonOf(res), Remedies: remediesFor(c),
		Sections: sectionsOf(c, o), Timelines: timelines(c, o),
		Warnings: warningsOf(res), Notes: []string{noGPU}, Provenance: provenanceOf(res), Data: res,
	}
}

func answerOf(verdict string) report.Answer {
	switch verdict {
	case capture.Fits:
		return report.OK
	case capture.MayNotFit:
		return report.Maybe
	}
	return report.No
}

// cardName is "2 x A100 SXM4 80GB".
func cardName(g capture.GPU) string {
	if g.Count > 1 {
		return fmt.Sprintf("%d x %s", g.Count, g.Name)
	}
	return g.Name
}

func verdictOf(res *capture.Result) report.Verdict {
	p, g := res.Peak, res.GPU
	v := report.Verdict{
		Answer: answerOf(res.Verdict), Word: strings.ReplaceAll(res.Verdict, "-", " "),
		Method: fmt.Sprintf("captured with PyTorch %s on a virtual GPU%s", res.RecordedWith.Torch, stepCount(res)),
		Gauge:  report.Gauge{Low: p.Low, Need: p.Device, High: p.High, Capacity: g.Capacity},
	}
	offers := fmt.Sprintf("%s offers %s", g.Name, g.Capacity)
	if g.Count > 1 {
		offers = fmt.Sprintf("each %s offers %s", g.Name, g.Capacity)
	}
	needs := "needs "
	if res.LowerBound {
		needs = "needs at least "
	}
	switch oom := res.OOM; {
	case oom != nil && !oom.Caught && oom.Needs > 0:
		v.Sentence = fmt.Sprintf("%s%s, %s", needs, oom.Needs, offers)
		v.Gauge.Need, v.Gauge.Low, v.Gauge.High = oom.Needs, oom.Needs, max(oom.Needs, p.High)
	case oom != nil && !oom.Caught:
		v.Sentence = fmt.Sprintf("ran out of memory with %s in use, %s", p.Device, offers)
	case res.Verdict == capture.MayNotFit:
		v.Sentence = fmt.Sprintf("%s%s, up to %s; %s", needs, p.Device, p.High, offers)
	case p.Device > g.Capacity:
		v.Sentence = fmt.Sprintf("%s%s, %s", needs, p.Needs, offers)
	default:
		v.Sentence = fmt.Sprintf("%s%s, %s", needs, p.Device, offers)
	}
	return v
}

func stepCount(res *capture.Result) string {
	switch n := len(res.Steps); n {
	case 0:
		return ""
	case 1:
		return ", 1 step"
	default:
		return fmt.Sprintf(", %d steps", n)
	}
}

func reasonOf(res *capture.Result) string {
	if oom := res.OOM; oom != nil && !oom.Caught {
		return "out of memory" + place(oom.Phase, oom.Step, oom.Module, oom.Site)
	}
	module := res.Peak.Module
	if res.Peak.Phase == "step" {
		module = "" // an optimizer goes over all of them
	}
	at := place(res.Peak.Phase, res.Peak.Step, module, res.Peak.Site)
	if at == "" {
		return ""
	}
	return "the peak is" + at
}

// phases are what is going on, for people.
var phases = map[string]string{
	"load": "while the model is built", "forward": "in the forward pass", "loss": "in the loss", "backward": "in backward",
	"step": "in the optimizer", "eval": "in an evaluation", "save": "while saving", "idle": "between steps",
}

// place is " in backward of step 2, in module layers.3.mlp, at train.py:7 in main".
func place(phase string, step int, module, site string) string {
	var parts []string
	if words := phases[phase]; words != "" {
		if step > 0 && phase != "load" {
			words += fmt.Sprintf(" of step %d", step)
		}
		parts = append(parts, " "+words)
	}
	if module != "" {
		parts = append(parts, " in module "+module)
	}
	if site != "" {
		parts = append(parts, " at "+shortPath(site))
	}
	return strings.Join(parts, ",")
}

// consequences are what follows from a warning, by its code.
var consequences = map[string]string{
	"recording-cut": "the categories of the peak are partly unknown",
	"refused-call":  "the script may have taken another path than on a real card",
	"hung":          "the peak is a lower bound",
}

// informs are codes that say what was done otherwise, without a consequence
// for the numbers; they stand among the details.
var informs = map[string]bool{"init-skipped": true, "virtual-gpu": true}

func warningsOf(res *capture.Result) []report.Warning {
	var out []report.Warning
	if unknown, _ := byKnown(res.Operators); len(unknown) > 0 {
		n, first := len(unknown), unknown[0]
		message := fmt.Sprintf("%s() at %s depends on computed values, which are zeros here", first.Op, lineName(first.File, first.Line))
		if n > 1 {
			message = fmt.Sprintf("%d operators depend on computed values, which are zeros here; the first is %s() at %s", n, first.Op, lineName(first.File, first.Line))
		}
		out = append(out, report.Warning{Code: "data-dependent-shape", Message: message, Consequence: "the peak is a lower bound"})
	}
	if !res.Replay.Equal {
		out = append(out, report.Warning{Code: "replay-differs", Message: replayText(res.Replay), Consequence: "PyTorch's own numbers are shown"})
	}
	out = append(out, estimateWarnings(res)...)
	for _, w := range res.Warnings {
		if informs[w.Code] {
			continue
		}
		out = append(out, report.Warning{Code: w.Code, Message: w.Message, Consequence: consequences[w.Code]})
	}
	return out
}

// byKnown tells operators whose values were zeros from those whose values were
// computed.
func byKnown(ops []capture.Operator) (unknown, known []capture.Operator) {
	for _, op := range ops {
		if op.Known {
			known = append(known, op)
		} else {
			unknown = append(unknown, op)
		}
	}
	return unknown, known
}

// estimateWarnings names the libraries' scratch memory that is not known and
// large enough to be seen: a hundredth of the peak.
func estimateWarnings(res *capture.Result) []report.Warning {
	var unsure []string
	for _, e := range res.Estimates {
		if e.High-e.Counted < res.Peak.Device/100 || strings.HasPrefix(e.Name, "cudnn_") && res.RecordedWith.CuDNNWorkspace > 0 {
			continue
		}
		unsure = append(unsure, fmt.Sprintf("%s (%s counted, up to %s possible)", estimateName(e.Name), e.Counted, e.High))
	}
	if len(unsure) == 0 {
		return nil
	}
	return []report.Warning{{
		Code:        "scratch-memory",
		Message:     "only NVIDIA's libraries know the scratch memory of " + strings.Join(unsure, ", "),
		Consequence: fmt.Sprintf("the peak lies between %s and %s", res.Peak.Low, res.Peak.High),
	}}
}

// libraries are NVIDIA's, as they are written.
var libraries = map[string]string{"cudnn": "cuDNN", "cufft": "cuFFT", "cusolver": "cuSOLVER", "cusparse": "cuSPARSE", "cusparselt": "cuSPARSELt"}

// calls are the rows of the virtual GPU's table of estimates whose names say
// too little to people.
var calls = map[string]string{
	"cudnn_convolution": "convolutions", "cudnn_rnn_work": "recurrent layers", "cudnn_rnn_reserve": "recurrent layers for their backward pass",
	"cudnn_dropout_states": "dropout in recurrent layers", "cudnn_ctc": "CTC loss", "cufft_work": "transforms",
}

// estimateName is "cuDNN's recurrent layers" for cudnn_rnn_work.
func estimateName(name string) string {
	library, call, _ := strings.Cut(name, "_")
	if known, ok := libraries[library]; ok {
		library = known
	}
	if known, ok := calls[name]; ok {
		call = known
	}
	return library + "'s " + strings.ReplaceAll(call, "_", " ")
}

func replayText(r capture.Replay) string {
	if r.Error != "" {
		return "our allocator could not replay the recording: " + r.Error
	}
	d := r.Diffs[0]
	return fmt.Sprintf("our allocator comes to %s %s where PyTorch counted %s", d.Replayed, d.What, d.PyTorch)
}

func provenanceOf(res *capture.Result) []report.Fact {
	w := res.RecordedWith
	facts := []report.Fact{{Name: "PyTorch", Value: w.Torch}, {Name: "Python", Value: w.Python}, {Name: "card", Value: cardName(res.GPU)}}
	if res.GPU.Note != "" {
		facts[2].Value += " (" + res.GPU.Note + ")"
	}
	if w.AllocConf != "" {
		facts = append(facts, report.Fact{Name: "allocator", Value: w.AllocConf})
	}
	replay := "equal to PyTorch's peaks"
	if !res.Replay.Equal {
		replay = "differs"
	}
	return append(facts, report.Fact{Name: "replay", Value: replay}, report.Fact{Name: "took", Value: fmt.Sprintf("%.1f s", res.Seconds)})
}

// shortPath leaves out the working directory's part of a path.
func shortPath(site string) string {
	for _, packages := range []string{"/site-packages/", "/dist-packages/"} {
		if _, inside, ok := strings.Cut(site, packages); ok {
			return inside
		}
	}
	if wd := workingDir(); wd != "" {
		return strings.TrimPrefix(site, wd+"/")
	}
	return site
}

func lineName(file string, line int) string {
	if file == "" {
		return "an unknown line"
	}
	return fmt.Sprintf("%s:%d", shortPath(file), line)
}

// bars are the categories of a peak, in the order of the design.
func bars(c capture.Categories, p capture.Peak) *report.Bars {
	out := &report.Bars{Total: p.Device, Of: "the device peak"}
	for _, b := range []struct {
		key, label string
		bytes      unit.Bytes
	}{
		{"parameter", "parameters", c.Parameter}, {"master_weight", "master weights", c.MasterWeight}, {"buffer", "buffers", c.Buffer},
		{"gradient", "gradients", c.Gradient}, {"optimizer", "optimizer state", c.Optimizer}, {"activation", "activations", c.Activation},
		{"input", "inputs", c.Input}, {"kv_cache", "KV cache", c.KVCache}, {"temporary", "temporaries", c.Temporary},
		{"workspace", "workspaces", c.Workspace}, {"communication", "communication", c.Communication}, {"unknown", "not named", c.Unknown},
		{"rounding", "rounding", c.Rounding}, {"cached", "cached", c.Cached}, {"outside", "outside PyTorch", c.Outside}, {"context", "CUDA context", c.Context},
	} {
		if b.bytes != 0 {
			out.Bars = append(out.Bars, report.Bar{Label: b.label, Bytes: b.bytes, Key: b.key})
		}
	}
	return out
}
