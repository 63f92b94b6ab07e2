// Package fake builds a libnvidia-ml.so.1 that says what a script tells it to, so
// that tests and demonstrations of all that reads NVML need no GPU. README.md has
// the words of the script.
//
// A program uses it if its folder is first in LD_LIBRARY_PATH when it starts and
// PLIMSOLL_FAKE_NVML names the script, which is read again whenever it changes.
package fake

import (
	"context"
	_ "embed" // the source of the library
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed csrc/nvml.c
var source []byte

// ScriptVariable names the script in the environment.
const ScriptVariable = "PLIMSOLL_FAKE_NVML"

// Build compiles the library into dir with cc. The symbols in absent are left out
// of it, as an old driver lacks them.
func Build(ctx context.Context, dir string, absent ...string) error {
	src, versions := filepath.Join(dir, "nvml.c"), filepath.Join(dir, "nvml.map")
	script := "{ global: nvml*; local: *; };\n"
	if len(absent) > 0 {
		// A name is stronger than a pattern, whatever the order.
		script = "{ global: nvml*; local: " + strings.Join(absent, "; ") + "; };\n"
	}
	for name, text := range map[string][]byte{src: source, versions: []byte(script)} {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	out := filepath.Join(dir, "libnvidia-ml.so.1")
	cmd := exec.CommandContext(ctx, "cc", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-Wl,--version-script="+versions, "-o", out, src, "-lpthread", "-lm")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compile the scripted libnvidia-ml.so.1: %w\n%s", err, text)
	}
	// nvtop looks for the name without its version.
	return os.Symlink("libnvidia-ml.so.1", filepath.Join(dir, "libnvidia-ml.so"))
}
