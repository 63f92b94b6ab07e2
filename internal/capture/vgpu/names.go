package vgpu

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
)

//go:embed manifest/libraries.txt
var libraryTable string

// A library is one of NVIDIA's that the virtual GPU stands for.
type library struct {
	name    string         // as in the log and the manifest's file name, "cudart"
	id      string         // in csrc/libraries.h, "RUNTIME"
	soname  *regexp.Regexp // sonames under which it is asked for
	symbols *regexp.Regexp // names that belong to it
}

// libraries is the table in its order: the first match owns a name.
type libraries []library

func readLibraries(text string) (libraries, error) {
	var all libraries
	for n, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Fields(line)
		if len(f) != 4 {
			return nil, fmt.Errorf("libraries.txt: line %d: %d columns, want 4", n+1, len(f))
		}
		// Wheels that carry a copy put a hash between the stem and ".so".
		soname, err := regexp.Compile(`^(?:` + f[2] + `)(?:[.-][0-9a-f]{8})?\.so(?:\.[0-9.]+)?$`)
		if err != nil {
			return nil, fmt.Errorf("libraries.txt: line %d: %w", n+1, err)
		}
		symbols, err := regexp.Compile(`^(?:` + f[3] + `)$`)
		if err != nil {
			return nil, fmt.Errorf("libraries.txt: line %d: %w", n+1, err)
		}
		all = append(all, library{f[0], f[1], soname, symbols})
	}
	return all, nil
}

// bySoname returns the library that is asked for under a soname.
func (ls libraries) bySoname(soname string) (library, bool) {
	for _, l := range ls {
		if l.soname.MatchString(soname) {
			return l, true
		}
	}
	return library{}, false
}

// bySymbol returns the library that a name belongs to.
func (ls libraries) bySymbol(symbol string) (library, bool) {
	for _, l := range ls {
		if l.symbols.MatchString(symbol) {
			return l, true
		}
	}
	return library{}, false
}

func (ls libraries) byName(name string) (library, bool) {
	for _, l := range ls {
		if l.name == name {
			return l, true
		}
	}
	return library{}, false
}
