package all

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/series"
)

func open(t *testing.T, sources, path string) (monitor.Source, error) {
	t.Helper()
	t.Setenv("PATH", path)
	return Open(t.Context(), Options{Now: time.Now, Getenv: func(name string) string {
		if name == variable {
			return sources
		}
		return ""
	}})
}

func TestNoneSaysWhatIsMissing(t *testing.T) {
	_, err := open(t, "nvidia-smi,nvidia-smi", t.TempDir())
	var u *monitor.Unavailable
	if !errors.As(err, &u) || u.Status != series.NotSupported || strings.Count(u.Msg, "there is no nvidia-smi") != 2 || u.Hint == "" {
		t.Errorf("error is %#v", err)
	}
}

func TestUnknownSource(t *testing.T) {
	if _, err := open(t, "nvidia-smi,cuda", ""); err == nil || !strings.Contains(err.Error(), `"cuda"`) || !strings.Contains(err.Error(), "nvml, nvidia-smi, amdgpu") {
		t.Errorf("error is %v", err)
	}
}
