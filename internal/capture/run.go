package capture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/capture/child"
	"github.com/plimsoll-dev/plimsoll/internal/capture/command"
	"github.com/plimsoll-dev/plimsoll/unit"
)

const (
	// outputLimit is how much of a script's output is kept on the disk, bytes.
	outputLimit = 64 << 20
	watchTick   = 250 * time.Millisecond
	// tailLines is how much of a failed script's output is shown.
	tailLines = 40
)

// Reasons to stop a script.
var (
	errHung = errors.New("the script hung")
	errDisk = errors.New("the script filled the disk")
)

// A finished is a script that has ended, and its folder.
type finished struct {
	folder *folder
	exit   child.Exit
	hung   bool   // it was killed because it took too long
	tail   string // the end of its output
}

// execute runs the script once, in a folder that the caller removes.
func execute(ctx context.Context, o Options, c command.Command, shims Shims, f *folder) (finished, error) {
	if err := installHelper(f, o, c); err != nil {
		return finished{}, err
	}
	log, err := child.NewLog(f.output(), outputLimit, o.Echo)
	if err != nil {
		return finished{}, fmt.Errorf("keep the script's output: %w", err)
	}
	defer log.Close() //nolint:errcheck // it is only shown on failure
	shims.Env = append(shims.Env, deviceEnv(o, f.gpuLog())...)
	env, err := scriptEnvironment(f, o, shims)
	if err != nil {
		return finished{}, err
	}
	limit := o.diskShare(f.path)
	ctx, cancel := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watch(ctx, o, f, limit, cancel)
	}()
	exit, err := child.Run(ctx, child.Spec{
		Argv: c.Argv, Env: env, Dir: o.Dir, Folder: f.path, Output: log,
	})
	cancel(nil)
	<-watched
	done := finished{folder: f, exit: exit, tail: log.Tail(tailLines)}
	switch {
	case errors.Is(err, errHung):
		done.hung = true
		return done, nil
	case errors.Is(err, errDisk):
		return done, &Error{
			Msg:    "the script was stopped because it filled the disk: more than " + limit.String() + " in the run folder",
			Hint:   "let it write less, or set TMPDIR to a larger disk",
			Output: done.tail,
		}
	}
	return done, err
}

// watch reports progress and stops a script that takes too long or fills the
// disk, until ctx ends.
func watch(ctx context.Context, o Options, f *folder, limit unit.Bytes, stop context.CancelCauseFunc) {
	begin := time.Now()
	tick := time.NewTicker(watchTick)
	defer tick.Stop()
	for n := 0; ; n++ {
		o.Progress(Progress{Doing: "running the script", Steps: stepsSoFar(f), Want: o.Steps})
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		switch {
		case time.Since(begin) > o.Timeout+o.Lateness:
			stop(errHung)
		case n%4 == 0 && f.size(int64(limit)) > int64(limit):
			stop(errDisk)
		}
	}
}

// stepsSoFar reads the largest number of optimizer steps that any process of
// the script has noted.
func stepsSoFar(f *folder) int {
	names, err := filepath.Glob(filepath.Join(f.results(), "steps.*"))
	if err != nil {
		return 0
	}
	most := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			most = max(most, n)
		}
	}
	return most
}

// diskShare is how much a run folder may grow to.
func (o Options) diskShare(path string) unit.Bytes {
	if o.Disk > 0 {
		return o.Disk
	}
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		return DefaultDisk
	}
	return min(DefaultDisk, unit.Bytes(int64(st.Bavail)*st.Bsize/2))
}
