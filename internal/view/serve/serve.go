// Package serve answers a browser on the same machine: the page of a recording,
// its drawings, and replays of it.
//
// Whoever can reach the port is not trusted. The path begins with a token that
// only the printed address has, the Host must be the loopback address that the
// server listens on (so that no name of another site leads here), requests
// that other sites start are refused, and nothing of the file system can be
// asked for.
package serve

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/plimsoll-dev/plimsoll/internal/listen"
	"github.com/plimsoll-dev/plimsoll/internal/view"
	"github.com/plimsoll-dev/plimsoll/internal/view/page"
)

// A Server shows one file.
type Server struct {
	page     page.Page
	drawings map[int]*drawing
	policy   string

	// A tape is written to while it is replayed, and replays take all the
	// processor: one request at a time reaches the drawings.
	mu sync.Mutex

	token    string
	hosts    map[string]bool
	listener net.Listener
}

// A drawing and what was worked out of it.
type drawing struct {
	*view.Drawing
	caption view.Caption

	check   *view.Check
	replays map[string]*view.Replay
	recent  []string // settings of the replays, the last used at the end
}

// mostReplays bounds the replays that are kept: each holds the allocator of
// the whole recording.
const mostReplays = 8

// New makes a server for scenes, whose pages differ only by device. It listens
// on the loopback address at once, and answers when Serve is called.
func New(ctx context.Context, p page.Page, scenes []page.Scene) (*Server, error) {
	secret := make([]byte, 16)
	if _, err := rand.Read(secret); err != nil {
		return nil, fmt.Errorf("make a token: %w", err)
	}
	policy, err := page.Policy()
	if err != nil {
		return nil, err
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen on the loopback address: %w", err)
	}
	p.Served = true
	s := &Server{page: p, policy: policy, drawings: map[int]*drawing{}, token: hex.EncodeToString(secret), listener: l}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return nil, err
	}
	s.hosts = map[string]bool{"127.0.0.1:" + port: true, "localhost:" + port: true}
	for _, c := range scenes {
		s.drawings[int(c.Drawing.Device)] = &drawing{Drawing: c.Drawing, caption: c.Caption, replays: map[string]*view.Replay{}}
	}
	return s, nil
}

// URL is the address of the page.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/" + s.token + "/" }

// Serve answers until ctx ends.
func (s *Server) Serve(ctx context.Context) error { return listen.Serve(ctx, s.listener, s) }

// answers are what can be asked for, by the path behind the token.
var answers = map[string]func(*Server, http.ResponseWriter, *http.Request) error{
	"": (*Server).sendPage, "scene": (*Server).sendScene, "replay": (*Server).sendReplay, "map": (*Server).sendMap,
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", s.policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if status, reason := s.refuse(r); status != 0 {
		http.Error(w, reason, status)
		return
	}
	answer, ok := answers[s.rest(r)]
	if !ok {
		http.Error(w, "there is no such thing here", http.StatusNotFound)
		return
	}
	if err := answer(s, w, r); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

// refuse tells why a request is not answered; status 0 is that it is.
func (s *Server) refuse(r *http.Request) (status int, reason string) {
	switch {
	case !s.hosts[r.Host]:
		return http.StatusMisdirectedRequest, "the Host of this request is another one"
	case !s.ours(r):
		return http.StatusForbidden, "requests from other sites are refused"
	case !s.knowsToken(r):
		return http.StatusNotFound, "the address lacks its token; use the one that was printed"
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return http.StatusMethodNotAllowed, "only GET is answered"
	}
	return 0, ""
}

// ours reports whether a request comes from the page itself or from the user's
// own navigation.
func (s *Server) ours(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" && !s.hosts[strings.TrimPrefix(origin, "http://")] {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	return false
}

func (s *Server) knowsToken(r *http.Request) bool {
	token, _, found := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return found && subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) == 1
}

// rest is the path behind the token.
func (s *Server) rest(r *http.Request) string {
	return strings.TrimPrefix(r.URL.Path, "/"+s.token+"/")
}

func (s *Server) sendPage(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	return page.Write(w, s.page)
}

func (s *Server) drawing(r *http.Request) (*drawing, error) {
	text := r.URL.Query().Get("device")
	n, err := strconv.Atoi(text)
	if d := s.drawings[n]; err == nil && d != nil {
		return d, nil
	}
	return nil, fmt.Errorf("there is no device %.20q", text)
}

func (s *Server) sendScene(w http.ResponseWriter, r *http.Request) error {
	d, err := s.drawing(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/octet-stream")
	return d.WriteScene(w, d.caption)
}

// mostConf bounds the text of settings.
const mostConf = 400

// replay returns the replay that a request is about. The caller holds the server's lock.
func (d *drawing) replay(r *http.Request) (*view.Replay, error) {
	conf := r.URL.Query().Get("conf")
	if len(conf) > mostConf {
		return nil, fmt.Errorf("settings of more than %d bytes", mostConf)
	}
	if known := d.replays[conf]; known != nil {
		d.touch(conf)
		return known, nil
	}
	if d.check == nil {
		c := d.Verify()
		d.check = &c
	}
	made, err := d.Replay(conf, *d.check)
	if err != nil {
		return nil, err
	}
	d.replays[conf] = made
	d.touch(conf)
	return made, nil
}

// touch makes settings the last used, and lets go of the longest unused.
func (d *drawing) touch(conf string) {
	for i, c := range d.recent {
		if c == conf {
			d.recent = append(d.recent[:i], d.recent[i+1:]...)
			break
		}
	}
	d.recent = append(d.recent, conf)
	if len(d.recent) > mostReplays {
		delete(d.replays, d.recent[0])
		d.recent = d.recent[1:]
	}
}

func (s *Server) sendReplay(w http.ResponseWriter, r *http.Request) error {
	d, err := s.drawing(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	made, err := d.replay(r)
	if err != nil {
		return err
	}
	return sendJSON(w, made)
}

func (s *Server) sendMap(w http.ResponseWriter, r *http.Request) error {
	d, err := s.drawing(r)
	if err != nil {
		return err
	}
	state, err := strconv.Atoi(r.URL.Query().Get("state"))
	if err != nil {
		return errors.New("the state is no number")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	made, err := d.replay(r)
	if err != nil {
		return err
	}
	return sendJSON(w, d.MapAt(made, state))
}

func sendJSON(w http.ResponseWriter, v any) error {
	w.Header().Set("Content-Type", "application/json")
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
