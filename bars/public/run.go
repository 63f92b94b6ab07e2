package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/bars/bare"
)

type runner struct {
	plimsoll, python, gpu, checkouts string
	verbose                          bool
}

// resolve makes the paths ones that hold in any folder.
func (r *runner) resolve() error {
	for _, p := range []*string{&r.plimsoll, &r.python} {
		found, err := exec.LookPath(*p)
		if err != nil {
			return err
		}
		if *p, err = filepath.Abs(found); err != nil {
			return err
		}
	}
	var err error
	r.checkouts, err = filepath.Abs(r.checkouts)
	return err
}

// run captures one script in a copy of its checkout.
func (r *runner) run(s script) outcome {
	dir, err := os.MkdirTemp("", "public-")
	if err != nil {
		return outcome{failure: err.Error()}
	}
	defer os.RemoveAll(dir)
	o, err := r.capture(s, dir)
	if err != nil {
		o.failure = err.Error()
	}
	return o
}

func (r *runner) capture(s script, dir string) (outcome, error) {
	name := s.repo[strings.Index(s.repo, "/")+1:]
	checkout, home, temporary := filepath.Join(dir, name), filepath.Join(dir, "home"), filepath.Join(dir, "tmp")
	if err := r.furnish(s, name, checkout, home, temporary); err != nil {
		return outcome{}, err
	}
	for _, command := range s.setup {
		if err := r.prepare(s, command, checkout, home, temporary); err != nil {
			return outcome{}, err
		}
	}
	before, err := stateOf(checkout, home, temporary)
	if err != nil {
		return outcome{}, err
	}
	o, err := r.start(s, checkout, home, temporary)
	if err != nil {
		return o, err
	}
	for i := range o.answer.Writes {
		o.answer.Writes[i].Path = strings.TrimPrefix(o.answer.Writes[i].Path, dir+"/")
	}
	after, err := stateOf(checkout, home, temporary)
	if err != nil {
		return o, err
	}
	for _, path := range before.changed(after) {
		o.changed = append(o.changed, strings.ReplaceAll(path, dir+"/", ""))
	}
	return o, nil
}

// furnish makes the folders of a run, and the data.
func (r *runner) furnish(s script, name, checkout, home, temporary string) error {
	from := filepath.Join(r.checkouts, name)
	if _, err := os.Stat(from); err != nil {
		return fmt.Errorf("find a checkout of %s: %w", s.repo, err)
	}
	if err := copyCheckout(from, checkout); err != nil {
		return fmt.Errorf("copy the checkout: %w", err)
	}
	for _, folder := range []string{home, temporary} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			return err
		}
	}
	if err := shareCache(home); err != nil {
		return err
	}
	for _, f := range s.make {
		path := filepath.Join(checkout, s.dir, f.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := f.make(path); err != nil {
			return fmt.Errorf("make %s: %w", f.path, err)
		}
	}
	return nil
}

// shareCache lets the run use the virtual GPU that is already built.
func shareCache(home string) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(cache, "plimsoll"), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(home, ".cache"), 0o755); err != nil {
		return err
	}
	return os.Symlink(filepath.Join(cache, "plimsoll"), filepath.Join(home, ".cache", "plimsoll"))
}

// start runs the program and reads its answer.
func (r *runner) start(s script, checkout, home, temporary string) (outcome, error) {
	args := append([]string{"capture", "--format", "json"}, s.flags...)
	if !strings.Contains(strings.Join(s.flags, " "), "--gpu") {
		args = append(args, "--gpu", r.gpu)
	}
	args = append(append(args, "--"), r.words(s.command, checkout)...)
	cmd := exec.Command(r.plimsoll, args...)
	cmd.Dir = filepath.Join(checkout, s.dir)
	cmd.Env = environment(os.Environ(), s, checkout, home, temporary)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	err := cmd.Run()
	o := outcome{seconds: time.Since(begin).Seconds(), cpu: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()}
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		if r.verbose {
			fmt.Fprintln(os.Stderr, stderr.String())
		}
		return o, errors.New(ending(stderr.String()))
	}
	if err := json.Unmarshal(stdout.Bytes(), &o.answer); err != nil {
		return o, fmt.Errorf("read the answer: %w", err)
	}
	return o, nil
}

// words is a command with its program's path, which lies beside the
// interpreter, and with the path of the checkout.
func (r *runner) words(command []string, checkout string) []string {
	out := []string{filepath.Join(filepath.Dir(r.python), command[0])}
	if command[0] == "python" {
		out[0] = r.python
	}
	for _, word := range command[1:] {
		out = append(out, strings.ReplaceAll(word, "$CHECKOUT", checkout))
	}
	return out
}

// prepare runs one command of a script's setup, in which PyTorch loads but
// nothing is captured.
func (r *runner) prepare(s script, command []string, checkout, home, temporary string) error {
	env, err := bare.Environ(context.Background(), r.python)
	if err != nil {
		return err
	}
	words := r.words(command, checkout)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = filepath.Join(checkout, s.dir)
	cmd.Env = environment(env, s, checkout, home, temporary)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("run %s: %w: %s", strings.Join(command[:min(3, len(command))], " "), err, ending(string(out)))
	}
	return nil
}

// environment adds folders that are looked at afterwards, and what the script
// wants.
func environment(base []string, s script, checkout, home, temporary string) []string {
	own := func(e string) bool { return strings.HasPrefix(e, "XDG_") }
	env := append(slices.DeleteFunc(slices.Clone(base), own), "HOME="+home, "TMPDIR="+temporary, "HF_HUB_OFFLINE=1", "WANDB_SILENT=true")
	for _, e := range s.env {
		env = append(env, strings.ReplaceAll(e, "$CHECKOUT", checkout))
	}
	return env
}

// ending is the last lines of what was printed, where the reason stands.
func ending(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], " | ")
}
