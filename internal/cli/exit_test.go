package cli

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestExitOf(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want Exit
	}{
		"nothing wrong":          {nil, ExitOK},
		"it does not fit":        {fmt.Errorf("capture: %w", ErrNo), ExitNo},
		"answered with gaps":     {ErrGaps, ExitGaps},
		"stopped by the user":    {fmt.Errorf("run: %w", context.Canceled), ExitInterrupted},
		"a hint changes nothing": {WithHint(ErrNo, "try a smaller batch"), ExitNo},
		"anything else":          {errors.New("no such file"), ExitFailed},
		"a deadline is no stop":  {context.DeadlineExceeded, ExitFailed},
	} {
		if got := exitOf(tt.err); got != tt.want {
			t.Errorf("%s: exit %d, want %d", name, got, tt.want)
		}
	}
}

func TestHints(t *testing.T) {
	if WithHint(nil, "anything") != nil {
		t.Error("a hint made an error of nothing")
	}
	err := fmt.Errorf("open: %w", WithHint(errors.New("no such file"), "look around"))
	if got, want := hintOf(err), "look around"; got != want {
		t.Errorf("hint %q, want %q", got, want)
	}
	if got, want := err.Error(), "open: no such file"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	if got := hintOf(errors.New("plain")); got != "" {
		t.Errorf("hint %q out of nothing", got)
	}
}
