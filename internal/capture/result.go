package capture

import "github.com/plimsoll-dev/plimsoll/unit"

// Schema names the document that Result is in JSON.
const Schema = "plimsoll.capture/1"

// The verdicts, from best to worst.
const (
	Fits       = "fits"
	MayNotFit  = "may-not-fit"
	DoesNotFit = "does-not-fit"
)

// A Result is what one capture of one command on one kind of card found.
// Fields that end in _bytes are bytes; lists are ordered by importance.
type Result struct {
	Schema       string            `json:"schema"`
	Method       string            `json:"method"` // always "capture"
	Command      []string          `json:"command"`
	GPU          GPU               `json:"gpu"`
	Verdict      string            `json:"verdict"` // on GPU: Fits, MayNotFit or DoesNotFit
	Peak         Peak              `json:"peak"`
	ByCategory   Categories        `json:"by_category"`
	LowerBound   bool              `json:"lower_bound"` // data-dependent shapes came out empty
	Sites        []Site            `json:"sites"`
	Modules      []Module          `json:"modules"`
	Phases       []PhasePeak       `json:"phases"`
	Steps        []Step            `json:"steps"`
	Verdicts     []Verdict         `json:"verdicts"`
	OOM          *OOM              `json:"oom,omitempty"`
	Processes    []Process         `json:"processes"`
	RecordedWith RecordedWith      `json:"recorded_with"`
	Replay       Replay            `json:"replay"`
	Writes       []Write           `json:"writes"`
	Operators    []Operator        `json:"data_dependent"`
	Estimates    []Estimate        `json:"estimates"`
	Syncs        []Operator        `json:"syncs"`
	Warnings     []Warning         `json:"warnings"`
	Variables    map[string]string `json:"variables,omitempty"` // of --vary and --largest
	End          string            `json:"end"`                 // why the recording ended: steps, script_end, oom, timeout ...
	Seconds      float64           `json:"seconds"`             // wall clock of the whole capture
}

// A GPU is the card that the script was shown.
type GPU struct {
	Name     string     `json:"name"`
	Count    int        `json:"count"`
	Capacity unit.Bytes `json:"capacity_bytes"`
	Note     string     `json:"note,omitempty"` // which variant a family name took, or why this card
}

// A Peak is the largest moment of the worst device of the run.
type Peak struct {
	Requested unit.Bytes `json:"requested_bytes"`
	Allocated unit.Bytes `json:"allocated_bytes"`
	Reserved  unit.Bytes `json:"reserved_bytes"`
	Device    unit.Bytes `json:"device_bytes"` // driver's peak and context
	Low       unit.Bytes `json:"low_bytes"`    // device peak with the smallest context and cuDNN workspace
	High      unit.Bytes `json:"high_bytes"`   // with the largest known
	Needs     unit.Bytes `json:"needs_bytes"`  // smallest capacity on which the recording replays
	Process   int        `json:"process"`      // index into Processes
	Index     int        `json:"device"`       // CUDA index of the device
	Step      int        `json:"step"`         // step in progress, from 1; 0 before any forward
	Phase     string     `json:"phase"`
	Module    string     `json:"module,omitempty"`
	Site      string     `json:"site,omitempty"` // file:line in function, of the allocation that made the peak
	Event     int        `json:"event"`          // index in the tape, -1 unknown
}

// Categories is what the device held at the peak of allocated memory; its
// fields sum to Peak.Device exactly.
type Categories struct {
	Parameter     unit.Bytes `json:"parameter_bytes"`
	Gradient      unit.Bytes `json:"gradient_bytes"`
	Optimizer     unit.Bytes `json:"optimizer_bytes"`
	MasterWeight  unit.Bytes `json:"master_weight_bytes"`
	Activation    unit.Bytes `json:"activation_bytes"`
	Input         unit.Bytes `json:"input_bytes"`
	Buffer        unit.Bytes `json:"buffer_bytes"`
	Temporary     unit.Bytes `json:"temporary_bytes"`
	Workspace     unit.Bytes `json:"workspace_bytes"`
	Communication unit.Bytes `json:"communication_bytes"`
	KVCache       unit.Bytes `json:"kv_cache_bytes"`
	Unknown       unit.Bytes `json:"unknown_bytes"`
	Rounding      unit.Bytes `json:"rounding_bytes"` // allocated - requested
	Cached        unit.Bytes `json:"cached_bytes"`   // reserved - allocated
	Outside       unit.Bytes `json:"outside_bytes"`  // driver memory not taken by PyTorch's allocator
	Context       unit.Bytes `json:"context_bytes"`
}

// A Site is a source line and what it held at the peak.
type Site struct {
	File     string     `json:"file"` // "" when no Python frame is known
	Line     int        `json:"line"`
	Function string     `json:"function"`
	Code     string     `json:"code,omitempty"` // text of the line, where the file could be read
	Category string     `json:"category"`       // the largest at this site
	Bytes    unit.Bytes `json:"bytes"`
	Blocks   int        `json:"blocks"`
	User     bool       `json:"user"` // the line is in the user's own code
}

// A Module is a module path and what allocations made in it held at the
// peak. Numbers in paths are folded: "layers.*.mlp".
type Module struct {
	Name     string     `json:"name"`
	Count    int        `json:"count"` // modules folded into the name
	Category string     `json:"category"`
	Bytes    unit.Bytes `json:"bytes"`
	Blocks   int        `json:"blocks"`
}

// A PhasePeak is the most that was requested at once during one phase.
type PhasePeak struct {
	Phase     string     `json:"phase"`
	Requested unit.Bytes `json:"requested_bytes"`
}

// A Step is one optimizer step's own peak on the worst device.
type Step struct {
	Step      int        `json:"step"`
	Allocated unit.Bytes `json:"allocated_bytes"`
	Reserved  unit.Bytes `json:"reserved_bytes"`
}

// A Verdict says whether the run fits one card, and how that is known.
type Verdict struct {
	GPU      string     `json:"gpu"`
	Capacity unit.Bytes `json:"capacity_bytes"`
	Verdict  string     `json:"verdict"`
	Device   unit.Bytes `json:"device_bytes"` // peak with the context on that card
	Needs    unit.Bytes `json:"needs_bytes"`  // smallest capacity that does, with that context
	Method   string     `json:"method"`       // "capture": run with this card's properties; "replay": the tape of another card
}

// An OOM is the out-of-memory error that the script got on the virtual GPU.
type OOM struct {
	Message string `json:"message"` // PyTorch's own
	Process int    `json:"process"`
	Device  int    `json:"device"`
	Step    int    `json:"step"`
	Phase   string `json:"phase"`
	Module  string `json:"module,omitempty"`
	Site    string `json:"site,omitempty"`
	// Needs is the least that does, by a second run on a card without a limit; 0 where there was none.
	Needs unit.Bytes `json:"needs_bytes,omitempty"`
	// Caught says that the script handled the error and went on.
	Caught bool `json:"caught,omitempty"`
}

// A Process is one process of the script that used CUDA.
type Process struct {
	Rank    int      `json:"rank"`
	World   int      `json:"world"`
	End     string   `json:"end"`
	Devices []Device `json:"devices"`
}

// A Device is one card as one process used it.
type Device struct {
	Index     int        `json:"index"`
	Requested unit.Bytes `json:"requested_bytes"`
	Allocated unit.Bytes `json:"allocated_bytes"` // peak
	Reserved  unit.Bytes `json:"reserved_bytes"`  // peak
	Device    unit.Bytes `json:"device_bytes"`    // driver's peak and context
	Verdict   string     `json:"verdict"`
	Events    int        `json:"events"`
}

// RecordedWith names the versions and settings that made the numbers.
type RecordedWith struct {
	Torch     string `json:"torch"`
	CUDA      string `json:"cuda"`
	Python    string `json:"python"`
	Plimsoll  string `json:"plimsoll,omitempty"`
	AllocConf string `json:"alloc_conf"`
	Optimizer string `json:"optimizer,omitempty"`
	// VirtualGPU is always true: no GPU was used.
	VirtualGPU     bool       `json:"virtual_gpu"`
	CuDNNWorkspace unit.Bytes `json:"cudnn_workspace_bytes"`
	Context        unit.Bytes `json:"context_bytes"`
	ContextSource  string     `json:"context_source,omitempty"`
}

// A Replay says whether our allocator, fed with the recorded requests, came
// to the same peaks as PyTorch's.
type Replay struct {
	Equal bool         `json:"equal"`
	Diffs []ReplayDiff `json:"differences,omitempty"`
	Error string       `json:"error,omitempty"`
}

// A ReplayDiff is one peak that came out otherwise.
type ReplayDiff struct {
	Process  int        `json:"process"`
	Device   int        `json:"device"`
	What     string     `json:"what"` // "allocated" or "reserved"
	PyTorch  unit.Bytes `json:"pytorch_bytes"`
	Replayed unit.Bytes `json:"replayed_bytes"`
}

// A Write is something that the script would have saved or sent.
type Write struct {
	Action string `json:"action"` // "dropped" or "redirected"
	What   string `json:"what"`   // "torch.save", "open", "wandb" ...
	Path   string `json:"path"`
	Count  int    `json:"count"`
}

// An Operator is a call whose result depends on values, or that waits for
// the GPU, and where the user wrote it.
type Operator struct {
	Op    string `json:"op"`
	File  string `json:"file"`
	Line  int    `json:"line"`
	Count int    `json:"count"`
	// Known says that the values were small enough to be computed, so that the
	// result has a size that a real run could give it.
	Known bool `json:"known,omitempty"`
}

// An Estimate is scratch memory whose size only NVIDIA's libraries know: what
// was counted for the largest call, and from where to where the truth may lie.
type Estimate struct {
	Name    string     `json:"name"` // "cudnn_convolution"
	Counted unit.Bytes `json:"counted_bytes"`
	Low     unit.Bytes `json:"low_bytes"`
	High    unit.Bytes `json:"high_bytes"`
}

// A Warning qualifies the result: what happened and what follows from it.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// HasGaps reports whether something that the numbers rest on is not known:
// shapes that came out empty, a replay that differs, a recording that was cut,
// or a verdict that hangs on the size of a context.
func (r *Result) HasGaps() bool {
	cut := false
	for _, w := range r.Warnings {
		cut = cut || w.Code == "recording-cut"
	}
	return r.LowerBound || !r.Replay.Equal || r.Verdict == MayNotFit || cut
}
