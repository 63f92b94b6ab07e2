package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/view"
	"github.com/plimsoll-dev/plimsoll/internal/view/page"
	"github.com/plimsoll-dev/plimsoll/internal/view/viewtest"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// start serves a tape until the test ends.
func start(t *testing.T, tp *tape.Tape) *Server {
	t.Helper()
	d, err := view.New(view.Recording{Tape: tp}, view.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(t.Context(), page.Page{File: "x.tape", Devices: []int{0}, Settings: view.Settings}, []page.Scene{{Drawing: d}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

// ask sends a request and returns the status and the answer.
func ask(t *testing.T, method, url string, change func(*http.Request)) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	client := http.Client{Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	a, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(a.Body)
	if err := errors.Join(err, a.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(text), a.Header
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func TestOnlyThePageIsAnswered(t *testing.T) {
	s := start(t, viewtest.Hostile())
	base := "http://" + s.listener.Addr().String()
	port := s.listener.Addr().(*net.TCPAddr).Port
	if port == 0 || !s.listener.Addr().(*net.TCPAddr).IP.IsLoopback() {
		t.Fatalf("it listens on %s", s.listener.Addr())
	}
	wrong := strings.Repeat("0", len(s.token))
	for _, c := range []struct {
		name, method, url string
		change            func(*http.Request)
		want              int
	}{
		{"the page", "GET", s.URL(), nil, 200},
		{"a drawing", "GET", s.URL() + "scene?device=0", nil, 200},
		{"by its name", "GET", s.URL(), func(r *http.Request) { r.Host = strings.Replace(r.Host, "127.0.0.1", "localhost", 1) }, 200},
		{"the page's own request", "GET", s.URL() + "scene?device=0", header("Sec-Fetch-Site", "same-origin"), 200},
		{"no token", "GET", base + "/", nil, 404},
		{"no token, a drawing", "GET", base + "/scene?device=0", nil, 404},
		{"a wrong token", "GET", base + "/" + wrong + "/", nil, 404},
		{"a part of the token", "GET", base + "/" + s.token[:31] + "/", nil, 404},
		{"a longer token", "GET", base + "/" + s.token + "0/", nil, 404},
		{"the token alone", "GET", base + "/" + s.token, nil, 404},
		{"another name that leads here", "GET", s.URL(), func(r *http.Request) { r.Host = "evil.example" }, 421},
		{"another name with our port", "GET", s.URL(), func(r *http.Request) { r.Host = strings.Replace(r.Host, "127.0.0.1", "evil.example", 1) }, 421},
		{"no port", "GET", s.URL(), func(r *http.Request) { r.Host = "127.0.0.1" }, 421},
		{"from another site", "GET", s.URL() + "scene?device=0", header("Origin", "http://evil.example"), 403},
		{"from another port", "GET", s.URL() + "scene?device=0", header("Origin", "http://127.0.0.1:1"), 403},
		{"from nowhere", "GET", s.URL() + "scene?device=0", header("Origin", "null"), 403},
		{"by another site's script", "GET", s.URL() + "scene?device=0", header("Sec-Fetch-Site", "cross-site"), 403},
		{"by another port's script", "GET", s.URL() + "scene?device=0", header("Sec-Fetch-Site", "same-site"), 403},
		{"a change", "POST", s.URL(), nil, 405},
		{"a file", "GET", s.URL() + "../../../../etc/passwd", nil, 404},
		{"a file, encoded", "GET", s.URL() + "..%2f..%2f..%2fetc%2fpasswd", nil, 404},
		{"a file, twice encoded", "GET", s.URL() + "%252e%252e/etc/passwd", nil, 404},
		{"a part of the page", "GET", s.URL() + "files/main.js", nil, 404},
		{"no such device", "GET", s.URL() + "scene?device=7", nil, 400},
		{"no device", "GET", s.URL() + "scene?device=..%2f", nil, 400},
		{"no state", "GET", s.URL() + "map?device=0&conf=&state=x", nil, 400},
		{"endless settings", "GET", s.URL() + "replay?device=0&conf=" + strings.Repeat("a", 500), nil, 400},
		{"settings that are none", "GET", s.URL() + "replay?device=0&conf=nonsense", nil, 400},
	} {
		status, text, h := ask(t, c.method, c.url, c.change)
		if status != c.want {
			t.Errorf("%s: status %d (%.80s), want %d", c.name, status, text, c.want)
		}
		if status != 200 && strings.Contains(text, s.token) {
			t.Errorf("%s: the refusal tells the token", c.name)
		}
		if h.Get("Access-Control-Allow-Origin") != "" || h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: headers %v", c.name, h)
		}
	}
}

func TestTokensDiffer(t *testing.T) {
	a, b := start(t, viewtest.Hostile()), start(t, viewtest.Hostile())
	if a.token == b.token || len(a.token) != 32 {
		t.Errorf("tokens %s and %s", a.token, b.token)
	}
}

func TestReplaysAndMaps(t *testing.T) {
	w := &tape.Writer{}
	var kept []tape.BlockID
	for i := range 40 {
		kept = append(kept, w.Alloc(unit.Bytes(i+1)*unit.MiB, tape.Activation))
	}
	for i := 0; i < 40; i += 2 {
		w.Free(kept[i])
	}
	w.Alloc(100*unit.MiB, tape.Temporary)
	s := start(t, w.Tape())
	var r view.Replay
	status, text, _ := ask(t, "GET", s.URL()+"replay?device=0&conf=expandable_segments:True", nil)
	if err := json.Unmarshal([]byte(text), &r); err != nil || status != 200 {
		t.Fatalf("%d %s: %v", status, text, err)
	}
	if r.Recorded <= 0 || r.Reserved < r.Allocated || len(r.States) != len(r.Levels) || len(r.States) == 0 {
		t.Errorf("%+v", r)
	}
	var m view.SegmentMap
	_, text, _ = ask(t, "GET", s.URL()+"map?device=0&conf=expandable_segments:True&state=60", nil)
	if err := json.Unmarshal([]byte(text), &m); err != nil || len(m.Segments) == 0 {
		t.Fatalf("%s: %v", text, err)
	}
	for _, conf := range []string{"", "max_split_size_mb:32", "max_split_size_mb:64", "max_split_size_mb:128", "max_split_size_mb:256", "roundup_power2_divisions:2", "roundup_power2_divisions:4", "roundup_power2_divisions:8", "roundup_power2_divisions:16"} {
		if status, text, _ := ask(t, "GET", s.URL()+"replay?device=0&conf="+conf, nil); status != 200 {
			t.Errorf("%q: %d %s", conf, status, text)
		}
	}
	if n := len(s.drawings[0].replays); n > mostReplays {
		t.Errorf("%d replays are kept", n)
	}
}
