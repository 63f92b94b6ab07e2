package command

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// withEnv is s with variables that an env prefix sets.
func (s System) withEnv(env map[string]string) System {
	if len(env) == 0 {
		return s
	}
	outer := s.Getenv
	s.Getenv = func(name string) string {
		if v, ok := env[name]; ok {
			return v
		}
		return outer(name)
	}
	return s
}

func (s System) abs(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(s.Dir, name)
}

func (s System) isFile(name string) bool {
	info, err := os.Stat(s.abs(name))
	return err == nil && info.Mode().IsRegular()
}

// find looks a program up as a shell does: a name with a slash is a path,
// any other is searched in PATH.
func (s System) find(name string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		path := s.abs(name)
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", refuse(name+" does not exist", "")
		case err != nil:
			return "", refuse("look up "+name+": "+err.Error(), "")
		case info.IsDir():
			return "", refuse(name+" is a folder, not a program", "")
		case info.Mode()&0o111 == 0:
			return "", notExecutable(name)
		}
		return path, nil
	}
	for _, dir := range filepath.SplitList(s.Getenv("PATH")) {
		path := filepath.Join(s.abs(dir), name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", s.notFound(name)
}

func (s System) notFound(name string) error {
	if strings.HasSuffix(name, ".py") && s.isFile(name) {
		return notExecutable(name)
	}
	hint := "give its path, or activate the environment that has it"
	if name == "python" {
		if _, err := s.find("python3"); err == nil {
			hint = "python3 is there: use python3, or activate the environment that has python"
		}
	}
	return refuse("there is no program "+name+" in PATH", hint)
}

func notExecutable(name string) error {
	if strings.HasSuffix(name, ".py") {
		return refuse(name+" is not executable", "put python before it: -- python "+name)
	}
	return refuse(name+" is not executable", "")
}
