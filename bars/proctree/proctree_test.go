package proctree

import (
	"os/exec"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/unit"
)

func TestRunSeesWhatItsChildrenTake(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	// Two processes below a shell, of which one holds 64 MiB of text.
	cmd := exec.Command("sh", "-c", `(head -c 67108864 /dev/zero | tail -c 67108864 | { sleep 0.6; cat >/dev/null; }) & wait`)
	use, err := Run(cmd)
	if err != nil {
		t.Fatal(err)
	}
	if use.Wall < 500*time.Millisecond || use.Peak < 64*unit.MiB || use.Peak > 256*unit.MiB {
		t.Errorf("took %v and %v", use.Wall, use.Peak)
	}
}
