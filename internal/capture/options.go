package capture

import (
	"io"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/gpu"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Options say what to capture and how. Argv, Dir, Environ and Card are
// needed; the zero value of everything else works.
type Options struct {
	Argv    []string // the user's command
	Dir     string   // working directory, absolute
	Environ []string // the user's environment, "NAME=value"
	Python  string   // interpreter that the command will use, "" to find it

	Card Card
	// Others are cards that get a verdict by replaying the recording.
	Others []gpu.Card

	Steps       int           // optimizer steps, 0 for DefaultSteps
	Timeout     time.Duration // of the script, 0 for DefaultTimeout
	Zeros       bool          // compute no small tensors: every value reads as zero
	KeepInit    bool          // run CPU initialisers of large tensors
	AllowWrites bool          // let the script save and send
	World       int           // run as one rank of this many, 0 for as it is
	Rank        int
	AllocConf   string // PYTORCH_CUDA_ALLOC_CONF, "" leaves the user's
	// Context is what the process takes beside the allocator; the card's table
	// says it where it is zero and not given as that.
	Context      unit.Bytes
	ContextGiven bool
	// CuDNNWorkspace is what each convolution plan is said to need; negative
	// takes the default and its interval.
	CuDNNWorkspace unit.Bytes
	// NoSecondRun leaves out the run on an endless card that says how much a
	// script needs that ran out of memory.
	NoSecondRun bool
	// Operators records PyTorch's own frames beside Python's, so that each
	// allocation says which operator made it. It takes more time.
	Operators bool

	Echo     io.Writer      // gets the script's output as it comes, nil for none
	Progress func(Progress) // told now and then, nil for none
	Snapshot string         // where PyTorch's own snapshot is copied to, "" for nowhere

	TempDir  string  // where the run folder is made, "" for the system's
	CacheDir string  // where virtual GPUs are kept, "" for the user's cache
	Machine  Machine // nil for the real virtual GPU

	// Lateness is how much longer than its timeout a script may take to stop
	// before it is killed, 0 for DefaultLateness. Disk is how much the run
	// folder may grow to, 0 for DefaultDisk or half of what is free.
	Lateness time.Duration
	Disk     unit.Bytes

	Plimsoll string // version, for the record
}

// A Card is the device that the script is shown.
type Card struct {
	gpu.Card
	Count int
	// CountGiven says that the user named the number of devices, so that a
	// launcher's number of processes does not raise it.
	CountGiven bool
	Note       string     // which variant a family name took
	Capacity   unit.Bytes // 0 for the card's own
}

// Defaults of Options.
const (
	DefaultSteps   = 3
	DefaultTimeout = 10 * time.Minute
	// DefaultLateness is what the helper may need to write a long recording.
	DefaultLateness = 30 * time.Second
	// DefaultDisk holds what a script caches while it runs, and stops one
	// that writes without end.
	DefaultDisk unit.Bytes = 16 << 30
)

// Progress is how far a capture is.
type Progress struct {
	// Doing is what goes on, "building the virtual GPU", "running the script".
	Doing string
	Steps int // optimizer steps so far
	Want  int
}

func (o Options) withDefaults() Options {
	if o.Steps <= 0 {
		o.Steps = DefaultSteps
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Lateness <= 0 {
		o.Lateness = DefaultLateness
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	if o.Machine == nil {
		o.Machine = realMachine{}
	}
	o.Card.Count = max(o.Card.Count, 1)
	if o.Card.Capacity == 0 {
		o.Card.Capacity = o.Card.Card.Capacity
	}
	if o.Context == 0 && !o.ContextGiven {
		o.Context = o.Card.Context.Typical
	}
	return o
}

// getenv reads a variable of the user's environment, the last one if it is
// there twice, as getenv(3) of most shells' children sees it.
func (o Options) getenv(name string) string {
	for i := len(o.Environ) - 1; i >= 0; i-- {
		if v, ok := cutVariable(o.Environ[i], name); ok {
			return v
		}
	}
	return ""
}

func cutVariable(entry, name string) (string, bool) {
	if len(entry) > len(name) && entry[len(name)] == '=' && entry[:len(name)] == name {
		return entry[len(name)+1:], true
	}
	return "", false
}
