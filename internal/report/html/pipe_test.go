//go:build unix

package html

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// browserFlags keep Chromium from everything but the page.
var browserFlags = []string{
	"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
	"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
	"--remote-debugging-pipe",
}

// A browser is a headless Chromium with one tab. It speaks the DevTools
// protocol over a pipe: JSON messages that end in a zero byte on the
// descriptors 3 and 4.
type browser struct {
	t       *testing.T
	out     io.Writer
	session string
	mu      sync.Mutex
	next    int
	waiting map[int]chan reply
	loaded  chan struct{}
	// seen are the requests, complaints and exceptions of the page.
	requests, complaints []string
}

type reply struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct{ Message string }
}

// chromium finds the browser or skips the test.
func chromium(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("PLIMSOLL_CHROMIUM"); path != "" {
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium in PATH and PLIMSOLL_CHROMIUM is not set")
	return ""
}

func openBrowser(t *testing.T) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	path := chromium(t)
	in, toBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromBrowser, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, append(browserFlags, "--user-data-dir="+t.TempDir(), "about:blank")...)
	cmd.ExtraFiles = []*os.File{in, out}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Skipf("%s does not start: %v", path, err)
	}
	in.Close()
	out.Close()
	b := &browser{t: t, out: toBrowser, waiting: map[int]chan reply{}, loaded: make(chan struct{}, 1)}
	go b.read(fromBrowser)
	t.Cleanup(func() {
		toBrowser.Close() // Chromium ends when its pipe does
		done := make(chan struct{})
		go func() { _ = cmd.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(5 * time.Second):
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-done
		}
	})
	b.attach()
	return b
}

func (b *browser) attach() {
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	b.session = session.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
}

func (b *browser) read(r io.Reader) {
	lines := bufio.NewReaderSize(r, 1<<20)
	for {
		text, err := lines.ReadBytes(0)
		if err != nil {
			return
		}
		var m reply
		if json.Unmarshal(text[:len(text)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		if c := b.waiting[m.ID]; m.ID != 0 && c != nil {
			c <- m
		} else {
			b.event(m)
		}
		b.mu.Unlock()
	}
}

// event notes what the page did.
func (b *browser) event(m reply) {
	switch m.Method {
	case "Page.loadEventFired":
		select {
		case b.loaded <- struct{}{}:
		default:
		}
	case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded":
		b.complaints = append(b.complaints, m.Method+": "+string(m.Params))
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		if json.Unmarshal(m.Params, &p) == nil {
			b.requests = append(b.requests, p.Request.URL)
		}
	}
}

// call sends a command and waits for its result.
func (b *browser) call(method string, params map[string]any, result any) {
	b.t.Helper()
	b.mu.Lock()
	b.next++
	id, answer := b.next, make(chan reply, 1)
	b.waiting[id] = answer
	message := map[string]any{"id": id, "method": method}
	if params != nil {
		message["params"] = params
	}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	text, err := json.Marshal(message)
	if err == nil {
		_, err = b.out.Write(append(text, 0))
	}
	b.mu.Unlock()
	var m reply
	select {
	case m = <-answer:
	case <-time.After(30 * time.Second):
		err = errors.New("no answer in 30 s")
	}
	if err == nil && m.Error != nil {
		err = errors.New(m.Error.Message)
	}
	if err == nil && result != nil {
		err = json.Unmarshal(m.Result, result)
	}
	if err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
}

// open loads a file and waits until it is there.
func (b *browser) open(file string) {
	b.t.Helper()
	b.mu.Lock()
	b.requests, b.complaints = nil, nil
	b.mu.Unlock()
	b.call("Page.navigate", map[string]any{"url": (&url.URL{Scheme: "file", Path: file}).String()}, nil)
	select {
	case <-b.loaded:
	case <-time.After(30 * time.Second):
		b.t.Fatalf("%s did not load in 30 s", file)
	}
}

// eval runs an expression and returns its value as text.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	var out struct {
		Result           struct{ Value any }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &out)
	if out.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, out.ExceptionDetails.Exception.Description)
	}
	return fmt.Sprint(out.Result.Value)
}

// settle waits until the page has painted.
func (b *browser) settle() {
	b.eval("new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))")
}

func (b *browser) resize(width, height int) {
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.settle()
}

func (b *browser) scheme(name string) {
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]any{{"name": "prefers-color-scheme", "value": name}}}, nil)
	b.settle()
}

func (b *browser) mouse(kind string, x, y float64, more map[string]any) {
	params := map[string]any{"type": kind, "x": x, "y": y, "button": "none"}
	for k, v := range more {
		params[k] = v
	}
	b.call("Input.dispatchMouseEvent", params, nil)
	b.settle()
}

func (b *browser) key(key string) {
	for _, kind := range []string{"keyDown", "keyUp"} {
		params := map[string]any{"type": kind, "key": key}
		if kind == "keyDown" && len(key) == 1 {
			params["text"] = key
		}
		b.call("Input.dispatchKeyEvent", params, nil)
	}
	b.settle()
}

// shoot saves a picture when PLIMSOLL_SHOTS names a folder to look at them.
func (b *browser) shoot(name string) {
	folder := os.Getenv("PLIMSOLL_SHOTS")
	if folder == "" {
		return
	}
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(folder+"/"+strings.ReplaceAll(name, " ", "-")+".png", data, 0o644)
	}
	if err != nil {
		b.t.Error(err)
	}
}
