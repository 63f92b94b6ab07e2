package cli

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// How many numbers the layers of a model hold.

func linear(in, out unit.Bytes) unit.Bytes { return in*out + out }

func norm(width unit.Bytes) unit.Bytes { return 2 * width }

// encoder is nn.TransformerEncoderLayer: attention with one projection for
// queries, keys and values, two linear layers, two norms.
func encoder(width, hidden unit.Bytes) unit.Bytes {
	return linear(width, 3*width) + linear(width, width) + linear(width, hidden) + linear(hidden, width) + 2*norm(width)
}

// recurrent is one layer of nn.LSTM: four gates, two biases.
func recurrent(in, hidden unit.Bytes) unit.Bytes { return 4*hidden*(in+hidden) + 2*4*hidden }

const (
	half, single = unit.Bytes(2), unit.Bytes(4) // bytes of a number
	adam         = 2                            // numbers of state for each parameter
	momentum     = 1
)

// held checks what a category held at the peak.
func held(t *testing.T, what string, got, want unit.Bytes) {
	t.Helper()
	if got != want {
		t.Errorf("%s hold %d bytes, want %d", what, got, want)
	}
}

// between checks an amount that is not known to the byte.
func between(t *testing.T, what string, got, low, high unit.Bytes) {
	t.Helper()
	if got < low || got > high {
		t.Errorf("%s hold %d bytes, want %d to %d", what, got, low, high)
	}
}

// trains is a check of a model's parameters and its optimizer's state, both of
// 4-byte numbers and both there at the peak.
func trains(numbers unit.Bytes, states unit.Bytes) func(*testing.T, answer) {
	return func(t *testing.T, a answer) {
		t.Helper()
		held(t, "parameters", a.ByCategory.Parameter, numbers*single)
		held(t, "optimizer states", a.ByCategory.Optimizer, states*numbers*single)
	}
}

// both makes one check of several.
func both(checks ...func(*testing.T, answer)) func(*testing.T, answer) {
	return func(t *testing.T, a answer) {
		t.Helper()
		for _, check := range checks {
			check(t, a)
		}
	}
}

// prints checks that the script said something.
func prints(text string) func(*testing.T, answer) {
	return func(t *testing.T, a answer) {
		t.Helper()
		if !strings.Contains(a.stderr, text) {
			t.Errorf("the script did not print %q", text)
		}
	}
}

// warns checks that the answer has a warning.
func warns(code string) func(*testing.T, answer) {
	return func(t *testing.T, a answer) {
		t.Helper()
		for _, w := range a.Warnings {
			if w.Code == code {
				return
			}
		}
		t.Errorf("no warning %s", code)
	}
}

// keepsTwo checks that something is listed that was written twice.
func keepsTwo(path string) func(*testing.T, answer) {
	return func(t *testing.T, a answer) {
		t.Helper()
		for _, w := range a.Writes {
			if strings.HasSuffix(w.Path, path) && w.Count != 2 {
				t.Errorf("%s is listed %d times, want 2", path, w.Count)
			}
		}
		keeps(path)(t, a)
	}
}

// keeps checks that something that the script would have written is listed.
func keeps(path string) func(*testing.T, answer) {
	return func(t *testing.T, a answer) {
		t.Helper()
		for _, w := range a.Writes {
			if strings.Contains(w.Path, path) {
				return
			}
		}
		t.Errorf("no write of %s is listed", path)
	}
}
