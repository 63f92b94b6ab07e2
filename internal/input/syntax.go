package input

import (
	"errors"
	"fmt"
)

// ErrTruncated marks input that ends early. Callers may still use what was
// read before it.
var ErrTruncated = errors.New("input ends early")

// A SyntaxError reports input that is not what its format promises.
type SyntaxError struct {
	File   string // as the user named it
	Offset int64  // byte offset, or -1 when no single place is to blame
	Msg    string // what is wrong, lower case, no full stop
}

// Error says where and what, on one line.
func (e *SyntaxError) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Msg)
	}
	return fmt.Sprintf("%s: byte %d: %s", e.File, e.Offset, e.Msg)
}
