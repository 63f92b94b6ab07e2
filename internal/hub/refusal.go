package hub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/internal/family"
)

// errNoFile marks that the repository is there but not the file.
var errNoFile = errors.New("no such file")

// missing is an error that is also errNoFile.
type missing struct{ what *family.Error }

func (m missing) Error() string      { return m.what.Error() }
func (m missing) Unwrap() error      { return m.what }
func (missing) Is(target error) bool { return target == errNoFile }

// giveConfig is what always helps.
const giveConfig = "or give the model's config.json"

// refusal explains a status that is not the wanted one.
func (h *remote) refusal(resp *http.Response, i id, file string) error {
	switch code := resp.StatusCode; {
	case h.kept && (code == http.StatusUnauthorized || code == http.StatusForbidden):
		return &family.Error{
			Msg:  fmt.Sprintf("the hub at %s does not show %s (%d), and your token was not sent, since the address is not encrypted", h.base, i, code),
			Hint: "set HF_ENDPOINT to an address that begins with https, " + giveConfig,
		}
	case code == http.StatusUnauthorized:
		return h.unauthorized(i)
	case code == http.StatusForbidden:
		return &family.Error{
			Msg:  fmt.Sprintf("the hub does not let this account read %s (403)", i),
			Hint: fmt.Sprintf("accept its terms at %s with the account that HF_TOKEN belongs to, %s", h.base.JoinPath(i.repo), giveConfig),
		}
	case code == http.StatusNotFound:
		return h.notFound(resp.Header.Get("X-Error-Code"), i, file)
	case code == http.StatusTooManyRequests:
		return &family.Error{Msg: "the hub takes no more requests for now (429)", Hint: waitHint(resp.Header.Get("Retry-After"))}
	case code >= http.StatusInternalServerError:
		return &family.Error{
			Msg:  fmt.Sprintf("the hub at %s fails (%d)", h.base.Host, code),
			Hint: "try again later, name a mirror with HF_ENDPOINT, " + giveConfig,
		}
	case code == http.StatusRequestedRangeNotSatisfiable:
		return &family.Error{Msg: fmt.Sprintf("%s of %s is shorter than its header says (416)", file, i)}
	}
	return &family.Error{Msg: fmt.Sprintf("the hub answers %d to the question for %s of %s", resp.StatusCode, file, i), Hint: "check HF_ENDPOINT, " + giveConfig}
}

// unauthorized is what the hub says of private models and of such that do not
// exist alike.
func (h *remote) unauthorized(i id) error {
	if h.token != "" {
		return &family.Error{Msg: fmt.Sprintf("the hub does not accept the token for %s (401)", i), Hint: "make a new token, set HF_TOKEN to it, " + giveConfig}
	}
	hint := "check the spelling; if it needs a licence or is private, set HF_TOKEN, " + giveConfig
	if near := family.NearestBuiltins(i.repo); len(near) > 0 {
		hint += "; a known model of a similar name is " + near[0]
	}
	return &family.Error{Msg: fmt.Sprintf("the hub has no model %s that it shows without a token (401)", i), Hint: hint}
}

// notFound tells a repository that is not there from a file that is not.
func (h *remote) notFound(code string, i id, file string) error {
	switch code {
	case "EntryNotFound":
		return missing{&family.Error{Msg: fmt.Sprintf("%s has no %s", i, file), Hint: "is it an adapter or a GGUF repository? name the model that it was made from"}}
	case "RevisionNotFound":
		return &family.Error{Msg: fmt.Sprintf("%s has no revision %s", i.repo, i.revision), Hint: "leave out @" + i.revision + " for the newest"}
	}
	hint := "check the spelling, " + giveConfig
	if h.kept {
		hint += "; your token was not sent, since the address is not encrypted"
	}
	if near := family.NearestBuiltins(i.repo); len(near) > 0 {
		hint = "did you mean " + near[0] + "? Else " + hint
	}
	return missing{&family.Error{Msg: fmt.Sprintf("the hub at %s has no model %s (404)", h.base.Host, i), Hint: hint}}
}

// waitHint says how long the hub wants us to wait.
func waitHint(after string) string {
	wait := "try again in a few minutes"
	if s, err := strconv.Atoi(after); err == nil && s > 0 && s < 86400 {
		wait = fmt.Sprintf("try again in %d s", s)
	}
	return wait + ", set HF_TOKEN (accounts may ask more often), " + giveConfig
}

// unreachable explains an error of the client before an answer came.
func (h *remote) unreachable(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Canceled
	}
	if timedOut(ctx, err) {
		return h.slow()
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // without the address, which stands in the message already
	}
	return &family.Error{
		Msg:  fmt.Sprintf("the hub at %s cannot be used: %s", h.base.Host, oneLine(err)),
		Hint: "check the network and HTTPS_PROXY, name a mirror with HF_ENDPOINT, " + giveConfig,
	}
}

// broken explains an error in the middle of an answer.
func (h *remote) broken(ctx context.Context, err error, file string, n int) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Canceled
	}
	if timedOut(ctx, err) {
		return h.slow()
	}
	return &family.Error{Msg: fmt.Sprintf("the hub's answer for %s broke off after %d bytes", file, n), Hint: "try again, " + giveConfig}
}

func (h *remote) slow() error {
	return &family.Error{
		Msg:  fmt.Sprintf("the hub at %s did not answer within %s", h.base.Host, h.timeout),
		Hint: "try again later, name a mirror with HF_ENDPOINT, " + giveConfig,
	}
}

// timedOut reports whether it took too long, rather than failed.
func timedOut(ctx context.Context, err error) bool {
	var t interface{ Timeout() bool }
	return errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.As(err, &t) && t.Timeout()
}
