package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/lint/workspace"
)

// lspDelay is how long the server waits for more typing before it lints.
const lspDelay = 150 * time.Millisecond

// An lspServer lints what an editor shows. The texts of open files stand in for
// those on the disk, so that what is known across files is of now.
type lspServer struct {
	*linter
	wire  *wire
	space *workspace.Workspace
	root  string
	open  map[string]*lspDocument // by URI
	stale bool                    // something changed since the last check
	moved bool                    // files may have come or gone
	shut  bool                    // the client asked for the end
}

// An lspDocument is an open file.
type lspDocument struct {
	uri      string
	path     string // absolute
	version  int
	text     string
	lines    []string
	findings []workspace.Finding
	said     string // the diagnostics that were published
}

// serve speaks the language server protocol until the client ends it.
func (l *linter) serve(ctx context.Context) error {
	s := &lspServer{linter: l, wire: newWire(l.stdio.In, l.stdio.Out), open: map[string]*lspDocument{}}
	messages, failed := make(chan *message), make(chan error, 1)
	go s.wire.readAll(ctx, messages, failed)
	var later <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-failed:
			if errors.Is(err, io.EOF) {
				return nil // the editor is gone
			}
			return fmt.Errorf("read from the editor: %w", err)
		case <-later:
			later = nil
			if err := s.lint(ctx); err != nil {
				return err
			}
		case m := <-messages:
			if m.Method == "exit" {
				if !s.shut {
					return errors.New("the editor left without saying shutdown")
				}
				return nil
			}
			if err := s.handle(ctx, m); err != nil {
				return err
			}
			if s.stale {
				later = time.After(lspDelay)
			}
		}
	}
}

// handle does what a message asks. Errors are those that end the server.
func (s *lspServer) handle(ctx context.Context, m *message) error {
	switch m.Method {
	case "initialize":
		return s.initialize(m)
	case "shutdown":
		s.shut = true
		return s.wire.answer(m.ID, nil)
	case "textDocument/didOpen":
		var p struct{ TextDocument lspItem }
		if json.Unmarshal(m.Params, &p) == nil {
			s.changed(p.TextDocument)
		}
	case "textDocument/didChange":
		var p struct {
			TextDocument   lspItem
			ContentChanges []struct{ Text string }
		}
		if json.Unmarshal(m.Params, &p) == nil && len(p.ContentChanges) > 0 { // in full, as was agreed
			p.TextDocument.Text = p.ContentChanges[len(p.ContentChanges)-1].Text
			s.changed(p.TextDocument)
		}
	case "textDocument/didSave", "workspace/didChangeWatchedFiles":
		s.moved, s.stale = true, true
	case "textDocument/didClose":
		var p struct{ TextDocument lspItem }
		if json.Unmarshal(m.Params, &p) == nil && s.open[p.TextDocument.URI] != nil {
			delete(s.open, p.TextDocument.URI)
			s.stale = true
			return s.publish(p.TextDocument.URI, 0, []lspDiagnostic{})
		}
	case "textDocument/codeAction":
		return s.codeAction(ctx, m)
	default:
		if len(m.ID) > 0 && m.Method != "" {
			return s.wire.refuse(m.ID, -32601, "plimsoll does not know "+m.Method)
		}
	}
	return nil
}

type lspItem struct {
	URI     string
	Version int
	Text    string
}

func (s *lspServer) initialize(m *message) error {
	var p struct {
		RootURI          string `json:"rootUri"`
		WorkspaceFolders []struct{ URI string }
	}
	if json.Unmarshal(m.Params, &p) == nil {
		if len(p.WorkspaceFolders) > 0 {
			p.RootURI = p.WorkspaceFolders[0].URI
		}
		s.root = pathOfURI(p.RootURI)
	}
	return s.wire.answer(m.ID, map[string]any{
		"capabilities": map[string]any{
			"positionEncoding":   "utf-16",
			"textDocumentSync":   map[string]any{"openClose": true, "change": 1, "save": true},
			"codeActionProvider": map[string]any{"codeActionKinds": []string{"quickfix"}},
		},
		"serverInfo": map[string]string{"name": "plimsoll", "version": buildVersion().Version},
	})
}

func (s *lspServer) changed(item lspItem) {
	path := pathOfURI(item.URI)
	if path == "" || !strings.HasSuffix(path, ".py") {
		return // notebooks come cell by cell
	}
	d := s.open[item.URI]
	if d == nil {
		d = &lspDocument{uri: item.URI, path: path}
		s.open[item.URI] = d
	}
	d.version, d.text, d.lines = item.Version, item.Text, strings.Split(item.Text, "\n")
	s.stale = true
}

// find lists the project's files, and the open ones among them or beside.
func (s *lspServer) find() error {
	if s.space == nil || s.moved {
		if s.root == "" {
			for _, d := range s.open {
				s.root = filepath.Dir(d.path)
			}
		}
		l := *s.linter
		l.Paths = []string{s.root}
		space, err := l.open()
		if err != nil {
			return err
		}
		if s.space == nil {
			s.space = space
		}
		s.space.Tree, s.moved = space.Tree, false // what is known of files stays
	}
	known := map[string]bool{}
	for _, f := range s.space.Tree.Files {
		known[f.Path] = true
	}
	for _, d := range s.open {
		if p := filepath.ToSlash(d.path); !known[p] {
			name := strings.TrimPrefix(strings.TrimPrefix(p, filepath.ToSlash(s.space.Tree.Root)), "/")
			s.space.Tree.Files = append(s.space.Tree.Files, workspace.File{Path: p, Name: name})
		}
	}
	return nil
}

// lint checks what may have changed and publishes what is new.
func (s *lspServer) lint(ctx context.Context) error {
	s.stale = false
	if len(s.open) == 0 {
		return nil
	}
	if err := s.find(); err != nil {
		return s.wire.notify("window/logMessage", map[string]any{"type": 1, "message": "plimsoll: " + err.Error()})
	}
	byPath, overlay := map[string]*lspDocument{}, map[string][]byte{}
	for _, d := range s.open {
		byPath[filepath.ToSlash(d.path)] = d
	}
	for _, f := range s.space.Tree.Files {
		if d := byPath[f.Path]; d != nil {
			overlay[f.Name] = []byte(d.text)
		}
	}
	results, err := s.space.Check(ctx, overlay)
	if err != nil {
		return err
	}
	shown := s.filter()
	for _, r := range results {
		d := byPath[r.Path]
		if d == nil {
			continue
		}
		d.findings = nil
		list := []lspDiagnostic{}
		for _, f := range r.Findings {
			if shown(f) {
				f = s.costs.price(ctx, f, r.Setup)
				d.findings = append(d.findings, f)
				list = append(list, d.diagnostic(f))
			}
		}
		if text := fmt.Sprint(d.version, list); text != d.said {
			d.said = text
			if err := s.publish(d.uri, d.version, list); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *lspServer) publish(uri string, version int, list []lspDiagnostic) error {
	return s.wire.notify("textDocument/publishDiagnostics", map[string]any{"uri": uri, "version": version, "diagnostics": list})
}

// codeAction offers the fixes of what is in a range, and to ignore it.
func (s *lspServer) codeAction(ctx context.Context, m *message) error {
	var p struct {
		TextDocument lspItem
		Range        lspRange
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		return s.wire.refuse(m.ID, -32602, "read the parameters: "+err.Error())
	}
	if s.stale {
		if err := s.lint(ctx); err != nil {
			return err
		}
	}
	actions := []lspAction{}
	d := s.open[p.TextDocument.URI]
	if d == nil {
		return s.wire.answer(m.ID, actions)
	}
	for _, f := range d.findings {
		diagnostic := d.diagnostic(f)
		if diagnostic.Range.Start.after(p.Range.End) || p.Range.Start.after(diagnostic.Range.End) {
			continue
		}
		act := func(title string, preferred bool, edits []lspEdit) {
			actions = append(actions, lspAction{
				Title: title, Kind: "quickfix", Diagnostics: []lspDiagnostic{diagnostic}, Preferred: preferred,
				Edit: lspChanges{map[string][]lspEdit{d.uri: edits}},
			})
		}
		if f.Fix != nil {
			title := f.Fix.Title
			if !f.Fix.Safe {
				title += " (may change results)"
			}
			var edits []lspEdit
			for _, e := range f.Fix.Edits {
				edits = append(edits, lspEdit{d.rangeOf(e.Range), e.Text})
			}
			act(title, f.Fix.Safe, edits)
		}
		if f.Code != "GPU900" {
			end := d.position(f.EndLine, 1<<30)
			act("ignore "+f.Code+" here", false, []lspEdit{{lspRange{end, end}, "  # plimsoll: ignore[" + f.Code + "]"}})
		}
	}
	return s.wire.answer(m.ID, actions)
}

// pathOfURI is the path of a file's URI, or "".
func pathOfURI(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return ""
	}
	return filepath.FromSlash(u.Path)
}

// The protocol's values.
type (
	lspPosition struct {
		Line      int `json:"line"`
		Character int `json:"character"` // in UTF-16 units
	}
	lspRange struct {
		Start lspPosition `json:"start"`
		End   lspPosition `json:"end"`
	}
	lspDiagnostic struct {
		Range       lspRange          `json:"range"`
		Severity    int               `json:"severity"`
		Code        string            `json:"code"`
		Description map[string]string `json:"codeDescription,omitempty"`
		Source      string            `json:"source"`
		Message     string            `json:"message"`
	}
	lspEdit struct {
		Range lspRange `json:"range"`
		Text  string   `json:"newText"`
	}
	lspChanges struct {
		Changes map[string][]lspEdit `json:"changes"`
	}
	lspAction struct {
		Title       string          `json:"title"`
		Kind        string          `json:"kind"`
		Diagnostics []lspDiagnostic `json:"diagnostics"`
		Preferred   bool            `json:"isPreferred,omitempty"`
		Edit        lspChanges      `json:"edit"`
	}
)

func (p lspPosition) after(o lspPosition) bool {
	return p.Line > o.Line || p.Line == o.Line && p.Character > o.Character
}

var lspSeverities = map[string]int{"error": 1, "warning": 2, "info": 3}

func (d *lspDocument) diagnostic(f workspace.Finding) lspDiagnostic {
	return lspDiagnostic{
		Range: d.rangeOf(f.Range), Severity: lspSeverities[f.Severity], Code: f.Code, Source: "plimsoll",
		Description: map[string]string{"href": rulePages + f.Name + ".md"},
		Message:     fmt.Sprintf("%s\nWhy: %s\nCost: %s", f.Message, f.Why, f.Cost),
	}
}

func (d *lspDocument) rangeOf(r workspace.Range) lspRange {
	return lspRange{d.position(r.Line, r.Column), d.position(r.EndLine, r.EndColumn)}
}

// position counts UTF-16 units where findings count characters. A column
// behind the line's end is its end.
func (d *lspDocument) position(line, column int) lspPosition {
	p := lspPosition{Line: line - 1}
	if line-1 >= len(d.lines) {
		return p
	}
	for _, r := range strings.TrimSuffix(d.lines[line-1], "\r") {
		if column--; column < 1 {
			break
		}
		p.Character++
		if r > 0xFFFF {
			p.Character++
		}
	}
	return p
}
