package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/plimsoll-dev/plimsoll/internal/input"
)

// A Config is what a project's file says: [lint] of plimsoll.toml or
// [tool.plimsoll.lint] of pyproject.toml.
type Config struct {
	Select         []string            `toml:"select"`        // instead of the rules that are on by default
	ExtendSelect   []string            `toml:"extend-select"` // in addition
	Ignore         []string            `toml:"ignore"`
	Severity       string              `toml:"severity"`
	FailOn         string              `toml:"fail-on"`
	Exclude        []string            `toml:"exclude"`
	PerFileIgnores map[string][]string `toml:"per-file-ignores"`
	Baseline       string              `toml:"baseline"`

	File string `toml:"-"` // where it is from; "" for the defaults
}

// Dir is the folder that the config's paths are relative to.
func (c *Config) Dir() string { return filepath.Dir(c.File) }

// keys are what the table may have.
var keys = []string{"select", "extend-select", "ignore", "severity", "fail-on", "exclude", "per-file-ignores", "baseline"}

// configFiles are looked for in each folder, in this order.
var configFiles = []string{"plimsoll.toml", "pyproject.toml"}

const maxConfig = 4 << 20

// FindConfig looks for the nearest config at or above a path, not beyond the
// top of its repository. Without one it gives the defaults.
func FindConfig(path string) (*Config, error) {
	dir, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		dir = filepath.Dir(dir)
	}
	top := dir
	for {
		for _, name := range configFiles {
			c, err := ReadConfig(filepath.Join(dir, name))
			if errors.Is(err, errNoTable) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) && !exists(filepath.Join(dir, name)) {
				continue // the last: nothing is seen in a folder that may not be entered
			}
			if err != nil {
				return nil, err
			}
			return c, nil
		}
		up := filepath.Dir(dir)
		if up == dir || exists(filepath.Join(dir, ".git")) {
			return &Config{File: filepath.Join(top, configFiles[0])}, nil
		}
		dir = up
	}
}

var errNoTable = errors.New("it has no table of plimsoll's")

// ReadConfig reads a config file.
func ReadConfig(name string) (*Config, error) {
	raw, err := input.ReadFile(name, maxConfig)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, cause(err))
	}
	var doc struct {
		Lint map[string]any `toml:"lint"`
		Tool struct {
			Plimsoll struct {
				Lint map[string]any `toml:"lint"`
			} `toml:"plimsoll"`
		} `toml:"tool"`
	}
	var typed struct {
		Lint Config `toml:"lint"`
		Tool struct {
			Plimsoll struct {
				Lint Config `toml:"lint"`
			} `toml:"plimsoll"`
		} `toml:"tool"`
	}
	ours := filepath.Base(name) != "pyproject.toml"
	if err := toml.Unmarshal(raw, &doc); err != nil {
		if !ours && !strings.Contains(string(raw), "plimsoll") {
			return nil, errNoTable // someone else's file, someone else's mistake
		}
		return nil, tomlError(name, err)
	}
	table := doc.Tool.Plimsoll.Lint
	if ours {
		table = doc.Lint
	}
	if table == nil {
		return nil, fmt.Errorf("read %s: %w", name, errNoTable)
	}
	for _, k := range sortedKeys(table) {
		if !slices.Contains(keys, k) {
			return nil, fmt.Errorf("read %s: lint has no setting %q; it has %s", name, k, strings.Join(keys, ", "))
		}
	}
	if err := toml.Unmarshal(raw, &typed); err != nil {
		return nil, tomlError(name, err)
	}
	c := typed.Tool.Plimsoll.Lint
	if ours {
		c = typed.Lint
	}
	c.File = name
	return &c, nil
}

func sortedKeys(m map[string]any) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

func tomlError(name string, err error) error {
	if e, ok := errors.AsType[*toml.DecodeError](err); ok {
		row, column := e.Position()
		return fmt.Errorf("read %s: line %d, column %d: %s", name, row, column, strings.TrimPrefix(e.Error(), "toml: "))
	}
	return fmt.Errorf("read %s: %w", name, err)
}

// Ignores reports whether per-file-ignores leaves a finding out.
func (c *Config) Ignores(f Finding, base string) bool {
	for pattern, words := range c.PerFileIgnores {
		if !Matches([]string{pattern}, relative(base, f.File)) {
			continue
		}
		for _, w := range words {
			if strings.EqualFold(w, f.Code) || strings.EqualFold(w, f.Name) || strings.EqualFold(w, "ALL") || isPrefix(w, f.Code) {
				return true
			}
		}
	}
	return false
}
