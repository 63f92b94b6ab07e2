package hub

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/family"
)

const llama = `{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":64,"num_hidden_layers":1,"num_attention_heads":4,"num_key_value_heads":2,"intermediate_size":128,"vocab_size":1000}`

// weights is a safetensors file of one tensor with padding bytes in its header.
func weights(name string, n, padding int) []byte {
	h := fmt.Sprintf(`{%q:{"dtype":"F16","shape":[%d],"data_offsets":[0,%d]}}`, name, n, 2*n) + strings.Repeat(" ", padding)
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(h)))
	return append(append(b, h...), make([]byte, 2*n)...)
}

// files serves a repository's files and knows ranges.
func files(repo string, content map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		text, ok := content[strings.TrimPrefix(req.URL.Path, "/"+repo+"/resolve/main/")]
		if !ok {
			w.Header().Set("X-Error-Code", "EntryNotFound")
			http.Error(w, "Entry not found", http.StatusNotFound)
			return
		}
		http.ServeContent(w, req, "x.bin", time.Time{}, strings.NewReader(text))
	}
}

// against is a resolver whose hub is a server on this machine.
func against(t *testing.T, handler http.HandlerFunc, env map[string]string) *Resolver {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	all := map[string]string{"HF_ENDPOINT": server.URL, "HF_HOME": t.TempDir()}
	for k, v := range env {
		all[k] = v
	}
	return &Resolver{Getenv: func(k string) string { return all[k] }, HTTP: server.Client(), Timeout: 5 * time.Second}
}

func TestFromHub(t *testing.T) {
	r := against(t, files("org/name", map[string]string{
		"config.json":       llama,
		"model.safetensors": string(weights("lm_head.weight", 32, 3*firstRead)), // more than one request
	}), nil)
	m, err := r.Model(t.Context(), "org/name", family.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if m.Name != "org/name" || m.Source != FromHub || m.Structure != "untied-gqa" || m.Checkpoint == nil {
		t.Fatalf("%+v", m)
	}
	if n, exact := m.Checkpoint.Parameters(); n != 32 || !exact {
		t.Errorf("%d parameters, exact %v", n, exact)
	}
	if w := m.Compare(32); w != nil {
		t.Errorf("equal: %v", w)
	}
	if w := m.Compare(1 << 30); w == nil || w.Code != "stored-parameters" {
		t.Errorf("not equal: %v", w)
	}
	m.Checkpoint = nil
	if w := m.Compare(1); w != nil {
		t.Errorf("nothing to compare with: %v", w)
	}
}

func TestShards(t *testing.T) {
	content := map[string]string{"config.json": llama}
	var index []string
	for i := range 9 {
		f := fmt.Sprintf("model-%d.safetensors", i)
		content[f] = string(weights(fmt.Sprint("w", i), 10, 0))
		index = append(index, fmt.Sprintf(`"w%d":%q`, i, f))
	}
	content["model.safetensors.index.json"] = `{"weight_map":{` + strings.Join(index, ",") + `}}`
	r := against(t, files("org/name", content), nil)
	m, err := r.Model(t.Context(), "org/name", family.Options{})
	if err != nil || m.Checkpoint == nil {
		t.Fatalf("%+v, %v", m, err)
	}
	if n, _ := m.Checkpoint.Parameters(); n != 90 {
		t.Errorf("%d parameters", n)
	}
	content["model-3.safetensors"] = "nonsense of more than eight bytes"
	m, err = r.Model(t.Context(), "org/name", family.Options{})
	if err != nil || m.Checkpoint != nil || !warned(m, "unchecked-weights") {
		t.Errorf("a damaged file: %+v, %v", m, err)
	}
	delete(content, "model-3.safetensors")
	m, err = r.Model(t.Context(), "org/name", family.Options{})
	if err != nil || m.Checkpoint != nil || !warned(m, "unchecked-weights") {
		t.Errorf("a missing file: %+v, %v", m, err)
	}
	content["model.safetensors"] = string(weights("w", 7, 0))
	m, err = r.Model(t.Context(), "org/name", family.Options{})
	if err != nil || m.Checkpoint == nil {
		t.Fatalf("one file goes before an index: %+v, %v", m, err)
	}
	if n, _ := m.Checkpoint.Parameters(); n != 7 {
		t.Errorf("%d parameters", n)
	}
}

func warned(m *Found, code string) bool {
	return slices.ContainsFunc(m.Warnings, func(w family.Warning) bool { return w.Code == code })
}

// TestServerWithoutRanges must not download what it was not asked for.
func TestServerWithoutRanges(t *testing.T) {
	big := weights("w", 64<<20, 100<<10)
	r := against(t, func(w http.ResponseWriter, req *http.Request) {
		if strings.HasSuffix(req.URL.Path, "config.json") {
			fmt.Fprint(w, llama)
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(big)))
		w.Write(big) //nolint:errcheck // the reader hangs up
	}, nil)
	m, err := r.Model(t.Context(), "org/name", family.Options{})
	if err != nil || m.Checkpoint == nil {
		t.Fatalf("%+v, %v", m, err)
	}
}

func TestToken(t *testing.T) {
	var elsewhere, got string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		elsewhere = req.Header.Get("Authorization")
		fmt.Fprint(w, llama)
	}))
	defer other.Close()
	r := against(t, func(w http.ResponseWriter, req *http.Request) {
		got = req.Header.Get("Authorization")
		if !strings.HasSuffix(req.URL.Path, "config.json") {
			http.NotFound(w, req)
			return
		}
		http.Redirect(w, req, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+"/blob", http.StatusFound)
	}, map[string]string{"HF_TOKEN": " hf_secret\n"})
	if _, err := r.Model(t.Context(), "org/name", family.Options{}); err != nil {
		t.Fatal(err)
	}
	if got != "Bearer hf_secret" || elsewhere != "" {
		t.Errorf("the hub got %q, another host %q", got, elsewhere)
	}
	home := t.TempDir()
	r.Getenv = func(k string) string { return map[string]string{"HF_HOME": home}[k] }
	if err := os.WriteFile(filepath.Join(home, "token"), []byte("hf_file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := r.token(); got != "hf_file" {
		t.Errorf("token of the file: %q", got)
	}
	r.Getenv = func(k string) string {
		return map[string]string{"HF_ENDPOINT": "http://mirror.example", "HF_TOKEN": "hf_secret"}[k]
	}
	if h, err := r.connect(); err != nil || h.token != "" {
		t.Errorf("a token for a hub that is not encrypted: %q, %v", h.token, err)
	}
}

func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}

func TestRefusals(t *testing.T) {
	slow := func(_ http.ResponseWriter, req *http.Request) {
		select {
		case <-req.Context().Done():
		case <-time.After(5 * time.Second):
		}
	}
	drip := func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Length", "1000")
		for range 1000 {
			fmt.Fprint(w, " ")
			w.(http.Flusher).Flush()
			select {
			case <-req.Context().Done():
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	tests := []struct {
		name       string
		handler    http.HandlerFunc
		env        map[string]string
		want, hint string
	}{
		{"401 without a token", status(401), nil, "the hub has no model org/name that it shows without a token (401)", "set HF_TOKEN"},
		{"401 with a token", status(401), map[string]string{"HF_TOKEN": "x"}, "does not accept the token for org/name (401)", "make a new token"},
		{"403", status(403), map[string]string{"HF_TOKEN": "x"}, "does not let this account read org/name (403)", "accept its terms at http://127.0.0.1"},
		{"404", status(404), nil, "has no model org/name (404)", "check the spelling"},
		{"404 of the file", status(404, "X-Error-Code", "EntryNotFound"), nil, "org/name has no config.json", "adapter"},
		{"404 of the revision", status(404, "X-Error-Code", "RevisionNotFound"), nil, "org/name has no revision main", ""},
		{"429", status(429, "Retry-After", "33"), nil, "no more requests for now (429)", "try again in 33 s"},
		{"503", status(503), nil, "fails (503)", "HF_ENDPOINT"},
		{"418", status(418), nil, "answers 418", "HF_ENDPOINT"},
		{"slow", slow, nil, "did not answer within 300ms", "try again later"},
		{"slow in the middle", drip, nil, "did not answer within 300ms", "try again later"},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, llama)
		}, nil, fmt.Sprintf("broke off after %d bytes", len(llama)), "try again"},
		{"endless", func(w http.ResponseWriter, _ *http.Request) {
			b := make([]byte, 1<<20)
			for range 20 {
				w.Write(b) //nolint:errcheck // the reader hangs up
			}
		}, nil, "config.json of org/name has more than 8388608 bytes", ""},
		{"a login page", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "\n<html>log in") }, nil, "answers with a web page", "proxy"},
		{"not JSON", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }, nil, "org/name/config.json: byte 1 is not JSON", ""},
		{"redirects in a circle", func(w http.ResponseWriter, req *http.Request) { http.Redirect(w, req, req.URL.Path, http.StatusFound) }, nil, "redirects more than 5 times", ""},
		{"a bad endpoint", status(200), map[string]string{"HF_ENDPOINT": "ftp://x"}, `HF_ENDPOINT is "ftp://x"`, "unset it"},
		{"nobody there", status(200), map[string]string{"HF_ENDPOINT": "http://127.0.0.1:1"}, "the hub at 127.0.0.1:1 cannot be used: dial tcp", "HTTPS_PROXY"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r := against(t, tc.handler, tc.env)
			r.Timeout = 300 * time.Millisecond
			m, err := r.Model(t.Context(), "org/name", family.Options{})
			var e *family.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %+v, %v", m, err)
			}
			if !strings.Contains(err.Error(), tc.want) || !strings.Contains(e.Hint, tc.hint) {
				t.Errorf("got %q (hint %q), want %q (hint %q)", err, e.Hint, tc.want, tc.hint)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than a line: %q", err)
			}
		})
	}
}

// TestTokenIsWithheld wants to be told why a model that the token would show is
// not there.
func TestTokenIsWithheld(t *testing.T) {
	var got string
	for _, code := range []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			got += req.Header.Get("Authorization")
			w.WriteHeader(code)
		}))
		defer server.Close()
		env := map[string]string{"HF_TOKEN": "hf_secret", "HF_ENDPOINT": "http://hub.example"}
		r := &Resolver{Getenv: func(k string) string { return env[k] }}
		r.HTTP = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		}}}
		_, err := r.Model(t.Context(), "org/name", family.Options{})
		var e *family.Error
		if !errors.As(err, &e) || !strings.Contains(e.Msg+e.Hint, "your token was not sent") {
			t.Errorf("%d: %v", code, err)
		}
	}
	if got != "" {
		t.Errorf("the server got %q", got)
	}
}

// TestRevisions asks for what git and the hub call a revision.
func TestRevisions(t *testing.T) {
	var asked string
	r := against(t, func(w http.ResponseWriter, req *http.Request) {
		if asked == "" {
			asked = req.URL.EscapedPath()
		}
		files("org/name", map[string]string{})(w, req)
	}, nil)
	for rev, want := range map[string]string{
		"v1.0": "/org/name/resolve/v1.0/config.json", "refs/pr/7": "/org/name/resolve/refs%2Fpr%2F7/config.json", "a@b": "/org/name/resolve/a@b/config.json",
		"../x": "", "a/../b": "", "a//b": "", "a/": "", "": "", "a?b": "", "a b": "",
	} {
		asked = ""
		_, err := r.Model(t.Context(), "org/name@"+rev, family.Options{})
		if asked != want || want == "" && (err == nil || !strings.Contains(err.Error(), "names no revision")) {
			t.Errorf("@%s: asked for %q, %v", rev, asked, err)
		}
	}
}

func TestDowngrade(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, llama) }))
	defer plain.Close()
	safe := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { http.Redirect(w, req, plain.URL, http.StatusFound) }))
	defer safe.Close()
	r := &Resolver{Getenv: func(k string) string { return map[string]string{"HF_ENDPOINT": safe.URL}[k] }, HTTP: safe.Client()}
	if _, err := r.Model(t.Context(), "org/name", family.Options{}); err == nil || !strings.Contains(err.Error(), "not encrypted") {
		t.Errorf("got %v", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := against(t, func(_ http.ResponseWriter, req *http.Request) { cancel(); <-req.Context().Done() }, nil)
	if _, err := r.Model(ctx, "org/name", family.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// pipe makes a pipe that nobody writes to.
func pipe(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestCache(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	layout := func(root string) {
		repo := filepath.Join(root, "models--org--name")
		put(t, filepath.Join(repo, "refs", "main"), commit)
		put(t, filepath.Join(repo, "snapshots", commit, "config.json"), llama)
		put(t, filepath.Join(repo, "snapshots", commit, "model.safetensors"), string(weights("w", 4, 0)))
	}
	for _, tc := range []struct {
		key, under string
	}{{"HF_HOME", "hub"}, {"HF_HUB_CACHE", ""}, {"HUGGINGFACE_HUB_CACHE", ""}, {"XDG_CACHE_HOME", "huggingface/hub"}, {"HOME", ".cache/huggingface/hub"}} {
		t.Run(tc.key, func(t *testing.T) {
			dir := t.TempDir()
			layout(filepath.Join(dir, tc.under))
			r := &Resolver{Getenv: func(k string) string { return map[string]string{tc.key: dir}[k] }, Offline: true}
			for _, name := range []string{"org/name", "org/name@" + commit} {
				m, err := r.Model(t.Context(), name, family.Options{})
				if err != nil || m.Source != FromCache || m.Name != name || m.Checkpoint == nil {
					t.Errorf("%s: %+v, %v", name, m, err)
				}
			}
			_, err := r.Model(t.Context(), "org/other", family.Options{})
			if err == nil || !strings.Contains(err.Error(), "not in the local cache ("+filepath.Join(dir, tc.under)) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestCacheThatIsOdd(t *testing.T) {
	root := t.TempDir()
	r := &Resolver{Getenv: func(k string) string { return map[string]string{"HF_HUB_CACHE": root}[k] }}
	repo := filepath.Join(root, "models--org--name")
	put(t, filepath.Join(repo, "refs", "main"), "../../../../etc")
	put(t, filepath.Join(repo, "snapshots", "only", "config.json"), llama)
	if m, err := r.Model(t.Context(), "org/name", family.Options{}); err != nil || m.Source != FromCache {
		t.Errorf("the only snapshot: %+v, %v", m, err)
	}
	put(t, filepath.Join(repo, "snapshots", "other", "x"), "")
	if m, err := r.Model(t.Context(), "org/name", family.Options{}); err == nil {
		t.Errorf("two snapshots and a bad reference: %+v", m)
	}
	put(t, filepath.Join(repo, "snapshots", "only", "model.safetensors"), "damaged, and long enough")
	put(t, filepath.Join(repo, "refs", "main"), "only")
	if m, err := r.Model(t.Context(), "org/name", family.Options{}); err != nil || !warned(m, "unchecked-weights") {
		t.Errorf("damaged weights: %+v, %v", m, err)
	}
}

func TestPaths(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	put(t, "model/config.json", llama)
	put(t, "model/model.safetensors", string(weights("w", 4, 0)))
	put(t, "gpt2/config.json", llama) // a path wins over a name
	put(t, "bert-base-uncased/README.md", "")
	put(t, "mine.json", llama)
	put(t, "adapter/adapter_config.json", `{"base_model_name_or_path":"org/base","r":16}`)
	put(t, "empty/x", "")
	put(t, "m.gguf", "GGUF\x03\x00\x00\x00")
	put(t, "loose/model.safetensors", string(weights("w", 4, 0)))
	put(t, "loose/renamed", string(weights("w", 4, 0)))
	put(t, "pipes/config.json", llama)
	for _, name := range []string{"pipe/config.json", "pipes/model", "pipes/model.safetensors"} {
		pipe(t, name)
	}
	put(t, "lying/config.json", llama)
	put(t, "lying/model.safetensors", string(weights("w", 4, 0))+"more")
	put(t, "two/config.json", llama)
	put(t, "two/a.safetensors", string(weights("w", 4, 0)))
	put(t, "two/b.safetensors", string(weights("w", 4, 0)[:20]))
	var r Resolver
	for _, tc := range []struct{ name, model, source string }{
		{"model", "model", FromFile},
		{"./model/", "model", FromFile},
		{"model/config.json", "model", FromFile},
		{"model/model.safetensors", "model", FromFile},
		{"two/a.safetensors", "two", FromFile},
		{"mine.json", "mine", FromFile},
		{"gpt2", "gpt2", FromFile},
		{"bert-base-uncased", "bert-base-uncased", FromBuiltin},
		{"meta-llama/Llama-3.1-8B", "llama-3.1-8b", FromBuiltin},
	} {
		m, err := r.Model(t.Context(), tc.name, family.Options{})
		if err != nil || m.Name != tc.model || m.Source != tc.source {
			t.Errorf("%s: %+v, %v", tc.name, m, err)
		}
	}
	for name, want := range map[string]string{
		"./nothing":                "./nothing: does not exist",
		"nothing.json":             "nothing.json: does not exist",
		"./adapter":                "./adapter: holds an adapter, not a model",
		"adapter":                  "adapter: holds an adapter, not a model",
		"./empty":                  "./empty: has no config.json",
		"m.gguf":                   "m.gguf: is a GGUF file",
		"loose/model.safetensors":  "no config.json is beside it",
		"loose/renamed":            "holds weights",
		"bert-base-uncasedd":       `no model is called "bert-base-uncasedd"`,
		"a b":                      `no model is called "a b"`,
		"org/na..me":               "no model is called",
		"":                         "no model is called",
		"org/name":                 "org/name is no built-in model and not in the local cache (none",
		"org/name@a/../b":          `"a/../b" names no revision of org/name`,
		"pipe/config.json":         "not a file but a pipe",
		"./pipe":                   "not a file but a pipe",
		"pipes/model":              "not a file but a pipe",
		"pipes/model.safetensors":  "not a file but a pipe",
		"lying":                    "cannot be right: lying/model.safetensors",
		"lying/config.json":        "cannot be right: lying/model.safetensors",
		"two/b.safetensors":        "cannot be right: two/b.safetensors",
		"a/b/c":                    "a/b/c: does not exist",
		"\x00":                     "no model is called",
		strings.Repeat("x/", 5000): "does not exist",
	} {
		_, err := r.Model(t.Context(), name, family.Options{})
		if err == nil || !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%.40q: %v, want %q", name, err, want)
		}
	}
}

func FuzzID(f *testing.F) {
	for _, s := range []string{"org/name", "name@rev", "a/b/c", "..", "a@b@c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		i, err := parseID(s)
		if err == nil && (strings.Contains(i.repo, "..") || strings.ContainsAny(i.repo+i.revision, "\\?#% \n") || i.String() == "") {
			t.Errorf("%q is %+v", s, i)
		}
	})
}
