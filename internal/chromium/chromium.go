//go:build unix

// Package chromium drives a headless Chromium for tests and bars: it opens a
// page, runs expressions, moves the pointer and takes pictures. No command of
// the program uses it.
package chromium

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"
)

// flags keep Chromium from everything but the page. Its pictures are drawn by
// the processor, as on a machine without a GPU.
var flags = []string{
	"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
	"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
	"--remote-debugging-pipe",
}

// ErrMissing says that there is no Chromium.
var ErrMissing = errors.New("no Chromium in PATH")

// Find returns the path of a Chromium: the one that is named, else the first
// in PATH.
func Find(named string) (string, error) {
	for _, name := range []string{named, "chromium", "chromium-browser", "google-chrome", "chrome"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrMissing
}

// A Browser has one tab. It speaks the DevTools protocol over a pipe: JSON
// messages that end in a zero byte on the descriptors 3 and 4.
type Browser struct {
	cmd     *exec.Cmd
	out     io.WriteCloser
	profile string
	session string
	timed   bool

	mu      sync.Mutex
	next    int
	waiting map[int]chan message
	loaded  chan struct{}
	// What the page asked for and complained of since Open.
	requests, complaints []string
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct{ Message string }
}

// patience is how long an answer may take.
const patience = 2 * time.Minute

// Start starts the Chromium at path with a fresh profile.
func Start(ctx context.Context, path string) (*Browser, error) {
	profile, err := os.MkdirTemp("", "chromium-")
	if err != nil {
		return nil, err
	}
	in, toBrowser, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	fromBrowser, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, append(slices.Clone(flags), "--user-data-dir="+profile, "about:blank")...)
	cmd.ExtraFiles = []*os.File{in, out}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		os.RemoveAll(profile)
		return nil, err
	}
	in.Close()
	out.Close()
	b := &Browser{cmd: cmd, out: toBrowser, profile: profile, waiting: map[int]chan message{}, loaded: make(chan struct{}, 1)}
	go b.read(fromBrowser)
	if err := b.attach(); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Close ends the browser and removes its profile.
func (b *Browser) Close() {
	b.out.Close() //nolint:errcheck // Chromium ends when its pipe does
	done := make(chan struct{})
	go func() {
		b.cmd.Wait() //nolint:errcheck // how it ends tells nothing
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it may have ended just now
		<-done
	}
	os.RemoveAll(b.profile)
}

func (b *Browser) attach() error {
	var target struct{ TargetID string }
	if err := b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target); err != nil {
		return err
	}
	var session struct{ SessionID string }
	if err := b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session); err != nil {
		return err
	}
	b.session = session.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		if err := b.call(domain+".enable", nil, nil); err != nil {
			return err
		}
	}
	return nil
}

func (b *Browser) read(r io.Reader) {
	lines := bufio.NewReaderSize(r, 1<<20)
	for {
		text, err := lines.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(text[:len(text)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		if c := b.waiting[m.ID]; m.ID != 0 && c != nil {
			c <- m
			delete(b.waiting, m.ID)
		} else {
			b.note(m)
		}
		b.mu.Unlock()
	}
}

// note keeps what the page did.
func (b *Browser) note(m message) {
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
func (b *Browser) call(method string, params map[string]any, result any) error {
	b.mu.Lock()
	b.next++
	id, answer := b.next, make(chan message, 1)
	b.waiting[id] = answer
	m := map[string]any{"id": id, "method": method}
	if params != nil {
		m["params"] = params
	}
	if b.session != "" {
		m["sessionId"] = b.session
	}
	text, err := json.Marshal(m)
	if err == nil {
		_, err = b.out.Write(append(text, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case got := <-answer:
		if got.Error != nil {
			return fmt.Errorf("%s: %s", method, got.Error.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(got.Result, result)
	case <-time.After(patience):
		return fmt.Errorf("%s: no answer in %s", method, patience)
	}
}

// Open loads an address and waits until it is there.
func (b *Browser) Open(address string) error {
	b.mu.Lock()
	b.requests, b.complaints = nil, nil
	b.mu.Unlock()
	if err := b.call("Page.navigate", map[string]any{"url": address}, nil); err != nil {
		return err
	}
	select {
	case <-b.loaded:
		return nil
	case <-time.After(patience):
		return fmt.Errorf("%s did not load in %s", address, patience)
	}
}

// Requests are the addresses that the page asked for.
func (b *Browser) Requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.requests)
}

// Complaints are the exceptions and messages of the page.
func (b *Browser) Complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.complaints)
}

// Eval runs an expression and returns its value as text.
func (b *Browser) Eval(expression string) (string, error) {
	var out struct {
		Result           struct{ Value any }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	err := b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &out)
	if err == nil && out.ExceptionDetails != nil {
		err = fmt.Errorf("%.80s: %s", expression, out.ExceptionDetails.Exception.Description)
	}
	return fmt.Sprint(out.Result.Value), err
}

// Until waits until an expression is true.
func (b *Browser) Until(expression string, most time.Duration) error {
	for end := time.Now().Add(most); ; time.Sleep(10 * time.Millisecond) {
		got, err := b.Eval("String(Boolean(" + expression + "))")
		if err != nil || got == "true" {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s is not true after %s", expression, most)
		}
	}
}

// Settle waits until the page has painted.
func (b *Browser) Settle() error {
	_, err := b.Eval("new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))")
	return err
}

// Resize sets the size of the window.
func (b *Browser) Resize(width, height int) error {
	return errors.Join(b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil), b.Settle())
}

// Scheme asks for "light" or "dark".
func (b *Browser) Scheme(name string) error {
	return errors.Join(b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]any{{"name": "prefers-color-scheme", "value": name}}}, nil), b.Settle())
}

// Mouse sends an event of the pointer, such as "mouseMoved" or "mouseWheel".
func (b *Browser) Mouse(kind string, x, y float64, more map[string]any) error {
	params := map[string]any{"type": kind, "x": x, "y": y, "button": "none"}
	for k, v := range more {
		params[k] = v
	}
	return b.call("Input.dispatchMouseEvent", params, nil)
}

// Click presses and lets go of the left button.
func (b *Browser) Click(x, y float64) error {
	press := map[string]any{"button": "left", "clickCount": 1}
	return errors.Join(b.Mouse("mouseMoved", x, y, nil), b.Mouse("mousePressed", x, y, press), b.Mouse("mouseReleased", x, y, press), b.Settle())
}

// Key presses a key.
func (b *Browser) Key(key string) error {
	var errs []error
	for _, kind := range []string{"keyDown", "keyUp"} {
		params := map[string]any{"type": kind, "key": key}
		if kind == "keyDown" && len(key) == 1 {
			params["text"] = key
		}
		errs = append(errs, b.call("Input.dispatchKeyEvent", params, nil))
	}
	return errors.Join(append(errs, b.Settle())...)
}

// Type enters text where the focus is.
func (b *Browser) Type(text string) error {
	return errors.Join(b.call("Input.insertText", map[string]any{"text": text}, nil), b.Settle())
}

// Picture returns the window as PNG, or the whole page.
func (b *Browser) Picture(whole bool) ([]byte, error) {
	var shot struct{ Data string }
	if err := b.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": whole}, &shot); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(shot.Data)
}

// ThreadTime is the processor time that the page's thread has taken for tasks.
func (b *Browser) ThreadTime() (time.Duration, error) {
	if !b.timed {
		if err := b.call("Performance.enable", map[string]any{"timeDomain": "threadTicks"}, nil); err != nil {
			return 0, err
		}
		b.timed = true
	}
	var out struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	if err := b.call("Performance.getMetrics", nil, &out); err != nil {
		return 0, err
	}
	for _, m := range out.Metrics {
		if m.Name == "TaskDuration" {
			return time.Duration(m.Value * float64(time.Second)), nil
		}
	}
	return 0, errors.New("the browser tells no TaskDuration")
}
