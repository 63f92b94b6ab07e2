// Package smi reads NVIDIA GPUs by asking nvidia-smi, where the driver's library
// cannot be loaded: in a build without cgo, or on another C library.
//
// It knows what nvidia-smi prints: no energy, no throttled time, and processes
// without how busy they are.
package smi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/series"
)

const name = "nvidia-smi"

// Options say how nvidia-smi is run. The zero value but for Now is for use.
type Options struct {
	Path string // "" means nvidia-smi, by PATH
	Now  func() time.Time
	// Patience is how long one run may take before it is ended; 0 means 5 s. It
	// takes a second or two where the driver must wake GPUs.
	Patience time.Duration
}

// A source asks nvidia-smi again and again.
type source struct {
	o        Options
	path     string
	question monitor.Question[outcome]
	waiting  bool      // for a run that has not ended
	began    time.Time // of the last run

	last   monitor.Reading
	lastAt time.Time
}

type outcome struct {
	reading monitor.Reading
	err     error
	at      time.Time
}

// Open looks for nvidia-smi and runs it once, until ctx ends.
func Open(ctx context.Context, o Options) (monitor.Source, error) {
	if o.Path == "" {
		o.Path = "nvidia-smi"
	}
	if o.Patience == 0 {
		o.Patience = 5 * time.Second
	}
	path, err := exec.LookPath(o.Path)
	if err != nil {
		return nil, &monitor.Unavailable{Source: name, Status: series.NotSupported, Msg: "there is no nvidia-smi", Hint: "install NVIDIA's driver; in a container, start it with --gpus all"}
	}
	s := &source{o: o, path: path}
	_, err = s.Read(ctx)
	var u *monitor.Unavailable
	if errors.As(err, &u) && u.Status == series.Stuck {
		err = nil // it is there, and slow
	}
	return s, err
}

func (s *source) Name() string { return name }

func (s *source) Close() error { return nil }

// Read returns what a run says that ends before ctx does. A run that takes longer
// goes on, and the last reading is returned with its age.
func (s *source) Read(ctx context.Context) (monitor.Reading, error) {
	if !s.waiting {
		s.began = s.o.Now()
	}
	out, ok := s.question.Ask(ctx, func() outcome {
		r, err := s.run()
		return outcome{r, err, s.o.Now()}
	})
	s.waiting = !ok
	if ok && out.err != nil {
		return monitor.Reading{}, out.err
	}
	if ok {
		s.last, s.lastAt = out.reading, out.at
		return out.reading, nil
	}
	now := s.o.Now()
	waits := now.Sub(s.began)
	if s.lastAt.IsZero() {
		return monitor.Reading{}, &monitor.Unavailable{Source: name, Status: series.Stuck, Msg: fmt.Sprintf("nvidia-smi has not answered for %v", waits.Round(100*time.Millisecond)), Hint: "wait, or see dmesg for XID errors"}
	}
	return stale(s.last, now.Sub(s.lastAt), waits > s.o.Patience/2), nil
}

// stale is r after it has aged; as if the driver hung, if stuck.
func stale(r monitor.Reading, age time.Duration, stuck bool) monitor.Reading {
	devices := make([]series.Device, len(r.Devices))
	copy(devices, r.Devices)
	for i := range devices {
		if d := &devices[i]; d.Status == series.OK {
			d.StaleFor = max(age, 1)
			if stuck {
				d.Status, d.Problem = series.Stuck, "nvidia-smi does not answer"
			}
		}
	}
	r.Devices = devices
	if stuck {
		r.Problems = append([]series.Problem{{Source: name, Status: series.Stuck, What: "nvidia-smi does not answer; the values shown are the last ones, see dmesg for XID errors"}}, r.Problems...)
	}
	return r
}

// maxOutput is the most that is taken of nvidia-smi: ten thousand processes are
// 3 MB.
const maxOutput = 16 << 20

// run runs nvidia-smi once. A process that cannot be killed, as it waits in the
// driver, is left; this call returns when it ends.
func (s *source) run() (monitor.Reading, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.o.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.path, "-q", "-x")
	cmd.Env = append(cmd.Environ(), "LC_ALL=C")
	cmd.WaitDelay = time.Second
	out, errs := &limited{left: maxOutput}, &limited{left: 4096}
	cmd.Stdout, cmd.Stderr = out, errs
	err := cmd.Run()
	if ctx.Err() != nil {
		return monitor.Reading{}, &monitor.Unavailable{Source: name, Status: series.Stuck, Msg: fmt.Sprintf("nvidia-smi did not end within %v and was ended", s.o.Patience), Hint: "see dmesg for XID errors"}
	}
	r := ParseXML(bytes.NewReader(out.text))
	r.Problems = append(r.Problems, troubles(errs.text, &r)...)
	var exit *exec.ExitError
	switch {
	case err == nil, len(r.Devices) > 0:
		return r, nil
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		u := monitor.DriverCode(exit.ExitCode()).Unavailable(name)
		if first, _, _ := strings.Cut(strings.TrimSpace(string(out.text)+"\n"+string(errs.text)), "\n"); first != "" {
			u.Msg += ": " + first
		}
		return r, u
	}
	return r, &monitor.Unavailable{Source: name, Status: series.Failed, Msg: "run nvidia-smi: " + err.Error(), Hint: "run nvidia-smi by hand"}
}

// A limited keeps the beginning of what is written to it.
type limited struct {
	text []byte
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.text = append(l.text, p[:n]...)
	l.left -= n
	return len(p), nil
}
