package capture

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/capture/command"
	"github.com/plimsoll-dev/plimsoll/internal/capture/overlay"
	"github.com/plimsoll-dev/plimsoll/internal/whatif"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Run captures one command on one kind of card. The error is an *Error when
// the script or the set-up failed, and the context's when it ended first.
func Run(ctx context.Context, o Options) (*Capture, error) {
	begin := time.Now()
	o = o.withDefaults()
	session, err := prepare(ctx, o)
	if err != nil {
		return nil, err
	}
	c, err := session.once(ctx)
	if err != nil {
		return nil, err
	}
	if c.Result.Verdict == DoesNotFit && c.Result.OOM != nil && !c.Result.OOM.Caught && !o.NoSecondRun {
		if err := session.again(ctx, c); err != nil {
			return nil, err
		}
	}
	c.Result.Seconds = time.Since(begin).Seconds()
	return c, nil
}

// A session is a command that is ready to be run, any number of times.
type session struct {
	options Options
	command command.Command
	shims   Shims
}

// prepare checks all that can be checked before the script is started.
func prepare(ctx context.Context, o Options) (*session, error) {
	if err := o.Card.Capturable(); err != nil {
		return nil, &Error{Msg: err.Error(), Hint: "plimsoll gpus lists the cards that can be captured on"}
	}
	c, err := command.Resolve(o.Argv, command.System{Dir: o.Dir, Getenv: o.getenv, Python: o.Python})
	if err != nil {
		if e, ok := errors.AsType[*command.Error](err); ok {
			return nil, &Error{Msg: e.Msg, Hint: e.Hint}
		}
		return nil, err
	}
	if c.Processes > o.Card.Count && !o.Card.CountGiven {
		o.Card.Count = c.Processes
		o.Card.Note = joinNotes(o.Card.Note, fmt.Sprintf("%d of them, one for each process that the command starts", c.Processes))
	}
	shims, err := o.Machine.Prepare(ctx, c.Python, o.CacheDir, func(what string) { o.Progress(Progress{Doing: what}) })
	if err != nil {
		return nil, err
	}
	allocator, err := whatif.New(o.allocConf(), shims.Torch)
	if err != nil && o.AllocConf != "" {
		return nil, &Error{Msg: fmt.Sprintf("--alloc-conf %q: PyTorch %s refuses it: %v", o.AllocConf, shims.Torch, err)}
	}
	if backend := allocator.Backend(); err == nil && backend != "native" {
		return nil, &Error{Msg: "backend:" + backend + ": PyTorch keeps no history of its memory under this allocator, so a capture cannot follow it", Hint: "leave the backend out of the allocator's settings"}
	}
	return &session{options: o, command: c, shims: shims}, nil
}

func joinNotes(notes ...string) string {
	var kept []string
	for _, n := range notes {
		if n != "" {
			kept = append(kept, n)
		}
	}
	return strings.Join(kept, "; ")
}

// once runs the script and draws its result.
func (s *session) once(ctx context.Context) (*Capture, error) {
	f, err := newFolder(s.options.TempDir)
	if err != nil {
		return nil, err
	}
	defer f.remove()
	done, err := execute(ctx, s.options, s.command, s.shims, f)
	if err != nil {
		return nil, err
	}
	s.options.Progress(Progress{Doing: "reading the recording"})
	all, err := readWritten(f.results())
	if err != nil {
		return nil, err
	}
	if err := failureOf(all, done, s.options); err != nil {
		return nil, err
	}
	dirs := userDirs{user: []string{s.command.Dir, s.options.Dir}, helper: f.helper()}
	c, err := collect(s.options, dirs, all, readGPULog(f.gpuLog()))
	if err != nil {
		return nil, err
	}
	changes, err := overlay.ReadLog(f.filesLog())
	if err != nil {
		return nil, err
	}
	c.Result.addChanges(changes)
	c.Result.note(s, all, done)
	return c, copySnapshots(c, s.options.Snapshot)
}

// endlessCard is the capacity of the card on which a script that ran out of
// memory is run again: more than any script here can ask for, and what the
// virtual GPU has address space for.
const endlessCard = 2 * unit.TiB

// again runs the script on an endless card, to say how much it needs. What
// goes wrong there only leaves the question open.
func (s *session) again(ctx context.Context, c *Capture) error {
	more := *s
	more.options.Card.Capacity = endlessCard
	more.options.Snapshot = ""
	more.options.Echo = nil
	s.options.Progress(Progress{Doing: "running again without a limit, to see how much it needs"})
	free, err := more.once(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil || free.Result.OOM != nil {
		return nil
	}
	c.Result.OOM.Needs = free.Result.Peak.Needs
	c.Result.Peak.Needs = free.Result.Peak.Needs
	c.Result.Peak.High = max(c.Result.Peak.High, free.Result.Peak.High)
	c.Unlimited = free
	c.Result.Verdicts[0].Device, c.Result.Verdicts[0].Needs = free.Result.Peak.Device, free.Result.Peak.Needs
	c.Result.Verdicts = append(c.Result.Verdicts[:1], free.Result.Verdicts[1:]...)
	return nil
}
