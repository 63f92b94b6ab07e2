package cli

import "errors"

// hinted is an error that carries what to try next.
type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }

// WithHint adds to err one line that tells the user a command or a flag to
// try. It is printed after the message, as "hint: ...". A nil err stays nil.
func WithHint(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &hinted{err, hint}
}

// hintOf is the outermost hint that err carries, or "".
func hintOf(err error) string {
	if h, ok := errors.AsType[*hinted](err); ok {
		return h.hint
	}
	return ""
}
