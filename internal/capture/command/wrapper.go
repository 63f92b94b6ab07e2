package command

import (
	"path/filepath"
	"strings"
)

// A wrapper is a program that runs the rest of its command line.
type wrapper struct {
	name string
	// valued are its options that take the next word.
	valued string
	// positional is how many words come before the command: "taskset MASK cmd".
	positional int
}

// wrappers are looked through. Sources: the manual pages of coreutils 9 and
// util-linux 2.39, numactl 2.0.
var wrappers = []wrapper{
	{name: "nice", valued: "n"},
	{name: "ionice", valued: "cn"},
	{name: "nohup"},
	{name: "time", valued: "fo"},
	{name: "timeout", valued: "ks", positional: 1},
	{name: "stdbuf", valued: "ioe"},
	{name: "taskset", positional: 1},
	{name: "numactl", valued: "mNCipl"},
	{name: "xvfb-run", valued: "nsfe"},
	{name: "exec"},
}

// choosers pick or make an environment before they run anything. They are
// started around plimsoll, not by it: then the environment is already active.
var choosers = map[string]string{
	"uv": "uv run", "poetry": "poetry run", "pipenv": "pipenv run", "pdm": "pdm run", "rye": "rye run", "hatch": "hatch run",
	"pixi": "pixi run", "conda": "conda run", "mamba": "mamba run", "micromamba": "micromamba run",
}

// foreign start the script somewhere else, where no virtual GPU is.
var foreign = map[string]string{
	"docker": "a container", "podman": "a container", "singularity": "a container", "apptainer": "a container",
	"srun": "another machine", "sbatch": "another machine", "mpirun": "other processes of its own", "mpiexec": "other processes of its own",
	"ssh": "another machine", "sudo": "another user's environment", "kubectl": "another machine",
}

// stripWrappers returns the command behind nice, env and the like, and the
// variables that an env prefix sets.
func stripWrappers(argv []string, s System) ([]string, map[string]string, error) {
	env := map[string]string{}
	words := argv
	for len(words) > 0 {
		name := filepath.Base(words[0])
		if run, ok := choosers[name]; ok {
			return nil, nil, refuse(run+" chooses the environment by itself, so plimsoll cannot know its Python", "start plimsoll inside it: "+run+" plimsoll capture ... -- python ...")
		}
		if where, ok := foreign[name]; ok && !s.isFile(name) {
			return nil, nil, refuse(name+" starts the script in "+where+", where the virtual GPU is not", "capture the python command itself, inside "+name+" if it must be")
		}
		if name == "env" {
			words = skipEnv(words[1:], env)
			continue
		}
		w, ok := wrapperOf(name)
		if !ok {
			return words, env, nil
		}
		words = w.skip(words[1:])
	}
	return nil, nil, refuse(strings.Join(argv, " ")+" runs nothing", "add the command: -- python train.py")
}

func wrapperOf(name string) (wrapper, bool) {
	for _, w := range wrappers {
		if w.name == name {
			return w, true
		}
	}
	return wrapper{}, false
}

// skip drops the wrapper's options and positional words.
func (w wrapper) skip(args []string) []string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			break
		}
		last := arg[len(arg)-1]
		if !strings.HasPrefix(arg, "--") && len(arg) == 2 && strings.IndexByte(w.valued, last) >= 0 && len(args) > 0 {
			args = args[1:]
		}
	}
	return args[min(w.positional, len(args)):]
}

// skipEnv drops env's options and notes its assignments.
func skipEnv(args []string, env map[string]string) []string {
	for len(args) > 0 {
		name, value, isAssignment := strings.Cut(args[0], "=")
		switch {
		case args[0] == "-u" || args[0] == "-C":
			args = args[min(2, len(args)):]
		case strings.HasPrefix(args[0], "-"):
			args = args[1:]
		case isAssignment:
			env[name] = value
			args = args[1:]
		default:
			return args
		}
	}
	return nil
}
