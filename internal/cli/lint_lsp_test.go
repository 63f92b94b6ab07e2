package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// An editor is the client of a server in this process, over pipes.
type editor struct {
	t    *testing.T
	wire *wire
	got  chan *message
	done chan Exit
	next int
}

func startEditor(t *testing.T) *editor {
	t.Helper()
	toServer, fromEditor := io.Pipe()
	toEditor, fromServer := io.Pipe()
	stdio, _, _ := record()
	stdio.In, stdio.Out = toServer, fromServer
	e := &editor{t: t, wire: newWire(toEditor, fromEditor), got: make(chan *message, 64), done: make(chan Exit, 1)}
	go func() {
		e.done <- Run(t.Context(), []string{"lint", "--lsp", "--no-cache", "--select", "GPU001+GPU900"}, stdio)
	}()
	go e.wire.readAll(t.Context(), e.got, make(chan error, 1))
	return e
}

// ask sends a request and gives its result.
func (e *editor) ask(method string, params, result any) {
	e.t.Helper()
	e.next++
	raw, err := json.Marshal(params)
	if err != nil {
		e.t.Fatal(err)
	}
	if err := e.wire.send(message{ID: json.RawMessage(fmt.Sprint(e.next)), Method: method, Params: raw}); err != nil {
		e.t.Fatal(err)
	}
	m := e.until(func(m *message) bool { return string(m.ID) == fmt.Sprint(e.next) })
	if m.Error != nil {
		e.t.Fatalf("%s: %s", method, m.Error.Message)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			e.t.Fatal(err)
		}
	}
}

func (e *editor) tell(method string, params any) {
	e.t.Helper()
	if err := e.wire.notify(method, params); err != nil {
		e.t.Fatal(err)
	}
}

func (e *editor) until(is func(*message) bool) *message {
	e.t.Helper()
	deadline := time.After(60 * time.Second)
	for {
		select {
		case m := <-e.got:
			if is(m) {
				return m
			}
		case <-deadline:
			e.t.Fatal("the server says nothing")
		}
	}
}

// diagnostics waits for those of a version of a file.
func (e *editor) diagnostics(uri string, version int) []lspDiagnostic {
	e.t.Helper()
	var p struct {
		URI         string
		Version     int
		Diagnostics []lspDiagnostic
	}
	e.until(func(m *message) bool {
		return m.Method == "textDocument/publishDiagnostics" && json.Unmarshal(m.Params, &p) == nil && p.URI == uri && p.Version == version
	})
	return p.Diagnostics
}

const lspTrain = `import torch
from helper import step
def train(model, loader, optimizer, criterion):
    total = 0.0
    for x, y in loader:
        loss = step(model, x, y, criterion)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss; s = "𝄞"; total += loss
`

func TestLSP(t *testing.T) {
	dir := t.TempDir()
	helper := "import torch\ndef step(model, x, y, criterion):\n    return criterion(model(x), y)\n"
	for name, text := range map[string]string{"train.py": "import torch\n", "helper.py": helper} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	uri := func(name string) string { return uriOf(filepath.ToSlash(filepath.Join(dir, name))) }
	e := startEditor(t)
	var hello struct {
		Capabilities struct {
			TextDocumentSync struct{ Change int }
		}
	}
	e.ask("initialize", map[string]any{"processId": nil, "rootUri": uri(""), "capabilities": map[string]any{}}, &hello)
	if hello.Capabilities.TextDocumentSync.Change != 1 {
		t.Errorf("the server wants changes of kind %d", hello.Capabilities.TextDocumentSync.Change)
	}
	e.tell("initialized", map[string]any{})

	// What the editor shows counts, not what is on the disk.
	item := func(name, text string, version int) map[string]any {
		return map[string]any{"uri": uri(name), "languageId": "python", "version": version, "text": text}
	}
	e.tell("textDocument/didOpen", map[string]any{"textDocument": item("train.py", lspTrain, 1)})
	found := e.diagnostics(uri("train.py"), 1)
	if len(found) != 2 || found[0].Code != "GPU001" || found[0].Range.Start != (lspPosition{9, 8}) {
		t.Fatalf("found %v", found)
	}
	// Characters outside of the first plane are two units wide.
	if found[1].Range.Start != (lspPosition{9, 33}) {
		t.Errorf("the second starts at %v", found[1].Range.Start)
	}

	// Quick fixes: applied, the file is clean.
	var actions []lspAction
	e.ask("textDocument/codeAction", map[string]any{"textDocument": map[string]any{"uri": uri("train.py")}, "range": found[1].Range, "context": map[string]any{}}, &actions)
	if len(actions) != 2 || !actions[0].Preferred || len(actions[0].Edit.Changes[uri("train.py")]) != 1 {
		t.Fatalf("actions: %v", actions)
	}
	edit := actions[0].Edit.Changes[uri("train.py")][0]
	if edit.Text != ".detach()" || edit.Range.Start != (lspPosition{9, 46}) {
		t.Errorf("the edit is %v", edit)
	}
	e.tell("textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": uri("train.py"), "version": 2},
		"contentChanges": []any{map[string]any{"text": strings.ReplaceAll(lspTrain, "+= loss", "+= loss.detach()")}},
	})
	if found := e.diagnostics(uri("train.py"), 2); len(found) != 0 {
		t.Errorf("after the fix: %v", found)
	}

	// Another file decides: it is open with a text that is not saved.
	e.tell("textDocument/didChange", map[string]any{
		"textDocument": map[string]any{"uri": uri("train.py"), "version": 3}, "contentChanges": []any{map[string]any{"text": lspTrain}},
	})
	if found := e.diagnostics(uri("train.py"), 3); len(found) != 2 {
		t.Errorf("before the helper changes: %v", found)
	}
	e.tell("textDocument/didOpen", map[string]any{"textDocument": item("helper.py", strings.Replace(helper, ", y)\n", ", y).item()\n", 1), 1)})
	if found := e.diagnostics(uri("train.py"), 3); len(found) != 0 {
		t.Errorf("after the helper changed: %v", found)
	}

	// Saved files may be new ones; a closed file is what the disk says.
	if err := os.WriteFile(filepath.Join(dir, "new.py"), []byte("import torch\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	e.tell("textDocument/didSave", map[string]any{"textDocument": map[string]any{"uri": uri("train.py")}})
	e.tell("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": uri("helper.py")}})
	if found := e.diagnostics(uri("train.py"), 3); len(found) != 2 {
		t.Errorf("after the helper was closed: %v", found)
	}

	// The unknown is refused, and the end is orderly.
	e.next++
	if err := e.wire.send(message{ID: json.RawMessage(fmt.Sprint(e.next)), Method: "textDocument/rename", Params: json.RawMessage("{}")}); err != nil {
		t.Fatal(err)
	}
	if m := e.until(func(m *message) bool { return string(m.ID) == fmt.Sprint(e.next) }); m.Error == nil || m.Error.Code != -32601 {
		t.Errorf("rename: %v", m.Error)
	}
	e.ask("shutdown", nil, nil)
	e.tell("exit", nil)
	if exit := <-e.done; exit != ExitOK {
		t.Errorf("exit %d", exit)
	}
}

// TestLSPRefuses: what is no message ends the server with an error, at once.
func TestLSPRefuses(t *testing.T) {
	for _, in := range []string{"Content-Length: 99999999999\r\n\r\n", "nonsense\r\n\r\n", "\r\n", "Content-Length: 5\r\n\r\nab", strings.Repeat("x", 10000)} {
		stdio, _, _ := record()
		stdio.In = strings.NewReader(in)
		if exit := Run(t.Context(), []string{"lint", "--lsp"}, stdio); exit != ExitFailed {
			t.Errorf("%.20q: exit %d", in, exit)
		}
	}
	stdio, out, _ := record()
	stdio.In = strings.NewReader("Content-Length: 2\r\n\r\n{]")
	if exit := Run(t.Context(), []string{"lint", "--lsp"}, stdio); exit != ExitOK || !strings.Contains(out.String(), "-32700") {
		t.Errorf("exit %d: %s", exit, out)
	}
}
