package hub

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/family"
)

// defaultEndpoint is the hub, unless HF_ENDPOINT names a mirror.
const defaultEndpoint = "https://huggingface.co"

// maxRedirects is how often an answer may send us elsewhere.
const maxRedirects = 5

// A remote is the hub as one lookup sees it.
type remote struct {
	base    *url.URL
	token   string
	kept    bool // there is a token, which is not sent unencrypted
	client  http.Client
	timeout time.Duration
}

// connect prepares requests to the hub.
func (r *Resolver) connect() (*remote, error) {
	text := strings.TrimRight(cmp.Or(r.env("HF_ENDPOINT"), defaultEndpoint), "/")
	base, err := url.Parse(text)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" || base.User != nil {
		return nil, &family.Error{Msg: fmt.Sprintf("HF_ENDPOINT is %q, which is no address of a hub", text), Hint: "unset it, or set it to one like " + defaultEndpoint}
	}
	h := &remote{base: base, client: *r.HTTP, timeout: r.Timeout}
	if h.timeout <= 0 {
		h.timeout = DefaultTimeout
	}
	if h.token = r.token(); base.Scheme != "https" && !loopback(base.Hostname()) {
		h.token, h.kept = "", h.token != ""
	}
	h.client.CheckRedirect = redirect
	return h, nil
}

// loopback reports whether a host is this machine: a token may go there
// unencrypted.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// errDowngrade says that an answer led away from encryption.
var errDowngrade = errors.New("it redirects to an address that is not encrypted")

// redirect follows a few redirects. The client itself drops the token when
// the host changes.
func redirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return fmt.Errorf("it redirects more than %d times", maxRedirects)
	}
	if via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return errDowngrade
	}
	return nil
}

// token is the user's token: HF_TOKEN, or the file that huggingface-cli login
// writes.
func (r *Resolver) token() string {
	if t := cmp.Or(r.env("HF_TOKEN"), r.env("HUGGING_FACE_HUB_TOKEN")); t != "" {
		return t
	}
	if r.on("HF_HUB_DISABLE_IMPLICIT_TOKEN") {
		return ""
	}
	path := r.expand(r.env("HF_TOKEN_PATH"))
	if path == "" && r.home() != "" {
		path = filepath.Join(r.home(), "token")
	}
	data, err := readLimited(path)
	const longest = 4096
	if err != nil || len(data) > longest {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// fetch asks the hub for a model.
func (r *Resolver) fetch(ctx context.Context, i id) (*description, error) {
	h, err := r.connect()
	if err != nil {
		return nil, err
	}
	data, err := h.get(ctx, i, configFile, maxConfig)
	if err != nil {
		return nil, err
	}
	if text := bytes.TrimLeft(data, " \t\r\n"); bytes.HasPrefix(text, []byte("<")) {
		return nil, &family.Error{Msg: h.base.String() + " answers with a web page instead of config.json", Hint: "is a proxy asking for a login? check HTTPS_PROXY and HF_ENDPOINT, or give the model's config.json"}
	}
	d := &description{name: i.String(), source: FromHub, file: i.String() + "/" + configFile, config: data}
	look, cancel := context.WithTimeout(ctx, 2*h.timeout) // the model is known already
	defer cancel()
	c, err := h.checkpoint(look, i)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	d.weights(c, err)
	return d, nil
}

// get reads a whole file of at most limit bytes.
func (h *remote) get(ctx context.Context, i id, file string, limit int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	resp, err := h.ask(ctx, i, file, "")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // a body that was only read
	if resp.StatusCode != http.StatusOK {
		return nil, h.refusal(resp, i, file)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, h.broken(ctx, err, file, len(data))
	}
	if int64(len(data)) > limit {
		return nil, &family.Error{Msg: fmt.Sprintf("%s of %s has more than %d bytes", file, i, limit), Hint: "is this the model's repository?"}
	}
	return data, nil
}

// ask sends one request. span is a Range, or empty.
func (h *remote) ask(ctx context.Context, i id, file, span string) (*http.Response, error) {
	u := h.base.JoinPath(i.repo, "resolve", url.PathEscape(i.revision), file)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("ask the hub for %s: %w", i, err)
	}
	req.Header.Set("User-Agent", "plimsoll")
	if h.token != "" {
		req.Header.Set("Authorization", "Bearer "+h.token)
	}
	if span != "" {
		req.Header.Set("Range", span)
		req.Header.Set("Accept-Encoding", "identity") // a range is of the file, not of its compression
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return nil, h.unreachable(ctx, err)
	}
	return resp, nil
}
