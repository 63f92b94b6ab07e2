package catalog

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/alloc"
	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A script is a user's script, played from a tape that a capture made.
type script struct {
	name   string
	tape   *symbolic.Tape
	torch  string
	device kernel.Device // that it was captured on
	varied []varied
	values map[string]int64 // of symbols that recipes have no place for
}

// A varied is a symbol of a script's tape.
type varied struct {
	symbol, name string
	span         symbolic.Span
}

// symbols of a recipe.
const (
	batchSymbol = "B"
	seqSymbol   = "S"
	sideSymbol  = "size"
)

// scriptTask stands where other models have the task of their head.
const scriptTask recipe.Task = "script"

// Script is the source of a tape of a script. values are those of symbols that
// recipes have no place for, by their name.
func Script(name string, c *symbolic.Collection, values map[string]int64) (estimate.Source, error) {
	if !c.Has(symbolic.Script) {
		return nil, &estimate.Error{Msg: name + " has no tape of a script", Hint: "plimsoll capture --vary ... --symbolic makes one; models are estimated by their name"}
	}
	t, err := c.Tape(symbolic.Script)
	if err != nil {
		return nil, &estimate.Error{Msg: fmt.Sprintf("%s: %v", name, err), Hint: "plimsoll capture --symbolic makes it anew"}
	}
	s := &script{name: name, tape: t, values: map[string]int64{}}
	for _, m := range c.Meta {
		if m[0] == "torch" {
			s.torch = plain(m[1])
		}
	}
	if _, err := fmt.Sscanf(t.Fact(symbolic.AboutDevice), "%d %d %d", &s.device.Capability, &s.device.Multiprocessors, &s.device.ThreadsPerMultiprocessor); err != nil {
		return nil, &estimate.Error{Msg: fmt.Sprintf("%s does not say what card it was captured on", name), Hint: "plimsoll capture --symbolic makes it anew"}
	}
	if err := s.readVaried(); err != nil {
		return nil, err
	}
	return s, s.take(values)
}

// readVaried finds what was varied, and between which values.
func (s *script) readVaried() error {
	for _, span := range s.tape.Seen {
		v := varied{symbol: span.Name, name: span.Name, span: span}
		for _, a := range s.tape.About {
			if symbol, name, ok := strings.Cut(a.Value, " "); ok && a.Word == symbolic.AboutVaried && symbol == span.Name {
				v.name = name
			}
		}
		s.varied = append(s.varied, v)
	}
	if len(s.varied) == 0 {
		return &estimate.Error{Msg: s.name + " does not say what was varied", Hint: "plimsoll capture --symbolic makes it anew"}
	}
	return nil
}

// take sets the values of symbols that recipes have no place for; without one
// the largest that was captured is meant.
func (s *script) take(values map[string]int64) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		i := slices.IndexFunc(s.varied, func(v varied) bool { return v.name == name })
		switch {
		case i < 0:
			return s.notVaried(name)
		case s.flagOf(s.varied[i]) != "--set":
			return &estimate.Error{Msg: fmt.Sprintf("--set %s: there is a flag for it", name), Hint: fmt.Sprintf("%s %d", s.flagOf(s.varied[i]), values[name])}
		}
		s.values[s.varied[i].symbol] = values[name]
	}
	return nil
}

// notVaried refuses a value for something that the script was not captured at
// several values of.
func (s *script) notVaried(name string) error {
	var names []string
	for _, v := range s.varied {
		names = append(names, v.name)
	}
	return &estimate.Error{
		Msg:  fmt.Sprintf("%s was captured at one %s: it was not varied", s.name, name),
		Hint: fmt.Sprintf("varied are %s; capture again with --vary %s=...", strings.Join(names, ", "), name),
	}
}

// flagOf is the flag that gives a symbol its value.
func (s *script) flagOf(v varied) string {
	switch v.symbol {
	case batchSymbol:
		return "--batch"
	case seqSymbol:
		return "--seq"
	case sideSymbol:
		return "--image"
	}
	return "--set"
}

// has finds what was varied by its symbol.
func (s *script) has(symbol string) (varied, bool) {
	i := slices.IndexFunc(s.varied, func(v varied) bool { return v.symbol == symbol })
	if i < 0 {
		return varied{}, false
	}
	return s.varied[i], true
}

// Model describes the script.
func (s *script) Model() estimate.Model {
	m := estimate.Model{
		Name: s.name, Source: "recording", Family: string(scriptTask), RecordedWith: estimate.RecordedWith{Torch: s.torch},
		Script: &estimate.Script{Command: s.tape.Fact(symbolic.AboutCommand), Card: s.tape.Fact(symbolic.AboutCard)},
	}
	s.tape.EachOp(func(op *symbolic.Op) {
		m.Dropout = m.Dropout || strings.Contains(op.Label, "dropout") || strings.Contains(op.Label, "bernoulli")
		m.BatchNorm = m.BatchNorm || strings.Contains(op.Label, "batch_norm")
	})
	return m
}

// Complete takes the largest captured values for what is left open, and refuses
// what the script decides by itself.
func (s *script) Complete(r recipe.Recipe) (recipe.Recipe, error) {
	own := recipe.Recipe{
		Mode: s.mode(), Task: scriptTask, Precision: recipe.Own, Accumulate: 1, Torch: s.torch,
		Batch: r.Batch, Seq: r.Seq, ImageHeight: r.ImageHeight, ImageWidth: r.ImageWidth, AllocConf: r.AllocConf, World: r.World,
	}
	if own.AllocConf == "" {
		own.AllocConf = s.tape.Fact(symbolic.AboutAllocConf)
	}
	if _, err := alloc.ParseVersion(s.torch); err != nil {
		own.Torch = ""
	}
	r.Accumulate = max(r.Accumulate, 1)
	if what := changed(r, own); what != "" {
		return r, &estimate.Error{Msg: fmt.Sprintf("%s holds what the script did, and %s is the script's own", s.name, what), Hint: "change it in the script and capture again"}
	}
	for _, x := range []struct {
		symbol, name string
		value        *int64
	}{{batchSymbol, "batch", &own.Batch}, {seqSymbol, "seq", &own.Seq}, {sideSymbol, "image", &own.ImageHeight}} {
		v, ok := s.has(x.symbol)
		switch {
		case ok && *x.value == 0:
			*x.value = v.span.High
		case !ok && *x.value > 1 || !ok && *x.value == 1 && x.symbol != batchSymbol:
			return r, s.notVaried(x.name)
		}
	}
	own.Batch = max(own.Batch, 1)
	if own.ImageWidth == 0 {
		own.ImageWidth = own.ImageHeight
	}
	if own.ImageWidth != own.ImageHeight {
		return r, &estimate.Error{Msg: fmt.Sprintf("--image %dx%d: %s was captured with one number for an image's size", own.ImageHeight, own.ImageWidth, s.name), Hint: "--image with one number"}
	}
	return own, nil
}

// changed names what a recipe says of something that a script decides by itself.
func changed(r, own recipe.Recipe) string {
	for _, x := range []struct {
		what string
		is   bool
	}{
		{"the mode", r.Mode != "" && r.Mode != own.Mode},
		{"the task", r.Task != "" && r.Task != own.Task},
		{"the precision", r.Precision != "" && r.Precision != own.Precision},
		{"the optimizer", r.Optimizer != ""},
		{"the clipping of gradients", r.ClipGradNorm},
		{"checkpointing", r.Checkpoint != ""},
		{"the attention", r.Attention != ""},
		{"accumulation", r.Accumulate > 1},
		{"padding", r.Unpadded},
		{"the layout of images", r.ChannelsLast},
		{"the adapter", r.LoRA != nil || r.Quantize != ""},
		{"how cards share the work", r.Shard != ""},
		{"the version of PyTorch", r.Torch != "" && r.Torch != own.Torch},
	} {
		if x.is {
			return x.what
		}
	}
	return ""
}

// mode is to train where the script ran backward.
func (s *script) mode() recipe.Mode {
	if slices.ContainsFunc(s.tape.Parts, func(p symbolic.Part) bool { return symbolic.IsBackward(p.Name) }) {
		return recipe.Train
	}
	return recipe.Eval
}

// dims are the values of symbols under a recipe.
func (s *script) dims(r recipe.Recipe) symbolic.Dims {
	d := symbolic.Dims{}
	for _, v := range s.varied {
		switch v.symbol {
		case batchSymbol:
			d[v.symbol] = r.Batch
		case seqSymbol:
			d[v.symbol] = r.Seq
		case sideSymbol:
			d[v.symbol] = r.ImageHeight
		default:
			d[v.symbol] = v.span.High
			if n, ok := s.values[v.symbol]; ok {
				d[v.symbol] = n
			}
		}
	}
	return d
}

// env is where the tape is played under a recipe.
func (s *script) env(r recipe.Recipe, d kernel.Device) (symbolic.Env, error) {
	if d.Multiprocessors == 0 {
		d = s.device
	}
	if _, ok := s.has(batchSymbol); !ok && r.Batch != 1 {
		return symbolic.Env{}, s.notVaried("batch")
	}
	return symbolic.Env{Dims: s.dims(r), Device: d}, nil
}

// Play writes the script's run.
func (s *script) Play(r recipe.Recipe, d kernel.Device, w *tape.Writer, detail estimate.Detail) (*estimate.Played, error) {
	env, err := s.env(r, d)
	if err != nil {
		return nil, err
	}
	p, err := s.tape.PlayScript(env, symbolic.Plan{Sites: detail >= estimate.Sites}, w)
	if err != nil {
		return nil, s.unplayable(err)
	}
	out := &estimate.Played{StepEnds: p.Starts[1:], Exact: true}
	inLayer := make([]int64, len(p.Layers))
	for i := range p.Params {
		q := &p.Params[i]
		n := q.Elements()
		out.Parameters += n
		if q.Trainable {
			out.Trainable += n
		}
		for k, l := range p.Layers {
			if strings.HasPrefix(q.Name, l.Name+".") {
				inLayer[k] += n
			}
		}
	}
	for k, l := range p.Layers {
		out.Layers = append(out.Layers, estimate.LayerSpan{Name: l.Name, First: l.First, Last: l.Last, Parameters: inLayer[k]})
	}
	for _, v := range s.varied {
		out.Varied = append(out.Varied, estimate.Varied{Name: v.name, Symbol: v.symbol, Value: env.Dims[v.symbol], Low: v.span.Low, High: v.span.High})
	}
	doubt(out, w.Tape(), p, append(s.reasons(env), unequal(s.tape)...))
	out.Doubts = append(out.Doubts, s.outside()...)
	if more := largest([]symbolic.Expr{s.tape.Ceiling}, env); more > 0 {
		out.Doubts = append(out.Doubts, estimate.Doubt{Code: estimate.CuDNNWorkspace, Message: "libraries may take scratch memory, which the virtual GPU cannot know", More: unit.Bytes(more)})
	}
	return out, nil
}

func (s *script) unplayable(err error) error {
	if e, ok := errors.AsType[*symbolic.MissingError](err); ok {
		return &estimate.Error{Msg: fmt.Sprintf("%s depends on %q, which it does not say was varied", s.name, e.Name), Hint: "plimsoll capture --symbolic makes it anew"}
	}
	return &estimate.Error{Msg: fmt.Sprintf("%s: %v", s.name, err), Hint: "plimsoll capture --symbolic makes it anew"}
}

// What answers outside of what was captured may be off by, as a share of the peak:
// assumed, since what a script does there nobody has seen.
const (
	outsideShare  = 0.01 // at the edge, and as much again for each doubling beyond it
	mostOutside   = 0.1
	multipleShare = 0.02
	cardShare     = 0.02
)

// reasons are why an answer is not certain.
func (s *script) reasons(env symbolic.Env) []reason {
	var list []reason
	for _, v := range s.varied {
		n := env.Dims[v.symbol]
		if n < v.span.Low || n > v.span.High {
			ratio := max(float64(v.span.Low)/float64(max(n, 1)), float64(n)/float64(max(v.span.High, 1)))
			list = append(list, reason{
				code: "outside-captures", share: min(outsideShare*(1+math.Log2(max(ratio, 1))), mostOutside),
				message: fmt.Sprintf("%s %d is outside of what was captured, %d to %d: kernels may choose otherwise there", v.name, n, v.span.Low, v.span.High),
			})
		}
		if n%max(v.span.Step, 1) != 0 {
			list = append(list, reason{
				code: "other-multiple", share: multipleShare,
				message: fmt.Sprintf("%s %d is no multiple of %d, as all captured values are: PyTorch may round it up", v.name, n, v.span.Step),
			})
		}
	}
	if env.Device.Capability != s.device.Capability {
		list = append(list, reason{
			code: "other-card", share: cardShare,
			message: fmt.Sprintf("the script was captured on %s: kernels may choose otherwise on cards of another compute capability", s.tape.Fact(symbolic.AboutCard)),
		})
	}
	for _, a := range s.tape.About {
		if code, message, ok := strings.Cut(a.Value, " "); a.Word == symbolic.AboutNote && ok {
			list = append(list, reason{code: code, message: message})
		}
	}
	return list
}

// outside is what the driver gave to others than PyTorch's allocator.
func (s *script) outside() []estimate.Doubt {
	n, err := strconv.ParseInt(s.tape.Fact(symbolic.AboutOutside), 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt32*int64(unit.KiB) {
		return nil
	}
	return []estimate.Doubt{{Code: "outside-allocator", Message: fmt.Sprintf("libraries took up to %s of the card beside PyTorch's allocator", unit.Bytes(n)), More: unit.Bytes(n)}}
}

// Formula gives the closed form of what lives after an event.
func (s *script) Formula(r recipe.Recipe, d kernel.Device, event int) (map[string]string, []estimate.Symbol, error) {
	env, err := s.env(r, d)
	if err != nil {
		return nil, nil, err
	}
	f := &formula{run: &run{tape: s.tape, env: env}, made: map[tape.BlockID]origin{}, dims: env.Dims}
	var w tape.Writer
	plan := symbolic.Plan{Trace: func(b tape.BlockID, part *symbolic.Part, op *symbolic.Op) { f.made[b] = origin{part, op} }}
	if _, err := s.tape.PlayScript(env, plan, &w); err != nil {
		return nil, nil, s.unplayable(err)
	}
	out, all := f.write(w.Tape(), event)
	meanings := map[string]string{}
	for _, v := range s.varied {
		meanings[v.symbol] = v.name + " of the command"
	}
	return out, f.symbols(meanings, all), nil
}
