package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/internal/lint"
	"github.com/plimsoll-dev/plimsoll/internal/lint/rules"
	"github.com/plimsoll-dev/plimsoll/internal/lint/workspace"
	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// lintOptions is what `plimsoll lint` was asked.
type lintOptions struct {
	Output
	Paths         []string
	Select        []string
	Extend        []string
	Ignore        []string
	Exclude       []string
	Severity      string
	FailOn        string
	Config        string
	Baseline      string
	With          []string
	WriteBaseline string
	CacheDir      string
	NoCache       bool
	Fix           bool
	Unsafe        bool
	Watch         bool
	LSP           bool
	Explain       string
	StdinName     string
	Jobs          int
	Strict        bool
	Verbose       bool
}

func newLintCommand(stdio IO) *cobra.Command {
	var o lintOptions
	cmd := &cobra.Command{
		Use:   "lint [PATH...]",
		Short: "Find what wastes GPU memory and time in training code",
		Long: `Find the mistakes in training code that keep memory or let the GPU wait: what is
wrong on which line, what it costs, and the change. Paths are Python files,
notebooks and folders of them; without one it is the folder that you are in, and
"-" reads a file from standard input. Nothing is run.

Settings are in plimsoll.toml, table lint, or in pyproject.toml, table
tool.plimsoll.lint. A comment "# plimsoll: ignore[GPU001]" on a line, or alone
above it, leaves its findings out.`,
		Example: `  plimsoll lint .
  plimsoll lint --fix train.py
  plimsoll lint --explain GPU001
  plimsoll lint --format sarif -o lint.sarif src`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Paths = args
			return runLint(cmd.Context(), stdio, o)
		},
	}
	o.addFlags(cmd, "text", "json", "sarif", "github")
	f := cmd.Flags()
	words := func(to *[]string, name, usage string) { f.StringSliceVar(to, name, nil, usage) }
	words(&o.Select, "select", "run only these `RULES`: codes, names, beginnings of codes (GPU1), ALL")
	words(&o.Extend, "extend-select", "run these `RULES` in addition")
	words(&o.Ignore, "ignore", "do not run these `RULES`")
	words(&o.Exclude, "exclude", "leave out files and folders that match these `PATTERNS`")
	f.StringVar(&o.Severity, "severity", "", "show findings of this `LEVEL` and above: info, warning, error (default info)")
	f.StringVar(&o.FailOn, "fail-on", "", "exit with 1 for findings of this `LEVEL` and above: info, warning, error, never (default warning)")
	f.StringVar(&o.Config, "config", "", "read settings from this `FILE` instead of looking for one")
	f.StringVar(&o.Baseline, "baseline", "", "show only findings that are not in this `FILE`")
	f.StringArrayVar(&o.With, "with", nil, "tell costs of the run that `FILE` is of: in bytes (JSON of plimsoll capture or estimate, a tape of a script), as shares of the time (a recording, JSON of plimsoll run or replay)")
	f.StringVar(&o.WriteBaseline, "write-baseline", "", "write all findings to this `FILE`, for --baseline")
	f.BoolVar(&o.Fix, "fix", false, "make the fixes that keep results, in the files")
	f.BoolVar(&o.Unsafe, "unsafe", false, "with --fix: also make those that may change results")
	f.BoolVar(&o.Watch, "watch", false, "lint again whenever a file changes, until interrupted")
	f.BoolVar(&o.LSP, "lsp", false, "serve an editor over standard input and output (language server protocol)")
	f.StringVar(&o.Explain, "explain", "", "explain a `RULE`, by its code or name, and lint nothing; all lists them")
	f.StringVar(&o.StdinName, "stdin-filename", "stdin.py", "the `NAME` of the file that \"-\" reads")
	f.StringVar(&o.CacheDir, "cache-dir", "", "remember findings in this `FOLDER` instead of the user's cache")
	f.BoolVar(&o.NoCache, "no-cache", false, "remember nothing, and use nothing remembered")
	f.IntVarP(&o.Jobs, "jobs", "j", 0, "lint `N` files at a time (default one for each core)")
	f.BoolVar(&o.Strict, "strict", false, "exit with 3 when a file was passed over or could only be read in part")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "tell why and what it costs with each finding, not once for each rule")
	for _, level := range []string{"severity", "fail-on"} {
		complete(cmd, level, cobra.FixedCompletions([]string{"info", "warning", "error", "never"}, cobra.ShellCompDirectiveNoFileComp))
	}
	complete(cmd, "explain", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, r := range lintRules() {
			names = append(names, r.Code, r.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// lintRules is every rule, in the order of the codes.
func lintRules() []*lint.Rule {
	all := append(slices.Clone(rules.All), lint.UnusedIgnore)
	slices.SortFunc(all, func(a, b *lint.Rule) int { return cmp.Compare(a.Code, b.Code) })
	return all
}

// A linter is the command with its settings read.
type linter struct {
	lintOptions
	stdio    IO
	config   *workspace.Config
	all      []*lint.Rule
	rules    []*lint.Rule
	severity lint.Severity
	failOn   lint.Severity
	never    bool
	baseline *workspace.Baseline
	costs    *lintPrices
}

func runLint(ctx context.Context, stdio IO, o lintOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	if o.Explain != "" {
		return explainRule(stdio, o)
	}
	if _, err := pyast.Parse(nil); err != nil {
		return WithHint(err, "released binaries have it; or: CGO_ENABLED=1 go install github.com/plimsoll-dev/plimsoll/cmd/plimsoll")
	}
	if len(o.Paths) == 0 {
		o.Paths = []string{"."}
	}
	l, err := newLinter(ctx, stdio, o)
	if err != nil {
		return err
	}
	switch {
	case o.LSP:
		return l.serve(ctx)
	case o.Watch:
		return l.watch(ctx)
	case slices.Contains(o.Paths, standardInput):
		return l.standardInput(ctx)
	}
	w, err := l.open()
	if err != nil {
		return err
	}
	return l.once(ctx, w)
}

func newLinter(ctx context.Context, stdio IO, o lintOptions) (*linter, error) {
	l := &linter{lintOptions: o, stdio: stdio, all: lintRules()}
	if err := l.usage(); err != nil {
		return nil, err
	}
	if err := l.settings(); err != nil {
		return nil, err
	}
	var err error
	if l.costs, err = l.prices(ctx); err != nil {
		return nil, err
	}
	s := workspace.Selection{Select: l.config.Select, Extend: append(l.config.ExtendSelect, split(o.Extend)...), Ignore: append(l.config.Ignore, split(o.Ignore)...)}
	if chosen := split(o.Select); len(chosen) > 0 { // the command line says all
		s = workspace.Selection{Select: chosen, Extend: split(o.Extend), Ignore: split(o.Ignore)}
	}
	if l.rules, err = s.Of(l.all); err != nil {
		return nil, WithHint(err, "plimsoll lint --explain all lists the rules")
	}
	if name := l.baselineFile(); name != "" {
		l.baseline, err = workspace.ReadBaseline(name)
	}
	return l, err
}

// usage reports flags that do not go together.
func (l *linter) usage() error {
	switch {
	case l.Unsafe && !l.Fix:
		return WithHint(errors.New("--unsafe says which fixes --fix makes"), "plimsoll lint --fix --unsafe PATH")
	case l.Fix && (l.Watch || l.LSP || l.WriteBaseline != ""):
		return errors.New("--fix goes with neither --watch, --lsp nor --write-baseline")
	case l.Watch && l.LSP:
		return errors.New("--watch and --lsp are two ways of going on; take one")
	case l.Watch && l.Format != "text":
		return errors.New("--watch writes text only")
	case slices.Contains(l.Paths, standardInput) && (len(l.Paths) > 1 || l.Fix || l.Watch || l.LSP):
		return errors.New(`"-" is linted alone, and without --fix, --watch and --lsp`)
	case l.Jobs < 0:
		return errors.New("--jobs takes a number of files")
	}
	return nil
}

// settings reads the config and joins it with the flags.
func (l *linter) settings() (err error) {
	if l.Config != "" {
		l.config, err = workspace.ReadConfig(l.Config)
	} else {
		start := l.Paths[0]
		if start == standardInput {
			start = filepath.Dir(l.StdinName)
		}
		l.config, err = workspace.FindConfig(start)
	}
	if err != nil {
		return err
	}
	level := func(flag, config, or, name string) (lint.Severity, error) {
		word := cmp.Or(flag, config, or)
		s, ok := workspace.SeverityOf(word)
		if !ok {
			return 0, WithHint(fmt.Errorf("%s %q is no severity", name, word), name+" takes info, warning or error")
		}
		return s, nil
	}
	if l.severity, err = level(l.Severity, l.config.Severity, "info", "--severity"); err != nil {
		return err
	}
	if l.never = cmp.Or(l.FailOn, l.config.FailOn) == "never"; l.never {
		return nil
	}
	l.failOn, err = level(l.FailOn, l.config.FailOn, "warning", "--fail-on")
	return err
}

func (l *linter) baselineFile() string {
	switch {
	case l.WriteBaseline != "":
		return ""
	case l.Baseline != "":
		return l.Baseline
	case l.config.Baseline != "":
		return filepath.Join(l.config.Dir(), filepath.FromSlash(l.config.Baseline))
	}
	return ""
}

// split cuts lists that are joined by + as well.
func split(words []string) []string {
	var out []string
	for _, w := range words {
		out = append(out, strings.FieldsFunc(w, func(r rune) bool { return r == '+' || r == ',' || r == ' ' })...)
	}
	return out
}

// open finds the files.
func (l *linter) open() (*workspace.Workspace, error) {
	base, err := filepath.Abs(l.config.Dir())
	if err != nil {
		return nil, err
	}
	tree, err := workspace.Find(l.Paths, base, append(slices.Clone(l.config.Exclude), split(l.Exclude)...))
	if err != nil {
		return nil, err
	}
	w := l.workspace(tree)
	if dir := l.cacheDir(); dir != "" {
		abs, err := filepath.Abs(".")
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256([]byte(abs + "\x00" + strings.Join(l.Paths, "\x00") + "\x00" + codesOf(l.rules)))
		w.Cache = filepath.Join(dir, hex.EncodeToString(sum[:16])+".json")
	}
	return w, nil
}

func (l *linter) workspace(tree *workspace.Tree) *workspace.Workspace {
	return &workspace.Workspace{Tree: tree, All: l.all, Rules: l.rules, Workers: l.Jobs, Version: programVersion()}
}

func codesOf(list []*lint.Rule) string {
	var codes []string
	for _, r := range list {
		codes = append(codes, r.Code)
	}
	return strings.Join(codes, "+")
}

// cacheDir is where findings are remembered, or "".
func (l *linter) cacheDir() string {
	if l.NoCache {
		return ""
	}
	if l.CacheDir != "" {
		return l.CacheDir
	}
	if dir := l.stdio.Getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "plimsoll", "lint")
	}
	if home := cmp.Or(l.stdio.Getenv("HOME"), l.stdio.Getenv("LOCALAPPDATA")); home != "" {
		return filepath.Join(home, ".cache", "plimsoll", "lint")
	}
	return ""
}

// programVersion tells one build of this program from another, also where both
// are of a working tree.
func programVersion() string {
	v := buildVersion()
	text := fmt.Sprint(v.Version, v.Commit)
	if exe, err := os.Executable(); err == nil {
		if info, err := os.Stat(exe); err == nil {
			text += fmt.Sprint(info.Size(), info.ModTime().UnixNano())
		}
	}
	return text
}

// standardInput lints what comes in, as the file that it is said to be.
func (l *linter) standardInput(ctx context.Context) error {
	most := lint.MaxSize(l.StdinName)
	raw, err := io.ReadAll(io.LimitReader(l.stdio.In, most+1))
	if err != nil {
		return fmt.Errorf("read standard input: %w", err)
	}
	if int64(len(raw)) > most {
		return fmt.Errorf("read standard input: %w", lint.TooLarge(int64(len(raw)), most))
	}
	name := filepath.ToSlash(l.StdinName)
	root, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	w := l.workspace(&workspace.Tree{Root: root, Files: []workspace.File{{Path: name, Name: name}}})
	results, err := w.Check(ctx, map[string][]byte{name: bytes.Clone(raw)})
	if err != nil {
		return err
	}
	return l.say(l.answer(ctx, w, results, nil))
}

// once lints, or fixes, and answers.
func (l *linter) once(ctx context.Context, w *workspace.Workspace) error {
	if len(w.Tree.Files) == 0 && len(w.Tree.Problems) == 0 {
		return WithHint(fmt.Errorf("there is no Python file in %s", strings.Join(l.Paths, ", ")), "plimsoll lint takes .py and .ipynb files, and folders of them")
	}
	if l.Fix {
		fixed, err := w.Fix(ctx, func() func(workspace.Finding) bool {
			shown := l.filter()
			return func(f workspace.Finding) bool { return shown(f) && (f.Fix.Safe || l.Unsafe) }
		})
		if err != nil {
			return err
		}
		return l.say(l.answer(ctx, w, fixed.Files, fixed))
	}
	results, err := w.Check(ctx, nil)
	if err != nil {
		return err
	}
	if dir := l.cacheDir(); dir != "" {
		workspace.Tidy(dir, l.stdio.Now())
	}
	return l.say(l.answer(ctx, w, results, nil))
}

// filter gives a function that reports whether a finding is shown.
func (l *linter) filter() func(workspace.Finding) bool {
	base := l.config.Dir()
	if abs, err := filepath.Abs(base); err == nil {
		base = abs
	}
	fresh := func(workspace.Finding) bool { return true }
	if l.baseline != nil {
		fresh = l.baseline.Filter(base)
	}
	return func(f workspace.Finding) bool {
		if s, ok := workspace.SeverityOf(f.Severity); !ok || s < l.severity {
			return false
		}
		return !l.config.Ignores(f, base) && fresh(f)
	}
}
