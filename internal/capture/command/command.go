// Package command reads the command line that a user puts after "--" and
// finds the Python interpreter that will run it, and whose code counts as
// the user's own.
//
// It starts nothing; what a launcher such as torchrun does is read from its
// first line, the way the kernel would.
package command

import (
	"errors"
	"path/filepath"
	"strings"
)

// A Command is a command line that ends in Python.
type Command struct {
	Argv   []string // as it will be started; Argv[0] is absolute
	Python string   // absolute path of the interpreter
	Script string   // the user's first file, absolute; "" for -m of an installed module and -c
	Dir    string   // folder that holds the user's own code
	// Processes is how many processes a launcher's own flags ask for on this
	// machine, 0 when they do not say.
	Processes int
	// Guessed says why Python is only likely to be the one that runs, "" when it is certain.
	Guessed string
}

// A System is what the resolver may ask of the machine.
type System struct {
	Dir    string // working directory, absolute
	Getenv func(string) string
	// Python is the interpreter that the user named with --python, or "".
	Python string
}

// An Error is a command that cannot be captured, and what to try instead.
type Error struct {
	Msg  string // one sentence without a full stop, lower case
	Hint string // may be empty

	interpreter bool // --python would answer it
}

// Error returns the sentence.
func (e *Error) Error() string { return e.Msg }

// Resolve finds what argv will run.
func Resolve(argv []string, s System) (Command, error) {
	if len(argv) == 0 {
		return Command{}, refuse("there is no command to capture", "plimsoll capture --gpu h100 -- python train.py")
	}
	c := Command{Argv: append([]string(nil), argv...), Dir: s.Dir}
	words, env, err := stripWrappers(argv, s)
	if err != nil {
		return Command{}, err
	}
	lookup := s.withEnv(env)
	program, err := lookup.find(words[0])
	if err != nil {
		return Command{}, err
	}
	if len(words) == len(argv) {
		c.Argv[0] = program
	} else if first, err := s.find(argv[0]); err == nil {
		c.Argv[0] = first
	}
	err = c.identify(program, words, lookup)
	if s.Python == "" {
		return c, err
	}
	if e := (*Error)(nil); errors.As(err, &e) && e.interpreter {
		err = nil
	}
	python, pyErr := s.find(s.Python)
	if pyErr != nil {
		return c, pyErr
	}
	c.Python, c.Guessed = python, ""
	return c, err
}

// identify fills in what program, started with words, runs.
func (c *Command) identify(program string, words []string, s System) error {
	if isPython(program) {
		c.Python = program
		return c.readPythonArgs(words[1:], s)
	}
	line, err := shebang(program)
	if err != nil {
		return err
	}
	switch {
	case line == nil && isShell(program), len(line) > 0 && isShell(line[0]):
		return c.identifyShell(program, words, s)
	case len(line) > 0:
		python, err := s.find(line[0])
		if err != nil {
			return refuse("the first line of "+program+" names "+line[0]+", which is not there", "reinstall it into the environment in use, or use python -m")
		}
		if !isPython(python) {
			break
		}
		c.Python = python
		c.readConsoleScript(program, words, s)
		return nil
	}
	return interpreterUnknown(words[0] + " is not a Python program that can be recognised")
}

func interpreterUnknown(msg string) error {
	return &Error{msg, "name the interpreter that it runs with --python", true}
}

func refuse(msg, hint string) error { return &Error{msg, hint, false} }

// readConsoleScript notes the user's script behind a launcher.
func (c *Command) readConsoleScript(program string, words []string, s System) {
	name := filepath.Base(program)
	if l, ok := launcherOf(name); ok {
		c.Processes = l.processes(words[1:])
		for _, w := range words[1:] {
			if strings.HasSuffix(w, ".py") && c.Script == "" && s.isFile(w) {
				c.useScript(s.abs(w))
			}
		}
		return
	}
	// A program of the user's own with a Python shebang is the script.
	if !strings.Contains(program, string(filepath.Separator)+"bin"+string(filepath.Separator)) {
		c.useScript(program)
	}
}

func (c *Command) useScript(path string) {
	c.Script, c.Dir = path, filepath.Dir(path)
}
