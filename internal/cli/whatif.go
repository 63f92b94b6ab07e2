package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/report/all"
	"github.com/plimsoll-dev/plimsoll/internal/whatif"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// whatifOptions is what `plimsoll whatif` was asked.
type whatifOptions struct {
	captureOptions
	File      string
	AllocConf []string
}

func newWhatifCommand(stdio IO) *cobra.Command {
	var o whatifOptions
	cmd := &cobra.Command{
		Use:   "whatif FILE.tape",
		Short: "Replay a recording under other allocator settings and sizes of cards",
		Long: `Replay a recording of plimsoll capture under other settings of PyTorch's
allocator and on cards of other sizes, in milliseconds.

What the operators ask for stays as it was recorded: --gpu changes the size and
the context of the card, not what PyTorch does on one of its kind.`,
		Example: `  plimsoll whatif run.tape
  plimsoll whatif run.tape --alloc-conf expandable_segments:True --gpu 3090
  plimsoll whatif run.tape --capacity 24GiB`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			o.File = args[0]
			return runWhatif(stdio, o)
		},
	}
	o.addFlags(cmd, all.Names()...)
	f := cmd.Flags()
	f.StringArrayVar(&o.AllocConf, "alloc-conf", nil, "allocator `SETTINGS`, exactly as in PYTORCH_CUDA_ALLOC_CONF; may be given several times")
	f.Var(&o.Capacity, "capacity", "`SIZE` of the card's memory, as 40GiB")
	f.StringVar(&o.GPU, "gpu", "", "`CARD` whose size and context are taken")
	complete(cmd, "gpu", completeGPU)
	f.Var(&o.Context, "context", "`SIZE` that the process takes beside PyTorch's allocator")
	return cmd
}

// usual are the settings that people try, replayed when none is named.
var usual = []string{"", "expandable_segments:True", "max_split_size_mb:128", "garbage_collection_threshold:0.8", "roundup_power2_divisions:8"}

// A whatifDocument is the JSON of the command.
type whatifDocument struct {
	Schema   string       `json:"schema"` // plimsoll.whatif/1
	File     string       `json:"file"`
	GPU      string       `json:"gpu"`
	Capacity unit.Bytes   `json:"capacity_bytes"` // 0: no limit is known
	Context  unit.Bytes   `json:"context_bytes"`
	Torch    string       `json:"torch"`
	Settings []whatifCase `json:"settings"`

	named int // how many of the last settings are the user's
}

// A whatifCase is one setting and what the recording would have taken.
type whatifCase struct {
	AllocConf string     `json:"alloc_conf"`
	Recorded  bool       `json:"recorded"` // the setting that the recording was made with
	Allocated unit.Bytes `json:"allocated_bytes"`
	Reserved  unit.Bytes `json:"reserved_bytes"`
	Device    unit.Bytes `json:"device_bytes"`
	Needs     unit.Bytes `json:"needs_bytes"` // smallest capacity that does
	Fits      bool       `json:"fits"`
	Retries   int        `json:"retries"` // times the cache is given back to fit
}

func runWhatif(stdio IO, o whatifOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	t, err := readTape(o.File)
	if err != nil {
		return err
	}
	d, err := o.document(t)
	if err != nil {
		return err
	}
	d.named = len(o.AllocConf)
	for _, conf := range o.settings(t) {
		c, err := replayCase(t, conf, d)
		if err != nil {
			return err
		}
		d.Settings = append(d.Settings, c)
	}
	if err := o.render(stdio, whatifReport(d)); err != nil {
		return err
	}
	if d.answer().Fits {
		return nil
	}
	return ErrNo
}

// answer is the setting that the verdict is about: the first that the user
// named; without any, the recorded one if it fits, else the first that does.
func (d *whatifDocument) answer() whatifCase {
	if d.named > 0 {
		return d.Settings[len(d.Settings)-d.named]
	}
	for _, c := range d.Settings {
		if c.Fits {
			return c
		}
	}
	return d.Settings[0]
}

func readTape(name string) (*tape.Tape, error) {
	f, _, err := input.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read the recording: %w", err)
	}
	defer f.Close()
	t, err := tape.Read(f)
	if err != nil {
		return nil, WithHint(fmt.Errorf("read %s: %w", name, err), "plimsoll capture -o FILE.tape makes a recording")
	}
	if t.Len() == 0 {
		return nil, errors.New(name + " holds no events")
	}
	return t, nil
}

// document fills in the card: what the flags say, else what was recorded.
func (o whatifOptions) document(t *tape.Tape) (*whatifDocument, error) {
	d := &whatifDocument{
		Schema: "plimsoll.whatif/1", File: o.File, GPU: t.Meta["gpu"], Torch: t.Meta["torch"],
		Capacity: metaBytes(t, "capacity_bytes"), Context: metaBytes(t, "context_bytes"),
	}
	if o.GPU != "" {
		choices, err := parseGPUs(o.GPU)
		if err != nil {
			return nil, err
		}
		if len(choices) > 1 {
			return nil, errors.New("--gpu takes one card here")
		}
		card := choices[0].Card
		d.GPU, d.Capacity, d.Context = card.Name, card.Capacity, card.Context.Typical+metaBytes(t, librariesMeta)
	}
	if o.Capacity.Given {
		d.Capacity, d.GPU = o.Capacity.Bytes, ""
	}
	if o.Context.Given {
		d.Context = o.Context.Bytes
	}
	return d, nil
}

func metaBytes(t *tape.Tape, key string) unit.Bytes {
	n, err := strconv.ParseInt(t.Meta[key], 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return unit.Bytes(n)
}

// settings are what to replay: as recorded first, then what the user names,
// else the usual ones.
func (o whatifOptions) settings(t *tape.Tape) []string {
	recorded := t.Meta["alloc_conf"]
	if len(o.AllocConf) > 0 {
		return append([]string{recorded}, o.AllocConf...)
	}
	list := []string{recorded}
	for _, conf := range usual {
		if conf != recorded {
			list = append(list, conf)
		}
	}
	return list
}

func replayCase(t *tape.Tape, conf string, d *whatifDocument) (whatifCase, error) {
	c := whatifCase{AllocConf: conf, Recorded: conf == t.Meta["alloc_conf"]}
	a, err := whatif.New(conf, d.Torch)
	if err != nil {
		return c, fmt.Errorf("--alloc-conf %q: %w", conf, err)
	}
	free, err := a.Replay(t, whatif.Endless)
	if err != nil {
		return c, fmt.Errorf("replay %s: %w", d.File, err)
	}
	needs, err := a.Needs(t, free)
	if err != nil {
		return c, err
	}
	c.Allocated, c.Reserved, c.Device, c.Needs = free.Allocated, free.Reserved, free.Reserved+d.Context, needs+d.Context
	c.Fits = d.Capacity == 0 || c.Needs <= d.Capacity
	if d.Capacity > 0 && c.Fits && c.Device > d.Capacity {
		tight, err := a.Replay(t, d.Capacity-d.Context)
		if err != nil {
			return c, fmt.Errorf("replay %s: %w", d.File, err)
		}
		c.Retries = tight.Retries
	}
	return c, nil
}

func whatifReport(d *whatifDocument) *report.Report {
	best := d.answer()
	table := &report.Table{Columns: []report.Column{
		{Name: "settings"}, {Name: "reserved", Kind: report.Size, Spare: 1}, {Name: "least", Kind: report.Size}, {Name: "verdict"},
	}}
	for _, c := range d.Settings {
		name := confName(c.AllocConf)
		if c.Recorded {
			name += ", as recorded"
		}
		verdict, answer := "fits", report.OK
		if !c.Fits {
			verdict, answer = "does not fit", report.No
		}
		cell := report.TextCell(verdict)
		cell.Answer = answer
		if d.Capacity == 0 {
			cell = report.Cell{}
		}
		table.Rows = append(table.Rows, []report.Cell{
			report.TextCell(name), report.SizeCell(c.Reserved), report.SizeCell(c.Needs), cell,
		})
	}
	r := &report.Report{
		Command: "whatif", Subject: d.File, Data: d,
		Sections:   []report.Section{{Title: "Settings", Lead: fmt.Sprintf("least is the smallest card that does; with %s, %s are allocated at the peak", confName(best.AllocConf), best.Allocated), Table: table}},
		Provenance: []report.Fact{{Name: "PyTorch", Value: d.Torch}, {Name: "context", Value: d.Context.String()}},
		Notes:      []string{"Replayed: the requests are as recorded, the allocator is our own, checked against PyTorch's."},
	}
	r.Verdict = whatifVerdict(d, best)
	return r
}

func whatifVerdict(d *whatifDocument, best whatifCase) report.Verdict {
	v := report.Verdict{Answer: report.OK, Word: "fits", Gauge: report.Gauge{Need: best.Needs, Capacity: d.Capacity}}
	with := ""
	if !best.Recorded {
		with = " with " + confName(best.AllocConf)
	}
	switch {
	case d.Capacity == 0:
		v.Answer, v.Word, v.Sentence = report.Neutral, "needs "+best.Needs.String(), strings.TrimPrefix(with, " ")
	case d.GPU == "":
		v.Sentence = fmt.Sprintf("needs %s%s, where %s are given", best.Needs, with, d.Capacity)
	default:
		v.Sentence = fmt.Sprintf("needs %s%s, %s offers %s", best.Needs, with, d.GPU, d.Capacity)
	}
	if d.Capacity > 0 && !best.Fits {
		v.Answer, v.Word = report.No, "does not fit"
	}
	return v
}

func confName(conf string) string {
	if conf == "" {
		return "PyTorch's defaults"
	}
	return conf
}
