package command

import (
	"path/filepath"
	"regexp"
	"strings"
)

var pythonName = regexp.MustCompile(`^(python|pypy)([0-9]+(\.[0-9]+)?t?)?$`)

// isPython goes by the name under which the program was found, since a
// virtual environment is known by the link in it and not by what it leads to.
func isPython(path string) bool { return pythonName.MatchString(filepath.Base(path)) }

// flagsWithValue are python's single-letter options that take the next word.
// Source: `python --help`, 3.8 to 3.14.
const flagsWithValue = "WX"

// isolating are the options that keep the helper out: -I and -E ignore
// PYTHONPATH, -S does not import sitecustomize.
const isolating = "IES"

// readPythonArgs walks the interpreter's own options to the script, -m or -c.
func (c *Command) readPythonArgs(args []string, s System) error {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "-" || arg == "":
			return refuse("python reads its program from standard input, which a capture cannot give it", "save the program to a file")
		case arg == "--check-hash-based-pycs":
			i++
		case strings.HasPrefix(arg, "--"):
		case arg[0] == '-':
			letter, rest := optionWithValue(arg)
			switch {
			case letter == 'm':
				return c.readModule(append(inline(rest), args[i+1:]...), s)
			case letter == 'c':
				return nil
			case letter != 0 && rest == "":
				i++
			case letter == 0 && strings.ContainsAny(arg, isolating):
				return refuse("python "+arg+" shuts out PYTHONPATH or sitecustomize, through which a capture reaches the script", "leave "+arg+" out")
			}
		default:
			return c.readScript(arg, args[i+1:], s)
		}
	}
	return refuse("python is started without a script", "add the script: -- python train.py")
}

// optionWithValue finds the first letter in a bundle such as "-um" that ends
// it by taking a value, and the value if it is glued on.
func optionWithValue(arg string) (letter byte, rest string) {
	for i := 1; i < len(arg); i++ {
		if strings.IndexByte(flagsWithValue+"mc", arg[i]) >= 0 {
			return arg[i], arg[i+1:]
		}
	}
	return 0, ""
}

func inline(rest string) []string {
	if rest == "" {
		return nil
	}
	return []string{rest}
}

func (c *Command) readScript(name string, args []string, s System) error {
	path := s.abs(name)
	if !s.isFile(name) && !s.isPackage(name) {
		return refuse("the script "+name+" does not exist", "run plimsoll from the folder that has it, or give its path")
	}
	c.useScript(path)
	if s.isPackage(name) {
		c.Dir = path
	}
	if l, ok := launcherOf(strings.TrimSuffix(filepath.Base(path), ".py")); ok {
		c.Processes = l.processes(args)
	}
	return nil
}

// isPackage reports whether name is a folder with a __main__.py, which
// python runs as a script.
func (s System) isPackage(name string) bool { return s.isFile(filepath.Join(name, "__main__.py")) }

// readModule finds the user's code behind "-m name": a module under the
// working directory, or the script that a launcher module is given.
func (c *Command) readModule(words []string, s System) error {
	if len(words) == 0 {
		return refuse("python -m is started without a module", "add its name: -- python -m package.train")
	}
	rel := strings.ReplaceAll(words[0], ".", string(filepath.Separator))
	for _, name := range []string{rel + ".py", filepath.Join(rel, "__main__.py")} {
		if s.isFile(name) {
			// Packages are imported from the working directory, so all of it
			// is the user's.
			c.Script = s.abs(name)
			return nil
		}
	}
	if l, ok := launcherOf(words[0]); ok {
		c.Processes = l.processes(words[1:])
		for _, w := range words[1:] {
			if strings.HasSuffix(w, ".py") && s.isFile(w) {
				c.useScript(s.abs(w))
				break
			}
		}
	}
	return nil
}
